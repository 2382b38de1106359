"""What a deployment decides once: domain profile, limits, routing, wording; plain data that a YAML file can hold."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from offline_eval.assess.records import Stage
from offline_eval.confidence.profile import Profile, load_profile
from offline_eval.core.errors import DataError
from offline_eval.core.records import Record
from offline_eval.core.yaml_text import read_yaml
from offline_eval.formats.wording import plain_words
from offline_eval.stats.recalibration import CalibrationMap

SWITCHABLE = frozenset({Stage.ANSWERABILITY, Stage.CONSENSUS, Stage.ALIGNMENT, Stage.CONTRADICTION, Stage.CITATIONS})
"""Stages a policy may switch off; each is then a skipped signal."""


class Policy(Record):
    """How one deployment assesses.

    Attributes:
        profile: Written as the name of a shipped profile, a file, or the profile's own fields.
        k: Passages asked of every retriever.
        most_passages: Passages kept after merging the retrievers.
        route: `deep` asks the model about contradictions; `cheap` lets rules alone look for them; `auto` asks it unless
            answerability and consensus are both at least `cheap_from`.
        cheap_from: For `auto`, in [0, 1].
        deadline_s: Seconds for a whole assessment.
        stage_limits_s: Seconds for a single stage; the deadline holds beside them. Without one, searching may take 40 %
            of what is left and writing 80 %, so that one that hangs leaves time to say so.
        supported_from: Probability of entailment from which a claim counts as supported, in (0, 1].
        cosine_range: Cosines that count as alignment 0 and 1; the scale differs from embedder to embedder.
        context_characters: Most characters of passages the generator is shown.
        switched_off: Stages that are switched off.
        calibration: From scores to probabilities, fitted on labels of this deployment.
        wording: File or folder with one's own templates; None for the shipped ones.
        contact: Whom a hand-over names.
        cache_entries: Results kept in memory; 0 for none.
    """

    profile: Profile = Field(default_factory=lambda: load_profile("general"))
    k: int = Field(default=5, ge=1, le=100)
    most_passages: int = Field(default=8, ge=1, le=100)
    route: Literal["auto", "cheap", "deep"] = "auto"
    cheap_from: float = Field(default=0.9, ge=0, le=1)
    deadline_s: float = Field(default=30.0, gt=0)
    stage_limits_s: dict[Stage, float] = Field(default_factory=dict)
    supported_from: float = Field(default=0.5, gt=0, le=1)
    cosine_range: tuple[float, float] = (0.1, 0.6)
    context_characters: int = Field(default=12_000, ge=200)
    switched_off: tuple[Stage, ...] = ()
    calibration: CalibrationMap | None = None
    wording: str | None = None
    contact: str | None = None
    cache_entries: int = Field(default=1024, ge=0)

    @field_validator("profile", mode="before")
    @classmethod
    def _named_profile(cls, value: Any) -> Any:
        return load_profile(value) if isinstance(value, str) else value

    @field_validator("cosine_range")
    @classmethod
    def _range_rises(cls, value: tuple[float, float]) -> tuple[float, float]:
        if not -1 <= value[0] < value[1] <= 1:
            raise ValueError("must be two rising cosines in [-1, 1]")
        return value

    @field_validator("switched_off")
    @classmethod
    def _may_be_off(cls, value: tuple[Stage, ...]) -> tuple[Stage, ...]:
        if set(value) - SWITCHABLE:
            raise ValueError(f"only {', '.join(sorted(SWITCHABLE))} can be switched off")
        return tuple(sorted(set(value)))


def load_policy(path: Path) -> Policy:
    """Read a policy file.

    Raises:
        DataError: It cannot be read, or says something that cannot be; all faults are listed.
        UnknownNameError: A profile that does not exist.
    """
    data = read_yaml(path).data
    if not isinstance(data, dict):
        raise DataError(f"{path}: is no policy; expected fields such as profile and deadline_s")
    try:
        return Policy.model_validate(data)
    except ValidationError as error:
        raise DataError([f"{path}: {fault}" for fault in plain_words(error)]) from None

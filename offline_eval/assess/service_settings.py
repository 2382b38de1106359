"""The one file that describes an assessing service: its sources, encoders, policy and limits."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator

from offline_eval.assess.policy import Policy
from offline_eval.core.errors import DataError
from offline_eval.core.records import Record
from offline_eval.core.yaml_text import read_yaml
from offline_eval.formats.wording import plain_words


class ServiceLimits(Record):
    """What one service takes on at once.

    Attributes:
        workers: Assessments under way at the same time.
        queue: Requests that may wait beside them; a further one gets 503.
        most_body_bytes: Largest request body.
        body_timeout_s: Seconds in which a body has to arrive.
        stop_s: Seconds that accepted requests are given to finish when the service stops.
        log_texts: Write queries and answers into the request log.
    """

    workers: int = Field(default=4, ge=1, le=256)
    queue: int = Field(default=64, ge=0, le=10_000)
    most_body_bytes: int = Field(default=2 << 20, ge=1024, le=64 << 20)
    body_timeout_s: float = Field(default=10.0, gt=0)
    stop_s: float = Field(default=30.0, gt=0)
    log_texts: bool = False


class EncoderNames(Record):
    """Encoders by name or folder; null leaves one out, and its signals are then missing, never good."""

    support: str | None = "default-support"
    answerability: str | None = "default-answerability"
    embedder: str | None = "all-minilm-l6-v2"


class AssessSettings(Record):
    """The file.

    Attributes:
        index: Folder of an index, for retrievers named `bm25`, `dense`, …; beside the file unless absolute.
        retrievers: Names over the index, mapping files of HTTP retrievers, or `package.module:function`.
        generator: A mapping file or `package.module:function`; None for a service that only checks.
        source_versions: Retriever or generator to its version, where it has none of its own; part of the cache's key.
        allow_hosts: Hosts beyond this machine that may be asked.
    """

    index: Path | None = None
    retrievers: tuple[str, ...] = ()
    generator: str | None = None
    source_versions: dict[str, str] = Field(default_factory=dict)
    allow_hosts: tuple[str, ...] = ()
    encoders: EncoderNames = EncoderNames()
    policy: Policy = Field(default_factory=Policy)
    service: ServiceLimits = ServiceLimits()

    @field_validator("source_versions", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """Versions such as 3 or 1.2 are written without quotes."""
        return {name: str(item) for name, item in value.items()} if isinstance(value, Mapping) else value


def load_settings(path: Path) -> AssessSettings:
    """Read a settings file.

    Raises:
        DataError: It cannot be read, or says something that cannot be; all faults are listed.
        UnknownNameError: A profile that does not exist.
    """
    data = read_yaml(path).data
    if not isinstance(data, dict):
        raise DataError(f"{path}: describes no service; expected fields such as retrievers, generator and policy")
    try:
        found = AssessSettings.model_validate(data)
    except ValidationError as error:
        raise DataError([f"{path}: {fault}" for fault in plain_words(error)]) from None
    return found.model_copy(update=_resolved(found, path.parent))


def _resolved(found: AssessSettings, folder: Path) -> dict[str, Any]:
    """Files named in the settings are found beside them."""
    generator = found.generator
    return {
        "index": None if found.index is None else folder / found.index,
        "retrievers": tuple(_beside(folder, name) for name in found.retrievers),
        "generator": None if generator is None else _beside(folder, generator),
    }


def _beside(folder: Path, name: str) -> str:
    return str(folder / name) if name.lower().endswith((".yaml", ".yml")) else name

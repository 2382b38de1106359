"""A run's configuration: everything that decides its numbers, so that its hash is the run's identity."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from offline_eval.core.diagnosis import Text
from offline_eval.core.errors import UsageError
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import EngineKind
from offline_eval.core.records import Case, Record, Response
from offline_eval.engines.feature_scorer import DEFAULT_SCORERS
from offline_eval.engines.select import EncoderDtype, EncoderEngine
from offline_eval.judge.panel import Panel
from offline_eval.judge.prompt import wording_hash
from offline_eval.judge.rubric import RUBRIC_LANGUAGES, load_rubric
from offline_eval.pipeline.metric_plan import panel_metrics


class RunConfig(Record):
    """What is asked of whom.

    Attributes:
        judges: Dimension to the models that judge it, one or more.
        engine: The engine that was picked, never `auto`.
        batch_size: Requests an engine computes together; part of the identity, since results can depend on it.
        reasons: Evidence and reason for every verdict, for those sent to review, or for none.
        arbiter: Model asked where the judges of a dimension disagree.
        models: Model to the hash of its weights.
        rubrics: Rubric id to the hash of its content.
        wording: Hash of the prompt's own words.
        metrics: What is scored; empty for the panel's own metrics.
        checks: What makes the evidence for them, in the order of execution.
        engines: Kind of engine to the model that the checks ask.
        screen: Support up to which a claim is clearly unsupported and from which it is clearly supported, in [0, 1];
            None when every answer goes to the judges.
        certified: Whether engines were asked for results that do not depend on batches.
        encoder_dtype: Number format of encoders and embedders, decided before the run; never `auto`. None in runs that
            were made before it was kept: there cross-encoders took `dtype` or their model config's. `int8` with ONNX
            Runtime: what that does not run is computed in float32.
        encoder_engine: What runs cross-encoders; the shipped default scorers and embedders never need it.
    """

    panel: Panel
    judges: dict[str, tuple[str, ...]]
    engine: str
    dtype: str = "config"
    batch_size: int = 16
    context_length: int | None = None
    url: str | None = None
    reasons: Literal["all", "review", "none"] = "all"
    arbiter: str | None = None
    seed: int = 0
    models: dict[str, str]
    rubrics: dict[str, str]
    wording: str = Field(default_factory=wording_hash)
    metrics: tuple[str, ...] = ()
    checks: tuple[str, ...] = ("refusal",)
    engines: dict[EngineKind, str] = Field(default_factory=dict)
    screen: tuple[float, float] | None = None
    certified: bool = False
    encoder_dtype: EncoderDtype | None = None
    encoder_engine: EncoderEngine = "transformers"

    @property
    def metric_names(self) -> tuple[str, ...]:
        """What is scored."""
        return self.metrics or tuple(panel_metrics(self.panel))

    @property
    def judge_names(self) -> list[str]:
        """All judges, each once, in the order of the panel's examiners."""
        return list(dict.fromkeys(name for dimension in self.panel.examiners for name in self.judges[dimension]))

    @property
    def has_encoder(self) -> bool:
        """Whether a check asks an encoder or embedder."""
        return bool(self._encoders)

    @property
    def encoders_run_in(self) -> str | None:
        """The encoders' number format, for people, with their backend where it is not the usual one."""
        if not self.has_encoder or self.engine == "scripted" or self.encoder_dtype is None:
            return None
        if self.encoder_engine == "onnx":
            rest = any(kind == "embedder" or name in DEFAULT_SCORERS for kind, name in self._encoders.items())
            return "int8 on ONNX Runtime" + (", float32 elsewhere" if rest else "")
        return self.encoder_dtype + (" on vLLM" if self.encoder_engine == "vllm" else "")

    @property
    def _encoders(self) -> dict[EngineKind, str]:
        return {kind: name for kind, name in self.engines.items() if kind != "judge"}

    @property
    def all_judges(self) -> list[str]:
        """The judges, the arbiter and the model that checks ask for text, each once."""
        more = [self.arbiter, self.engines.get("judge")]
        return list(dict.fromkeys([*self.judge_names, *(name for name in more if name is not None)]))


def assign_judges(panel: Panel, specs: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Read `--judge` options: `MODEL` judges every dimension, `dimension=MODEL` that one.

    Raises:
        UsageError: An unknown dimension, or a dimension without a judge.
    """
    found: dict[str, list[str]] = {dimension: [] for dimension in panel.examiners}
    for spec in specs:
        dimension, separator, model = spec.partition("=")
        if not separator:
            for names in found.values():
                names.append(spec)
            continue
        if dimension not in found:
            raise UsageError(f"--judge {spec}: the panel has no examiner {dimension!r}; it has {', '.join(found)}")
        found[dimension].append(model)
    lacking = [dimension for dimension, names in found.items() if not names]
    if lacking:
        raise UsageError(f"no judge for {', '.join(lacking)}; add --judge MODEL or --judge {lacking[0]}=MODEL")
    return {dimension: tuple(dict.fromkeys(names)) for dimension, names in found.items()}


def rubric_hashes(dimensions: Sequence[str]) -> dict[str, str]:
    """Id to content hash, for every language of the dimensions' rubrics."""
    rubrics = [load_rubric(dimension, language) for dimension in dimensions for language in RUBRIC_LANGUAGES]
    return {rubric.id: rubric.content_hash() for rubric in rubrics}


def case_set_hash(cases: Sequence[Case]) -> str:
    """Hash of the cases' content, independent of their order."""
    return digest("cases", sorted(case.content_hash() for case in cases))


def responses_hash(responses: Sequence[Response]) -> str:
    """Hash of the responses' content, independent of their order."""
    return digest("responses", sorted(response.content_hash() for response in responses))


def run_id(config: RunConfig, cases: Sequence[Case], responses: Sequence[Response]) -> str:
    """The run's identity: 16 hex digits of the hash of cases, responses and configuration."""
    parts = [case_set_hash(cases), responses_hash(responses), config.model_dump(mode="json")]
    return digest("EvalRun", parts)[:16]


def family_warnings(families: Mapping[str, str], responses: Sequence[Response]) -> list[Text]:
    """Warn about panels of one family, and about judges of a system's own family.

    Args:
        families: Judge to its family.
        responses: A system's family is read from `metadata.family` of its responses.
    """
    found: list[Text] = []
    kinds = set(families.values())
    if len(families) > 1 and len(kinds) == 1 and kinds != {"unknown"}:
        n, shared = len(families), kinds.pop()
        found.append(
            Text(
                en=f"all {n} judges are of the family {shared}: their errors may agree",
                zh=f"全部 {n} 个评审模型同属 {shared} 家族：它们可能犯同样的错误",
            )
        )
    systems = {
        response.system: family for response in responses if isinstance(family := response.metadata.get("family"), str)
    }
    found += [
        Text(
            en=f"judge {judge} and system {system} are of the same family ({family}): judges tend to favour their own",
            zh=f"评审模型 {judge} 与系统 {system} 同属一个家族（{family}）：评审往往偏袒同族",
        )
        for system, family in sorted(systems.items())
        for judge, judge_family in families.items()
        if judge_family == family
    ]
    return found

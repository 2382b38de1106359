"""From names to whoever can be asked about label rows; a model is loaded when it is first needed, or never."""

from collections.abc import Callable
from typing import NamedTuple

from pydantic import JsonValue

from offline_eval.benchmark.answer_log import Ask
from offline_eval.benchmark.encoders import ask_encoder
from offline_eval.benchmark.judges import ask_judge, has_rubric, rubric_of
from offline_eval.benchmark.labels import LabelSet
from offline_eval.benchmark.table_records import Role
from offline_eval.core.errors import ModelError, UnknownNameError
from offline_eval.core.protocols import EngineKind, GenerateRequest, Generation, LabelChoice, PairScorer, TextEngine
from offline_eval.engines.feature_scorer import DEFAULT_SCORERS, load_scorer_data
from offline_eval.engines.scripted import ScriptedEngine, by_hash, pick
from offline_eval.engines.select import EngineOptions, encoder_weights, open_encoder, open_engine, pick_engine
from offline_eval.judge.prompt import wording_hash
from offline_eval.models.installed import require_installed


class Opened(NamedTuple):
    """A loaded model.

    Attributes:
        close: Gives its memory back.
    """

    ask: Ask
    close: Callable[[], None]


class Respondent(NamedTuple):
    """Whoever can be asked.

    Attributes:
        identity: Of the model and how it is run.
        open: Loads it.
        languages: It was made for; `*` for any.
    """

    name: str
    role: Role
    identity: JsonValue
    open: Callable[[], Opened]
    languages: tuple[str, ...] = ("*",)

    def identity_on(self, label_set: LabelSet) -> JsonValue:
        """Everything that decides its answers to a set."""
        rubrics: list[JsonValue] = []
        if self.role in ("judge", "scripted"):
            asked = {rubric_of(row).content_hash() for row in label_set.rows if has_rubric(row)}
            rubrics = [wording_hash(), *sorted(asked)]
        return [self.name, self.identity, rubrics, label_set.labels_hash]


def judge_respondent(name: str, options: EngineOptions, *, swap: bool) -> Respondent:
    """A judge model.

    Raises:
        UsageError: An engine that is not known or not installed.
        ModelError: A model that is not installed.
    """
    engine, _ = pick_engine(options.engine)
    chosen = options.model_copy(update={"engine": engine})
    is_local = engine in ("vllm", "transformers")
    weights = require_installed(name).weights_hash if is_local else engine
    identity: JsonValue = [chosen.model_dump(mode="json", exclude={"batch_limit_s", "allow_hosts"}), weights, swap]

    def opened() -> Opened:
        return _judge(name, open_engine(name, chosen), swap=swap)

    languages = require_installed(name).config.languages if is_local else ("*",)
    return Respondent(name, "scripted" if engine == "scripted" else "judge", identity, opened, languages)


def scripted_respondent(name: str, *, swap: bool) -> Respondent:
    """A judge with a known behaviour, to see what a table makes of it.

    Raises:
        UnknownNameError: No such behaviour.
    """
    if name not in SCRIPTS:
        raise UnknownNameError("scripted judge", name, list(SCRIPTS))
    label = f"scripted:{name}"

    def opened() -> Opened:
        return _judge(label, ScriptedEngine(SCRIPTS[name], model=label), swap=swap)

    return Respondent(label, "scripted", [name, swap], opened)


def encoder_respondent(name: str, options: EngineOptions) -> Respondent:
    """A local encoder.

    Raises:
        ModelError: Not installed, or not for entailment or answerability.
    """
    kind = encoder_kind(name)
    weights = encoder_weights(name)

    def opened() -> Opened:
        # Rows are answered in batches and kept; in float32 nothing beside a row may move its score.
        as_asked = {"engine": "auto", "encoder_dtype": options.dtype, "certified": options.dtype == "float32"}
        engine = open_encoder(kind, name, options.model_copy(update=as_asked))
        assert not hasattr(engine, "embed")  # an encoder of these kinds scores pairs
        scorer: PairScorer = engine
        return Opened(lambda rows: ask_encoder(rows, name, scorer, kind=kind), scorer.close)

    return Respondent(name, "encoder", [kind, weights, options.dtype], opened)


def encoder_kind(name: str) -> EngineKind:
    """What an encoder is asked.

    Raises:
        ModelError: Not installed, or of a kind that is not asked about labels.
    """
    if name in DEFAULT_SCORERS:
        return "nli" if load_scorer_data(name).task == "support" else "answerability"
    kinds: dict[str, EngineKind] = {"nli": "nli", "reranker": "answerability"}
    kind = require_installed(name).config.kind
    if kind not in kinds:
        raise ModelError(f"{name} is a model of kind {kind!r}; --encoders takes nli models and rerankers")
    return kinds[kind]


def _first(request: GenerateRequest) -> Generation:
    assert isinstance(request.constraint, LabelChoice)
    return pick(request, request.constraint.labels[0])


def _last(request: GenerateRequest) -> Generation:
    assert isinstance(request.constraint, LabelChoice)
    return pick(request, request.constraint.labels[-1])


SCRIPTS: dict[str, Callable[[GenerateRequest], Generation]] = {"first": _first, "last": _last, "hash": by_hash}
"""Always the first label, always the last, and one that depends on nothing but the request's hash."""


def _judge(name: str, engine: TextEngine, *, swap: bool) -> Opened:
    return Opened(lambda rows: ask_judge(rows, name, engine, swap=swap), engine.close)

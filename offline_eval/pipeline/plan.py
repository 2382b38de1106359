"""Cases and configuration → stages of batches, one model at a time; fixed beforehand, so that resuming repeats it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from offline_eval.checks._support import Pair, by_rule
from offline_eval.checks.claims import ClaimsCheck
from offline_eval.checks.entailment import pairs_of
from offline_eval.checks.key_points import KeyPointsCheck
from offline_eval.checks.rubric_verdict import Question
from offline_eval.core.errors import DataError
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import EngineKind, Item
from offline_eval.core.records import Case, Record, Response
from offline_eval.judge.prompt import EVIDENCE_LIMIT, REASON_LIMIT, Material, label_request
from offline_eval.judge.rules import decide
from offline_eval.pipeline.config import RunConfig
from offline_eval.pipeline.metric_plan import engine_kinds, load_check
from offline_eval.text.language import detect_language

T = TypeVar("T")

FINISHED = "finished"  # the name of a last, empty batch: everything that was planned is there
ENGINE_BATCHES_PER_COMMIT = 4  # larger keeps the engine busier, smaller loses less to a crash

# Characters per token, a rough mean over usual vocabularies; for estimates only.
_CHARS_PER_TOKEN = {"zh": 1.5, "ja": 1.5, "ko": 1.5}
_DEFAULT_CHARS_PER_TOKEN = 4.0
# (prompt tokens, output tokens) a second, for the time estimate.
_CPU_RATE = (1_000, 150)
_GPU_RATE = (30_000, 2_000)
_REASON_TOKENS = (EVIDENCE_LIMIT + REASON_LIMIT) / 2 / _DEFAULT_CHARS_PER_TOKEN


class Batch(Record):
    """What is asked together and committed together: questions for a judge, or whole responses for a check.

    Attributes:
        name: Its identity inside the run: what kind, which model, its place and the hash of what it holds.
    """

    name: str
    questions: tuple[Question, ...] = ()
    items: tuple[Item, ...] = ()

    @property
    def size(self) -> int:
        """How many questions or responses."""
        return len(self.questions) + len(self.items)


class Stage(Record):
    """All that one model is asked in one go.

    Attributes:
        judge: The model; empty where rules decide alone.
        kind: `verdict` for labels (with reasons, if they come at once), `reason` for reasons alone, `check` for another
            check's evidence.
        engine: What kind of model it is.
        check: Who asks.
    """

    judge: str
    role: str
    kind: str
    batches: tuple[Batch, ...]
    engine: EngineKind | None = "judge"
    check: str = "rubric_verdict"


class PlanEstimate(Record):
    """What a run will ask for, before it runs.

    Attributes:
        by_rule: Verdicts that need no model.
        encoder_pairs: Distinct pairs the NLI encoder reads for the claims, before long passages are chunked; the rule's
            claims are counted also when a judge is to reword them.
        prompt_tokens: Estimated from the prompts' lengths.
        output_tokens: Estimated; reasons count as half their limit.
    """

    responses: int
    verdicts: int
    by_rule: int
    model_calls: int
    prompt_tokens: int
    output_tokens: int
    model_loads: int
    encoder_pairs: int = 0

    @property
    def time_text(self) -> str:
        """A rough time, with the rates it assumes."""
        low, high = (
            self.prompt_tokens / prefill + self.output_tokens / decode for prefill, decode in (_CPU_RATE, _GPU_RATE)
        )
        return (
            f"about {_minutes(low)} for a model of 135M parameters on a CPU (1,000 prompt and 150 output tokens a "
            f"second), {_minutes(high)} for one of 8B on a large GPU (30,000 and 2,000)"
        )


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def pair(cases: Sequence[Case], responses: Sequence[Response]) -> list[Item]:
    """Join responses with their cases, in the order of the cases.

    Raises:
        DataError: Two responses have the same key, so that their verdicts could not be told apart.
    """
    counts = Counter(response.key for response in responses)
    twice = [
        f"{key}: {n} responses have this key, expected one; give one of the systems another name or use `attempt`"
        for key, n in counts.items()
        if n > 1
    ]
    if twice:
        raise DataError(twice)
    by_case: dict[str, list[Response]] = {case.id: [] for case in cases}
    for response in responses:
        by_case[response.case_id].append(response)
    return [Item(case=case, response=response) for case in cases for response in by_case[case.id]]


def check_stages(config: RunConfig, items: Sequence[Item]) -> list[Stage]:
    """One stage a check, those of one model after each other."""
    stages = []
    for name in config.checks:
        engine = load_check(name).engine
        model = config.engines[engine] if engine else ""
        parts = _parts(items, config, prefix=f"check/{name}/{model}", whole=1, key=lambda item: item.response.key)
        batches = tuple(Batch(name=batch, items=part) for batch, part in parts)
        stages.append(Stage(judge=model, role="check", kind="check", batches=batches, engine=engine, check=name))
    return stages


def verdict_stages(config: RunConfig, items: Sequence[Item], *, settled: frozenset[str] = frozenset()) -> list[Stage]:
    """One stage a judge: every response on every dimension this judge examines.

    Args:
        settled: Keys of questions that need no judge any more.
    """
    stages = []
    for judge in config.judge_names:
        dimensions = [name for name in config.panel.examiners if judge in config.judges[name]]
        asked = (Question(item=item, dimension=dimension) for item in items for dimension in dimensions)
        questions = [question for question in asked if question.key not in settled]
        batches = cut(questions, config, prefix=f"verdict/examiner/{judge}", whole=len(dimensions))
        stages.append(Stage(judge=judge, role="examiner", kind="verdict", batches=batches))
    return stages


def stage_of(config: RunConfig, questions: Sequence[Question], *, judge: str, role: str, kind: str) -> Stage:
    """A later stage over chosen questions: an arbiter's, or reasons for what goes to review."""
    batches = cut(questions, config, prefix=f"{kind}/{role}/{judge}", whole=1)
    return Stage(judge=judge, role=role, kind=kind, batches=batches)


def cut(questions: Sequence[Question], config: RunConfig, *, prefix: str, whole: int) -> tuple[Batch, ...]:
    """Cut questions into batches of a fixed size, without dividing a group of `whole` questions."""
    parts = _parts(questions, config, prefix=prefix, whole=whole, key=lambda question: question.key)
    return tuple(Batch(name=name, questions=part) for name, part in parts)


def _parts(
    units: Sequence[T], config: RunConfig, *, prefix: str, whole: int, key: Callable[[T], str]
) -> Iterator[tuple[str, tuple[T, ...]]]:
    """Parts of a fixed size, each with its name; the last one is what is left."""
    size = max(whole, config.batch_size * ENGINE_BATCHES_PER_COMMIT // whole * whole)
    for number, start in enumerate(range(0, len(units), size)):
        part = tuple(units[start : start + size])
        yield f"{prefix}/{number:06d}/{digest('batch', [key(unit) for unit in part])[:12]}", part


def estimate_plan(config: RunConfig, items: Sequence[Item]) -> PlanEstimate:
    """Count calls and estimate tokens without loading a model."""
    calls = by_rule = loads = 0
    prompt = output = 0.0
    for stage in verdict_stages(config, items):
        calls_before = calls
        for question in (question for batch in stage.batches for question in batch.questions):
            if decide(question.item.case, question.item.response, question.rubric) is not None:
                by_rule += 1
                continue
            rounds = 2 if config.reasons == "all" else 1
            calls += rounds
            prompt += rounds * _tokens(question)
            output += 1 + (_REASON_TOKENS if rounds == 2 else 0)
        loads += calls > calls_before
    verdicts = len(items) * sum(len(names) for names in config.judges.values())
    loads += len(engine_kinds(config.checks))
    return PlanEstimate(
        responses=len(items),
        verdicts=verdicts,
        by_rule=by_rule,
        model_calls=calls,
        prompt_tokens=round(prompt),
        output_tokens=round(output),
        model_loads=loads,
        encoder_pairs=_encoder_pairs(config, items),
    )


def _encoder_pairs(config: RunConfig, items: Sequence[Item]) -> int:
    if "entailment" not in config.checks:
        return 0
    found: set[Pair] = set()
    for item in items:
        known = [piece for check in (ClaimsCheck(), KeyPointsCheck()) for piece in check.run([item], evidence={})]
        found |= {pair for pair in pairs_of(item, known) if by_rule(*pair) is None}
    return len(found)


def _tokens(question: Question) -> float:
    item = question.item
    messages = label_request(Material(item.case, item.response), question.rubric).messages
    per_token = _CHARS_PER_TOKEN.get(detect_language(item.case.query), _DEFAULT_CHARS_PER_TOKEN)
    return sum(len(message.content) for message in messages) / per_token

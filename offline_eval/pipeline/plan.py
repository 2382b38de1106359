"""Cases and configuration → stages of batches, one judge at a time; fixed beforehand, so that resuming repeats it."""

from collections import Counter
from collections.abc import Sequence

from offline_eval.checks.rubric_verdict import Question
from offline_eval.core.errors import DataError
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import Item
from offline_eval.core.records import Case, Record, Response
from offline_eval.judge.prompt import EVIDENCE_LIMIT, REASON_LIMIT, Material, label_request
from offline_eval.judge.rules import decide
from offline_eval.pipeline.config import RunConfig
from offline_eval.text.language import detect_language

ENGINE_BATCHES_PER_COMMIT = 4  # larger keeps the engine busier, smaller loses less to a crash

# Characters per token, a rough mean over usual vocabularies; for estimates only.
_CHARS_PER_TOKEN = {"zh": 1.5, "ja": 1.5, "ko": 1.5}
_DEFAULT_CHARS_PER_TOKEN = 4.0
# (prompt tokens, output tokens) a second, for the time estimate.
_CPU_RATE = (1_000, 150)
_GPU_RATE = (30_000, 2_000)
_REASON_TOKENS = (EVIDENCE_LIMIT + REASON_LIMIT) / 2 / _DEFAULT_CHARS_PER_TOKEN


class Batch(Record):
    """Questions that are asked together and committed together.

    Attributes:
        name: Its identity inside the run: what kind, which judge, its place and the hash of its questions.
    """

    name: str
    questions: tuple[Question, ...]


class Stage(Record):
    """All that one judge is asked in one go.

    Attributes:
        kind: `verdict` for labels (with reasons, if they come at once), `reason` for reasons alone.
    """

    judge: str
    role: str
    kind: str
    batches: tuple[Batch, ...]


class PlanEstimate(Record):
    """What a run will ask for, before it runs.

    Attributes:
        by_rule: Verdicts that need no model.
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


def verdict_stages(config: RunConfig, items: Sequence[Item]) -> list[Stage]:
    """One stage a judge: every response on every dimension this judge examines."""
    stages = []
    for judge in config.judge_names:
        dimensions = [name for name in config.panel.examiners if judge in config.judges[name]]
        questions = [Question(item=item, dimension=dimension) for item in items for dimension in dimensions]
        batches = cut(questions, config, prefix=f"verdict/examiner/{judge}", whole=len(dimensions))
        stages.append(Stage(judge=judge, role="examiner", kind="verdict", batches=batches))
    return stages


def stage_of(config: RunConfig, questions: Sequence[Question], *, judge: str, role: str, kind: str) -> Stage:
    """A later stage over chosen questions: an arbiter's, or reasons for what goes to review."""
    batches = cut(questions, config, prefix=f"{kind}/{role}/{judge}", whole=1)
    return Stage(judge=judge, role=role, kind=kind, batches=batches)


def cut(questions: Sequence[Question], config: RunConfig, *, prefix: str, whole: int) -> tuple[Batch, ...]:
    """Cut questions into batches of a fixed size, without dividing a group of `whole` questions."""
    size = max(whole, config.batch_size * ENGINE_BATCHES_PER_COMMIT // whole * whole)
    found = []
    for number, start in enumerate(range(0, len(questions), size)):
        part = tuple(questions[start : start + size])
        name = f"{prefix}/{number:06d}/{digest('batch', [question.key for question in part])[:12]}"
        found.append(Batch(name=name, questions=part))
    return tuple(found)


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
    return PlanEstimate(
        responses=len(items),
        verdicts=verdicts,
        by_rule=by_rule,
        model_calls=calls,
        prompt_tokens=round(prompt),
        output_tokens=round(output),
        model_loads=loads,
    )


def _tokens(question: Question) -> float:
    item = question.item
    messages = label_request(Material(item.case, item.response), question.rubric).messages
    per_token = _CHARS_PER_TOKEN.get(detect_language(item.case.query), _DEFAULT_CHARS_PER_TOKEN)
    return sum(len(message.content) for message in messages) / per_token

"""Asks a judge for its verdict on each dimension: first the label, then evidence and reason with the label written."""

from collections.abc import Sequence

from offline_eval.core.evidence import Evidence, Guarantee, Provenance, ReasonEvidence, Verdict, VerdictEvidence
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import Failure, GenerateRequest, Generation, Item, TextEngine
from offline_eval.core.records import Record
from offline_eval.core.results import Status
from offline_eval.judge.prompt import Material, label_request, reason_request
from offline_eval.judge.rubric import Rubric, load_rubric
from offline_eval.judge.rules import decide
from offline_eval.judge.verdicts import best_window, read_label, read_reason
from offline_eval.judge.windows import MAX_WINDOWS, windows
from offline_eval.text.language import detect_language

NAME = "rubric_verdict"
VERSION = "1"


class Question(Record):
    """One dimension of one response, for one judge."""

    item: Item
    dimension: str

    @property
    def key(self) -> str:
        """Identity inside a run."""
        return f"{self.item.response.key}|{self.dimension}"

    @property
    def rubric(self) -> Rubric:
        """The dimension's rubric in the case's language; Chinese for Chinese, English for everything else."""
        case = self.item.case
        return load_rubric(self.dimension, case.language or detect_language(case.query))


class RubricVerdict:
    """The check.

    Args:
        judge: The judge's registered name.
        engine: The judge's engine; None only to apply the rules.
        with_reasons: Whether each label is followed by evidence and reason at once.
    """

    name = NAME

    def __init__(
        self, judge: str, engine: TextEngine | None, *, role: str = "examiner", with_reasons: bool = True
    ) -> None:
        self._judge = judge
        self._engine = engine
        self._role = role
        self._with_reasons = with_reasons

    def run(self, questions: Sequence[Question]) -> list[Evidence]:
        """Verdicts, in the order of the questions, and then their reasons.

        Args:
            questions: At most a batch; what is asked together is computed together.
        """
        decided = [decide(question.item.case, question.item.response, question.rubric) for question in questions]
        open_questions = [question for question, verdict in zip(questions, decided, strict=True) if verdict is None]
        answered = iter(self._ask(open_questions))
        found: list[VerdictEvidence] = []
        for question, verdict in zip(questions, decided, strict=True):
            found.append(next(answered) if verdict is None else self._evidence(question, verdict, None))
        reasons = self.reasons(questions, found) if self._with_reasons else []
        return [*found, *reasons]

    def reasons(self, questions: Sequence[Question], verdicts: Sequence[VerdictEvidence]) -> list[ReasonEvidence]:
        """Evidence and reason for every verdict that a judge gave.

        Args:
            questions: The questions of `verdicts`, in the same order.
        """
        judged = [
            (question, found.verdict)
            for question, found in zip(questions, verdicts, strict=True)
            if found.verdict.status is Status.SCORED and found.verdict.decided_by == "judge"
        ]
        materials = [_material(question, verdict.window) for question, verdict in judged]
        requests = [
            reason_request(material, question.rubric, label=verdict.label or "")
            for (question, verdict), material in zip(judged, materials, strict=True)
        ]
        results = self._generate(requests)
        return [
            self._reason_evidence(
                question, read_reason(question.rubric, material, label=verdict.label or "", result=result), result
            )
            for (question, verdict), material, result in zip(judged, materials, results, strict=True)
        ]

    def _ask(self, questions: Sequence[Question]) -> list[VerdictEvidence]:
        """Label requests, in one window each; what does not fit is asked again in 2, 4, 8 … windows."""
        found: dict[int, VerdictEvidence] = {}
        pending = list(range(len(questions)))
        n = 1
        while pending:
            materials = {index: _materials(questions[index], n) for index in pending}
            requests = [
                label_request(material, questions[index].rubric) for index in pending for material in materials[index]
            ]
            results = iter(self._generate(requests))
            too_long = []
            for index in pending:
                answers = [next(results) for _ in materials[index]]
                can_divide = n < MAX_WINDOWS and "passages" in questions[index].rubric.sees
                if can_divide and any(_is_too_long(answer) for answer in answers):
                    too_long.append(index)
                    continue
                found[index] = self._best(questions[index], answers, n)
            pending, n = too_long, n * 2
        return [found[index] for index in range(len(questions))]

    def _best(self, question: Question, answers: Sequence[Generation | Failure], n: int) -> VerdictEvidence:
        verdicts = [
            read_label(question.rubric, answer, window=(i, n) if n > 1 else None) for i, answer in enumerate(answers, 1)
        ]
        return self._evidence(question, verdicts[best_window(verdicts)], answers)

    def _generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        if not requests:
            return []
        if self._engine is None:
            return [Failure(reason="no_engine", detail="no judge was loaded") for _ in requests]
        return self._engine.generate(requests)

    def _evidence(
        self, question: Question, verdict: Verdict, answers: Sequence[Generation | Failure] | None
    ) -> VerdictEvidence:
        by_rule = verdict.decided_by == "rule"
        made = [answer for answer in answers or () if isinstance(answer, Generation)]
        guarantee = Guarantee.GRAMMAR if by_rule or self._engine is None else self._engine.info.guarantee
        return VerdictEvidence(
            response_key=question.item.response.key,
            dimension=question.dimension,
            rubric=question.rubric.id,
            judge="rule" if by_rule else self._judge,
            role="arbiter" if self._role == "arbiter" else "examiner",
            guarantee=guarantee,
            verdict=verdict,
            prompt_tokens=sum(answer.prompt_tokens for answer in made),
            output_tokens=sum(answer.output_tokens for answer in made),
            provenance=self._provenance(question, by_rule=by_rule),
        )

    def _reason_evidence(
        self, question: Question, fields: dict[str, object], result: Generation | Failure
    ) -> ReasonEvidence:
        made = isinstance(result, Generation)
        return ReasonEvidence.model_validate(
            {
                "response_key": question.item.response.key,
                "dimension": question.dimension,
                "rubric": question.rubric.id,
                "judge": self._judge,
                "role": self._role,
                "prompt_tokens": result.prompt_tokens if isinstance(result, Generation) else 0,
                "output_tokens": result.output_tokens if isinstance(result, Generation) else 0,
                "provenance": self._provenance(question, by_rule=not made and self._engine is None),
                **fields,
            }
        )

    def _provenance(self, question: Question, *, by_rule: bool) -> Provenance:
        engine = None if by_rule or self._engine is None else self._engine.info.fingerprint
        parameters = digest("rubric_verdict", [VERSION, question.rubric.content_hash()])
        return Provenance(producer=NAME, version=VERSION, parameters_hash=parameters, engine_fingerprint=engine)


def _materials(question: Question, n: int) -> list[Material]:
    """What is shown: all of it at once, or with the passages in n windows."""
    item = question.item
    if n == 1:
        return [Material(item.case, item.response)]
    return [Material(item.case, item.response, passages=part) for part in windows(item.response.passages, n)]


def _material(question: Question, window: tuple[int, int] | None) -> Material:
    """What was shown for a stored verdict."""
    i, n = window or (1, 1)
    return _materials(question, n)[i - 1]


def _is_too_long(answer: Generation | Failure) -> bool:
    return isinstance(answer, Failure) and answer.reason == "prompt_too_long"

"""A judge is asked twice a verdict, in windows when the passages do not fit, and never about what rules decide."""

import json

import pytest

from offline_eval.checks.refusal import RefusalCheck
from offline_eval.checks.rubric_verdict import Question, RubricVerdict
from offline_eval.core.evidence import Evidence, Guarantee, ReasonEvidence, RefusalEvidence, VerdictEvidence
from offline_eval.core.protocols import Failure, GenerateRequest, Generation, Item
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Status
from offline_eval.engines.scripted import ScriptedEngine, by_hash, pick
from tests.support.panel_runs import asks_label, dimension_of, make_case, make_response, passages

LONG = make_response(passages=passages(*(f"Sentence number {number}. " * 8 for number in range(16))))


def question(
    dimension: str = "faithfulness", *, case: Case | None = None, response: Response | None = None
) -> Question:
    return Question(item=Item(case=case or make_case(), response=response or make_response()), dimension=dimension)


def split(evidence: list[Evidence]) -> tuple[list[VerdictEvidence], list[ReasonEvidence]]:
    verdicts = [piece for piece in evidence if isinstance(piece, VerdictEvidence)]
    reasons = [piece for piece in evidence if isinstance(piece, ReasonEvidence)]
    assert len(verdicts) + len(reasons) == len(evidence)
    return verdicts, reasons


class Short:
    """A script whose context holds `limit` characters of user text; a window that mentions `marker` is graded 3."""

    def __init__(self, limit: int, marker: str = "nothing") -> None:
        self.limit = limit
        self.marker = marker
        self.labels_asked: list[str] = []

    def __call__(self, request: GenerateRequest) -> Generation | Failure:
        text = request.messages[1].content
        if not asks_label(request):
            return by_hash(request)
        self.labels_asked.append(text)
        if len(text) > self.limit:
            return Failure(reason="prompt_too_long", detail=f"{len(text)} > {self.limit}")
        return pick(request, "3" if self.marker in text else "1")


def test_a_verdict_is_two_requests_with_the_label_written_in_the_second() -> None:
    seen: list[GenerateRequest] = []

    def script(request: GenerateRequest) -> Generation:
        seen.append(request)
        return pick(request, "2") if asks_label(request) else by_hash(request)

    verdicts, reasons = split(RubricVerdict("small", ScriptedEngine(script)).run([question()]))
    assert [request.prefill for request in seen] == ['{"grade":', '{"grade":2,']
    assert (verdicts[0].judge, verdicts[0].rubric, verdicts[0].verdict.grade) == ("small", "faithfulness.en@2", 2)
    assert json.loads(reasons[0].whole or "") == {"grade": 2, "evidence": "scripted", "reason": "scripted"}
    assert reasons[0].quote_verbatim is False
    assert reasons[0].provenance == verdicts[0].provenance
    assert verdicts[0].provenance.engine_fingerprint == ScriptedEngine().info.fingerprint


def test_without_reasons_only_labels_are_asked() -> None:
    engine = ScriptedEngine()
    verdicts, reasons = split(
        RubricVerdict("small", engine, with_reasons=False).run([question(), question("relevance")])
    )
    assert (len(verdicts), len(reasons), engine.requests_seen) == (2, 0, 2)


def test_the_order_of_questions_is_kept_around_what_rules_decide() -> None:
    engine = ScriptedEngine(lambda request: pick(request, "3"))
    questions = [
        question("relevance", response=make_response(answer=":")),
        question("relevance"),
        question("faithfulness", response=make_response(passages=())),
        question("faithfulness"),
    ]
    verdicts, _ = split(RubricVerdict("small", engine, with_reasons=False).run(questions))
    assert [piece.dimension for piece in verdicts] == ["relevance", "relevance", "faithfulness", "faithfulness"]
    assert [(piece.judge, piece.verdict.grade) for piece in verdicts] == [("rule", 1), ("small", 3)] * 2
    assert engine.requests_seen == 2
    assert verdicts[0].provenance.engine_fingerprint is None


def test_a_chinese_case_is_judged_by_the_chinese_rubric_and_others_by_the_english_one() -> None:
    asked = {"年假有几天？": "zh", "How many days?": "en", "休暇は何日ですか？": "en", "Wie viele Tage sind es?": "en"}
    for query, language in asked.items():
        assert question(case=make_case(query=query)).rubric.language == language
    assert question(case=make_case(query="How many days?", language="zh")).rubric.language == "zh"


@pytest.mark.parametrize("guarantee", list(Guarantee))
def test_a_verdict_carries_the_guarantee_of_its_engine(guarantee: Guarantee) -> None:
    verdicts, _ = split(RubricVerdict("small", ScriptedEngine(guarantee=guarantee)).run([question()]))
    assert verdicts[0].guarantee is guarantee


def test_an_item_that_raises_fails_alone() -> None:
    def script(request: GenerateRequest) -> Generation:
        if "UNLUCKY" in request.messages[1].content:
            raise RuntimeError("CUDA error")
        return pick(request, "3") if asks_label(request) else by_hash(request)

    questions = [question(response=make_response(answer=answer)) for answer in ("28 days", "UNLUCKY days", "29 days")]
    verdicts, reasons = split(RubricVerdict("small", ScriptedEngine(script)).run(questions))
    assert [piece.verdict.status.value for piece in verdicts] == ["scored", "failed", "scored"]
    assert verdicts[1].verdict.status_reason == "engine_error: RuntimeError: CUDA error"
    assert len(reasons) == 2  # a failed verdict has nothing to explain


def test_a_reason_that_failed_leaves_its_grade_standing() -> None:
    def script(request: GenerateRequest) -> Generation | Failure:
        return pick(request, "3") if asks_label(request) else Failure(reason="cut_off", detail="too long", raw='"evi')

    verdicts, reasons = split(RubricVerdict("small", ScriptedEngine(script)).run([question()]))
    assert (verdicts[0].verdict.status, verdicts[0].verdict.grade) == (Status.SCORED, 3)
    assert (reasons[0].status, reasons[0].status_reason, reasons[0].raw) == (Status.FAILED, "cut_off: too long", '"evi')


def test_passages_that_do_not_fit_are_judged_in_windows_and_the_best_supporting_one_counts() -> None:
    whole = len(LONG.passages[0].text) * 16
    script = Short(limit=whole // 2, marker="number 11.")
    verdicts, reasons = split(RubricVerdict("small", ScriptedEngine(script)).run([question(response=LONG)]))
    # 1 whole, 2 halves (too long by the query and the answer), 4 quarters.
    assert len(script.labels_asked) == 1 + 2 + 4
    assert (verdicts[0].verdict.grade, verdicts[0].verdict.window) == (
        3,
        (3, 4),
    )  # passages 9 to 12 are the third quarter
    assert verdicts[0].output_tokens == 4
    assert len(reasons) == 1
    assert "".join(text for text in script.labels_asked[3:]).count("Sentence number") == 16 * 8


def test_the_reason_is_asked_over_the_window_that_counted() -> None:
    shown: list[str] = []
    short = Short(limit=len(LONG.passages[0].text) * 8, marker="number 11.")

    def script(request: GenerateRequest) -> Generation | Failure:
        if asks_label(request):
            return short(request)
        shown.append(request.messages[1].content)
        tail = '"evidence":"Sentence number 11.","reason":"There it is."}'
        return Generation(text=tail, prompt_tokens=0, output_tokens=1)

    _, reasons = split(RubricVerdict("small", ScriptedEngine(script)).run([question(response=LONG)]))
    assert "number 11." in shown[0]
    assert "number 1." not in shown[0]
    assert reasons[0].quote_verbatim is True


def test_only_what_was_too_long_is_asked_again() -> None:
    script = Short(limit=len(LONG.passages[0].text) * 12)
    questions = [question(), question(response=LONG), question("relevance", response=LONG)]
    verdicts, _ = split(RubricVerdict("small", ScriptedEngine(script), with_reasons=False).run(questions))
    assert len(script.labels_asked) == 3 + 2
    assert [piece.verdict.window is None for piece in verdicts] == [True, False, True]


def test_what_never_fits_is_failed_and_not_cut() -> None:
    script = Short(limit=10)
    questions = [question(response=LONG), question("relevance", response=LONG)]
    verdicts, reasons = split(RubricVerdict("small", ScriptedEngine(script)).run(questions))
    assert [piece.verdict.status for piece in verdicts] == [Status.FAILED] * 2
    assert all((piece.verdict.status_reason or "").startswith("prompt_too_long: ") for piece in verdicts)
    assert reasons == []


def test_one_window_that_never_fits_fails_the_whole_verdict() -> None:
    def script(request: GenerateRequest) -> Generation | Failure:
        if "number 7." in request.messages[1].content:
            return Failure(reason="prompt_too_long", detail="a text of many tokens")
        return pick(request, "3")

    verdicts, _ = split(
        RubricVerdict("small", ScriptedEngine(script), with_reasons=False).run([question(response=LONG)])
    )
    assert verdicts[0].verdict.status is Status.FAILED
    assert verdicts[0].verdict.status_reason == "prompt_too_long: a text of many tokens"


def test_a_long_query_is_not_divided_because_only_passages_can_be() -> None:
    script = Short(limit=100)
    verdicts, _ = split(RubricVerdict("small", ScriptedEngine(script)).run([question("completeness")]))
    assert len(script.labels_asked) == 1
    assert verdicts[0].verdict.status is Status.FAILED


def test_examiners_are_asked_about_their_own_dimension() -> None:
    asked: list[str] = []

    def script(request: GenerateRequest) -> Generation:
        asked.append(dimension_of(request))
        return pick(request, "2")

    names = ["faithfulness", "relevance", "completeness", "correctness"]
    check = RubricVerdict("small", ScriptedEngine(script), with_reasons=False)
    check.run([question(name) for name in names])
    check.run([question(name, case=make_case(query="年假有几天？")) for name in names])
    assert asked == names * 2


def test_refusals_are_found_in_both_languages_and_failed_responses_say_nothing() -> None:
    answers = ["The documents do not say.", "资料中没有提到。", "28 days.", "28天。"]
    items = [Item(case=make_case(), response=make_response(answer=answer)) for answer in answers]
    items.append(Item(case=make_case(), response=make_response(error="time-out")))
    found = [piece for piece in RefusalCheck().run(items) if isinstance(piece, RefusalEvidence)]
    assert [piece.refused for piece in found] == [True, True, False, False]
    assert [bool(piece.matched) for piece in found] == [True, True, False, False]

"""The evaluation's arithmetic by hand, what counts as right, and the baselines' fair treatment; no model is asked."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from offline_eval.assess.evaluate import evaluate, latency
from offline_eval.assess.evaluate_figures import evaluation_figures
from offline_eval.assess.evaluate_items import Evaluated, evaluate_responses, retrieval_scores
from offline_eval.assess.evaluate_policies import ALWAYS, ASSESSED, RETRIEVAL, Action, decisions
from offline_eval.assess.evaluate_records import EvaluatedItem, GroupReport, PolicyMeasures
from offline_eval.assess.evaluate_text import evaluation_sections
from offline_eval.assess.evaluate_truth import Truth, TruthRule, truth_of
from offline_eval.assess.records import Assessment
from offline_eval.confidence.combine import combine
from offline_eval.confidence.profile import Tier, load_profile
from offline_eval.confidence.signals import Signal, SignalStatus, missing, scored
from offline_eval.core.errors import EngineError
from offline_eval.core.records import Case, Passage, Response
from offline_eval.formats.reader import read_cases, read_responses
from offline_eval.report.page import render_page
from tests.support.assess_stub import stub_assessment

RULE = TruthRule()
DEMO = Path(__file__).resolve().parents[2] / "offline_eval" / "demo"
GENERAL = load_profile("general")


def item(
    case: str,
    *,
    right: bool | None,
    tier: Tier = Tier.ANSWER,
    confidence: float | None = 0.9,
    answerable: bool | None = True,
    asserts: bool = True,
    score: float | None = 1.0,
    system: str = "s",
    signals: Sequence[Signal] = (),
) -> EvaluatedItem:
    return EvaluatedItem(
        case_id=case,
        system=system,
        response_key=f"{system}/{case}",
        language="en",
        answerable=answerable,
        truth=Truth(asserts=asserts, right=right, basis="label", reason=None if right is not None else "unknown"),
        tier=tier,
        confidence=confidence,
        signals=tuple(signals),
        retrieval_score=score,
        ms={"total": 1.0},
    )


def report_of(items: Sequence[EvaluatedItem], **options: float) -> GroupReport:
    found = Evaluated(items, versions={}, notes=())
    return evaluate(found, profile=GENERAL, rule=RULE, resamples=100, **options).groups[0]  # type: ignore[arg-type]


def of(group: GroupReport, policy: str) -> PolicyMeasures:
    return next(found for found in group.policies if found.policy == policy)


ITEMS = (
    item("a", right=True, tier=Tier.ANSWER, confidence=0.9),
    item("b", right=False, tier=Tier.DOUBT, confidence=0.6),
    item("c", right=True, tier=Tier.DOUBT, confidence=0.7),
    item("d", right=False, tier=Tier.ABSTAIN, confidence=0.2, answerable=False),
    item("e", right=False, tier=Tier.ANSWER, confidence=0.8, answerable=False),
    item("f", right=True, tier=Tier.ABSTAIN, confidence=None, answerable=False, asserts=False),
    item("g", right=True, tier=Tier.ABSTAIN, confidence=0.3),
)


def test_the_measures_are_what_they_say() -> None:
    group = report_of(ITEMS)
    ours, always = of(group, ASSESSED), of(group, ALWAYS)
    assert (group.n, group.n_answerable, group.n_unanswerable) == (7, 4, 3)
    assert (group.n_asserted, group.n_wrong) == (6, 3), "f declined, so it is no assertion"
    # wrong assertions: b doubt, d withheld, e sure
    assert (ours.caught.value, ours.caught.n) == (pytest.approx(2 / 3), 3)
    assert ours.withheld_wrong.value == pytest.approx(1 / 3)
    # unanswerable: d withheld, e given, f declined by itself
    assert (ours.effective_refusal.value, ours.effective_refusal.n) == (pytest.approx(2 / 3), 3)
    # answerable: a, b, c given, g withheld
    assert (ours.wrong_refusal.value, ours.wrong_refusal.n) == (pytest.approx(1 / 4), 4)
    assert ours.right_withheld.value == pytest.approx(1 / 3)  # right: a, c given, g withheld
    assert ours.right_given.value == pytest.approx(2 / 4)  # given: a, b, c, e
    assert ours.right_sure.value == pytest.approx(1 / 2)  # sure: a, e
    assert (always.caught.value, always.wrong_refusal.value) == (0, 0)
    assert always.effective_refusal.value == pytest.approx(1 / 3)


def test_the_area_and_its_difference_are_of_the_same_answers() -> None:
    group = report_of(ITEMS)
    # by confidence .9 a, .8 e, .7 c, .6 b, .3 g, .2 d: wrong among the first 1..6 = 0, 1, 1, 2, 2, 3
    area = (0 + 1 / 2 + 1 / 3 + 2 / 4 + 2 / 5 + 3 / 6) / 6
    assert of(group, ASSESSED).aurc.value == pytest.approx(area)
    assert of(group, ALWAYS).aurc.value == pytest.approx(0.5), "without an order the area is the share of wrong ones"
    difference = next(found for found in group.differences if found.baseline == ALWAYS)
    assert difference.difference.value == pytest.approx(area - 0.5)


def test_an_assertion_without_a_number_ranks_last_and_is_counted() -> None:
    items = [item(str(n), right=n > 3, confidence=0.5) for n in range(8)]
    items.append(item("x", right=True, tier=Tier.ABSTAIN, confidence=None))
    group = report_of(items)
    assert group.n_without_number == 1
    assert of(group, ASSESSED).curve[-1].threshold == 0
    assert (of(group, ASSESSED).curve[0].n, of(group, ASSESSED).curve[-1].n) == (8, 9)


def test_what_nobody_knows_is_left_out_and_counted() -> None:
    group = report_of([*ITEMS, item("u", right=None)])
    assert (group.n_unknown, group.n_asserted) == (1, 6)


def test_a_better_confidence_is_called_better_only_with_an_interval_that_says_so() -> None:
    sharp = [item(str(n), right=n % 2 == 0, confidence=0.9 if n % 2 == 0 else 0.1) for n in range(60)]
    blind = [item(str(n), right=n % 2 == 0, confidence=0.5) for n in range(60)]
    for items, verdict in ((sharp, "better"), (blind, "cannot tell")):
        found = next(one for one in report_of(items).differences if one.baseline == ALWAYS)
        assert found.verdict == verdict, found


def test_the_retrieval_threshold_is_never_used_on_the_cases_it_was_tuned_on() -> None:
    """Each case alone has a score that gives its label away; a threshold tuned on itself would be perfect."""
    items = [item(str(n), right=n % 2 == 0, score=float(n)) for n in range(40)]
    way = next(found for found in decisions(items, seed=0) if found.policy == RETRIEVAL)
    mistakes = sum((action is Action.SURE) != (one.truth.right) for action, one in zip(way.actions, items, strict=True))
    assert mistakes >= 10
    informative = [item(str(n), right=n >= 20, score=float(n)) for n in range(40)]
    way = next(found for found in decisions(informative, seed=0) if found.policy == RETRIEVAL)
    wrong = sum((a is Action.SURE) != one.truth.right for a, one in zip(way.actions, informative, strict=True))
    assert wrong <= 4, "where the score tells right from wrong, the baseline is allowed to use it"


def test_responses_without_passages_rank_below_every_score() -> None:
    way = decisions([item("a", right=True, score=None), item("b", right=True, score=-3.0)], seed=0)[2]
    assert way.confidences[0] < way.confidences[1]


def test_the_review_load_is_chosen_on_one_half_and_reported_on_the_other() -> None:
    items = [item(str(n), right=n % 4 != 0, confidence=0.2 if n % 4 == 0 else 0.9) for n in range(200)]
    review = report_of(items, target=0.95).review
    assert review.threshold == pytest.approx(0.9)
    assert review.accuracy.value == 1.0
    assert review.load.value == pytest.approx(0.25, abs=0.08)
    assert review.load.n + round(200 * 0.5) == pytest.approx(200, abs=25)
    hopeless = report_of([item(str(n), right=False) for n in range(20)]).review
    assert hopeless.threshold is None
    assert hopeless.reason == "no threshold reaches an accuracy of 0.9"


def test_leaving_out_the_signal_that_knows_makes_the_area_larger() -> None:
    def with_signals(n: int) -> EvaluatedItem:
        right = n % 2 == 0
        signals = (
            scored("grounding", 0.9 if right else 0.2),
            scored("alignment", 0.5 + (n % 7) / 20),
            missing("consensus", SignalStatus.NOT_APPLICABLE, "one retriever"),
        )
        found = combine(signals, GENERAL)
        return item(str(n), right=right, tier=found.tier, confidence=found.value, signals=signals)

    found = {one.signal: one for one in report_of([with_signals(n) for n in range(80)]).ablations}
    assert found["grounding"].change.value is not None
    assert found["grounding"].change.value > 0.1
    assert found["grounding"].change.interval is not None
    assert found["grounding"].change.interval.low > 0
    assert found["consensus"].change.value == 0
    assert (found["grounding"].n_scored, found["consensus"].n_scored) == (80, 0)


def test_latency_leaves_out_cached_results() -> None:
    items = [item(str(n), right=True).model_copy(update={"ms": {"total": float(n)}}) for n in range(101)]
    items.append(item("c", right=True).model_copy(update={"ms": {}}))
    total = latency(items)[-1]
    assert (total.stage, total.n, total.p50, total.p95, total.most) == ("total", 101, 50.0, 95.0, 100.0)


CASE = Case(id="a", query="How long is the warranty?", answerable=True, reference="The warranty lasts three years.")


@pytest.mark.parametrize(
    ("case", "answer", "metadata", "labelled", "asserts", "right", "basis"),
    [
        (CASE.model_copy(update={"answerable": False}), "Three years.", {}, False, True, False, "answerable"),
        (CASE.model_copy(update={"answerable": False}), "资料中没有提到。", {}, False, False, True, "answerable"),
        (CASE.model_copy(update={"answerable": False}), "", {}, False, False, True, "answerable"),
        (CASE.model_copy(update={"answerable": False}), "No staff are paid that.", {}, True, True, True, "label"),
        (CASE, "The documents do not say.", {}, False, False, False, "answerable"),
        (CASE, "The warranty lasts three years.", {}, False, True, True, "reference"),
        (CASE, "It is blue.", {}, False, True, False, "reference"),
        (CASE, "It is blue.", {"right": True}, False, True, True, "label"),
        (CASE, "Three years.", {"fault": "invented_number"}, True, True, False, "label"),
        (CASE, "It is blue.", {}, True, True, True, "label"),
        (CASE.model_copy(update={"answerable": None, "reference": None}), "Yes.", {}, False, True, None, "unknown"),
        (CASE.model_copy(update={"reference": "保修期为三年"}), "保修期为三年。", {}, False, True, True, "reference"),
    ],
)
def test_what_counts_as_right(
    case: Case,
    answer: str,
    metadata: dict[str, object],
    labelled: bool,
    asserts: bool,
    right: bool | None,
    basis: str,
) -> None:
    response = Response.model_validate({"case_id": case.id, "answer": answer, "metadata": metadata})
    found = truth_of(case, response, rule=RULE, labelled=labelled)
    assert (found.asserts, found.right, found.basis) == (asserts, right, basis)


def test_a_response_that_cannot_be_assessed_counts_as_the_lowest_tier() -> None:
    def fails(case: Case, response: Response) -> Assessment:
        raise EngineError("the encoder has died")

    responses = [Response(case_id="a", answer="The warranty lasts three years."), Response(case_id="b", answer="")]
    cases = [CASE, CASE.model_copy(update={"id": "b"})]
    found = evaluate_responses(cases, responses, assess=fails, rule=RULE)
    assert [one.problem for one in found.items] == ["the encoder has died", "nothing was asserted"]
    assert {one.tier for one in found.items} == {Tier.ABSTAIN}
    assert any("1 answers could not be assessed" in note for note in found.notes)


def test_recorded_retrieval_scores_are_used_and_else_bm25_over_everything_shown() -> None:
    cases = {"a": Case(id="a", query="年假有几天"), "b": Case(id="b", query="parking rules")}
    leave, parking = Passage(id="1", text="年假共有26天。"), Passage(id="1", text="Parking rules: behind the house.")
    responses = [Response(case_id="a", passages=(leave,)), Response(case_id="b", passages=(parking,))]
    scores, origin = retrieval_scores(cases, [*responses, Response(case_id="a", system="none")])
    assert "BM25" in origin
    assert scores[0] is not None
    assert scores[1] is not None
    assert min(scores[0], scores[1]) > 0, "equal ids of different texts are different passages"
    assert scores[2] is None
    crossed = [Response(case_id="a", passages=(parking,)), Response(case_id="b", passages=(leave,))]
    assert retrieval_scores(cases, crossed)[0] == [0.0, 0.0]
    recorded = [Response(case_id="a", passages=(leave.model_copy(update={"score": -2.5}),))]
    assert retrieval_scores(cases, recorded) == ([-2.5], "the best passage's, as recorded")


def test_the_report_is_drawn_and_escaped_on_the_page() -> None:
    items = [item(f"{n}", right=n % 3 != 0, confidence=n / 40, system="<b>系统</b>") for n in range(40)]
    report = evaluate(Evaluated(items, versions={}, notes=()), profile=GENERAL, rule=RULE, resamples=100)
    page = render_page("x", evaluation_sections(report), figures=evaluation_figures(report))
    assert page.count("<svg") == 2
    assert page.count("<polyline") == 4  # three policies, and the reliability curve
    assert "<b>系统" not in page
    assert "<script" not in page


def test_several_systems_are_reported_alone_and_together() -> None:
    items = [item(str(n), right=True, system=name) for n in range(6) for name in ("x", "y")]
    report = evaluate(Evaluated(items, versions={}, notes=()), profile=GENERAL, rule=RULE, resamples=100)
    assert [group.group for group in report.groups] == ["all", "x", "y"]
    assert [group.n for group in report.groups] == [12, 6, 6]


def test_the_demo_systems_are_read_as_their_faults_say() -> None:
    cases = read_cases(DEMO / "cases.jsonl")
    responses = read_responses([DEMO / "answers-careful.jsonl", DEMO / "answers-hasty.jsonl"], cases=cases)
    found = evaluate_responses(
        cases, responses, assess=lambda case, response: stub_assessment(case.query, response.answer), rule=RULE
    )
    report = evaluate(found, profile=GENERAL, rule=RULE, resamples=100)
    careful, hasty = report.groups[1:3]
    assert (careful.n, careful.n_answerable, careful.n_unanswerable) == (80, 68, 12)
    assert careful.n_wrong == 7  # 8 faults, of which 1 is a refusal
    assert hasty.n_wrong == 48  # 55 faults, of which 6 are refusals and 1 says nothing
    # the 12 unanswerable cases: careful corrects 2 questions and declines 9, hasty declines 4
    always = [of(group, ALWAYS).effective_refusal for group in (careful, hasty)]
    assert [(round(one.n * (one.value or 0)), one.n) for one in always] == [(9, 10), (4, 12)]


def test_an_evaluation_of_a_stub_runs_from_recorded_answers() -> None:
    found = evaluate_responses(
        [CASE],
        [Response(case_id="a", answer="The warranty lasts three years.")],
        assess=lambda case, response: stub_assessment(case.query, response.answer),
        rule=RULE,
    )
    only = found.items[0]
    assert (only.tier, only.confidence, only.truth.right) == (Tier.ANSWER, 1.0, True)
    assert only.ms == {"grounding": 1.0, "generate": 4.0, "total": 6.0}

"""Claim metrics on small cases whose right value is known by hand, English and Chinese."""

import pytest

from offline_eval.checks.entailment import EntailmentCheck
from offline_eval.core.evidence import Evidence
from offline_eval.core.protocols import Failure, Item
from offline_eval.core.results import Status
from offline_eval.engines.scripted import ScriptedScorer
from tests.support.claim_runs import METRICS, check_all, claims_evidence, make_item, score_of, supports, values

CLAIM_METRICS = (
    "faithfulness",
    "hallucination",
    "self_knowledge",
    "context_utilization",
    "noise_sensitivity_relevant",
    "noise_sensitivity_irrelevant",
    "claim_recall",
    "claim_precision",
    "claim_recall_reference",
    "claim_f1",
    "context_precision",
    "context_precision_ranked",
    "context_recall",
    "key_point_coverage",
    "answer_correctness",
)


def test_four_claims_three_supported_and_three_reference_claims_two_covered() -> None:
    item = make_item("all that was said", "a passage", reference="the reference")
    known: list[Evidence] = [
        claims_evidence("answer", ["A1.", "A2.", "A3.", "A4."]),
        claims_evidence("reference", ["R1.", "R2.", "R3."]),
    ]
    script = supports(
        *(("the reference", f"A{n}") for n in (1, 2, 3)), *(("all that was said", f"R{n}") for n in (1, 2))
    )
    evidence = EntailmentCheck().run([item], evidence={"system/c1": known}, engine=ScriptedScorer(script))
    found = values(item, evidence, "claim_precision", "claim_recall_reference", "claim_f1")
    # 3/4; 2/3; 2 * 3/4 * 2/3 / (3/4 + 2/3) = 1 / (17/12) = 12/17
    assert found == {
        "claim_precision": 0.75,
        "claim_recall_reference": pytest.approx(2 / 3),
        "claim_f1": pytest.approx(12 / 17),
    }
    assert round(12 / 17, 3) == 0.706


def test_all_passages_useful_is_exactly_one() -> None:
    texts = [f"The library opens at nine, says page {n}." for n in range(7)]
    item = make_item("It opens at nine.", *texts, reference="It opens at nine.")
    evidence = check_all(item, scorer=ScriptedScorer(supports(("nine", "nine"))))
    assert values(item, evidence, "context_precision", "context_precision_ranked") == {
        "context_precision": 1.0,
        "context_precision_ranked": 1.0,
    }


def test_ranked_precision_by_hand() -> None:
    item = make_item("x", "useful one", "noise", "useful two", "noise again", reference="It opens at nine.")
    evidence = check_all(item, scorer=ScriptedScorer(supports(("useful", "nine"))))
    # Useful at ranks 1 and 3: (1/1 + 2/3) / 2 = 5/6; unranked 2/4.
    assert score_of("context_precision_ranked", item, evidence).value == pytest.approx(5 / 6)
    assert score_of("context_precision", item, evidence).value == 0.5


@pytest.mark.parametrize("texts", [(), ("",)])
def test_nothing_in_the_passages_is_faithfulness_zero_and_recall_zero(texts: tuple[str, ...]) -> None:
    item = make_item("It opens at nine.", *texts, reference="It opens at ten.")
    found = values(item, check_all(item, scorer=ScriptedScorer(lambda p, h: 1.0)), "faithfulness", "claim_recall")
    assert found == {"faithfulness": 0.0, "claim_recall": 0.0}


@pytest.mark.parametrize("answer", ["", ":", "Thought process:", "答案："])
def test_an_answer_without_content_states_nothing_and_covers_nothing(answer: str) -> None:
    item = make_item(answer, "It opens at nine.", reference="It opens at nine.")
    found = values(item, check_all(item, scorer=ScriptedScorer(lambda p, h: 1.0)), *CLAIM_METRICS)
    assert found["faithfulness"] == found["claim_precision"] == "no_content"
    assert found["claim_recall_reference"] == found["claim_f1"] == found["key_point_coverage"] == 0.0
    assert found["answer_correctness"] == 0.0
    assert found["claim_recall"] == 1.0


@pytest.mark.parametrize("answer", ["The documents do not say.", "资料中没有提到。"])
def test_no_content_metric_applies_to_a_right_refusal(answer: str) -> None:
    item = make_item(answer, "Some passage.", reference=answer, answerable=False, query="Who? 谁？")
    evidence = check_all(item, scorer=ScriptedScorer(lambda p, h: 1.0))
    scores = {name: score_of(name, item, evidence) for name in CLAIM_METRICS}
    assert {score.status for score in scores.values()} == {Status.NOT_APPLICABLE}
    assert score_of("refusal_recall", item, evidence).value == 1.0
    assert score_of("unsupported_answer_rate", item, evidence).value == 0.0


def test_a_refusal_of_an_answerable_question_states_none_of_the_reference() -> None:
    item = make_item("The documents do not say.", "It opens at nine.", reference="It opens at nine.", answerable=True)
    evidence = check_all(item, scorer=ScriptedScorer(lambda p, h: 1.0))
    found = values(item, evidence, "faithfulness", "claim_recall_reference", "claim_f1", "over_refusal")
    assert found == {"faithfulness": "refusal", "claim_recall_reference": 0.0, "claim_f1": 0.0, "over_refusal": 1.0}


def test_a_name_is_not_supported_by_a_passage_that_repeats_the_query() -> None:
    query = "lithium battery density"
    item = make_item("Marie Curie", query, query=query)
    evidence = check_all(item, scorer=ScriptedScorer())
    assert score_of("faithfulness", item, evidence).value == 0.0


@pytest.mark.parametrize("text", ["今天天气很不错", "五味子", "It opens at nine.", "42"])
def test_an_identical_answer_is_correct_by_rule_even_beside_an_english_encoder(text: str) -> None:
    item = make_item(text, text, reference=text, query="什么？")
    scorer = ScriptedScorer(languages=["en"])
    evidence = check_all(item, scorer=scorer)
    names = ("answer_correctness", "claim_precision", "claim_recall_reference", "claim_f1", "faithfulness")
    assert set(values(item, evidence, *names).values()) == {1.0}


def test_chinese_on_an_english_encoder_is_not_applicable_with_the_language_named() -> None:
    item = make_item("图书馆九点开门。", "图书馆早上九点开放。", reference="九点开馆。", query="几点开门？")
    evidence = check_all(item, scorer=ScriptedScorer(languages=["en"]))
    assert set(values(item, evidence, *CLAIM_METRICS).values()) == {"language: zh"}
    assert {score_of(name, item, evidence).status for name in CLAIM_METRICS} == {Status.NOT_APPLICABLE}


def test_a_chinese_answer_by_hand() -> None:
    item = make_item(
        "员工每年享有15天年假。未休年假可以结转。试用期员工没有年假。",
        "正式员工的年假为15天。",
        "食堂中午十二点开放。",
        "未休完的年假可以结转到次年。",
        reference="年假是15天。未休的年假可以结转。须提前三天申请。",
        query="年假有哪些规定？",
    )
    script = supports(
        ("15天", "15天"),  # passage 1 and the texts themselves
        ("结转", "结转"),  # passage 3 and the texts themselves
    )
    found = values(item, check_all(item, scorer=ScriptedScorer(script)), *CLAIM_METRICS)
    # Answer claims: 15天 (p1, reference), 结转 (p3, reference), 试用期 (nowhere).
    # Reference claims: 15天 (p1, answer), 结转 (p3, answer), 三天申请 (nowhere). Useful passages: p1 and p3 of three.
    third = pytest.approx(1 / 3)
    two_thirds = pytest.approx(2 / 3)
    assert found == {
        "faithfulness": two_thirds,
        "hallucination": third,
        "self_knowledge": 0.0,
        "context_utilization": 1.0,
        "noise_sensitivity_relevant": 0.0,
        "noise_sensitivity_irrelevant": 0.0,
        "claim_recall": two_thirds,
        "claim_precision": two_thirds,
        "claim_recall_reference": two_thirds,
        "claim_f1": two_thirds,
        "context_precision": two_thirds,
        "context_precision_ranked": pytest.approx((1 / 1 + 2 / 3) / 2),
        "context_recall": two_thirds,
        "key_point_coverage": two_thirds,
        "answer_correctness": two_thirds,
    }


def test_what_the_reference_denies_lowers_correctness_and_what_it_leaves_open_does_not() -> None:
    def script(premise: str, hypothesis: str) -> dict[str, float]:
        if "nine" in premise and "nine" in hypothesis:
            return {"entailment": 0.9, "neutral": 0.1, "contradiction": 0.0}
        denied = "free" in hypothesis and "fee" in premise
        return {"entailment": 0.0, "neutral": float(not denied), "contradiction": float(denied)}

    reference = "It opens at nine. There is a fee."
    extra = make_item("It opens at nine daily. It has a garden.", reference=reference)
    denied = make_item("It opens at nine daily. It is free.", reference=reference)
    scorer = ScriptedScorer(script)
    # Stated: 1 of 2 reference claims. Nothing denied: 1/2. One claim denied: 1 / (2 + 1).
    assert score_of("answer_correctness", extra, check_all(extra, scorer=scorer)).value == 0.5
    assert score_of("answer_correctness", denied, check_all(denied, scorer=scorer)).value == pytest.approx(1 / 3)


def test_nothing_retrieved_is_nothing_to_use() -> None:
    item = make_item("It opens at nine.", "noise", reference="It opens at nine.")
    evidence = check_all(item, scorer=ScriptedScorer(lambda p, h: 0.0))
    assert score_of("context_utilization", item, evidence).reason == "nothing_to_use"


def test_no_passages_leave_context_precision_undefined() -> None:
    item = make_item("It opens at nine.", reference="It opens at nine.")
    assert values(item, check_all(item), "context_precision", "context_precision_ranked") == {
        "context_precision": "no_passages",
        "context_precision_ranked": "no_passages",
    }


def test_without_a_reference_only_faithfulness_has_a_value() -> None:
    item = make_item("It opens at nine.", "It opens at nine.")
    evidence = check_all(item, scorer=ScriptedScorer())
    found = dict(values(item, evidence, *CLAIM_METRICS))
    assert found.pop("faithfulness") == 1.0
    assert {found.pop(name) for name in ("context_recall", "key_point_coverage")} == {"no_key_points_and_no_reference"}
    assert set(found.values()) == {"no_reference"}


def test_one_failed_encoder_call_fails_every_metric_that_reads_it_and_no_other() -> None:
    def script(premise: str, hypothesis: str) -> float | Failure:
        return Failure(reason="engine_error", detail="boom") if "bad" in premise else 1.0

    item = make_item("It opens at nine.", "a good passage", "a bad passage", reference="The doors open at nine.")
    evidence = check_all(item, scorer=ScriptedScorer(script))
    assert score_of("faithfulness", item, evidence).status is Status.FAILED
    assert score_of("faithfulness", item, evidence).reason == "engine_error: boom"
    assert score_of("claim_precision", item, evidence).value == 1.0


def test_a_check_that_was_not_run_is_a_failure_and_not_a_zero() -> None:
    item = make_item("It opens at nine.", "x", reference="y")
    assert {(score.status, score.reason) for score in (score_of(name, item, []) for name in CLAIM_METRICS)} == {
        (Status.FAILED, "not_checked")
    }


def test_a_failed_response_fails_on_every_metric() -> None:
    item = make_item("")
    broken = Item(case=item.case, response=item.response.model_copy(update={"error": "time-out"}))
    assert {score_of(name, broken, []).reason for name in CLAIM_METRICS} == {"response_error"}


def test_another_threshold_needs_no_model() -> None:
    item = make_item("It opens at nine.", "It may open at nine.")
    evidence = check_all(item, scorer=ScriptedScorer(lambda p, h: 0.7))
    metric = METRICS.load("faithfulness")
    assert metric.score(item.case, item.response, evidence).value == 1.0
    assert metric.at(0.8).score(item.case, item.response, evidence).value == 0.0

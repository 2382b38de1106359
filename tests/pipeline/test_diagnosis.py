"""Which part is at fault: every rule on a response made for it, by evidence of all checks."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offline_eval.core.diagnosis import TAGS, CaseDiagnosis
from offline_eval.core.protocols import Item
from offline_eval.core.records import Case, Passage, Response
from offline_eval.core.results import Status
from offline_eval.engines.scripted import ScriptedScorer
from offline_eval.pipeline.diagnosis import NO_EVIDENCE, diagnose, diagnose_all, overall
from offline_eval.pipeline.diagnosis_texts import ADVICE, NAMES, PARTS
from offline_eval.pipeline.metric_plan import load_metric
from offline_eval.pipeline.scoring import score_all
from tests.support.claim_runs import check_all, make_item, supports

LIBRARY = ("opens at nine", "opens at nine")
GARDEN = ("garden", "garden")


def tags(item: Item, *true: tuple[str, str], contradicts: tuple[str, str] | None = None) -> list[str]:
    return [cause.tag for cause in diagnosed(item, *true, contradicts=contradicts).causes]


def diagnosed(item: Item, *true: tuple[str, str], contradicts: tuple[str, str] | None = None) -> CaseDiagnosis:
    script: Any = supports(*true)
    if contradicts is not None:
        script = _contradicting(contradicts)
    return diagnose(item, check_all(item, scorer=ScriptedScorer(script)))


def _contradicting(pair: tuple[str, str]) -> Any:
    def script(premise: str, hypothesis: str) -> dict[str, float]:
        p = float(pair[0] in premise and pair[1] in hypothesis)
        return {"entailment": 0.0, "neutral": 1 - p, "contradiction": p}

    return script


def test_a_right_answer_from_the_first_passage_has_no_fault() -> None:
    item = make_item(
        "The library opens at nine.",
        "The library opens at nine.",
        query="When does the library open?",
        reference="It opens at nine.",
        answerable=True,
        relevant_passages={"p1": 1},
    )
    found = diagnosed(item, LIBRARY)
    assert (found.status, found.fault, found.causes) == (Status.SCORED, "none_found", ())
    assert set(found.unchecked) == {"off_topic"}  # no judge and no embedder looked
    assert "relevance_grade: not_judged" in found.unchecked["off_topic"]


def test_expected_passages_that_did_not_come_are_retrievals_fault() -> None:
    item = make_item("Nothing known.", "Parking is free.", relevant_passages={"x1": 1, "x2": 1}, answerable=True)
    found = diagnosed(item)
    cause = next(cause for cause in found.causes if cause.tag == "retrieval_miss")
    assert cause.part == "retrieval"
    assert cause.measured == {"recall": 0.0}  # none of two
    assert cause.reason.en == "retrieval brought 0 % of expected passages (recall)"
    assert cause.reason.zh == "检索只带回了应有段落的 0 %（recall）"


def test_without_expected_ids_key_points_say_what_retrieval_missed() -> None:
    item = make_item(
        "Wir wissen es nicht.",
        "Parking is free.",
        key_points=["It opens at nine.", "It has a garden."],
        answerable=True,
    )
    # one of two key points is half: not less than half
    assert "retrieval_miss" not in tags(item, ("Parking", "garden"))
    assert "retrieval_miss" in tags(item)


def test_a_useful_passage_at_rank_three_is_a_fault_of_ranking_and_at_rank_two_is_not() -> None:
    texts = ("Parking is free.", "Bring coins.", "The library opens at nine.")
    fields: dict[str, Any] = {"query": "When does the library open?", "answerable": True}
    third = make_item("The library opens at nine.", *texts, relevant_passages={"p3": 1}, **fields)
    second = make_item("The library opens at nine.", *texts, relevant_passages={"p2": 1}, **fields)
    assert tags(third, LIBRARY) == ["ranking"]
    assert tags(second, LIBRARY) == []
    assert diagnosed(third, LIBRARY).fault == "retrieval"


def test_wrong_claims_from_irrelevant_passages_are_noise_and_both_parts_fault() -> None:
    item = make_item(
        "The library opens at nine. Parking costs ten euros.",
        "The library opens at nine.",
        "Parking costs ten euros.",
        reference="It opens at nine.",
        answerable=True,
    )
    found = diagnosed(item, LIBRARY, ("Parking", "Parking"))
    assert [(cause.tag, cause.part) for cause in found.causes] == [("noise", "both")]
    assert found.fault == "both"


def test_one_unsupported_claim_of_two_is_invention_and_one_of_four_is_not() -> None:
    half = make_item("The library opens at nine. It has a garden.", "The library opens at nine.")
    assert tags(half, LIBRARY) == ["invention"]
    cause = diagnosed(half, LIBRARY).causes[0]
    assert cause.reason.en == "50 % of the claims have no support (faithfulness 0.5)"
    quarter = make_item(
        "The library opens at nine. Today it opens at nine. It always opens at nine. It has a garden.",
        "The library opens at nine.",
    )
    assert tags(quarter, LIBRARY) == []


def test_a_claim_that_a_passage_contradicts_is_a_contradiction_ignored() -> None:
    item = make_item("The library opens at ten.", "The library opens at nine.")
    found = tags(item, contradicts=("nine", "ten"))
    assert found == ["invention", "contradiction_ignored"]


@pytest.mark.parametrize(
    ("answer", "texts", "is_ignored"),
    [
        ("年假是15天。", ("正式员工的年假为15天。", "正式员工的年假为20天。"), True),
        ("资料互相矛盾：一处写15天，一处写20天。", ("正式员工的年假为15天。", "正式员工的年假为20天。"), False),
        ("年假是15天。", ("正式员工的年假为15天。", "食堂在二楼。"), False),
    ],
)
def test_passages_that_contradict_each_other_have_to_be_named(
    answer: str, texts: tuple[str, ...], is_ignored: bool
) -> None:
    item = make_item(answer, *texts, query="年假有几天？")
    assert ("contradiction_ignored" in tags(item, ("年假", ""))) is is_ignored


def test_key_points_that_retrieval_brought_and_the_answer_leaves_out_make_it_incomplete() -> None:
    points = ["It opens at nine.", "It has a garden.", "It closes at five."]
    both = ("The library opens at nine. It has a garden. It closes at five.",)
    item = make_item("It opens at nine.", *both, key_points=points, answerable=True)
    everything = [("library", "nine"), ("library", "garden"), ("library", "five"), ("It opens at nine.", "nine")]
    found = diagnosed(item, *everything)
    assert [cause.tag for cause in found.causes] == ["incomplete"]
    assert found.causes[0].measured == {"key_point_coverage": pytest.approx(1 / 3), "brought": 1.0}
    # The same answer when retrieval brought no more than it states: not generation's fault.
    fewer = make_item("It opens at nine.", "The library opens at nine.", key_points=points, answerable=True)
    assert tags(fewer, ("opens at nine", "nine")) == ["retrieval_miss"]


def test_answering_what_the_corpus_does_not_hold_should_have_been_a_refusal() -> None:
    item = make_item("The mayor is Ms Li.", "Parking is free.", query="Who is the mayor?", answerable=False)
    assert "should_refuse" in tags(item)
    refusal = make_item("The documents do not say.", "Parking is free.", answerable=False)
    assert diagnosed(refusal).fault == "none_found"


@pytest.mark.parametrize("answer", ["The documents do not say.", "资料中没有提到。"])
def test_refusing_with_the_answer_in_hand_is_over_refusal_and_without_it_is_retrievals_fault(answer: str) -> None:
    fields: dict[str, Any] = {"answerable": True, "relevant_passages": {"p1": 1}}
    assert tags(make_item(answer, "The library opens at nine.", **fields)) == ["over_refusal"]
    missed = make_item(answer, "Parking is free.", answerable=True, relevant_passages={"x": 1})
    found = diagnosed(missed)
    assert [cause.tag for cause in found.causes] == ["retrieval_miss"]
    assert found.fault == "retrieval"


def test_citations_that_do_not_support_their_sentence_are_wrong() -> None:
    item = make_item("The library opens at nine [2].", "The library opens at nine.", "Parking is free.")
    found = diagnosed(item, LIBRARY)
    assert [cause.tag for cause in found.causes] == ["wrong_citation"]
    assert found.causes[0].reason.en == "100 % of the citations do not support their sentence"


def test_a_response_that_failed_has_no_diagnosis() -> None:
    item = Item(case=Case(id="c1", query="?"), response=Response(case_id="c1", error="time-out"))
    found = diagnose(item, [])
    assert (found.status, found.status_reason, found.fault) == (Status.FAILED, "time-out", None)


def test_without_evidence_nothing_is_said_and_what_lacks_is_named() -> None:
    item = make_item("Some answer.", "Some passage.")
    found = diagnose(item, [])
    assert (found.status, found.status_reason, found.fault) == (Status.NOT_APPLICABLE, NO_EVIDENCE, None)
    assert set(found.unchecked) == set(TAGS)
    assert "not_checked" in found.unchecked["invention"]


def test_overall_names_the_part_with_most_faults_and_counts_what_was_not_examined() -> None:
    good = make_item("The library opens at nine.", "The library opens at nine.")
    items, evidence = [], {}
    for place in range(8):
        bad = place < 5
        text = "It has a garden." if bad else "The library opens at nine."
        item = Item(
            case=Case(id=f"c{place}", query="When?"),
            response=Response(case_id=f"c{place}", answer=text, passages=good.response.passages),
        )
        items.append(item)
        evidence[item.response.key] = check_all(item, scorer=ScriptedScorer(supports(LIBRARY)))
    items.append(Item(case=Case(id="c9", query="?"), response=Response(case_id="c9", error="HTTP 500")))
    items.append(Item(case=Case(id="c10", query="?"), response=Response(case_id="c10", answer="x")))
    (found,) = overall(diagnose_all(items, evidence), seed=1)
    assert (found.n, found.failed, found.lacking) == (10, 1, 1)
    assert found.faults == {"retrieval": 0, "generation": 5, "both": 0, "none_found": 3}
    first = found.tags[0]
    assert (first.tag, first.n, first.examined, first.share) == ("invention", 5, 8, 0.625)  # 5 of 8
    # Wilson for 5 of 8: centre (.625 + 3.8415/16) / (1 + 3.8415/8) = .58444; 1.96 sqrt(.0293 + .0150) / 1.4802 = .27871
    assert (first.interval.low, first.interval.high) == (
        pytest.approx(0.3057, abs=1e-4),
        pytest.approx(0.8632, abs=1e-4),
    )
    off_topic = next(count for count in found.tags if count.tag == "off_topic")
    assert (off_topic.examined, off_topic.share, off_topic.interval) == (0, None, None)
    assert sum(off_topic.lacking.values()) == 9
    assert found.reading.en.startswith("Most faults lie in generation (5 of 5")
    assert found.reading.zh.startswith("问题主要在生成（5 条")


def test_every_tag_has_a_name_a_part_and_advice_in_both_languages() -> None:
    for tag in TAGS:
        assert PARTS[tag] in ("retrieval", "generation", "both")
        for text in (NAMES[tag], ADVICE[tag]):
            assert text.en.isascii()
            assert any("\u4e00" <= char <= "\u9fff" for char in text.zh)


def test_scores_that_are_known_are_used_and_the_rest_is_computed() -> None:
    item = make_item("It is free.", "It is free.", reference="It is free.", answerable=True)
    evidence = check_all(item, scorer=ScriptedScorer(supports(("free", "free"))))
    known = score_all(
        [load_metric("faithfulness"), load_metric("hallucination")], [item], {item.response.key: evidence}
    )
    assert diagnose(item, evidence, scores=known) == diagnose(item, evidence)
    invented = known["hallucination"][item.response.key].model_copy(update={"value": 1.0})
    found = diagnose(item, evidence, scores={"hallucination": {item.response.key: invented}})
    assert [cause.tag for cause in found.causes] == ["invention"]


@settings(max_examples=40)
@given(
    answer=st.text(max_size=60),
    texts=st.lists(st.text(max_size=60), max_size=3),
    answerable=st.sampled_from([None, True, False]),
    points=st.lists(st.sampled_from(["年假有15天。", "It opens at nine."]), max_size=2),
)
def test_a_fault_always_follows_from_its_causes(
    answer: str, texts: list[str], answerable: bool | None, points: list[str]
) -> None:
    passages = tuple(Passage(id=f"p{place}", text=text) for place, text in enumerate(texts))
    item = Item(
        case=Case(id="c1", query="年假有几天？", answerable=answerable, key_points=tuple(points)),
        response=Response(case_id="c1", answer=answer, passages=passages),
    )
    found = diagnose(item, check_all(item, scorer=ScriptedScorer()))
    assert found.status is Status.SCORED
    parts = {cause.part for cause in found.causes}
    expected = "none_found" if not parts else (parts.pop() if len(parts) == 1 else "both")
    assert found.fault == expected
    assert not {cause.tag for cause in found.causes} & set(found.unchecked)
    if answerable is False:
        assert not {"retrieval_miss", "ranking", "incomplete", "over_refusal"} & {cause.tag for cause in found.causes}

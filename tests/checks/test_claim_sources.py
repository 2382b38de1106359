"""Where claims and key points come from, and what claims nothing."""

import pytest

from offline_eval.checks.claims import ClaimsCheck
from offline_eval.checks.key_points import KeyPointsCheck
from offline_eval.core.evidence import ClaimsEvidence
from offline_eval.core.protocols import Item
from offline_eval.core.results import Status
from tests.support.claim_runs import make_item


def claims(item: Item, source: str) -> ClaimsEvidence:
    found = [*ClaimsCheck().run([item], evidence={}), *KeyPointsCheck().run([item], evidence={})]
    return next(piece for piece in found if isinstance(piece, ClaimsEvidence) and piece.source == source)


def test_claims_point_at_their_place_in_the_answer() -> None:
    answer = "The museum opened in 1932. 它每周一闭馆。"
    found = claims(make_item(answer), "answer").claims
    assert [claim.text for claim in found] == ["The museum opened in 1932.", "它每周一闭馆。"]
    assert [answer[claim.start : claim.end].strip() for claim in found] == [
        "The museum opened in 1932.",
        "它每周一闭馆。",
    ]


@pytest.mark.parametrize(
    ("answer", "because"),
    [
        ("", "no_content"),
        (":", "no_content"),
        ("Thought process:", "no_content"),
        ("The documents do not say.", "refusal"),
        ("资料中没有提到。", "refusal"),
        ("What do you mean?", "refusal"),  # asking back instead of answering
        ("Isn't 26 days a lot?", "no_statement"),
    ],
)
def test_an_answer_without_statements_says_why(answer: str, because: str) -> None:
    found = claims(make_item(answer), "answer")
    assert (found.claims, found.none_because, found.status) == ((), because, Status.SCORED)


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("Yes. It opens at nine.", ["It opens at nine."]),
        ("不可以。宿舍禁止饲养宠物。", ["宿舍禁止饲养宠物。"]),
        ("Yes.", ["Yes."]),
        ("No room is free.", ["No room is free."]),
        ("可以申请。", ["可以申请。"]),
    ],
)
def test_a_bare_yes_or_no_is_no_claim_beside_another(answer: str, left: list[str]) -> None:
    assert [claim.text for claim in claims(make_item(answer), "answer").claims] == left


def test_the_reference_of_an_unanswerable_case_is_nothing_to_compare_with() -> None:
    item = make_item("Nine.", reference="The documents do not say.", answerable=False)
    assert claims(item, "reference").status_reason == "unanswerable"
    assert claims(item, "key_points").status_reason == "unanswerable"


def test_key_points_are_taken_as_given() -> None:
    item = make_item("Nine.", reference="A is one. B is two.", key_points=["A is one and B is two.", " "])
    assert [claim.text for claim in claims(item, "key_points").claims] == ["A is one and B is two."]


def test_key_points_are_split_from_the_reference_where_none_are_given() -> None:
    item = make_item("Nine.", reference="报销须在三十天内提交。需要附上发票。")
    assert len(claims(item, "key_points").claims) == 2


def test_neither_key_points_nor_reference_is_not_applicable() -> None:
    found = claims(make_item("Nine."), "key_points")
    assert (found.status, found.status_reason) == (Status.NOT_APPLICABLE, "no_key_points_and_no_reference")


def test_key_points_without_a_reference_are_enough() -> None:
    assert claims(make_item("Nine.", key_points=["It opens at nine."]), "key_points").status is Status.SCORED


def test_a_failed_response_has_no_claims_at_all() -> None:
    item = make_item("")
    broken = Item(case=item.case, response=item.response.model_copy(update={"error": "time-out"}))
    assert ClaimsCheck().run([broken], evidence={}) == []

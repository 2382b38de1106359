"""Each edit changes the one thing it is named after and leaves the rest as it was."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.numbers import find_quantities
from offline_eval.training.claim_edits import EDIT_KINDS, edited
from offline_eval.training.claim_rewordings import (
    REWORDINGS,
    as_claim,
    framed,
    joined,
    parts_of,
    reordered,
    reworded_part,
)

TEXT = "Staff receive 26 days of leave a year and 3 days more from 1 March. Requests go to People Operations."
CHINESE = "员工每年享有年假10天，入职满5年的为15天，须在3月31日前休完；年假不得折算工资，由财务部审批。"


def edits(claim: str, premise: str, seed: int = 0) -> dict[str, str]:
    return {edit.kind: edit.text for edit in edited(claim, premise, draw=random.Random(seed))}


@given(seed=st.integers(0, 10_000))
def test_a_new_figure_is_unknown_and_an_exchanged_one_is_known(seed: int) -> None:
    found = edits("员工每年享有年假10天。", CHINESE, seed)
    known = {quantity.value for quantity in find_quantities(CHINESE)}
    assert not {quantity.value for quantity in find_quantities(found["figure"])} <= known
    assert found["figure_swapped"] == "员工每年享有年假15天。"


@given(seed=st.integers(0, 10_000))
def test_a_figure_in_numerals_stays_in_numerals(seed: int) -> None:
    found = edits("员工每年享有年假十天。", CHINESE, seed)
    assert not any(character.isascii() for character in found["figure"] + found["figure_swapped"])


@pytest.mark.parametrize(
    ("claim", "kind", "text"),
    [
        ("年假不得折算工资。", "denial_removed", "年假可以折算工资。"),
        ("访客可以留宿。", "denial_added", "访客不可以留宿。"),
        ("申请须提交。", "denial_added", "申请无须提交。"),
        ("生产线员工不适用弹性工时。", "denial_removed", "生产线员工适用弹性工时。"),
        ("Gifts may be accepted.", "denial_added", "Gifts may not be accepted."),
        ("Fines are never paid.", "denial_removed", "Fines are always paid."),
        ("It cannot be moved.", "denial_removed", "It can be moved."),
        ("Staff receive a card.", "denial_added", "Staff do not receive a card."),
    ],
)
def test_a_denial_comes_or_goes(claim: str, kind: str, text: str) -> None:
    assert edits(claim, "")[kind] == text


@given(seed=st.integers(0, 10_000))
def test_a_date_and_a_name_become_others(seed: int) -> None:
    found = edits("3月31日前由财务部审批。", CHINESE, seed)
    assert found["date"] != "3月31日前由财务部审批。"
    assert found["date"].endswith("日前由财务部审批。")
    assert "财务部" not in found["name"]
    assert found["name"].startswith("3月31日前由")
    assert "People Operations" not in edits("Requests go to People Operations.", TEXT, seed)["name"]


@pytest.mark.parametrize("claim", ["班次由系统安排。", "Nothing here."])
def test_a_claim_without_figure_date_and_name_gets_no_such_edit(claim: str) -> None:
    assert not {"figure", "figure_swapped", "date", "name"} & set(edits(claim, claim))


@given(claim=st.text(max_size=60), premise=st.text(max_size=60), seed=st.integers(0, 9))
def test_any_text_gives_known_kinds_and_changed_claims(claim: str, premise: str, seed: int) -> None:
    found = edits(claim, premise, seed)
    assert set(found) <= set(EDIT_KINDS)
    assert claim not in found.values()


def test_a_passage_is_cut_at_sentences_and_semicolons() -> None:
    assert parts_of("请假须提前3天申请；不得事后补假。第二句也有一句话。") == [
        "请假须提前3天申请",
        "第二句也有一句话",
    ]  # 不得事后补假 is too short to say something by itself
    assert parts_of("Cards are issued on day one; they expire. Nobody pays.") == [
        "Cards are issued on day one",
        "they expire",
        "Nobody pays",
    ]


@given(seed=st.integers(0, 10_000))
def test_rewordings_keep_the_quantities(seed: int) -> None:
    for part in ("员工不得在30天内提交2次申请（分机6120）", "Staff receive at most 8 weeks and £2,000 a year"):
        for form in reworded_part(part, draw=random.Random(seed)):
            assert form.kind in REWORDINGS
            if form.kind != "shortened":
                keys = sorted(quantity.key for quantity in find_quantities(part))
                assert sorted(quantity.key for quantity in find_quantities(form.text)) == keys


def test_parts_are_joined_in_either_order_and_framed() -> None:
    assert joined("甲方负责。", "乙方付款") == "甲方负责，另外，乙方付款。"
    assert joined("Staff pay.", "The card is free.") == "Staff pay, and the card is free."
    assert joined("Staff pay", "Harbour is free") == "Staff pay, and Harbour is free."
    assert reordered("先申请", "后审批") == "后审批；先申请。"
    assert reordered("it is free", "pay later") == "Pay later. It is free."
    assert as_claim("it is free") == "It is free."
    for seed in range(20):
        assert "甲方负责" in framed("甲方负责。", draw=random.Random(seed))
        assert "taff pay" in framed("Staff pay.", draw=random.Random(seed))

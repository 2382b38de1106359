import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.claims import split_claims, strip_citations

MARKED = (Path(__file__).parent / "data" / "claims_zh_marked.txt").read_text(encoding="utf-8")


def test_a_chinese_answer_of_2000_characters_is_split_as_marked_by_hand() -> None:
    answer = MARKED.replace("⟦", "").replace("⟧", "")
    assert len(answer) > 2000
    expected = [strip_citations(claim).rstrip("；") for claim in re.findall("⟦(.*?)⟧", MARKED)]
    assert len(expected) == 94
    assert [claim.text for claim in split_claims(answer)] == expected


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("年假15天[1]；婚假3天【2】。", ["年假15天", "婚假3天。"]),
        ("他说“可以；也不可以”。", ["他说“可以；也不可以”。"]),
        ("如果丢失设备，并且有数据，应当报告。", ["如果丢失设备，并且有数据，应当报告。"]),
        ("这不是自然年，而是周岁。", ["这不是自然年，而是周岁。"]),
        ("安全并且高效。", ["安全并且高效。"]),
        ("规定如下：\n- 甲方付款\n- 乙方交货", ["甲方付款", "乙方交货"]),
        ("He was born in Paris and the family moved to Rome.", ["He was born in Paris", "the family moved to Rome."]),
        (
            "Paris is the capital of France and has 2 million people.",
            ["Paris is the capital of France and has 2 million people."],
        ),
        ("Apples and pears are fruit.", ["Apples and pears are fruit."]),
        ("If it rains and the roof leaks, call us.", ["If it rains and the roof leaks, call us."]),
        ("The fee is 20 dollars; it covers lunch. [1]", ["The fee is 20 dollars", "it covers lunch."]),
        ("The answer is:\n1. Paris [doc-3]\n2. Rome (source: atlas)\nDo you need more?", ["Paris", "Rome"]),
        ("Solution:", []),
        ("", []),
    ],
)
def test_single_statements_are_cut_out(answer: str, claims: list[str]) -> None:
    assert [claim.text for claim in split_claims(answer)] == claims


def test_a_claim_knows_its_sentence_and_place() -> None:
    answer = "年假为15天，并且可以结转。[1]"
    first, second = split_claims(answer)
    assert second.text == "可以结转。"
    assert first.sentence == second.sentence == "年假为15天，并且可以结转。"
    assert answer[first.start : first.end] == "年假为15天"


def test_five_hundred_facts_are_five_hundred_claims() -> None:
    assert len(split_claims("".join(f"第{number}号房间在三楼。" for number in range(500)))) == 500


@given(st.one_of(st.text(), st.text(alphabet="；;，,并且而同时但andbut \n。.[1]“”（）-•该是有")))
def test_claims_are_in_order_inside_the_answer(answer: str) -> None:
    at = 0
    for claim in split_claims(answer):
        assert at <= claim.start < claim.end <= len(answer)
        assert any(map(str.isalnum, claim.text))
        at = claim.end

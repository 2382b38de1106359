"""Questions with slips of spelling are found; those in which one word is put in another's place are not."""

import pytest

from offline_eval.testset.misspelt import Misspelt, has_slips_alone
from offline_eval.testset.rule_variants import rule_variant
from offline_eval.testset.shared_runs import units


@pytest.mark.parametrize(
    ("question", "copy"),
    [
        ("Who approves travel costs?", "who aproves travl costs"),
        ("How many vacation days do employees get?", "How many vacaton days do employes get?"),
        ("How many vacation days do employees get?", "Howmany vacation days do employees get"),
        ("When does the canteen open?", "When does teh canten open?"),
        ("What is the notice period?", "Wat is the notice periud?"),
        ("年假可以休几天？", "年架可以休几天？"),
        ("报销需要谁审批？", "报销须要谁审批？"),
    ],
)
def test_slips_are_seen_through(question: str, copy: str) -> None:
    [found] = Misspelt({"k": question}, least=0.4).alike(copy)
    assert found.key == "k"
    assert 0.4 <= found.likeness < 1 or copy.startswith("Howmany")


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("How many sick days do employees get?", "How many vacation days do employees get?"),
        ("Who pays for maternity leave?", "Who pays for paternity leave?"),
        ("Who may increase the budget?", "Who may decrease the budget?"),
        ("Is paid leave taxed?", "Is unpaid leave taxed?"),
        ("How many days in 2024?", "How many days in 2025?"),
        ("Who approves travel costs?", "When are travel costs aproved?"),
        ("Who approves travel costs?", "Who approves travel costs?"),  # the same words are another method's
        ("报销3000元需要谁审批？", "报销3000元需要谁通知？"),
        ("全职员工每年有多少天带薪年休假？", "全职员工每年有多少天带薪病假？"),
        ("可以报销吗？", "不可以报销吗？"),
    ],
)
def test_another_question_is_no_misspelt_one(question: str, other: str) -> None:
    assert Misspelt({"k": question}, least=0.1).alike(other) == []


def test_likeness_is_that_of_runs_of_letters_and_the_limit_counts() -> None:

    assert Misspelt({"k": "abcd efgh"}, least=0.01).alike("abxcd efgh")[0].likeness == pytest.approx(4 / 9)
    # abcdefgh: abc bcd cde def efg fgh; abxcdefgh: abx bxc xcd cde def efg fgh: 4 shared of 9.
    assert Misspelt({"k": "abcd efgh"}, least=0.45).alike("abxcd efgh") == []


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How long do employees have to keep their travel receipts?", "en"),
        ("公司员工报销差旅费用需要在多久之内提交申请？", "zh"),
    ],
)
def test_what_the_typos_rule_writes_is_found(question: str, language: str, seed: int) -> None:
    written = rule_variant(question, "typos", language=language, seed=seed)  # type: ignore[arg-type]
    assert written is not None
    assert [found.key for found in Misspelt({"k": question}, least=0.4).alike(written)] == ["k"]


def test_function_words_may_come_and_go() -> None:
    assert has_slips_alone(units("Please tell me who approves it"), units("who aproves it"))
    assert not has_slips_alone(units("who never approves it"), units("who approves it"))

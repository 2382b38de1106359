"""The shipped default encoders on small cases of what goes wrong elsewhere; the rate they reach is printed."""

import sys

import pytest

from offline_eval.checks._support import support_of
from offline_eval.engines.feature_scorer import open_default_scorer

TRUE = [
    ("The library opens at nine in the morning and closes at six.", "The library opens at nine."),
    ("Employees are entitled to 15 days of annual leave per year.", "Employees get 15 days of annual leave."),
    ("Receipts must be submitted within 30 days of the purchase.", "Receipts have to be submitted within 30 days."),
    ("The Nile is about 6,650 km long.", "The Nile is 6,650 km long."),
    ("The museum opened on 3 December 1932 in Vienna.", "The museum opened in Vienna on December 3, 1932."),
    ("正式员工每年享有15天年假。", "员工每年有15天年假。"),
    ("图书馆早上九点开放，晚上六点关门。", "图书馆九点开门。"),
    ("报销单须在30天内提交财务部。", "报销单须在三十天内提交。"),
    ("未休完的年假可以结转到次年三月底。", "未休年假可以结转。"),
    ("五味子是一种中药材。", "五味子是中药材。"),
]
FALSE = [
    ("lithium battery density", "Marie Curie discovered it."),
    ("The library opens at nine in the morning.", "The library opens at ten."),
    ("Employees are entitled to 15 days of annual leave per year.", "Employees get 20 days of annual leave."),
    ("Unused leave may not be carried over.", "Unused leave may be carried over to the next year."),
    ("The museum opened in 1932 in Vienna.", "The museum opened in 1932 in Berlin."),
    ("Parking is free for visitors.", "The canteen serves lunch until two."),
    ("正式员工每年享有15天年假。", "员工每年有20天年假。"),
    ("图书馆早上九点开放。", "食堂在东门旁边。"),
    ("未休年假不可以结转。", "未休年假可以结转到次年。"),
    ("报销单须在30天内提交财务部。", "报销单须在60天内提交财务部。"),
]


@pytest.mark.parametrize("name", ["default-support"])
def test_the_default_scorer_tells_most_of_these_apart(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    scorer = open_default_scorer(name, with_encoder=False)
    found = support_of([*TRUE, *FALSE], scorer)
    right = [(found[pair].entailment or 0.0) >= 0.5 for pair in TRUE]
    right += [(found[pair].entailment or 0.0) < 0.5 for pair in FALSE]
    with capsys.disabled():
        sys.stdout.write(f"\n{name} without its embedder: {sum(right)} of {len(right)} pairs right\n")
        for pair, ok in zip([*TRUE, *FALSE], right, strict=True):
            if not ok:
                sys.stdout.write(f"  wrong, support {found[pair].entailment}: {pair}\n")
    assert sum(right) >= 0.8 * len(right)

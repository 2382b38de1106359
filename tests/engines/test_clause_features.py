"""A figure or a denial moved to another clause is seen, and a bound or another cut of the clauses is no denial."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.engines.clause_features import CLAUSES, clause_features

POSTS = "推荐人可获得奖金：普通岗位3000元，在转正后发放，另有证书，研发岗位6000元。人事部员工不发奖金，其他员工照常。"
LEAVE = "Staff receive 26 days of leave, which is booked in Harbour, and unused days may not be carried over."


def features(text: str, claim: str) -> dict[str, float]:
    return dict(zip(CLAUSES, clause_features(text, claim), strict=True))


def test_a_figure_of_another_clause_is_elsewhere() -> None:
    assert features(POSTS, "普通岗位3000元。")["figures_elsewhere"] == 0
    assert features(POSTS, "普通岗位6000元。")["figures_elsewhere"] == 1
    assert features(POSTS, "普通岗位5000元。")["figures_elsewhere"] == 0  # it stands nowhere: `figures_missing`


def test_a_figure_with_another_unit_is_missing() -> None:
    assert features(LEAVE, "Staff receive 26 days.")["units_missing"] == 0
    assert features(LEAVE, "Staff receive 26 weeks.")["units_missing"] == 1
    assert features(POSTS, "普通岗位三千元。")["units_missing"] == 0


@pytest.mark.parametrize(
    ("text", "claim", "differing"),
    [
        (POSTS, "人事部员工不发奖金。", 0),
        (POSTS, "人事部员工发奖金。", 1),
        (LEAVE, "Unused days may be carried over.", 1),
        (LEAVE, "Unused days may not be carried over.", 0),
        ("费用在3000元以内的不签服务协议。", "费用在3000元以内的，不签服务协议。", 0),
        ("省会城市住宿不超过400元。", "省会城市住宿的标准是400元。", 0),
        ("每月加班不得超过36小时。", "每月加班最多36小时。", 0),
        ("Staff may take no more than 3 days off.", "Staff may take at most 3 days off.", 0),
        (POSTS, "食堂不供应晚餐。", 0),
    ],
)
def test_denials_are_compared_where_the_clauses_fit(text: str, claim: str, differing: int) -> None:
    assert features(text, claim)["denials_differ"] == differing


def test_thousands_and_times_are_not_cut() -> None:
    assert features("Up to £2,000 is paid at 9:30.", "£2,000 is paid at 9:30.") == dict.fromkeys(CLAUSES, 0.0)


@given(text=st.text(max_size=200))
def test_a_text_differs_in_nothing_from_itself(text: str) -> None:
    assert features(text, text)["units_missing"] == 0


@given(text=st.text(max_size=200), claim=st.text(max_size=80))
def test_every_feature_is_a_finite_count(text: str, claim: str) -> None:
    found = features(text, claim)
    assert tuple(found) == CLAUSES
    assert all(math.isfinite(value) and value >= 0 and value == int(value) for value in found.values())

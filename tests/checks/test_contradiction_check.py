"""Passages against each other: numbers, dates and negation by rule, the rest by a model that may not be there."""

import pytest

from offline_eval.checks._statements import conflict_by_rule, denied_at, statement_of
from offline_eval.checks.contradiction import ContradictionCheck
from offline_eval.core.evidence import ContradictionEvidence
from offline_eval.core.protocols import Failure
from offline_eval.engines.scripted import ScriptedScorer
from tests.support.claim_runs import make_item


@pytest.mark.parametrize(
    ("first", "second", "by"),
    [
        ("Employees get 15 days of annual leave.", "Employees get 10 days of annual leave.", "number"),
        ("员工每年有15天年假。", "员工每年有十天年假。", "number"),
        ("The fee is 20 euros a month.", "The fee is 25 euros a month.", "number"),
        ("The museum opened in 1932.", "The museum opened in 1935.", "date"),
        ("报名截止日期是3月5日。", "报名截止日期是3月15日。", "date"),
        ("Unused leave may be carried over.", "Unused leave may not be carried over.", "negation"),
        ("未休年假可以结转。", "未休年假不可以结转。", "negation"),
        # The same value in other words.
        ("员工每年有15天年假。", "员工每年有十五天年假。", None),
        ("The fee is due on 3 December.", "The fee is due on December 3.", None),
        # Several quantities differ: other times, other things.
        ("In 2020 revenue was 5 million dollars.", "In 2021 revenue was 6 million dollars.", None),
        # Other subjects.
        ("The museum opened in 1932.", "The bridge collapsed in 1935.", None),
        ("Staff may park here.", "Visitors may not smoke in the garden.", None),
        ("员工不得不加班。", "员工需要加班。", None),
        ("Meals cost 10 euros, drinks 3 euros.", "Meals cost 10 euros.", None),
        # A part of the date, a rounded number, a bound.
        ("The app was released in February 2010.", "The app was released in 2010.", None),
        ("The Nile is 6,650 km long.", "The Nile is about 6,700 km long.", None),
        ("The club has more than 200 members.", "The club has 260 members.", None),
        ("俱乐部有200名以上会员。", "俱乐部有260名会员。", None),
        # The same bound in other words, and a value within it.
        ("住宿费每晚不超过400元。", "住宿费每晚最多400元。", None),
        ("住宿费每晚不超过400元。", "住宿费每晚350元。", None),
        ("加班每月不得多于36小时。", "加班每月至多36小时。", None),
        ("申请应不晚于3月5日提交。", "申请应在3月1日提交。", None),
        ("人数不小于5人。", "人数是8人。", None),
        ("Leave is no more than 3 days.", "Leave is at most 3 days.", None),
        ("Overtime must not exceed 8 hours.", "Overtime was 6 hours.", None),
        ("试用期不得超过6个月，超过的无效。", "试用期不得超过6个月，超过的都无效。", None),
        # A bound turned round.
        ("住宿费每晚不超过400元。", "住宿费每晚超过400元。", "negation"),
        ("人数不低于5人。", "人数低于5人。", "negation"),
        ("工龄不满3年。", "工龄满3年。", "negation"),
        ("Leave is no more than 3 days.", "Leave is more than 3 days.", "negation"),
        ("Overtime may not exceed 8 hours.", "Overtime may exceed 8 hours.", "negation"),
        # One more of something is no second.
        ("Staff need a second factor to sign in.", "Staff need a second factor to sign in within 5 seconds.", None),
    ],
)
def test_rules_see_numbers_dates_and_denials_of_the_same_statement(first: str, second: str, by: str | None) -> None:
    assert conflict_by_rule(statement_of(first), statement_of(second)) == by
    assert conflict_by_rule(statement_of(second), statement_of(first)) == by


def test_a_claim_is_denied_where_its_value_stands_nowhere_else_in_the_premise() -> None:
    premise = "Hello there. The fee was 20 euros."
    assert denied_at(premise, "The fee was 25 euros.") == (13, 34)
    assert denied_at(f"{premise} Visitors now pay 25 euros.", "The fee was 25 euros.") is None
    assert denied_at(premise, "The fee was 20 euros.") is None
    assert denied_at(premise, "The fee was low.") is None
    assert denied_at("正式员工每年享有15天年假。", "员工每年享有20天年假。") == (0, 14)


def check(*texts: str, scorer: ScriptedScorer | None = None) -> ContradictionEvidence:
    found = ContradictionCheck().run([make_item("An answer.", *texts)], evidence={}, engine=scorer)[0]
    assert isinstance(found, ContradictionEvidence)
    return found


def nli(contradiction: float) -> ScriptedScorer:
    return ScriptedScorer(
        lambda p, h: {"entailment": 0.0, "neutral": 1 - contradiction, "contradiction": contradiction}
    )


def test_a_conflict_names_both_passages_sentences_and_what_found_it() -> None:
    found = check("Hello there. Leave is 15 days a year.", "Other text.", "Leave is 12 days a year.")
    assert found.pairs == 3
    (conflict,) = found.conflicts
    assert (conflict.first_id, conflict.second_id, conflict.by) == ("p1", "p3", "number")
    assert (conflict.first, conflict.second) == ("Leave is 15 days a year.", "Leave is 12 days a year.")


def test_the_model_is_asked_about_the_same_subject_in_both_directions() -> None:
    scorer = nli(0.9)
    found = check("The library is open to everyone.", "The library is open to members.", scorer=scorer)
    assert [(conflict.by, conflict.probability) for conflict in found.conflicts] == [("nli", 0.9)]
    assert found.by_model
    assert len(scorer.pairs_seen) == 2


def test_a_contradiction_in_one_direction_only_is_none() -> None:
    def script(premise: str, hypothesis: str) -> dict[str, float]:
        p = 0.9 if "everyone" in premise else 0.1
        return {"entailment": 0.0, "neutral": 1 - p, "contradiction": p}

    texts = ("The library is open to everyone.", "The library is open to members.")
    assert check(*texts, scorer=ScriptedScorer(script)).conflicts == ()


def test_unrelated_sentences_and_decided_ones_are_not_asked_about() -> None:
    scorer = nli(0.9)
    check("The library is open.", "Parking costs money.", scorer=scorer)
    check("Leave is 15 days a year.", "Leave is 12 days a year.", scorer=scorer)
    assert scorer.pairs_seen == []


def test_rules_stand_alone_when_the_model_cannot_be_asked_and_the_evidence_says_why() -> None:
    english = ("The library is open to everyone.", "The library is open to members.")
    chinese = ("图书馆周末对所有读者开放。", "图书馆周末对部分读者开放。")
    assert check(*english).model_reason == "no_engine"
    assert check(*english, scorer=ScriptedScorer(lambda p, h: 0.9)).model_reason == (
        "the model does not tell contradictions apart"
    )
    assert check(*chinese, scorer=ScriptedScorer(languages=["en"])).model_reason == "language: zh"
    broken = ScriptedScorer(lambda p, h: Failure(reason="engine_error", detail="boom"))
    found = check(*english, scorer=broken)
    assert (found.by_model, found.model_reason) == (False, "engine_error: boom")

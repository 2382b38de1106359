"""Metric names and groups to checks and engines: everything that is needed, nothing else, in an order that works."""

import pytest

from offline_eval.core.errors import UnknownNameError, UsageError
from offline_eval.judge.panel import load_panel
from offline_eval.pipeline.metric_plan import (
    METRICS,
    checks_for,
    engine_kinds,
    load_check,
    load_metric,
    metric_groups,
    needs_panel,
    resolve_metrics,
)

PANEL = load_panel("three-examiners")


def test_every_metric_is_in_one_group_and_its_name_is_its_files() -> None:
    groups = metric_groups()
    assert set(groups) == {"panel", "claims", "context", "answer", "refusal", "robustness", "retrieval"}
    assert sorted(name for names in groups.values() for name in names) == METRICS.names()
    assert [load_metric(name).name for name in METRICS.names()] == METRICS.names()


def test_every_card_says_what_a_card_must_say() -> None:
    from importlib import import_module

    for group in ("claims", "context", "answer", "refusal", "robustness"):
        for name in metric_groups()[group]:
            card = import_module(METRICS.module(name)).__doc__ or ""
            lacking = [
                part
                for part in ("Definition:", "Range:", "Needs:", "Undefined:", "Differs:", "Source:")
                if f"\n{part} " not in card
            ]
            assert lacking == [], name


def test_groups_names_commas_and_all() -> None:
    assert resolve_metrics(["panel"], PANEL) == (
        "total_grade",
        "faithfulness_grade",
        "relevance_grade",
        "completeness_grade",
    )
    assert resolve_metrics(["faithfulness, claim_f1", "faithfulness"], PANEL) == ("faithfulness", "claim_f1")
    assert resolve_metrics(["ndcg@10", "recall(rel=2)@5"], PANEL) == ("ndcg@10", "recall(rel=2)@5")
    # Every metric but the grade of the examiner that this panel does not have.
    assert sorted(resolve_metrics(["all"], PANEL)) == sorted(set(METRICS.names()) - {"correctness_grade"})


def test_an_unknown_name_answers_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'faithfulness'"):
        resolve_metrics(["faithfulnes"], PANEL)
    with pytest.raises(UnknownNameError, match="did you mean 'claims'"):
        resolve_metrics(["claimss"], PANEL)
    with pytest.raises(UsageError):
        resolve_metrics(["ndcg@ten"], PANEL)


def test_the_panel_needs_judges_and_no_encoder() -> None:
    metrics = resolve_metrics(["panel"], PANEL)
    assert needs_panel(metrics)
    assert checks_for(metrics) == ("refusal",)
    assert engine_kinds(checks_for(metrics)) == []


def test_claims_need_an_encoder_and_no_judge() -> None:
    metrics = resolve_metrics(["claims"], PANEL)
    assert not needs_panel(metrics)
    assert checks_for(metrics) == ("claims", "key_points", "refusal", "entailment")
    assert engine_kinds(checks_for(metrics)) == ["nli"]


def test_refusal_and_ids_need_nothing_at_all() -> None:
    for wanted in ("refusal", "retrieval", "context_precision_ids", "variant_answer_drift"):
        assert checks_for(resolve_metrics([wanted], PANEL)) == ("refusal",)


def test_a_drift_needs_what_the_metric_it_compares_needs() -> None:
    assert "entailment" in checks_for(["variant_score_drift"])
    named = resolve_metrics(["variant_score_drift(of=total_grade)"], PANEL)
    assert named == ("variant_score_drift(of=total_grade)",)
    assert needs_panel(named)
    assert checks_for(named) == ("refusal",)
    with pytest.raises(UnknownNameError):
        resolve_metrics(["variant_score_drift(of=total)"], PANEL)


def test_checks_come_after_those_they_read_and_each_engine_is_loaded_once() -> None:
    checks = checks_for(resolve_metrics(["all"], PANEL), judge_claims=True, screen=True)
    assert len(checks) == len(set(checks))
    for place, name in enumerate(checks):
        assert set(load_check(name).needs) <= set(checks[:place])
    engines = [engine for name in checks if (engine := load_check(name).engine) is not None]
    changes = [engine for place, engine in enumerate(engines) if place == 0 or engines[place - 1] != engine]
    assert changes == ["judge", "nli", "answerability", "embedder"]
    assert checks.index("judge_claims") < checks.index("entailment") < checks.index("screen")

"""A gate on what a run never collected, or on what applies to none of its cases, fails with its reason."""

import json
from pathlib import Path

import pytest

from offline_eval.pipeline.metric_plan import METRICS
from tests.support.junit_schema import check_junit
from tests.support.panel_runs import Judges, execute, make_case, make_config, make_response, many
from tests.support.program_call import call

LIMITS = (
    "at_least: -1000",
    "at_most: 1000",
    "at_least: -1000, use: value",
    "at_most: 1000, use: value",
    "at_most: 1000, case_at_least: -1000",
    "at_least: 0, case_at_most: 1000, use: value",
    "at_least: -1000, slice: query_type=factual",
)
"""Each lets every value through that there is."""
COLLECTED = {"total_grade", "faithfulness_grade", "relevance_grade", "completeness_grade", "fallback_rate"}
"""By a panel, which looks for refusals first."""
_NEEDS_MORE_OF_A_CASE = ("retrieval", "robustness", "refusal")
NOWHERE = {name for name in METRICS.names() if METRICS.module(name).split(".")[-2] in _NEEDS_MORE_OF_A_CASE} - COLLECTED
NOWHERE |= {"context_precision_ids"}
"""Need rankings, variants, relevant passages or whether a case is answerable, which these cases lack."""
UNCOLLECTED = sorted({*METRICS.names()} - COLLECTED - NOWHERE)


@pytest.fixture(scope="module")
def judged_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve cases with grades and no other evidence."""
    path = tmp_path_factory.mktemp("judged") / "run.sqlite"
    execute(path, make_config(), *many(12), Judges()).close()
    return path


def gate(run: Path, folder: Path, *rows: str, format: str = "json") -> tuple[int, str]:
    """Exit code and output of `offline-eval gate`."""
    path = folder / "gates.yaml"
    path.write_text("gates:\n" + "".join(f"  - {{{row}}}\n" for row in rows), "utf-8")
    return call(["gate", str(run), "--gates", str(path), "--format", format])


def test_there_is_something_to_gate_on() -> None:
    assert {"faithfulness", "citation_precision", "key_point_coverage", "context_recall"} <= set(UNCOLLECTED)
    assert {"refusal_recall", "ndcg", "variant_answer_drift"} <= NOWHERE


@pytest.mark.parametrize("limit", LIMITS)
def test_a_gate_on_evidence_that_was_never_collected_fails_and_names_the_option_that_collects_it(
    judged_run: Path, tmp_path: Path, limit: str
) -> None:
    code, said = gate(judged_run, tmp_path, *(f"metric: {name}, {limit}" for name in UNCOLLECTED))
    assert code == 1, said
    found = json.loads(said)
    assert not found["passed"]
    assert len(found["results"]) == len(UNCOLLECTED)
    for row in found["results"]:
        assert (row["outcome"], row["value"], row["n"]) == ("undetermined", None, 0), row
        assert row["reason"].startswith("nothing was scored ("), row
        assert "evidence_not_collected: offline-eval run … --" in row["reason"], row


@pytest.mark.parametrize("limit", LIMITS)
def test_a_gate_on_a_metric_that_applies_to_no_case_fails_and_says_why(
    judged_run: Path, tmp_path: Path, limit: str
) -> None:
    code, said = gate(judged_run, tmp_path, *(f"metric: {name}, {limit}" for name in sorted(NOWHERE)))
    assert code == 1, said
    for row in json.loads(said)["results"]:
        assert (row["outcome"], row["n"]) == ("undetermined", 0), row
        assert row["reason"].startswith(("nothing was scored (not_applicable: ", "nothing was scored (failed: ")), row


def test_one_such_gate_fails_a_run_that_passes_all_others(judged_run: Path, tmp_path: Path) -> None:
    passing = "metric: total_grade, at_least: 1, use: value"
    assert gate(judged_run, tmp_path, passing)[0] == 0
    for missing in ("metric: faithfulness, at_least: 0", "metric: coverage, of: faithfulness, at_least: 0"):
        code, said = gate(judged_run, tmp_path, passing, missing, format="table")
        assert code == 1
        assert "Gates failed: 1 of 2" in said


def test_a_difference_to_a_baseline_that_lacks_it_too_is_no_pass(judged_run: Path, tmp_path: Path) -> None:
    path = tmp_path / "gates.yaml"
    path.write_text("gates:\n  - {metric: faithfulness, at_least: -1, difference: true}\n", "utf-8")
    code, said = call(["gate", str(judged_run), "--gates", str(path), "--baseline", str(judged_run)])
    assert code == 1
    assert "no pair was scored on both sides" in " ".join(said.split())


def test_a_server_is_told_why(judged_run: Path, tmp_path: Path) -> None:
    code, said = gate(judged_run, tmp_path, "metric: faithfulness, at_least: 0", format="junit")
    assert code == 1
    failure = check_junit(said).find(".//failure")
    assert failure is not None
    assert failure.attrib["type"] == "undetermined"
    assert "evidence_not_collected: offline-eval run … --metrics claims" in failure.attrib["message"]


def test_grades_that_apply_to_no_answer_pass_no_gate(tmp_path: Path) -> None:
    cases = [make_case(f"c{place}", answerable=False, reference=None) for place in range(8)]
    refusals = [make_response(case.id, answer="The documents do not say.") for case in cases]
    execute(tmp_path / "run.sqlite", make_config(), cases, refusals, Judges()).close()
    names = sorted(COLLECTED - {"fallback_rate"})
    code, said = gate(tmp_path / "run.sqlite", tmp_path, *(f"metric: {name}, at_least: 0" for name in names))
    assert code == 1
    rows = json.loads(said)["results"]
    assert {row["outcome"] for row in rows} == {"undetermined"}, rows
    assert all(row["reason"].startswith("nothing was scored (not_applicable: ") for row in rows), rows
    code, said = gate(tmp_path / "run.sqlite", tmp_path, "metric: review_load, at_most: 1")
    assert code == 1
    assert json.loads(said)["results"][0]["reason"].startswith("nothing was scored (not_applicable: ")

"""Execution: failures stay where they happen, resuming repeats nothing, and one judge is in memory at a time."""

from collections import Counter
from pathlib import Path

import pytest

from offline_eval.core.evidence import ReasonEvidence, VerdictEvidence
from offline_eval.core.hashing import canonical_json
from offline_eval.core.protocols import Failure, GenerateRequest, Generation, ProgressCallback
from offline_eval.core.results import Status
from offline_eval.engines.scripted import by_hash, pick
from offline_eval.judge.panel import Panel, RoutingRules, load_panel
from offline_eval.pipeline.aggregate import Results, results_document, summarize
from offline_eval.pipeline.config import RunConfig, run_id
from offline_eval.pipeline.execute import Executor
from offline_eval.pipeline.plan import pair, verdict_stages
from offline_eval.store.run_file import RunFile
from tests.support.panel_runs import (
    Judges,
    Script,
    asks_label,
    dimension_of,
    execute,
    make_case,
    make_config,
    make_response,
    many,
    start,
)


def always(label: str) -> Script:
    return lambda request: pick(request, label) if asks_label(request) else by_hash(request)


def document(run_file: RunFile) -> bytes:
    return canonical_json(results_document(Results(run_file)))


def verdicts(run_file: RunFile) -> list[VerdictEvidence]:
    return [piece for piece in run_file.evidence() if isinstance(piece, VerdictEvidence)]


def reasons(run_file: RunFile) -> list[ReasonEvidence]:
    return [piece for piece in run_file.evidence() if isinstance(piece, ReasonEvidence)]


# --- CASE 18 ---------------------------------------------------------------------------------------------------------


def test_a_judge_call_that_raises_fails_its_row_and_never_raises_the_mean(tmp_path: Path) -> None:
    cases, responses = many(10)

    def judge(broken: set[str]) -> Script:
        def script(request: GenerateRequest) -> Generation:
            text = request.messages[1].content
            if any(f"{name} days" in text for name in broken):
                raise RuntimeError("CUDA error: device-side assert")
            # Two answers are bad, the others excellent.
            return always("1" if "c000 " in text or "c001 " in text else "3")(request)  # type: ignore[return-value]

        return script

    config = make_config(reasons="none")
    whole = execute(tmp_path / "whole.sqlite", config, cases, responses, Judges({"judge": judge(set())}))
    broken = execute(tmp_path / "broken.sqlite", config, cases, responses, Judges({"judge": judge({"c000"})}))
    before, after = (summarize(Results(run_file)) for run_file in (whole, broken))

    assert (after.n_verdicts, after.n_failed) == (30, 3)
    assert after.failed_share == 0.1
    total_before, total_after = before.estimates[0], after.estimates[0]
    assert (total_before.metric, total_before.value) == ("total_grade", 2.6)  # (2 x 1 + 8 x 3) / 10
    assert (total_after.n_scored, total_after.n_failed) == (9, 1)
    # Without the bad row the mean would rise to (1 + 8 x 3) / 9; it is counted as 1 instead: (1 + 8 x 3 + 1) / 10.
    assert total_after.mean_scored == pytest.approx(25 / 9)
    assert total_after.value == pytest.approx(2.6)
    assert total_after.value <= total_before.value
    assert list(total_after.reasons) == ["completeness: engine_error: RuntimeError: CUDA error: device-side assert"]
    assert [view.response_key for view in after.review] == ["system/c000"]
    assert after.review[0].total is None


# --- CASE 21 ---------------------------------------------------------------------------------------------------------


def stop_after(batches: int) -> ProgressCallback:
    """Ctrl-C as soon as so many batches are committed."""
    seen = 0

    def progress(done: int, total: int) -> None:
        nonlocal seen
        seen += 1
        if seen == batches:
            raise KeyboardInterrupt

    return progress


def panel_of_two() -> RunConfig:
    return make_config(("one", "two"), batch_size=1, reasons="all")


def arbiter_and_review() -> RunConfig:
    config = make_config(("one", "two"), batch_size=1, reasons="review", arbiter="three")
    return config.model_copy(update={"models": {**config.models, "three": "scripted"}})


@pytest.mark.parametrize(("config", "n"), [(panel_of_two(), 3), (arbiter_and_review(), 2)], ids=["all", "review"])
def test_interrupted_after_each_batch_in_turn_the_run_ends_in_the_same_document(
    config: RunConfig, n: int, tmp_path: Path
) -> None:
    cases, responses = many(n)
    whole = Judges()
    reference = execute(tmp_path / "whole.sqlite", config, cases, responses, whole)
    wanted = document(reference)
    asked_once = Counter(request.content_hash() + name for name, request in whole.requests)
    n_batches = len(reference.committed_batches()) - 2  # without the rules' batch and the finishing mark
    assert n_batches >= 6  # of both judges' stages, and of the arbiter's and the reasons' where there are any

    for stopped in range(1, n_batches + 1):
        judges = Judges()
        path = tmp_path / f"{stopped}.sqlite"
        run_file = start(path, config, cases, responses)
        with pytest.raises(KeyboardInterrupt):
            Executor(run_file, config, open_judge=judges.open, progress=stop_after(stopped)).run()
        assert len(run_file.committed_batches()) == stopped + 1
        run_file.close()
        resumed = execute(path, config, cases, responses, judges)
        assert document(resumed) == wanted
        # Every request of the uninterrupted run was asked exactly once over both runs.
        assert Counter(request.content_hash() + name for name, request in judges.requests) == asked_once
        resumed.close()


@pytest.mark.parametrize("stop_at", [1, 7, 20, 28])
def test_a_batch_that_was_under_way_is_redone_whole(stop_at: int, tmp_path: Path) -> None:
    cases, responses = many(5)
    config = make_config(batch_size=2)
    wanted = document(execute(tmp_path / "whole.sqlite", config, cases, responses))
    path = tmp_path / "stopped.sqlite"
    first = Judges(stop_at=stop_at)
    with pytest.raises(KeyboardInterrupt):
        execute(path, config, cases, responses, first)
    assert first.diary[-1] == "close judge"
    second = Judges()
    resumed = execute(path, config, cases, responses, second)
    assert document(resumed) == wanted
    done = len(first.requests) + len(second.requests)
    assert 30 <= done <= 30 + 12  # 5 cases x 3 dimensions x (label, reason); at most one batch of 6 questions twice


def test_a_finished_run_started_again_loads_and_writes_nothing(tmp_path: Path) -> None:
    cases, responses = many(5)
    config = make_config()
    run_file = execute(tmp_path / "r.sqlite", config, cases, responses)
    head = run_file.head()
    run_file.close()
    judges = Judges()
    again = execute(tmp_path / "r.sqlite", config, cases, responses, judges)
    assert judges.diary == []
    assert again.head() == head


def test_the_same_set_in_another_order_is_the_same_run_and_judges_nothing_twice(tmp_path: Path) -> None:
    cases, responses = many(5)
    config = make_config(batch_size=1)
    assert run_id(config, cases, responses) == run_id(config, cases[::-1], responses[::-1])
    run_file = execute(tmp_path / "r.sqlite", config, cases, responses)
    wanted = document(run_file)
    run_file.close()
    judges = Judges()
    again = execute(tmp_path / "r.sqlite", config, cases[::-1], responses[::-1], judges)
    assert judges.requests == []
    assert document(again) == wanted


def test_verdicts_do_not_depend_on_order_or_batch_size_of_a_scripted_judge(tmp_path: Path) -> None:
    cases, responses = many(7)
    found = []
    for number, size in enumerate((1, 3, 64)):
        config = make_config(batch_size=size)
        turned = slice(None, None, -1 if number % 2 else 1)
        run_file = execute(tmp_path / f"{size}.sqlite", config, cases[turned], responses[turned])
        found.append(sorted((piece.response_key, piece.dimension, piece.verdict.label) for piece in verdicts(run_file)))
    assert found[0] == found[1] == found[2]


# --- stages ----------------------------------------------------------------------------------------------------------


def test_three_judges_are_in_memory_one_after_the_other(tmp_path: Path) -> None:
    judges = Judges()
    config = make_config(("faithfulness=llama", "relevance=qwen", "completeness=gemma"), batch_size=1)
    run_file = execute(tmp_path / "r.sqlite", config, *many(5), judges)
    assert judges.diary == [
        "open llama",
        "close llama",
        "open qwen",
        "close qwen",
        "open gemma",
        "close gemma",
    ]
    assert {(piece.dimension, piece.judge) for piece in verdicts(run_file)} == {
        ("faithfulness", "llama"),
        ("relevance", "qwen"),
        ("completeness", "gemma"),
    }
    loads = [body["judge"] for name, body in run_file.events() if name == "load"]
    assert loads == ["llama", "qwen", "gemma"]


def test_an_engine_that_cannot_be_opened_keeps_what_was_committed(tmp_path: Path) -> None:
    judges = Judges()

    def opened(name: str) -> object:
        if name == "two":
            raise KeyboardInterrupt
        return judges.open(name)

    run_file = start(tmp_path / "r.sqlite", make_config(("one", "two")), *many(3))
    with pytest.raises(KeyboardInterrupt):
        Executor(run_file, make_config(("one", "two")), open_judge=opened).run()  # type: ignore[arg-type]
    assert judges.diary == ["open one", "close one"]
    assert len(verdicts(run_file)) == 9


def test_the_arbiter_is_asked_about_disputed_dimensions_only_and_its_verdict_counts(tmp_path: Path) -> None:
    def two(request: GenerateRequest) -> Generation | Failure:
        disputed = dimension_of(request) == "relevance" and "c001 days" in request.messages[1].content
        return always("1" if disputed else "3")(request)

    judges = Judges({"one": always("3"), "two": two, "three": always("1")})
    config = make_config(("one", "two"), arbiter="three", reasons="none")
    run_file = execute(tmp_path / "r.sqlite", config, *many(3), judges)
    asked = [request for name, request in judges.requests if name == "three"]
    assert [dimension_of(request) for request in asked] == ["relevance"]
    assert "c001 days" in asked[0].messages[1].content
    found = Results(run_file).verdicts["system/c001"]
    assert found.grades == {"faithfulness": 3, "relevance": 1, "completeness": 3}
    assert "judges_apart: relevance" in found.review_reasons
    assert judges.diary[-2:] == ["open three", "close three"]


def test_an_arbiter_without_a_dispute_is_not_loaded(tmp_path: Path) -> None:
    judges = Judges({"one": always("3"), "two": always("3")})
    config = make_config(("one", "two"), arbiter="three", reasons="none")
    execute(tmp_path / "r.sqlite", config, *many(3), judges)
    assert "open three" not in judges.diary


# --- reasons ---------------------------------------------------------------------------------------------------------


def low_on_c001(request: GenerateRequest) -> Generation | Failure:
    low = dimension_of(request) == "relevance" and "c001 days" in request.messages[1].content
    return always("1" if low else "3")(request)


def test_reasons_for_all_for_review_or_for_none(tmp_path: Path) -> None:
    found = {}
    for choice in ("all", "review", "none"):
        judges = Judges({"judge": low_on_c001})
        run_file = execute(tmp_path / f"{choice}.sqlite", make_config(reasons=choice), *many(4), judges)
        assert len(verdicts(run_file)) == 12
        found[choice] = Counter(piece.response_key for piece in reasons(run_file))
    assert found["all"] == Counter({f"system/c00{number}": 3 for number in range(4)})
    assert found["review"] == Counter({"system/c001": 3})
    assert found["none"] == Counter()


@pytest.mark.parametrize(("choice", "n"), [("all", 1), ("review", 1), ("none", 0)])
def test_an_arbiters_reason_follows_the_same_choice(choice: str, n: int, tmp_path: Path) -> None:
    judges = Judges({"one": always("3"), "two": low_on_c001, "three": always("2")})
    config = make_config(("one", "two"), arbiter="three", reasons=choice)
    run_file = execute(tmp_path / "r.sqlite", config, *many(2), judges)
    assert sum(piece.role == "arbiter" for piece in reasons(run_file)) == n


def test_verdicts_that_failed_are_not_asked_for_reasons(tmp_path: Path) -> None:
    judges = Judges({name: lambda request: Failure(reason="engine_error", detail="gone") for name in ("one", "two")})
    run_file = execute(tmp_path / "r.sqlite", make_config(("one", "two"), reasons="review"), *many(2), judges)
    assert [piece.verdict.status for piece in verdicts(run_file)] == [Status.FAILED] * 12
    assert all(asks_label(request) for _, request in judges.requests)
    assert judges.diary == ["open one", "close one", "open two", "close two"]  # and not loaded again to ask nothing


def test_with_every_routing_rule_off_nothing_is_asked_for_reasons(tmp_path: Path) -> None:
    off = RoutingRules(examiners_apart=False, judges_apart=False, tie=False, low_margin=0, failed=False)
    panel = load_panel("three-examiners").model_copy(update={"routing": off})
    run_file = execute(tmp_path / "r.sqlite", make_config(panel=panel, reasons="review"), *many(4))
    assert reasons(run_file) == []


# --- rules -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", ["all", "review", "none"])
def test_a_run_that_rules_decide_loads_nothing(choice: str, tmp_path: Path) -> None:
    cases = [make_case("c1"), make_case("c2", answerable=False), make_case("c3", answerable=True)]
    responses = [
        make_response("c1", answer=":"),
        make_response("c2", answer="资料中没有提到。"),
        make_response("c3", error="HTTP 500"),
    ]
    judges = Judges()
    config = make_config(("one", "two"), arbiter="three", reasons=choice)
    run_file = execute(tmp_path / "r.sqlite", config, cases, responses, judges)
    assert judges.diary == []
    summary = summarize(Results(run_file))
    assert (summary.n_verdicts, summary.by_rule) == (18, 18)
    assert summary.estimates[0].model_dump(include={"value", "n_scored", "n_not_applicable", "n_failed"}) == {
        "value": 1.0,
        "n_scored": 1,
        "n_not_applicable": 1,
        "n_failed": 1,
    }


def test_batches_keep_a_responses_dimensions_together_and_have_names_of_their_own() -> None:
    config = make_config(batch_size=1)
    stages = verdict_stages(config, pair(*many(10)))
    batches = stages[0].batches
    # 4 engine batches of 1 hold one response's three questions.
    assert [len(batch.questions) for batch in batches] == [3] * 10
    assert all(len({question.item.response.key for question in batch.questions}) == 1 for batch in batches)
    assert len({batch.name for batch in batches}) == 10


def test_an_empty_run_is_finished_at_once(tmp_path: Path) -> None:
    panel = Panel(name="one", examiners=("relevance",), weights={"relevance": 1})
    run_file = execute(tmp_path / "r.sqlite", make_config(panel=panel), [], [])
    assert list(run_file.evidence()) == []

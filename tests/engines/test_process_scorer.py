"""A cross-encoder in a process of its own: pairs go there and come back, and a bad one suffers alone."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_requests import tiny_spec

from offline_eval.core.protocols import Failure
from offline_eval.engines.process import ProcessScorer

SITE = Path(__file__).parent / "worker_site"
Start = Callable[..., ProcessScorer]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts workers with the misbehaving engine, and ends them."""
    started: list[ProcessScorer] = []

    def one(**settings: Any) -> ProcessScorer:
        changes = {"engine": "misbehaving", "model": "odd"} | settings.pop("spec", {})
        spec = tiny_spec("any", Path("/nowhere"), **changes)
        started.append(ProcessScorer(spec, environment={"PYTHONPATH": str(SITE)}, **settings))
        return started[-1]

    yield one
    for scorer in started:
        scorer.close()


def reasons(rows: list[dict[str, float] | Failure]) -> list[object]:
    return [row.reason if isinstance(row, Failure) else row for row in rows]


def test_rows_and_failures_come_back_in_order_and_to_the_last_bit(start: Start) -> None:
    scorer = start()
    third = 1 / 3
    rows = scorer.score([("entails 0.1", "员工每年享有年假"), ("refuse", "x"), (f"entails {third!r}", "x")])
    assert rows[0] == {"entailment": 0.1, "neutral": 0.9}
    assert rows[1] == Failure(reason="prompt_too_long", detail="refuse x")
    assert rows[2] == {"entailment": third, "neutral": 1 - third}
    assert scorer.score([]) == []


def test_a_pair_that_kills_its_worker_fails_alone_and_the_others_are_scored_together(start: Start) -> None:
    scorer = start()
    pairs = [("entails 0.25", "a"), ("crash", "b"), ("entails 0.5", "c")]
    first, second, third = reasons(scorer.score(pairs))
    assert (first, second, third) == (
        {"entailment": 0.25, "neutral": 0.75},
        "engine_crashed",
        {"entailment": 0.5, "neutral": 0.5},
    )
    assert [incident.kind for incident in scorer.incidents] == ["worker_replaced", "isolated"]
    assert scorer.incidents[1].at_fault == 1


def test_a_pair_that_raises_or_hangs_fails_alone(start: Start) -> None:
    scorer = start(batch_limit_s=1.5)
    half = {"entailment": 0.5, "neutral": 0.5}
    assert reasons(scorer.score([("entails 0.5", "a"), ("raise", "b")])) == [half, "engine_error"]
    assert scorer.loads == 1
    assert reasons(scorer.score([("hang", "b"), ("entails 0.5", "a")])) == ["time_limit", half]


def test_the_worker_has_the_switches_set_and_the_guard_armed(start: Start) -> None:
    scorer = start()
    # 192.0.2.0/24 is reserved for documentation: nothing answers there, with or without a guard.
    assert reasons(scorer.score([("connect 192.0.2.1 80", "x"), ("connect judge.invalid 443", "x")])) == [
        "AirGapError",
        "AirGapError",
    ]
    assert scorer.score([("switches", "x")]) == [Failure(reason="switches", detail="all set")]
    scorer.close()
    assert scorer.refused_connections == 2


def test_after_close_the_worker_is_gone_and_its_memory_known(start: Start) -> None:
    scorer = start()
    scorer.close()
    assert scorer.peak_bytes > 1 << 20
    assert scorer._process is None  # closing waits for it


def test_vllms_certified_results_do_not_depend_on_the_size_so_a_batch_may_shrink(start: Start) -> None:
    scorer = start(spec={"engine": "vllm_misbehaving", "batch_size": 8, "certified": True, "context_length": 512})
    rows = scorer.score([("memory-for-batch 4", "a"), ("entails 0.5", "b")])
    assert reasons(rows)[1] == {"entailment": 0.5, "neutral": 0.5}
    assert [(incident.kind, incident.batch_size) for incident in scorer.incidents] == [("smaller_batch", 4)]

"""One bad item costs one result: it is found by halving, and the others are answered together."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_requests import grade_request, tiny_spec
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.errors import EngineError
from offline_eval.core.protocols import Failure, Generation
from offline_eval.engines.isolate import BatchFailedError, is_memory_error, isolate
from offline_eval.engines.process import ProcessEngine

SITE = Path(__file__).parent / "worker_site"


class Batches:
    """Answers each item with its batch, unless the batch holds a bad item or is too large."""

    def __init__(self, bad: set[int], most: int = 1 << 30) -> None:
        self.asked: list[list[int]] = []
        self._bad = bad
        self._most = most

    def ask(self, batch: list[int]) -> list[tuple[int, ...]]:
        self.asked.append(batch)
        if self._bad & set(batch) or len(batch) > self._most:
            raise BatchFailedError("engine_crashed", f"died of {sorted(self._bad & set(batch))}")
        return [tuple(batch)] * len(batch)


def isolated(n: int, batches: Batches) -> Any:
    return isolate(list(range(n)), batches.ask, first=BatchFailedError("engine_crashed", "died"))


@given(st.integers(1, 40), st.data())
def test_exactly_the_bad_items_fail_and_the_others_are_answered_in_one_batch(n: int, data: st.DataObject) -> None:
    bad = data.draw(st.sets(st.integers(0, n - 1), min_size=1))
    found = isolated(n, Batches(bad))
    good = tuple(index for index in range(n) if index not in bad)
    assert found.at_fault == tuple(sorted(bad))
    assert [index for index, answer in enumerate(found.answers) if isinstance(answer, Failure)] == sorted(bad)
    # The batch mates of every answer are all good items: they follow from the batch and its bad items alone.
    assert [answer for answer in found.answers if not isinstance(answer, Failure)] == [good] * len(good)
    assert found.largest_part is None


@given(st.integers(2, 64), st.data())
def test_a_batch_that_is_too_large_is_answered_in_parts_and_nothing_fails(n: int, data: st.DataObject) -> None:
    most = data.draw(st.integers(1, n - 1))
    found = isolated(n, Batches(set(), most))
    assert found.at_fault == ()
    assert [index in answer for index, answer in enumerate(found.answers)] == [True] * n
    assert 1 <= found.largest_part <= most


@given(st.integers(2, 40), st.data())
def test_bad_items_in_a_batch_that_is_too_large_fail_and_the_others_are_answered_in_parts(
    n: int, data: st.DataObject
) -> None:
    bad = data.draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=n - 1))
    found = isolated(n, Batches(bad, data.draw(st.integers(1, n))))
    assert found.at_fault == tuple(sorted(bad))
    assert all(isinstance(answer, Failure) or index in answer for index, answer in enumerate(found.answers))


def test_one_bad_item_of_64_costs_a_logarithm_of_calls() -> None:
    batches = Batches({37})
    isolated(64, batches)
    assert len(batches.asked) == 2 * 6 + 1  # two halves on each of 6 levels, and the others together


def test_an_item_that_breaks_down_only_beside_others_keeps_its_answer() -> None:
    found = isolated(2, Batches(set(), most=1))
    assert (found.answers, found.largest_part) == ([(0,), (1,)], 1)


@pytest.mark.parametrize(
    ("kind", "words", "is_memory"),
    [
        ("MemoryError", "", True),
        ("OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB", True),
        ("RuntimeError", "[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory", True),
        ("RuntimeError", "std::bad_alloc", True),
        ("RuntimeError", "CUDA error: device-side assert triggered", False),
        ("ValueError", "the memory of mankind", False),
    ],
)
def test_running_out_of_memory_is_told_from_other_trouble(kind: str, words: str, is_memory: bool) -> None:
    assert is_memory_error(kind, words) is is_memory


# --- a real worker ---------------------------------------------------------------------------------------------------

Start = Callable[..., ProcessEngine]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts workers with the misbehaving engine, and ends them."""
    started: list[ProcessEngine] = []

    def one(*, certified: bool = False, batch_size: int = 16, **settings: Any) -> ProcessEngine:
        changes = {"engine": "misbehaving", "model": "odd", "certified": certified, "batch_size": batch_size}
        spec = tiny_spec("any", Path("/nowhere"), **changes)
        started.append(ProcessEngine(spec, environment={"PYTHONPATH": str(SITE)}, **settings))
        return started[-1]

    yield one
    for engine in started:
        engine.close()


def ask(engine: ProcessEngine, *contents: str) -> list[str]:
    answers = engine.generate([grade_request(content) for content in contents])
    return [answer.text if isinstance(answer, Generation) else answer.reason for answer in answers]


@pytest.mark.parametrize(("poison", "reason"), [("segfault", "engine_crashed"), ("raise", "engine_error")])
def test_batch_mates_of_a_bad_item_are_judged_together_without_it(start: Start, poison: str, reason: str) -> None:
    engine = start(certified=True)
    assert ask(engine, "mates", "mates", "mates", poison) == ["3", "3", "3", reason]
    [incident] = [incident for incident in engine.incidents if incident.kind == "isolated"]
    assert (incident.reason, incident.requests, incident.at_fault, incident.batch_size) == (reason, 4, 1, 16)


def test_out_of_memory_makes_batches_smaller_in_a_fresh_process_and_fails_nothing(start: Start) -> None:
    engine = start(batch_size=16)
    [before] = ask(engine, "pid")
    first, pid, mates = ask(engine, "memory-for-batch 4", "pid", "mates")
    assert (first, mates) == ("memory-for-batch", "3")  # still one batch of three requests
    assert pid != before
    assert [(i.kind, i.reason, i.batch_size) for i in engine.incidents] == [
        ("smaller_batch", "out_of_memory", 8),
        ("smaller_batch", "out_of_memory", 4),
    ]
    assert engine.info.options["batch_size"] == 4  # part of the fingerprint that evidence carries from here on
    assert ask(engine, "pid") == [pid]


def test_an_item_that_needs_too_much_memory_alone_fails_alone(start: Start) -> None:
    engine = start(batch_size=1)
    assert ask(engine, "a", "memory-for-batch 0", "b") == ["a", "out_of_memory", "b"]


def test_a_worker_that_is_killed_for_its_memory_computes_smaller_batches(start: Start) -> None:
    engine = start(batch_size=16)
    assert ask(engine, "memory-for-requests 2", "a", "b", "c") == ["memory-for-requests", "a", "b", "c"]
    assert [(i.kind, i.batch_size) for i in engine.incidents] == [("worker_replaced", 16), ("smaller_batch", 2)]


def test_certified_results_are_never_taken_from_a_smaller_batch_in_silence(start: Start) -> None:
    engine = start(certified=True, batch_size=16)
    with pytest.raises(EngineError, match=r"certified results .* start a run with --batch-size 8"):
        ask(engine, "memory-for-batch 4", "a")


def test_an_item_has_its_own_time_limit_and_the_others_are_judged(start: Start) -> None:
    engine = start(item_limit_s=1.0)
    assert ask(engine, "hang", "mates") == ["time_limit", "1"]
    [incident] = engine.incidents
    assert (incident.reason, incident.at_fault) == ("time_limit", 1)


def test_an_engine_that_dies_whatever_it_is_asked_ends_the_run_instead_of_failing_every_item(start: Start) -> None:
    engine = start()
    with pytest.raises(EngineError, match="dies whatever it is asked"):
        ask(engine, *["crash"] * 64)


def test_a_worker_that_died_between_two_batches_has_nothing_to_forget(start: Start) -> None:
    engine = start()
    [pid] = ask(engine, "pid")
    assert engine._process is not None
    engine._process.kill()
    engine._process.wait()
    engine.forget_prefixes()
    assert ask(engine, "pid") != [pid]

"""A model lives in a process of its own: it may crash, hang or call out, and its items alone suffer."""

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_requests import grade_request, tiny_spec

from offline_eval.core.errors import EngineError, ModelError
from offline_eval.core.protocols import Failure, Generation
from offline_eval.engines.process import ProcessEngine

SITE = Path(__file__).parent / "worker_site"
Start = Callable[..., ProcessEngine]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts workers with the misbehaving engine, and ends them."""
    started: list[ProcessEngine] = []

    def one(*, family: str = "any", **settings: Any) -> ProcessEngine:
        spec = tiny_spec(family, Path("/nowhere"), engine="misbehaving", model="odd")
        started.append(ProcessEngine(spec, environment={"PYTHONPATH": str(SITE)}, **settings))
        return started[-1]

    yield one
    for engine in started:
        engine.close()


def texts(answers: list[Generation | Failure]) -> list[str]:
    return [answer.text if isinstance(answer, Generation) else answer.reason for answer in answers]


def ask(engine: ProcessEngine, *contents: str) -> list[str]:
    return texts(engine.generate([grade_request(content) for content in contents]))


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until_gone(pid: int) -> bool:
    deadline = time.monotonic() + 20
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_alive(pid)


def test_a_batch_whose_worker_is_killed_is_redone_whole_in_a_fresh_one(start: Start, tmp_path: Path) -> None:
    engine = start()
    before = ask(engine, "pid")
    assert ask(engine, "a", f"crash-once {tmp_path / 'mark'}", "b") == ["a", "crash-once", "b"]
    assert engine.loads == 2
    assert ask(engine, "pid") != before


def test_a_worker_killed_from_outside_is_replaced_even_for_a_single_item(start: Start) -> None:
    engine = start()
    [pid] = ask(engine, "pid")
    os.kill(int(pid), signal.SIGKILL)
    [other] = ask(engine, "pid")
    assert other != pid
    assert is_alive(int(other))


def test_an_item_that_kills_its_worker_fails_alone(start: Start) -> None:
    engine = start()
    answers = engine.generate([grade_request(text) for text in ("a", "b", "crash", "c")])
    assert texts(answers) == ["a", "b", "engine_crashed", "c"]
    assert isinstance(answers[2], Failure)
    assert f"exit {-signal.SIGKILL}" in answers[2].detail
    assert "odd on misbehaving" in answers[2].detail


def test_an_item_that_takes_too_long_fails_alone(start: Start) -> None:
    engine = start(batch_limit_s=1.5)
    answers = engine.generate([grade_request(text) for text in ("a", "hang", "b")])
    assert texts(answers) == ["a", "time_limit", "b"]
    assert isinstance(answers[1], Failure)
    assert "time limit of 1.5 s" in answers[1].detail


def test_an_item_that_raises_fails_alone_and_the_worker_stays(start: Start) -> None:
    engine = start()
    [pid] = ask(engine, "pid")
    answers = engine.generate([grade_request(text) for text in ("a", "raise", "pid")])
    assert texts(answers) == ["a", "engine_error", pid]
    assert isinstance(answers[1], Failure)
    assert "RuntimeError: no such thing" in answers[1].detail
    assert engine.loads == 1


def test_a_model_that_is_refused_at_load_is_a_model_error_and_leaves_nothing_behind(start: Start) -> None:
    with pytest.raises(ModelError, match="odd on misbehaving: ModelError: has no chat template"):
        start(family="refused")
    gc.collect()  # a forgotten process or file would warn here, and warnings are errors


def test_a_worker_that_dies_at_load_is_an_engine_error(start: Start) -> None:
    with pytest.raises(EngineError, match=f"the process ended .exit {-signal.SIGKILL}"):
        start(family="crashing")


def test_an_engine_that_does_not_exist_is_an_engine_error() -> None:
    with pytest.raises(EngineError, match="no_such_engine"):
        ProcessEngine(tiny_spec("any", Path("/nowhere"), engine="no_such_engine"))


def test_a_worker_imports_nothing_from_the_current_folder(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ctypes", "pydantic", "offline_eval"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('code of the current folder was run')")
    monkeypatch.chdir(tmp_path)
    assert ask(start(), "a") == ["a"]


def test_nothing_to_do_asks_nobody(start: Start) -> None:
    assert start().generate([]) == []


def test_after_close_the_worker_is_gone_and_its_peak_memory_known(start: Start) -> None:
    engine = start()
    [pid] = ask(engine, "pid")
    megabytes = 120
    assert ask(engine, f"fill {megabytes << 20}") == [str(megabytes << 20)]
    engine.close()
    assert not is_alive(int(pid))
    assert megabytes << 20 < engine.peak_bytes < megabytes + 100 << 20  # an interpreter of a few ten megabytes below
    engine.close()


def test_a_worker_has_the_switches_set_and_the_guard_armed(start: Start) -> None:
    engine = start()
    # 192.0.2.0/24 is reserved for documentation: nothing answers there, with or without a guard.
    assert ask(engine, "switches", "connect 192.0.2.1 80", "connect judge.invalid 443") == [
        "all set",
        "AirGapError",
        "AirGapError",
    ]
    engine.close()
    assert engine.refused_connections == 2


def test_a_process_that_a_model_library_spawns_from_a_worker_is_guarded_too(start: Start) -> None:
    assert ask(start(), "spawn-connect 192.0.2.1 80", "spawn-connect judge.invalid 443") == ["AirGapError"] * 2


def test_what_a_worker_refused_is_counted_even_if_it_dies(start: Start) -> None:
    engine = start()
    ask(engine, "connect 192.0.2.1 80")
    [pid] = ask(engine, "pid")
    os.kill(int(pid), signal.SIGKILL)
    ask(engine, "connect 192.0.2.1 80", "connect 192.0.2.1 80")
    engine.close()
    assert engine.refused_connections == 3


def test_a_worker_may_connect_to_this_machine(start: Start) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        assert ask(start(), f"connect 127.0.0.1 {server.getsockname()[1]}") == ["connected"]


PARENT = """
import sys, time
from offline_eval.engines.process import ProcessEngine
from offline_eval.engines.inprocess import EngineSpec
sys.path.insert(0, {tests!r})
from engine_requests import grade_request, tiny_spec
from pathlib import Path
engine = ProcessEngine(tiny_spec("any", Path("/nowhere"), engine="misbehaving"), environment={{"PYTHONPATH": {site!r}}})
print(engine.generate([grade_request("pid")])[0].text, flush=True)
engine.generate([grade_request("hang")])
"""


def test_a_killed_parent_takes_its_worker_along() -> None:
    script = PARENT.format(tests=str(Path(__file__).parent), site=str(SITE))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        parent.kill()  # the worker is busy and does not look at its socket
    assert wait_until_gone(pid)


def test_an_interrupt_ends_the_worker_and_the_engine_can_go_on(start: Start) -> None:
    engine = start()
    [pid] = ask(engine, "pid")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            ask(engine, "hang")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not is_alive(int(pid))
    assert ask(engine, "a") == ["a"]


@pytest.mark.slow
def test_a_real_model_in_a_worker_answers_like_one_in_this_process(folders: dict[str, Path], engines: Any) -> None:
    worker = ProcessEngine(tiny_spec("llama", folders["llama"]))
    requests = [grade_request(text) for text in ("Yes.", "No.", "也许。")]
    try:
        assert worker.generate(requests) == engines["llama"].generate(requests)
        assert worker.info == engines["llama"].info
    finally:
        worker.close()
    assert 200 << 20 < worker.peak_bytes < 4 << 30
    assert worker.refused_connections == 0


@pytest.mark.slow
def test_a_folder_without_its_weights_is_refused_by_a_worker(folders: dict[str, Path], tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((folders["llama"] / name).read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")  # a pickle; only safetensors are looked for
    with pytest.raises(EngineError, match="safetensors"):
        ProcessEngine(tiny_spec("llama", tmp_path))

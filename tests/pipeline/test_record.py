"""A live system is asked once: its answers are kept and used again, and what failed is asked again."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from offline_eval.core.errors import DataError
from offline_eval.core.records import Case, Response
from offline_eval.pipeline.record import record
from tests.support.panel_runs import make_case


class Live:
    """A system in a module of its own, which remembers what it was asked and fails on some queries."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.broken: set[str] = set()

    def __call__(self, query: str) -> str:
        self.asked.append(query)
        if query in self.broken:
            raise ValueError("index is being rebuilt")
        return f"answer to {query}"


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Live:
    system = Live()
    module = ModuleType("live_system")
    module.answer = system  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "live_system", module)
    return system


CASES = [make_case(f"c{place}", query=f"q{place}") for place in range(40)]


def recorded(
    folder: Path, cases: list[Case] = CASES, spec: str = "mine=live_system:answer"
) -> tuple[list[Response], str]:
    said: list[str] = []
    answers = record(
        spec, cases, folder=folder, allow_hosts=(), progress=lambda done, total: None, announce=said.append
    )
    return answers, "\n".join(said)


def test_answers_are_kept_and_used_again(live: Live, tmp_path: Path) -> None:
    first, _ = recorded(tmp_path)
    assert len(live.asked) == 40
    second, said = recorded(tmp_path)
    assert len(live.asked) == 40
    assert second == first
    assert [response.answer for response in first[:2]] == ["answer to q0", "answer to q1"]
    assert {response.system for response in first} == {"mine"}
    assert "40 answers were recorded before" in said


def test_errors_are_asked_again_and_only_they(live: Live, tmp_path: Path) -> None:
    live.broken = {"q3", "q39"}
    first, said = recorded(tmp_path)
    assert {r.case_id: r.error for r in first if r.error} == {
        "c3": "ValueError: index is being rebuilt",
        "c39": "ValueError: index is being rebuilt",
    }
    assert "2 failed" in said
    live.broken = set()
    second, _ = recorded(tmp_path)
    assert live.asked[40:] == ["q3", "q39"]
    assert all(response.error is None for response in second)
    assert sorted(response.case_id for response in second) == sorted(case.id for case in CASES)
    assert recorded(tmp_path)[0] == second
    assert len(live.asked) == 42


def test_an_interrupted_recording_goes_on_where_it_stopped(live: Live, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record("live_system:answer", CASES, folder=tmp_path, allow_hosts=(), progress=stop, announce=lambda line: None)
    asked_before = len(live.asked)
    answers, _ = recorded(tmp_path, spec="live_system:answer")
    assert 0 < asked_before < 40
    assert len(answers) == len(live.asked) == 40


def test_other_cases_and_other_systems_have_records_of_their_own(live: Live, tmp_path: Path) -> None:
    recorded(tmp_path)
    recorded(tmp_path, CASES[:5])
    recorded(tmp_path, spec="other=live_system:answer")
    assert len(live.asked) == 40 + 5 + 40
    assert len(list(tmp_path.glob("answers-*.jsonl"))) == 3


def test_the_order_of_the_cases_does_not_matter(live: Live, tmp_path: Path) -> None:
    recorded(tmp_path)
    recorded(tmp_path, CASES[::-1])
    assert len(live.asked) == 40


def test_a_folder_that_cannot_be_made_is_one_clear_message(live: Live, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"cannot be made .*--out"):
        recorded(tmp_path / "file" / "runs")
    assert live.asked == []


def test_a_damaged_record_is_named_with_its_line(live: Live, tmp_path: Path) -> None:
    recorded(tmp_path)
    (path,) = tmp_path.glob("answers-*.jsonl")
    path.write_text(path.read_text("utf-8") + '{"case_id": "c1"', "utf-8")
    with pytest.raises(DataError, match=rf"{path.name}:41"):
        recorded(tmp_path)

"""An engine of this process that raises loses the items it raises for, and the run says what it survived."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from offline_eval.core.errors import EngineError
from offline_eval.core.evidence import VerdictEvidence
from offline_eval.core.protocols import Failure, GenerateRequest, Generation
from offline_eval.core.results import Status
from offline_eval.engines.scripted import ScriptedEmbedder, ScriptedEngine, ScriptedScorer
from offline_eval.pipeline.contain import contained_encoder, contained_judge
from offline_eval.pipeline.execute import Executor
from tests.support.panel_runs import make_config, many, start


class Raising(ScriptedEngine):
    """Raises for a whole batch, as libraries do, when one item of it is bad or too many come at once."""

    def __init__(self, bad: str = "-", *, error: Exception, most: int = 1 << 30) -> None:
        super().__init__(model="judge")
        self._bad = bad
        self._error = error
        self._most = most

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        if len(requests) > self._most or any(self._bad in request.messages[1].content for request in requests):
            raise self._error
        return super().generate(requests)


def run(
    path: Path, engine: ScriptedEngine, n: int = 5
) -> tuple[list[VerdictEvidence], list[dict[str, Any]], list[str]]:
    """Verdicts, incidents noted in the file, and what was said."""
    config = make_config(reasons="none")
    run_file = start(path, config, *many(n))
    said: list[str] = []
    Executor(run_file, config, open_judge=lambda name: engine, announce=said.append).run()
    verdicts = [piece for piece in run_file.evidence() if isinstance(piece, VerdictEvidence)]
    incidents = [body for name, body in run_file.events() if name == "incident"]
    run_file.close()
    return verdicts, incidents, said


def test_a_batch_that_raises_fails_only_the_item_it_raises_for_and_the_run_says_so(tmp_path: Path) -> None:
    verdicts, [incident], said = run(tmp_path / "r.sqlite", Raising("c002 days", error=ValueError("bad token")))
    failed = [(piece.response_key, piece.verdict.status_reason) for piece in verdicts if piece.verdict.label is None]
    assert failed == [("system/c002", "engine_error: ValueError: bad token")] * 3
    assert sum(piece.verdict.status is Status.SCORED for piece in verdicts) == 4 * 3
    assert (incident["kind"], incident["requests"], incident["at_fault"]) == ("isolated", 15, 3)
    assert incident["batch"].startswith("verdict/examiner/judge/000000/")
    assert "engine_error: 3 of 15 items fail, 12 were answered: ValueError: bad token" in said


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")])
def test_running_out_of_memory_is_answered_in_parts_and_fails_nothing(tmp_path: Path, error: Exception) -> None:
    verdicts, [incident], said = run(tmp_path / "r.sqlite", Raising(error=error, most=4))
    assert all(piece.verdict.status is Status.SCORED for piece in verdicts)
    assert (incident["kind"], incident["reason"], incident["batch_size"]) == ("smaller_batch", "out_of_memory", 4)
    assert any(line.startswith("out_of_memory: at most 4 are computed together from here on") for line in said)


def test_the_verdicts_of_the_others_are_those_of_a_run_without_the_bad_item(tmp_path: Path) -> None:
    whole, _, _ = run(tmp_path / "whole.sqlite", ScriptedEngine(model="judge"))
    broken, _, _ = run(tmp_path / "broken.sqlite", Raising("c002 days", error=ValueError("bad token")))
    others = [piece for piece in whole if piece.response_key != "system/c002"]
    assert [piece for piece in broken if piece.response_key != "system/c002"] == others


def test_an_engine_that_says_that_it_cannot_go_on_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="the model does not load again"):
        run(tmp_path / "r.sqlite", Raising("c002 days", error=EngineError("the model does not load again")))


def test_a_pair_that_raises_fails_alone_and_the_scorer_keeps_its_other_sides() -> None:
    class Scorer(ScriptedScorer):
        def score(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float] | Failure]:
            if ("bad", "x") in pairs:
                raise IndexError("index out of range in self")
            return super().score(pairs)

    scorer: Any = contained_encoder(Scorer(languages=("en", "zh")))
    found = scorer.score([("x", "x"), ("bad", "x"), ("y", "x")])
    assert found == [
        {"score": 1.0},
        Failure(reason="engine_error", detail="IndexError: index out of range in self"),
        {"score": 0.0},
    ]
    assert scorer.languages == ("en", "zh")
    assert scorer.info.model == "scripted-scorer"


def test_engines_that_need_no_containing_are_left_as_they_are() -> None:
    embedder = ScriptedEmbedder()
    assert contained_encoder(embedder) is embedder
    scorer: Any = ScriptedScorer()
    scorer.incidents = []  # as one in a process of its own, which survives crashes itself
    assert contained_encoder(scorer) is scorer
    contained = contained_judge(ScriptedEngine())
    assert contained_judge(contained) is contained

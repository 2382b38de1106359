"""The default judge in float32 writes the same bits twice, and only valid drafts, in both languages."""

from pathlib import Path

import pytest

from offline_eval.core.protocols import TextEngine
from offline_eval.engines.pair_scorers import open_pair_scorer
from offline_eval.engines.select import EngineOptions, open_engine
from offline_eval.models.installed import find_installed
from offline_eval.testset.checking import Checker
from offline_eval.testset.critic import Critic
from offline_eval.testset.draft_file import DraftFile
from offline_eval.testset.generate import GenerationSettings, Models, generate
from offline_eval.testset.grounding import Encoders
from offline_eval.testset.near_duplicates import Seen
from offline_eval.testset.sources import Sources, read_sources

JUDGE = "smollm2-135m-instruct"


@pytest.mark.slow
def test_the_default_judge_writes_the_same_drafts_twice(tmp_path: Path) -> None:
    if find_installed(JUDGE) is None:
        pytest.skip(f"the default judge is not installed; `offline-eval models fetch {JUDGE}`")
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "leave.txt").write_text("Full-time staff receive 26 days of annual leave a year.\n", "utf-8")
    (documents / "食堂.txt").write_text("食堂午餐每人补贴十五元，当日有效，不累计。\n", "utf-8")
    sources = read_sources(documents, tmp_path / "index", language="auto", seed=0)
    engine = open_engine(JUDGE, EngineOptions(engine="transformers", dtype="float32", batch_size=4))
    try:
        first, second = (_drafts(sources, engine, tmp_path / name) for name in ("first", "second"))
    finally:
        engine.close()
    assert first == second
    assert b'"failure"' not in first  # every object was whole, whatever it said


def _drafts(sources: Sources, engine: TextEngine, folder: Path) -> bytes:
    """The drafts file of a small generation: two questions, two that nothing answers."""
    settings = GenerationSettings(
        mix={"adversarial": 0.5, "unanswerable": 0.5}, size=4, attempts=1, steps=("critic",), batch=4
    )
    positions = sources.store.positions
    encoders = Encoders(
        open_pair_scorer("default-support"),
        open_pair_scorer("default-answerability"),
        sources.search,
        lambda name: sources.store.at(positions[name]),
    )
    checker = Checker(encoders, seen=Seen(), critic=Critic(engine), wants_reference=False)
    file = DraftFile(folder / "drafts.jsonl")
    made = generate(settings, Models(engine, JUDGE, {"judge": JUDGE}), sources, checker, file)
    assert len(made) == 4
    assert {draft.case.language for draft in made} == {"en", "zh"}
    return file.path.read_bytes()

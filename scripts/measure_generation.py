"""Measure what the steps and checks of test-set generation let pass with the default models, on three corpora.

The demo handbook (Chinese and English), the documentation chunks of cookbook_rag (English) and the paragraphs of CMRC
2018 (Chinese). Prints for each the questions kept by type, what was thrown out, and the accept rate of every step. Run
it with OFFLINE_EVAL_PUBLIC_DATA pointing at the public sets, after `offline-eval models fetch`.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from offline_eval.cli.defaults import DEFAULT_ENCODERS, DEFAULT_JUDGE
from offline_eval.core.protocols import TextEngine
from offline_eval.core.records import Passage
from offline_eval.engines.pair_scorers import open_pair_scorer
from offline_eval.engines.select import EngineOptions, open_engine
from offline_eval.testset.checking import Checker
from offline_eval.testset.critic import Critic
from offline_eval.testset.draft import Draft
from offline_eval.testset.draft_file import DraftFile
from offline_eval.testset.generate import GenerationSettings, Models, generate
from offline_eval.testset.grounding import Encoders
from offline_eval.testset.near_duplicates import Seen
from offline_eval.testset.plan import DEFAULT_MIX, parse_mix
from offline_eval.testset.sources import read_sources
from offline_eval.testset.tally import Tally, tally
from scripts.public_corpora import cmrc_passages, cookbook_passages, write_corpus

HANDBOOK = Path(__file__).resolve().parents[1] / "offline_eval" / "demo" / "handbook"


def main() -> None:
    """Generate over every corpus and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=12)
    parser.add_argument("--attempts", type=int, default=1)
    parser.add_argument("--judge", default=DEFAULT_JUDGE)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--dtype", default=None)
    parser.add_argument("--out", type=Path, default=Path("measured-generation"))
    parser.add_argument("--only", default=None, help="handbook, cookbook_rag or cmrc2018")
    chosen = parser.parse_args()
    engine = open_engine(chosen.judge, EngineOptions(engine=chosen.engine, dtype=chosen.dtype))
    settings = GenerationSettings(mix=parse_mix(DEFAULT_MIX), size=chosen.size, attempts=chosen.attempts)
    try:
        for name, path in corpora(chosen.out):
            if chosen.only in (None, name):
                drafts = made(path, chosen.out / name, settings, engine, judge=chosen.judge)
                show(name, tally(drafts, settings))
    finally:
        engine.close()


def corpora(folder: Path) -> Iterator[tuple[str, Path]]:
    """Name and place of each corpus; the public ones only where they are."""
    yield "handbook", HANDBOOK
    data = os.environ.get("OFFLINE_EVAL_PUBLIC_DATA")
    if data is None:
        print("OFFLINE_EVAL_PUBLIC_DATA is not set; the handbook alone is measured", file=sys.stderr)
        return
    yield "cmrc2018", write_corpus(cmrc_passages(Path(data)), folder / "cmrc2018.jsonl")
    yield "cookbook_rag", write_corpus(cookbook_passages(Path(data)), folder / "cookbook_rag.jsonl")


def made(path: Path, folder: Path, settings: GenerationSettings, engine: TextEngine, *, judge: str) -> list[Draft]:
    """All drafts over one corpus, with the default encoders; questions are compared by their letters."""
    sources = read_sources(path, folder / "index", language="auto", seed=settings.seed)
    positions = sources.store.positions

    def find(name: str) -> Passage | None:
        return sources.store.at(positions[name]) if name in positions else None

    nli, answerability = (open_pair_scorer(DEFAULT_ENCODERS[kind]) for kind in ("nli", "answerability"))
    checker = Checker(Encoders(nli, answerability, sources.search, find), seen=Seen(), critic=Critic(engine))
    models = Models(engine, judge, {"judge": judge, "engine": engine.info.fingerprint})
    file = DraftFile(folder / "drafts.jsonl")
    return generate(settings, models, sources, checker, file, progress=tell)


def tell(stage: str, done: int, total: int) -> None:
    """One line on stderr."""
    print(f"{stage}: {done} of {total}", file=sys.stderr, flush=True)


def show(name: str, found: Tally) -> None:
    """Both tables in Markdown."""
    print(f"\n## {name}: {found.kept} of {found.wanted} kept\n")
    print("| type | wanted | kept | tried | thrown out |\n| --- | --- | --- | --- | --- |")
    for count in found.types:
        reasons = ", ".join(f"{reason} {n}" for reason, n in count.rejected.items())
        print(f"| {count.type} | {count.wanted} | {count.kept} | {count.tried} | {reasons} |")
    print("\n| step | passed | rate | threshold | not checked |\n| --- | --- | --- | --- | --- |")
    for rate in found.steps:
        bounds = f"[{rate.interval.low:.2f}, {rate.interval.high:.2f}]" if rate.interval else ""
        share = f"{rate.passed / rate.looked_at:.2f} {bounds}" if rate.looked_at else "–"
        unseen = ", ".join(f"{reason} {n}" for reason, n in rate.not_checked.items())
        print(f"| {rate.step} | {rate.passed}/{rate.looked_at} | {share} | {rate.threshold or '–'} | {unseen} |")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

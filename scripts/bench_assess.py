"""Milliseconds of an assessment without generation, and its ratio to the bare encoder calls it needs.

One query, 5 passages, an answer of 4 claims, the default encoders. The bare calls are the pairs and texts that the
assessment asked its encoders about, recorded once, given to the same encoders in one call each. Both alternate in one
process over texts that are new in every round, so that nothing is remembered. The stages run side by side, so the clock
can favour the assessment; the processor's time cannot. Prints one JSON line.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import offline_eval.demo
from offline_eval.assess.pipeline import SelfAssessingRag
from offline_eval.assess.policy import Policy
from offline_eval.assess.protocols import Encoders
from offline_eval.core.protocols import Embedder, EngineInfo, PairScorer
from offline_eval.core.records import Passage
from offline_eval.engines.embedder import open_embedder
from offline_eval.engines.feature_scorer import BASE_EMBEDDER
from offline_eval.engines.pair_scorers import open_pair_scorer
from offline_eval.text.claims import split_claims

PASSAGES, CLAIMS, SENTENCES = 5, 4, 6


class Recorded:
    """An encoder that notes what it is asked."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.asked: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @property
    def info(self) -> EngineInfo:
        info: EngineInfo = self._engine.info
        return info

    def score(self, pairs: Sequence[tuple[str, str]]) -> Any:
        self.asked += pairs
        return self._engine.score(pairs)

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        return self._engine.embed(texts)

    def close(self) -> None:
        self._engine.close()


def material(draw: random.Random, sentences: Sequence[str]) -> tuple[str, list[Passage], str]:
    """A query, passages and an answer: sentences of the demo handbook with a number of their own."""

    def sentence() -> str:
        return f"{draw.choice(sentences).rstrip('. ')} in section {draw.randrange(10**6)}."

    passages = [Passage(id=f"p{n}", text=" ".join(sentence() for _ in range(SENTENCES))) for n in range(PASSAGES)]
    return (
        f"What does section {draw.randrange(10**6)} say about leave?",
        passages,
        " ".join(sentence() for _ in range(CLAIMS)),
    )


def bare(
    support: PairScorer, answerability: PairScorer, embedder: Embedder, asked: Sequence[Sequence[Any]]
) -> tuple[float, float]:
    """Milliseconds of the encoder calls alone, on the clock and of the processor."""
    begin = _now()
    support.score(list(dict.fromkeys(asked[0])))
    answerability.score(list(dict.fromkeys(asked[1])))
    embedder.embed(sorted(set(asked[2])))
    return _since(begin)


def main() -> int:
    """Measure and print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    handbook = Path(offline_eval.demo.__file__).parent / "handbook" / "en"
    text = " ".join(path.read_text("utf-8") for path in sorted(handbook.glob("*.md")))
    sentences = [part for part in text.replace("\n", " ").split(". ") if 40 < len(part) < 160 and "#" not in part]
    sentences = [part for part in sentences if len(split_claims(f"{part} in section 1.")) == 1]
    engines = (
        open_pair_scorer("default-support"),
        open_pair_scorer("default-answerability"),
        open_embedder(BASE_EMBEDDER),
    )
    recorded = tuple(Recorded(engine) for engine in engines)
    rag = SelfAssessingRag([], None, Encoders(*recorded), Policy(cache_entries=0, deadline_s=600))
    draw = random.Random(0)
    whole, calls, claims = [], [], set()
    for number in range(rounds + 2):
        query, passages, answer = material(draw, sentences)
        _clear_text_caches()
        for encoder in recorded:
            encoder.asked.clear()
        begin = _now()
        result = rag.check(query, passages, answer)
        taken = _since(begin)
        _clear_text_caches()
        alone = bare(*engines, [encoder.asked for encoder in recorded])
        if number >= 2:  # the first rounds load what is loaded once
            whole.append(taken)
            calls.append(alone)
            claims.add(len(result.claims))
    clock, processor = ([(mine[at], theirs[at]) for mine, theirs in zip(whole, calls, strict=True)] for at in (0, 1))
    row: dict[str, Any] = {
        "passages": PASSAGES,
        "claims": sorted(claims),
        "pairs": len(set(recorded[0].asked)) + len(set(recorded[1].asked)),
        "rounds": rounds,
    }
    print(json.dumps(row | _summary("clock", clock) | _summary("processor", processor)))
    return 0


def _summary(name: str, pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Medians of the assessment and the bare calls, and of their ratio, with its range."""
    ratios = [mine / theirs for mine, theirs in pairs]
    return {
        f"{name}_assessment_ms": round(statistics.median(mine for mine, _ in pairs), 1),
        f"{name}_encoder_calls_ms": round(statistics.median(theirs for _, theirs in pairs), 1),
        f"{name}_ratio": round(statistics.median(ratios), 3),
        f"{name}_ratio_range": [round(min(ratios), 3), round(max(ratios), 3)],
    }


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(begin: tuple[float, float]) -> tuple[float, float]:
    clock, processor = _now()
    return (clock - begin[0]) * 1000, (processor - begin[1]) * 1000


def _clear_text_caches() -> None:
    """Forget texts taken apart, so that whoever comes second does not profit from the first."""
    from offline_eval.checks import _statements, _support
    from offline_eval.engines import support_features

    support_features._taken_apart.cache_clear()
    _statements.statement_of.cache_clear()
    _support._normal.cache_clear()


if __name__ == "__main__":
    sys.exit(main())

"""How far bfloat16 moves the default encoders' scores from float32, on pairs of published sets.

Prints one Markdown row an encoder: the largest and the mean difference, and how many scores change sides of .5 (cosines
have no such side). Run it with OFFLINE_EVAL_PUBLIC_DATA pointing at the sets, after `offline-eval models fetch
all-minilm-l6-v2`; the scorer of support reads words alone and has no number format.
"""

import argparse
import os
import random
import sys
from pathlib import Path

import numpy as np

from offline_eval.core.protocols import Failure
from offline_eval.engines.embedder import open_embedder
from offline_eval.engines.feature_scorer import BASE_EMBEDDER, open_default_scorer
from offline_eval.stats.arrays import Floats
from offline_eval.training.public_sets import SETS

REFERENCE = "float32"
Pair = tuple[str, str]


def chosen_pairs(folder: Path, name: str, n: int) -> list[Pair]:
    """Premise and hypothesis of n pairs of a set, drawn with a fixed seed."""
    pairs = [(pair.premise, pair.hypothesis) for pair in SETS[name].read(folder)]
    return random.Random(0).sample(pairs, min(n, len(pairs)))


def answerability(pairs: list[Pair], dtype: str) -> Floats:
    """Scores of `default-answerability`, shape (n_pairs,); a failure is NaN, so that it cannot pass as equal."""
    scorer = open_default_scorer("default-answerability", dtype=dtype, with_encoder=True)
    try:
        rows = scorer.score(pairs)
    finally:
        scorer.close()
    return np.array([np.nan if isinstance(row, Failure) else row["score"] for row in rows])


def cosines(pairs: list[Pair], dtype: str) -> Floats:
    """Cosine of each pair's vectors, shape (n_pairs,)."""
    embedder = open_embedder(BASE_EMBEDDER, dtype=dtype)
    try:
        first, second = (embedder.embed([pair[side] for pair in pairs]) for side in (0, 1))
    finally:
        embedder.close()
    found: Floats = (first * second).sum(axis=1).astype(np.float64)
    return found


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("OFFLINE_EVAL_PUBLIC_DATA"))
    parser.add_argument("--pairs", type=int, default=300, help="for each encoder")
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float16"])
    options = parser.parse_args()
    if options.data is None:
        print("point OFFLINE_EVAL_PUBLIC_DATA (or --data) at the folder with the sets", file=sys.stderr)
        return 2
    folder, n = Path(options.data), options.pairs
    asked = chosen_pairs(folder, "clapnq", n)
    mixed = [pair for name in ("wice", "begin", "clapnq") for pair in chosen_pairs(folder, name, n // 3)]
    print(f"| encoder | pairs | largest difference of {options.dtype} | mean | changed sides of .5 |")
    print("| --- | --- | --- | --- | --- |")
    for encoder, pairs, scores in (
        ("default-answerability", asked, answerability),
        (f"{BASE_EMBEDDER}, cosine", mixed, cosines),
    ):
        exact, other = scores(pairs, REFERENCE), scores(pairs, options.dtype)
        moved = np.abs(exact - other)
        sides = "" if scores is cosines else str(int(((exact >= 0.5) != (other >= 0.5)).sum()))
        print(f"| {encoder} | {len(pairs)} | {moved.max():.2g} | {moved.mean():.2g} | {sides} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

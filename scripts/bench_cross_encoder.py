"""Pairs a second through our cross-encoder engine and through sentence-transformers' `CrossEncoder.predict`.

Both read the same 2,000 pairs of mixed length with the same weights in float32: all-MiniLM-L6-v2's body with a random
one-logit head, since speed does not depend on what the head has learned. Prints the ratio and the largest difference.
With `--onnx`, 8-bit weights on ONNX Runtime as well, in a column of its own. A machine that is busy otherwise is best
measured with `--clock processor`, which counts what this process used.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import offline_eval.demo
from offline_eval.core.protocols import Failure, PairScorer
from offline_eval.engines.cross_encoder import CrossEncoderScorer
from offline_eval.models.config import FolderSource, ModelConfig
from offline_eval.models.installed import describe_folder, require_installed

CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "processor": time.process_time}


def mixed_pairs(n: int, *, seed: int = 0) -> list[tuple[str, str]]:
    """Questions of 4 to 20 words with passages of 5 to 300 (at most 512 tokens), lengths even on a log scale."""
    draw = random.Random(seed)
    handbook = Path(offline_eval.demo.__file__).parent / "handbook" / "en"
    words = [word for path in sorted(handbook.glob("*.md")) for word in path.read_text("utf-8").split()]
    pairs = []
    for _ in range(n):
        length = round(5 * 60 ** draw.random())
        pairs.append((" ".join(draw.choices(words, k=draw.randint(4, 20))), " ".join(draw.choices(words, k=length))))
    return pairs


def with_random_head(base: Path, out: Path) -> None:
    """The base's body with a random one-logit head."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()
    torch.manual_seed(0)
    network = AutoModelForSequenceClassification.from_pretrained(base, num_labels=1, local_files_only=True)
    torch.nn.init.normal_(network.classifier.weight, std=0.3)
    network.save_pretrained(out)
    AutoTokenizer.from_pretrained(base, local_files_only=True).save_pretrained(out)


def main() -> int:
    """Measure and print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="all-minilm-l6-v2")
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3, help="the best round of each counts")
    parser.add_argument("--dtypes", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--onnx", action="store_true", help="8-bit weights on ONNX Runtime too")
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall")
    options = parser.parse_args()
    pairs = mixed_pairs(options.pairs)
    work = Path(tempfile.mkdtemp())
    folder = work / "model"
    try:
        with_random_head(require_installed(options.base).folder, folder)
        engines = opened(folder, dtypes=options.dtypes, onnx=options.onnx)
        return measure(folder, engines, pairs, rounds=options.rounds, clock=CLOCKS[options.clock])
    finally:
        shutil.rmtree(work)


def opened(folder: Path, *, dtypes: list[str], onnx: bool) -> dict[str, PairScorer]:
    """Ours, by number format; the converted file is as temporary as the weights."""
    config = ModelConfig(
        name="bench",
        kind="reranker",
        family="bert",
        languages=("en",),
        license="Apache-2.0",
        context_length=512,
        dtype="float32",
        memory_gib=0.3,
        source=FolderSource(upstream="none"),
    )
    model = describe_folder(folder, config)
    found: dict[str, PairScorer] = {dtype: CrossEncoderScorer(model, dtype=dtype) for dtype in dtypes}
    if onnx:
        from offline_eval.engines.onnx_classify import OnnxScorer

        os.environ["OFFLINE_EVAL_HOME"] = str(folder.parent / "home")
        found["onnx int8"] = OnnxScorer(model, announce=lambda line: print(line, file=sys.stderr))
    return found


def measure(
    folder: Path,
    ours: dict[str, PairScorer],
    pairs: list[tuple[str, str]],
    *,
    rounds: int,
    clock: Callable[[], float],
) -> int:
    """Alternate them, so that a busy machine slows all."""
    from sentence_transformers import CrossEncoder

    theirs = CrossEncoder(str(folder), local_files_only=True)
    seconds: dict[str, list[float]] = {"theirs": [], **{name: [] for name in ours}}
    largest = dict.fromkeys(ours, 0.0)
    theirs.predict(pairs[:64], show_progress_bar=False)
    for _ in range(rounds):
        started = clock()
        expected = theirs.predict(pairs, show_progress_bar=False)
        seconds["theirs"].append(clock() - started)
        for name, engine in ours.items():
            started = clock()
            rows = engine.score(pairs)
            seconds[name].append(clock() - started)
            values = [2.0 if isinstance(row, Failure) else row["score"] for row in rows]  # a failure shows at once
            largest[name] = max(abs(a - float(b)) for a, b in zip(values, expected, strict=True))
    best = {name: min(found) for name, found in seconds.items()}
    result = {
        "pairs": len(pairs),
        "pairs_per_second": {name: round(len(pairs) / value, 1) for name, value in best.items()},
        "ratio": {name: round(best["theirs"] / best[name], 2) for name in ours},
        "largest_difference": {name: float(f"{value:.2g}") for name, value in largest.items()},
    }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())

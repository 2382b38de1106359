"""How fast index and search are beside the bare libraries, and how cost grows with the corpus.

Every measurement runs in a process of its own, so that its peak memory is its own; of several rounds the fastest
counts, since a busy machine only ever adds time. Passages are generated: words by Zipf's law, so that posting lists
have natural lengths; vectors are random.
"""

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bm25s
import faiss
import numpy as np
import rank_bm25  # noqa: F401 - loaded here, so that loading is not measured
import Stemmer

from offline_eval.core.records import Passage
from offline_eval.retrieval.analysis import Analyzer, AnalyzerSettings
from offline_eval.retrieval.bm25 import Bm25Retriever, Bm25Settings, build_bm25
from offline_eval.retrieval.dense import flat_search, nearest
from offline_eval.retrieval.index import build_index
from offline_eval.retrieval.manifest import IndexSettings
from offline_eval.retrieval.passage_store import PassageStore, StoreWriter
from offline_eval.retrieval.rank_bm25 import RankBm25Retriever

WORDS = 50_000
WORDS_A_PASSAGE = 60
WORDS_A_QUERY = 5
DIMENSION = 384
K = 10
Result = dict[str, float]


def passages(n: int) -> list[Passage]:
    """Generated passages; the same for the same n."""
    return [Passage(id=f"p{number:07}", text=text) for number, text in enumerate(_texts(n, WORDS_A_PASSAGE, seed=1))]


def queries(n: int) -> list[str]:
    """Generated queries."""
    return _texts(n, WORDS_A_QUERY, seed=2)


def _texts(n: int, words: int, *, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    syllables = ["ka", "lo", "mi", "ne", "ru", "ta", "so", "ve", "pi", "du"]
    names = ["".join(syllables[int(digit)] for digit in f"{word:05}") for word in range(WORDS)]
    chances = 1 / np.arange(1, WORDS + 1)
    drawn = rng.choice(WORDS, size=(n, words), p=chances / chances.sum())
    return [" ".join(names[word] for word in row) for row in drawn]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of all threads, and the result.

    On an idle machine with one thread they equal the time on the clock; on a busy one they still measure the work.
    """
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def our_bm25(n: int, asked: Sequence[str]) -> Result:
    """Tokens, index and search of the default retriever."""
    texts = [passage.text for passage in passages(n)]
    analyzer = Analyzer(AnalyzerSettings())
    with tempfile.TemporaryDirectory() as folder:
        store = _stored(n, Path(folder))
        index, model = timed(lambda: build_bm25(map(analyzer.tokens, texts), Bm25Settings()))
        retriever = Bm25Retriever(model, store, analyzer=analyzer)
        search, _ = timed(lambda: retriever.search(asked, k=K))
        store.close()
    return {"index": index, "search": search}


def _stored(n: int, folder: Path) -> PassageStore:
    with StoreWriter(folder) as writer:
        for passage in passages(n):
            writer.add(passage)
    return PassageStore(folder)


def bare_bm25s(n: int, asked: Sequence[str]) -> Result:
    """The same work done by bm25s and its own tokenizer, with the same stemmer."""
    texts = [passage.text for passage in passages(n)]
    stemmer = Stemmer.Stemmer("english")

    def tokens(of: Sequence[str]) -> Any:
        return bm25s.tokenize(list(of), stopwords=None, stemmer=stemmer, show_progress=False)

    def build() -> Any:
        model = bm25s.BM25(method="lucene")
        model.index(tokens(texts), show_progress=False)
        return model

    index, model = timed(build)
    search, _ = timed(lambda: model.retrieve(tokens(asked), k=K, show_progress=False))
    return {"index": index, "search": search}


def bare_rank_bm25(n: int, asked: Sequence[str]) -> Result:
    """The second backend; searching is measured on a few queries and scaled up."""
    few = asked[:10]
    with tempfile.TemporaryDirectory() as folder:
        store = _stored(n, Path(folder))
        index, retriever = timed(
            lambda: RankBm25Retriever(store, analyzer=Analyzer(AnalyzerSettings()), settings=Bm25Settings())
        )
        search, _ = timed(lambda: retriever.search(few, k=K))
        store.close()
    return {"index": index, "search": search * len(asked) / len(few)}


def whole_index(n: int, asked: Sequence[str]) -> Result:
    """Everything `retrieve index` does for BM25: passages on disk, hashes, terms, index, manifest."""
    corpus = passages(n)
    with tempfile.TemporaryDirectory() as folder:
        index, _ = timed(lambda: build_index(corpus, Path(folder) / "index", settings=IndexSettings()))
    return {"index": index, "search": 0.0}


def _vectors(n: int, seed: int) -> Any:
    vectors = np.random.default_rng(seed).standard_normal((n, DIMENSION), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def our_flat(n: int, asked: Sequence[str]) -> Result:
    """Exact search under the tie rule."""
    vectors, wanted = _vectors(n, 1), _vectors(len(asked), 2)
    ranks = np.arange(n)
    search, _ = timed(lambda: nearest(flat_search(vectors), wanted, ranks, k=K))
    return {"index": 0.0, "search": search}


def bare_faiss(n: int, asked: Sequence[str]) -> Result:
    """IndexFlatIP, its copy of the vectors counted as indexing."""
    vectors, wanted = _vectors(n, 1), _vectors(len(asked), 2)
    flat = faiss.IndexFlatIP(DIMENSION)
    index, _ = timed(lambda: flat.add(vectors))
    search, _ = timed(lambda: flat.search(wanted, K))
    return {"index": index, "search": search}


PARTS: dict[str, Callable[[int, Sequence[str]], Result]] = {
    "bm25": our_bm25,
    "bm25s": bare_bm25s,
    "rank_bm25": bare_rank_bm25,
    "index": whole_index,
    "flat": our_flat,
    "faiss": bare_faiss,
}


def measure(part: str, n: int, n_queries: int) -> Result:
    """One part in a process of its own."""
    command = [sys.executable, __file__, "--part", part, "--sizes", str(n), "--queries", str(n_queries)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        raise SystemExit(f"{part} failed:\n{found.stderr}")
    result: Result = json.loads(found.stdout)
    return result


def fastest(parts: Sequence[str], n: int, n_queries: int, *, rounds: int) -> dict[str, Result]:
    """The least time of each figure over interleaved rounds, so that a busy spell hits all parts alike."""
    best: dict[str, Result] = {}
    for _ in range(rounds):
        for part in parts:
            found = measure(part, n, n_queries)
            best[part] = {key: min(value, best.get(part, found)[key]) for key, value in found.items()}
    return best


def report(n: int, n_queries: int, rounds: int) -> dict[str, Result]:
    """Print the figures of one corpus size."""
    best = fastest(["bm25", "bm25s", "flat", "faiss", "index"], n, n_queries, rounds=rounds)
    best |= fastest(["rank_bm25"], n, n_queries, rounds=1)
    print(f"\n{n:,} passages, {n_queries:,} queries, k = {K}, fastest of {rounds} (rank_bm25: 10 queries, scaled up)")
    print("processor seconds of all threads")
    print(f"{'part':<10} {'index s':>9} {'search s':>9} {'queries/s':>10} {'peak MiB':>9}")
    for part, found in best.items():
        rate = f"{n_queries / found['search']:,.1f}" if found["search"] else "–"
        print(f"{part:<10} {found['index']:>9.2f} {found['search']:>9.2f} {rate:>10} {found['peak_mib']:>9.0f}")
    whole = {part: found["index"] + found["search"] for part, found in best.items()}
    print(f"bm25 / bm25s, index and search: {whole['bm25'] / whole['bm25s']:.2f} (wanted: at most 1.10)")
    print(f"bm25 against rank_bm25, search: {best['rank_bm25']['search'] / best['bm25']['search']:.0f} x (wanted: 50)")
    print(f"flat / faiss, search: {best['flat']['search'] / best['faiss']['search']:.2f} (wanted: at most 1.20)")
    sys.stdout.flush()
    return best


def main() -> None:
    """Run all parts, or one for the parent process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        result = PARTS[arguments.part](arguments.sizes[0], queries(arguments.queries))
        result["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(result))
        return
    print(f"Python {platform.python_version()}, {platform.machine()}, words by Zipf's law, {DIMENSION} dimensions")
    found = {n: report(n, arguments.queries, arguments.rounds) for n in arguments.sizes}
    small, large = min(found), max(found)
    if small == large:
        return
    print(f"\nfrom {small:,} to {large:,} passages ({large / small:.0f} x); 1.0 is linear growth")
    for part, key in (("bm25", "index"), ("index", "index"), ("bm25", "search"), ("flat", "search")):
        growth = found[large][part][key] / found[small][part][key] / (large / small)
        print(f"{part} {key}: {growth:.2f}")


if __name__ == "__main__":
    main()

"""Measures the n-gram leakage check on a synthetic corpus: 100,000 passages, 1,000 cases, English and Chinese.

    python scripts/bench_leakage.py [--passages 100000] [--cases 1000]

Every tenth case has its question planted in a passage, every other of those with its answer; the script fails unless
exactly those are found. Prints wall time, processor time and peak memory of the whole process.
"""

import argparse
import random
import resource
import time
from collections.abc import Iterator

from offline_eval.core.records import Case, Passage
from offline_eval.testset.leakage import corpus_leaks

_WORDS = [f"{a}{b}{c}" for a in ("ka", "lo", "mi", "ter", "vas", "on") for b in ("", "ri", "na", "sto", "del")
          for c in ("n", "sa", "ment", "er", "ic", "ous", "ity")]  # fmt: skip
_HAN = [chr(0x4E00 + 7 * n) for n in range(1500)]
_PASSAGE_WORDS = 120
_PASSAGE_CHARACTERS = 220


def main() -> None:
    """Plant, look, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--cases", type=int, default=1_000)
    wanted = parser.parse_args()
    cases = [_case(number) for number in range(wanted.cases)]
    planted = {
        case.id: "pair" if number % 20 == 0 else "question" for number, case in enumerate(cases) if number % 10 == 0
    }
    started, used = time.perf_counter(), time.process_time()
    found = corpus_leaks(cases, _passages(wanted.passages, cases, planted))
    wall, processor = time.perf_counter() - started, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    kinds = {leak.case: leak.kind for leak in found.leaks}
    print(
        f"{found.n_passages:,} passages x {len(cases):,} cases: {wall:.1f} s wall, {processor:.1f} s processor (making "
        f"the passages included), peak {peak:.0f} MiB; {len(kinds)} of {len(planted)} planted found"
    )
    if kinds != planted:
        raise SystemExit("not exactly what was planted was found")


def _case(number: int) -> Case:
    draw = random.Random(f"case/{number}")
    if number % 2:
        query = f"如果{''.join(draw.choices(_HAN, k=18))}，那么应该怎么办理？"
        return Case(id=f"c{number}", query=query, reference="".join(draw.choices(_HAN, k=40)), language="zh")
    query = f"What is the {' '.join(draw.choices(_WORDS, k=14))}?"
    return Case(id=f"c{number}", query=query, reference=" ".join(draw.choices(_WORDS, k=25)), language="en")


def _passages(count: int, cases: list[Case], planted: dict[str, str]) -> Iterator[Passage]:
    hosts = {number * (count // max(1, len(planted))): case for number, case in
             enumerate(case for case in cases if case.id in planted)}  # fmt: skip
    draw = random.Random("passages")
    for number in range(count):
        if number % 2:
            text = "".join(draw.choices(_HAN, k=_PASSAGE_CHARACTERS)) + "。多少钱？"
        else:
            text = " ".join(draw.choices(_WORDS, k=_PASSAGE_WORDS)) + ". How many are there?"
        if number in hosts:
            case = hosts[number]
            text += f"\n{case.query} {case.reference if planted[case.id] == 'pair' else ''}"
        yield Passage(id=f"p{number}", text=text)


if __name__ == "__main__":
    main()

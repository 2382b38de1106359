"""Feeds malformed inputs to the program, in a process of its own, and reports every one that was not answered properly.

    python -m tests.support.malformed_inputs SEED N [KIND...]     N inputs of each kind

Prints one JSON object: kind → {"inputs", "codes", "seconds", "slowest_s", "faults"}; a fault names its input by number.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from tests.support.malformed_kinds import KINDS, Workshop, undo
from tests.support.program_call import call, stop_hanging

DOCUMENTED = frozenset({0, 1, 2, 3, 4})


_FAULTS = ("Traceback (most recent call last)", "fault of the program", "Exception ignored in")


def try_kind(name: str, shop: Workshop, *, seed: int, n: int) -> dict[str, Any]:
    """Feed n inputs of one kind."""
    codes: Counter[int] = Counter()
    faults: list[str] = []
    began, slowest = time.monotonic(), 0.0
    shutil.rmtree("home", ignore_errors=True)  # what another kind installed
    for number in range(n):
        random = Random(f"{name} {seed} {number}")
        arguments = KINDS[name](random, shop)
        started = time.monotonic()
        code, said = call(arguments)
        slowest = max(slowest, time.monotonic() - started)
        codes[code] += 1
        if code not in DOCUMENTED or any(fault in said for fault in _FAULTS) or (code and not said.strip()):
            faults.append(f"{name} {seed} {number}: exit {code}: {' '.join(arguments)}\n{said[-3000:]}")
        undo()
        if not os.environ.get("KEEP_MALFORMED"):
            for made in Path().glob("*-*/"):
                if made.name.partition("-")[0] in ("bad", "out", "into", "index", "trained"):
                    shutil.rmtree(made, ignore_errors=True)
    seconds, slowest = round(time.monotonic() - began, 1), round(slowest, 2)
    return {
        "inputs": n,
        "codes": dict(sorted(codes.items())),
        "seconds": seconds,
        "slowest_s": slowest,
        "faults": faults,
    }


def main() -> None:
    seed, n, *names = sys.argv[1:]
    for alarm in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(alarm, stop_hanging)
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop(Path(folder))
        found = {name: try_kind(name, shop, seed=int(seed), n=int(n)) for name in names or KINDS}
        os.chdir(before)
    sys.stdout.write(json.dumps(found, ensure_ascii=True, indent=1))


if __name__ == "__main__":
    main()

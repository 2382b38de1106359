"""Kills one run with SIGKILL at many random moments, starts it again after each, and compares it with one left alone.

Proves, or exits with 1: the same bytes from `runs export`; no batch committed twice; nothing that was committed lost;
a hash chain that fits. A fifth of the kills falls anywhere in a life, start-up and loading included; the others fall
after the engine was loaded, when the run file has grown by a random amount, so that they spread over the whole run.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

LOADED = "loaded "  # begins the line that says so
ANYWHERE = 0.2  # share of the kills


class Life(NamedTuple):
    """One start of the run.

    Attributes:
        returncode: -9 when it was killed.
        load_s: Seconds until the engine was loaded; None when it was not.
        seconds: From start to end.
    """

    returncode: int
    load_s: float | None
    seconds: float


def main() -> int:
    """Run the proof; figures on stdout as JSON."""
    options = parse()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="prove-sigkill-"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rows.jsonl").write_text(rows(options.cases), "utf-8")
    began = time.monotonic()
    whole = live(command(options, folder / "whole"))
    if whole.returncode != 0 or whole.load_s is None:
        say(f"the run itself ended with {whole.returncode}; see its messages above")
        return 1
    say(f"left alone: {whole.seconds:.1f} s, of which {whole.load_s:.1f} s until the engine was loaded")
    lives, faults = kill_and_restart(options, folder, whole)
    figures, more = compare(folder)
    killed = [life for life in lives if life.returncode == -signal.SIGKILL]
    if len(killed) < options.kills:
        more.append(f"the run ended after {len(killed)} kills; take more --cases")
    loads = sum(life.load_s is not None for life in killed)
    figures |= {
        "kills": len(killed),
        "kills_before_the_engine_was_loaded": len(killed) - loads,
        "kills_while_judging_or_later": loads,
        "lives_that_committed_something": figures_of_progress(folder),
        "seconds": round(time.monotonic() - began, 1),
        "faults": faults + more,
    }
    print(json.dumps(figures, indent=1))
    if options.folder is None and not figures["faults"]:
        shutil.rmtree(folder)
    return 1 if figures["faults"] else 0


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--engine", default="scripted")
    parser.add_argument("--judge", help="Name or folder of a model; the default judge unless given.")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--batch-size", type=int, default=1)
    parser.add_argument("--reasons", default="all")
    parser.add_argument("--cache", action="store_true", help="Let all lives share a cache, which is killed with them.")
    parser.add_argument("--folder", type=Path, help="Kept; a temporary one otherwise.")
    return parser.parse_args()


def rows(n: int) -> str:
    """Cases with their answers, English and Chinese."""
    lines = []
    for number in range(n):
        days = 10 + number % 20
        english = {
            "query": f"How many days of leave has office {number}?",
            "answer": f"Office {number} has {days} days of leave.",
            "passages": [{"id": "p1", "text": f"In office {number} everybody has {days} days of leave a year."}],
            "reference": f"{days} days.",
        }
        chinese = {
            "query": f"第{number}办公室有多少天年假？",
            "answer": f"第{number}办公室有{days}天年假。",
            "passages": [{"id": "p1", "text": f"第{number}办公室的员工每年有{days}天年假。"}],
            "reference": f"{days}天。",
        }
        lines.append(json.dumps({"id": f"c{number}", **(chinese if number % 3 == 2 else english)}, ensure_ascii=False))
    return "\n".join(lines) + "\n"


def command(options: argparse.Namespace, out: Path) -> list[str]:
    """The run's command line."""
    words = [sys.executable, "-m", "offline_eval", "run", str(out.parent / "rows.jsonl"), "--out", str(out)]
    words += ["--engine", options.engine, "--batch-size", str(options.batch_size), "--reasons", options.reasons]
    words += ["--self-test", "skip", "--max-failed", "1", "--format", "json"]
    words += [] if options.engine == "scripted" else ["--dtype", options.dtype]
    words += ["--judge", options.judge] if options.judge else []
    return [*words, "--cache", str(out.parent / "cache.sqlite")] if options.cache else [*words, "--no-cache"]


class Shot(NamedTuple):
    """When a life is killed.

    Attributes:
        after_s: Seconds from its start; None for one that depends on the file.
        out: Folder of the run file to watch.
        growth: Bytes the file grows by from the loading of the engine to the kill.
        delay_s: Seconds from then on, so that the kill does not always come right behind a commit.
    """

    after_s: float | None
    out: Path
    growth: float = 0.0
    delay_s: float = 0.0


def live(words: list[str], shot: Shot | None = None) -> Life:
    """Start the run, and kill it or let it end. Nothing is told to the program before it dies."""
    started = time.monotonic()
    loaded = threading.Event()
    load_s: list[float] = []
    tail: list[str] = []
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:

        def listen() -> None:
            assert process.stderr is not None
            for line in process.stderr:
                tail.append(line)
                if line.startswith(LOADED) and not load_s:
                    load_s.append(time.monotonic() - started)
                    loaded.set()
            loaded.set()

        thread = threading.Thread(target=listen)
        thread.start()
        if shot is not None:
            wait_for(shot, loaded)
            process.send_signal(signal.SIGKILL)  # does nothing to a process that has ended
        code = process.wait()
        thread.join()
    if code not in (0, -signal.SIGKILL):
        say("".join(tail[-10:]))
    return Life(code, load_s[0] if load_s else None, time.monotonic() - started)


def wait_for(shot: Shot, loaded: threading.Event) -> None:
    """Return at the moment of the kill."""
    if shot.after_s is not None:
        time.sleep(shot.after_s)
        return
    loaded.wait()
    before, deadline = size_of(shot.out), time.monotonic() + 60
    while size_of(shot.out) < before + shot.growth and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(shot.delay_s)


def size_of(out: Path) -> int:
    """Bytes of the run file."""
    path = run_file(out)
    return path.stat().st_size if path is not None else 0


def kill_and_restart(options: argparse.Namespace, folder: Path, whole: Life) -> tuple[list[Life], list[str]]:
    """Kill lives until enough were killed, then let the last one end.

    Returns:
        All lives, and what was wrong between them.
    """
    draw, faults, lives = random.Random(options.seed), [], []
    words, out = command(options, folder / "killed"), folder / "killed"
    load_s = whole.load_s or 0.0
    total = len(batches(folder / "whole"))
    batch_bytes = size_of(folder / "whole") / total
    batch_s = (whole.seconds - load_s) / total
    committed: set[str] = set()
    history = []
    for number in range(options.kills):
        share = (total - len(committed)) / (options.kills - number + 1)
        growth, delay_s = draw.uniform(0, 1.5 * share) * batch_bytes, draw.uniform(0, batch_s)
        is_anywhere = draw.random() < ANYWHERE
        shot = Shot(draw.uniform(0, load_s), out) if is_anywhere else Shot(None, out, growth, delay_s)
        life = live(words, shot)
        lives.append(life)
        if life.returncode == 0:
            break
        if life.returncode != -signal.SIGKILL:
            faults.append(f"life {number + 1} ended with {life.returncode}")
        now = batches(out)
        if not committed <= now:
            faults.append(f"life {number + 1} lost {sorted(committed - now)}")
        history.append(len(now) - len(committed))
        committed = now
        if number % 10 == 9:
            say(f"{number + 1} kills, {len(committed)} of {total} batches committed")
    (folder / "progress.json").write_text(json.dumps(history))
    lives.append(live(words))
    if lives[-1].returncode != 0:
        faults.append(f"the last life ended with {lives[-1].returncode}")
    return lives, faults


def figures_of_progress(folder: Path) -> int:
    """How many killed lives had committed something."""
    return sum(1 for committed in json.loads((folder / "progress.json").read_text()) if committed)


def run_file(out: Path) -> Path | None:
    """The only run of a folder."""
    return next(iter(out.glob("*.sqlite")), None)


def query(out: Path, sql: str) -> list[Any]:
    """Read a run file; one that a killed process left is rolled back first, as the next life would do."""
    path = run_file(out)
    if path is None:
        return []
    with closing(sqlite3.connect(path)) as db:
        if db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'log'").fetchone() == (0,):
            return []
        return db.execute(sql).fetchall()


def batches(out: Path) -> set[str]:
    """Names of the committed batches."""
    return {name for (name,) in query(out, "SELECT batch FROM log WHERE kind = 'batch'")}


def compare(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Hold the killed run against the one left alone.

    Returns:
        Figures, and what is wrong.
    """
    faults: list[str] = []
    documents = []
    for name in ("whole", "killed"):
        path = run_file(folder / name)
        for task in ("export", "audit"):
            words = [sys.executable, "-m", "offline_eval", "runs", task, str(path)]
            done = subprocess.run(words, capture_output=True, check=False, env=os.environ)
            if done.returncode != 0:
                faults.append(f"runs {task} of {name}: {done.stdout.decode()[-300:]} {done.stderr.decode()[-300:]}")
            if task == "export":
                documents.append(done.stdout)
    marks = [name for (name,) in query(folder / "killed", "SELECT batch FROM log WHERE kind = 'batch'")]
    told = [
        json.loads(body)["batch"]
        for (body,) in query(folder / "killed", "SELECT body FROM log WHERE kind = 'event' AND key = 'batch'")
    ]
    evidence = [
        tuple(json.loads(body).get(name) for name in ("response_key", "kind", "dimension", "judge", "role", "source"))
        for (body,) in query(folder / "killed", "SELECT body FROM log WHERE kind = 'evidence'")
    ]
    if documents[0] != documents[1] or not documents[0]:
        faults.append("the results documents differ")
    for what, found in (("batch marks", marks), ("judged batches", told), ("evidence rows", evidence)):
        if len(set(found)) != len(found):
            faults.append(f"{what}: {len(found) - len(set(found))} occur twice")
    if set(marks) != batches(folder / "whole"):
        faults.append("other batches than in the run that was left alone")
    figures = {
        "document_bytes": len(documents[1]),
        "document_sha256": [hashlib.sha256(document).hexdigest() for document in documents],
        "batches": len(marks),
        "evidence_rows": len(evidence),
    }
    return figures, faults


def say(line: str) -> None:
    """Tell a person."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

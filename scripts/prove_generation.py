"""Prove that a judge writes the same drafts twice, and that a generation killed in its middle ends with the same file.

Runs `testset generate` in certified mode three times into folders of its own: twice left alone, and once killed with
SIGKILL in its second batch and called again. Proves, or exits with 1: three drafts files of the same bytes. Needs the
models of `offline-eval models fetch`; more than eight questions, or more than one attempt, make a second batch.
"""

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DEMO = Path(__file__).resolve().parents[1] / "offline_eval" / "demo" / "handbook"
_LATER = 20.0  # seconds into the second batch


def main() -> int:
    """Run the proof; figures on stdout as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="?", type=Path, default=DEMO)
    parser.add_argument("--size", type=int, default=10)
    parser.add_argument("--attempts", type=int, default=1)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--lang", default="auto")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--folder", type=Path, help="Kept; a temporary one otherwise.")
    chosen = parser.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="prove-generation-"))
    seconds = {}
    for name in ("first", "again"):
        began = time.monotonic()
        subprocess.run(command(chosen, folder / name), check=True)
        seconds[name] = round(time.monotonic() - began, 1)
    committed = kill_in_the_second_batch(chosen, folder / "killed")
    began = time.monotonic()
    subprocess.run(command(chosen, folder / "killed"), check=True)
    seconds["continued"] = round(time.monotonic() - began, 1)
    files = {name: (folder / name / "drafts.jsonl").read_bytes() for name in ("first", "again", "killed")}
    hashes = {name: hashlib.sha256(data).hexdigest()[:16] for name, data in files.items()}
    figures = {
        "documents": str(chosen.documents),
        "bytes": {name: len(data) for name, data in files.items()},
        "sha256": hashes,
        "drafts": sum(len(line.get("drafts", ())) for line in map(json.loads, files["first"].splitlines())),
        "batches": files["first"].count(b"\n") - 1,
        "batches_before_the_kill": committed,
        "seconds": seconds,
        "identical": len(set(hashes.values())) == 1,
    }
    print(json.dumps(figures, indent=1))
    return 0 if figures["identical"] else 1


def command(chosen: argparse.Namespace, out: Path) -> list[str]:
    """One generation."""
    words = [sys.executable, "-m", "offline_eval", "testset", "generate", str(chosen.documents), "--out", str(out)]
    words += ["--size", str(chosen.size), "--attempts", str(chosen.attempts), "--seed", str(chosen.seed)]
    return [*words, "--lang", chosen.lang, "--engine", chosen.engine, "--dtype", "float32", "--certified"]


def kill_in_the_second_batch(chosen: argparse.Namespace, out: Path) -> int:
    """Start a generation, kill it and all its children some time after its first batch is on disk.

    Returns:
        Whole batches on disk after the kill.

    Raises:
        SystemExit: It ended before it could be killed.
    """
    drafts = out / "drafts.jsonl"
    running = subprocess.Popen(command(chosen, out), start_new_session=True)
    while running.poll() is None and (not drafts.is_file() or drafts.read_bytes().count(b"\n") < 2):
        time.sleep(0.2)
    time.sleep(_LATER)
    if running.poll() is not None:
        raise SystemExit("the generation ended before its second batch; take a larger --size")
    os.killpg(running.pid, signal.SIGKILL)
    if running.wait() != -signal.SIGKILL:
        raise SystemExit("the generation was not killed")
    return drafts.read_bytes().count(b"\n") - 1


if __name__ == "__main__":
    sys.exit(main())

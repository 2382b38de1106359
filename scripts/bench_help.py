"""How long `offline-eval --help` takes, as a ratio to importing click alone, and what it imports."""

import subprocess
import sys
import time

RUNS = 7
HEAVY = ("torch", "vllm", "transformers", "numpy", "pydantic")


def main() -> None:
    """Print the ratio of medians and the heavy modules that were loaded."""
    base, ours = [], []
    for _ in range(RUNS):
        base.append(_seconds([sys.executable, "-c", "import click"]))
        ours.append(_seconds([sys.executable, "-m", "offline_eval", "--help"]))
    ratio = sorted(ours)[RUNS // 2] / sorted(base)[RUNS // 2]
    code = (
        "import sys; from offline_eval.cli.main import run_cli; run_cli(['--help']); "
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.strip()
    print(f"--help takes {ratio:.2f} x `import click` (median of {RUNS}, at most 4 wanted); heavy modules: {loaded}")


def _seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()

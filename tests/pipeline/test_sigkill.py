"""kill -9 at any point, run again: the same document, and no committed batch is judged twice."""

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from offline_eval.core.hashing import canonical_json
from offline_eval.pipeline.aggregate import Results, results_document
from offline_eval.store.audit import audit
from tests.support.panel_runs import Judges, execute, make_config, many

N_CASES = 4
CONFIG = make_config(("one", "two"), batch_size=1)  # a batch is one response: three labels, then three reasons

# Kills itself at the n-th request, or just before the n-th statement of a kind; tells every request it made.
PROGRAM = """
import os, signal, sys
from pathlib import Path
from offline_eval.pipeline.execute import Executor
from tests.pipeline.test_sigkill import CONFIG, N_CASES
from tests.support.panel_runs import Judges, many, start

path, what, n = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
seen = 0

def happened(kind):
    global seen
    if kind.startswith(what):
        seen += 1
        if seen == n:
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)

class Told(list):
    def append(self, asked):
        happened("request")
        print(asked[0] + asked[1].content_hash())
        super().append(asked)

judges = Judges()
judges.requests = Told()
run_file = start(path, CONFIG, *many(N_CASES))
run_file._db.set_trace_callback(happened)
Executor(run_file, CONFIG, open_judge=judges.open).run()
"""


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Counter[str]]:
    """The document of a run that nobody stopped, and how often each request was made."""
    judges = Judges()
    run_file = execute(tmp_path_factory.mktemp("whole") / "r.sqlite", CONFIG, *many(N_CASES), judges)
    asked = Counter(name + request.content_hash() for name, request in judges.requests)
    return canonical_json(results_document(Results(run_file))), asked


@pytest.mark.parametrize(
    ("what", "n"),
    [("request", 9), ("INSERT", 5), ("INSERT", 30), ("COMMIT", 8), ("BEGIN", 11)],
)
def test_killed_and_started_again_the_run_ends_in_the_same_document(
    what: str, n: int, wanted: tuple[bytes, Counter[str]], tmp_path: Path
) -> None:
    document, asked_once = wanted
    path = tmp_path / "r.sqlite"
    command = [sys.executable, "-c", PROGRAM, str(path), what, str(n)]
    killed = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    judges = Judges()
    run_file = execute(path, CONFIG, *many(N_CASES), judges)
    assert canonical_json(results_document(Results(run_file))) == document
    assert audit(run_file).fault is None
    asked = Counter(killed.stdout.split()) + Counter(name + request.content_hash() for name, request in judges.requests)
    again = asked - asked_once
    assert set(asked) == set(asked_once)
    # At most the batch that was under way is asked again: three labels and three reasons, each once more.
    assert len(again) <= 6
    assert set(again.values()) <= {1}
    body = json.loads(document)
    assert (len(body["evidence"]), body["summary"]["n_failed"]) == (N_CASES * (2 * 3 * 2 + 1), 0)

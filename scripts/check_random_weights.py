"""Judge with tiny models of random weights and count what comes back, because such models know nothing.

Whatever holds for their verdicts (all valid JSON, none cut off, every grade reached) holds by construction and not
because a model behaved. Progress goes to stderr, the table to stdout; the exit status is 1 unless everything holds.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, get_args

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the tiny models are made by the tests

import offline_eval.demo
from offline_eval.core.protocols import Failure, Generation, TextEngine
from offline_eval.core.results import Status
from offline_eval.engines.inprocess import EngineSpec
from offline_eval.engines.process import ProcessEngine
from offline_eval.formats.reader import read_cases, read_responses
from offline_eval.judge.prompt import Material, label_request, reason_request
from offline_eval.judge.rubric import RUBRIC_LANGUAGES, Rubric, load_rubric, rubric_names
from offline_eval.judge.verdicts import read_label, read_reason
from tests.support.tiny_models import Family, tiny_models

ENGINES = ("transformers", "vllm")
FAMILIES: tuple[str, ...] = get_args(Family)
_BATCH = 64
_ONE_THREAD = {"OMP_NUM_THREADS": "1"}  # models this small are slower on several
_COLUMNS = (
    "family, engine, verdicts, valid, truncated, grades reached, other labels, non-ASCII reasons, verdicts/s, peak GiB"
)


class Question(NamedTuple):
    """One verdict to ask for."""

    rubric: Rubric
    material: Material


@dataclass
class Tally:
    """What one model on one engine gave.

    Attributes:
        labels: Label to count, over all rubrics.
        truncated: Labels or reasons that ended at a limit.
        non_ascii: Valid verdicts whose evidence or reason has a character beyond ASCII.
        logprobs: Per question, label to natural log probability; None where the label failed.
        problems: The first few misses, in words.
    """

    family: str
    engine: str
    verdicts: int = 0
    valid: int = 0
    truncated: int = 0
    non_ascii: int = 0
    seconds: float = 0.0
    peak_bytes: int = 0
    labels: dict[str, int] = field(default_factory=dict)
    logprobs: list[dict[str, float] | None] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Every verdict valid, none cut off, all labels and characters beyond ASCII reached."""
        reached = set(self.labels) >= {"1", "2", "3", "A", "B", "C"}
        return self.valid == self.verdicts and self.truncated == 0 and reached and self.non_ascii > 0

    def row(self) -> str:
        """One line of the Markdown table."""
        grades = " ".join(f"{label}:{self.labels.get(label, 0)}" for label in "123")
        others = " ".join(f"{label}:{self.labels.get(label, 0)}" for label in "ABC")
        share = f"{self.valid} ({self.valid / self.verdicts:.2%})"
        speed, peak = f"{self.verdicts / self.seconds:.1f}", f"{self.peak_bytes / 2**30:.2f}"
        cells = (self.family, self.engine, self.verdicts, share, self.truncated, grades, others, self.non_ascii, speed)
        return f"| {' | '.join(str(cell) for cell in (*cells, peak))} |"


def questions(n: int, *, seed: int = 0) -> list[Question]:
    """Half English, half Chinese, over all shipped rubrics; answers are partly those of other demo cases."""
    folder = Path(offline_eval.demo.__file__).parent
    cases = read_cases(folder / "cases.jsonl")
    responses = read_responses(sorted(folder.glob("answers-*.jsonl")), cases=cases)
    draw = random.Random(seed)
    asked = []
    for number in range(n):
        language = RUBRIC_LANGUAGES[number % 2]
        name = rubric_names()[number // 2 % len(rubric_names())]
        case = draw.choice([case for case in cases if case.language == language])
        own = [response for response in responses if response.case_id == case.id]
        response = draw.choice(own)
        other = draw.choice(responses).answer
        if number % 3 == 0:
            response = response.model_copy(update={"answer": other})
        asked.append(Question(load_rubric(name, language), Material(case, response, other_answer=other)))
    return asked


def spec_of(family: str, folder: Path, engine: str) -> EngineSpec:
    """How a tiny model is loaded."""
    return EngineSpec(
        engine=engine,
        model=f"tiny-{family}",
        family=family,
        folder=str(folder),
        weights_hash="random",
        tokenizer_hash="random",
        template_hash="random",
        dtype="float32",
        context_length=8192,
        batch_size=_BATCH,
        template_options={"enable_thinking": False} if family == "qwen" else {},
    )


def judge(tally: Tally, engine: TextEngine, asked: Sequence[Question]) -> None:
    """Ask for labels and reasons, join each pair into a whole verdict and count it."""
    for start in range(0, len(asked), _BATCH):
        batch = asked[start : start + _BATCH]
        started = time.monotonic()
        labels = engine.generate([label_request(question.material, question.rubric) for question in batch])
        written = [result.text if isinstance(result, Generation) else "" for result in labels]
        judged = [(question, label) for question, label in zip(batch, written, strict=True) if label]
        reasons = iter(engine.generate([reason_request(q.material, q.rubric, label=label) for q, label in judged]))
        tally.seconds += time.monotonic() - started
        for question, result in zip(batch, labels, strict=True):
            _count(tally, question, result, next(reasons) if isinstance(result, Generation) else result)
        print(f"{tally.family} on {tally.engine}: {tally.verdicts} of {len(asked)}", file=sys.stderr, flush=True)


def _count(tally: Tally, question: Question, label: Generation | Failure, reason: Generation | Failure) -> None:
    tally.verdicts += 1
    verdict = read_label(question.rubric, label)
    tally.logprobs.append(label.label_logprobs if isinstance(label, Generation) else None)
    if verdict.label is not None:
        tally.labels[verdict.label] = tally.labels.get(verdict.label, 0) + 1
    read = read_reason(question.rubric, question.material, label=verdict.label or "", result=reason)
    tally.truncated += any(isinstance(result, Failure) and result.reason == "cut_off" for result in (label, reason))
    if verdict.status is not Status.SCORED or read["status"] is not Status.SCORED:
        if len(tally.problems) < 5:
            tally.problems.append(f"{verdict.status_reason or read['status_reason']}: {read.get('raw')!r}")
        return
    whole = json.loads(str(read["whole"]))
    tally.valid += list(whole) == [question.rubric.key, "evidence", "reason"]
    tally.non_ascii += not (whole["evidence"] + whole["reason"]).isascii()


def run(family: str, engine: str, *, folder: Path, asked: Sequence[Question]) -> Tally:
    """One model on one engine, in a worker of its own."""
    tally = Tally(family, engine)
    worker = ProcessEngine(spec_of(family, folder, engine), environment=_ONE_THREAD)
    try:
        judge(tally, worker, asked)
    finally:
        worker.close()
    tally.peak_bytes = worker.peak_bytes
    return tally


def main() -> int:
    """Check every family on every engine that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000, help="verdicts for each family and engine")
    parser.add_argument("--engine", action="append", choices=ENGINES, help="repeatable [default: all]")
    parser.add_argument("--family", action="append", choices=FAMILIES, help="repeatable [default: all]")
    options = parser.parse_args()
    asked = questions(options.n)
    tallies = []
    with tempfile.TemporaryDirectory() as folder:
        models = tiny_models(Path(folder))
        for family in options.family or FAMILIES:
            for engine in options.engine or ENGINES:
                tallies.append(run(family, engine, folder=models[family], asked=asked))
                print(tallies[-1].row(), file=sys.stderr, flush=True)
    cells = _COLUMNS.split(", ")
    print(f"| {' | '.join(cells)} |\n|{'---|' * len(cells)}")
    for tally in tallies:
        print(tally.row())
        for problem in tally.problems:
            print(f"{tally.family} on {tally.engine}: {problem}", file=sys.stderr)
    return 0 if all(tally.holds for tally in tallies) else 1


if __name__ == "__main__":
    sys.exit(main())

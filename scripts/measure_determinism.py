"""Twenty repetitions of the same verdicts over batch sizes, orders, cache states and one SIGKILL, compared bit by bit.

Every repetition is a run file of its own in FOLDER, so a stopped measurement goes on where it was: run it again.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from offline_eval.airgap.switches import set_switches

BATCH_SIZES = (1, 4, 16, 64)
_COLUMNS = ("repetition", "batch", "order", "cache", "verdicts", "identical", "flips", "largest move", "texts")


_TOLD = "committed"  # how the repetition that is to be killed says how far it is


class Repetition(NamedTuple):
    """One way of asking the same.

    Attributes:
        order: 0 as in the file, -1 reversed, else the seed of a shuffle.
        is_warm: Whether the prefix cache still holds the prompts of the repetition before.
        with_reasons: Whether quote and reason are asked too.
        is_killed: Whether it is stopped by SIGKILL in the middle and run again.
    """

    number: int
    batch_size: int
    order: int
    is_warm: bool
    with_reasons: bool = False
    is_killed: bool = False

    @property
    def name(self) -> str:
        """What its file is called."""
        return f"{self.number:02d}-batch-{self.batch_size}"

    @property
    def order_text(self) -> str:
        """The order, in words."""
        return {0: "as given", -1: "reversed"}.get(self.order, f"shuffled {self.order}")

    @property
    def cache_text(self) -> str:
        """The cache's state, in words."""
        return "SIGKILL + resume" if self.is_killed else "warm" if self.is_warm else "cold"


def repetitions() -> list[Repetition]:
    """The twenty: five for each batch size, two of them with an empty cache; one of batch 16 is killed."""
    found: list[Repetition] = []
    for size in BATCH_SIZES:
        for order, is_warm in ((0, False), (0, True), (size, False), (size + 1, True), (-1, True)):
            number = len(found) + 1
            found.append(
                Repetition(number, size, order, is_warm, with_reasons=number in (11, 18), is_killed=number == 15)
            )
    return found


def main() -> None:
    """Do what is not done yet, one line a repetition, and print the table."""
    set_switches()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the run files are kept")
    parser.add_argument("--judge", default="smollm2-135m-instruct")
    parser.add_argument("--engine", default="vllm", choices=["vllm", "transformers"])
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--prompts", type=int, default=200, help="label requests in each repetition, at least")
    parser.add_argument("--only", type=int, action="append", help="number of a repetition; repeat for more")
    parser.add_argument("--no-certified", action="store_true", help="measure how far an ordinary run drifts")
    parser.add_argument("--unattended", action="store_true", help=argparse.SUPPRESS)  # the one that is to be killed
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    chosen = [one for one in repetitions() if not arguments.only or one.number in arguments.only]
    cases, responses = _material(arguments)
    for size in BATCH_SIZES:
        _measure([one for one in chosen if one.batch_size == size], cases, responses, arguments)
    if not arguments.unattended:
        print(_table(chosen, arguments))


def _measure(chosen: Sequence[Repetition], cases: Any, responses: Any, arguments: argparse.Namespace) -> None:
    """All repetitions of one batch size, on one loaded engine."""
    pending = [one for one in chosen if not _is_finished(one, arguments)]
    if not pending:
        return
    for repetition in pending:
        if repetition.is_killed and not arguments.unattended:
            _kill_halfway(repetition, arguments)
    from offline_eval.engines.select import EngineOptions, open_engine

    options = EngineOptions(
        engine=arguments.engine,
        dtype=arguments.dtype,
        batch_size=pending[0].batch_size,
        certified=not arguments.no_certified,
    )
    engine = open_engine(arguments.judge, options)
    try:
        for repetition in pending:
            started = time.monotonic()
            if not repetition.is_warm or repetition.is_killed:
                engine.forget_prefixes()  # type: ignore[attr-defined]
            _run(repetition, engine, cases, responses, arguments)
            if not arguments.unattended:
                row = " | ".join(_row(repetition, arguments))
                print(f"{time.strftime('%H:%M:%S')} {row} | {time.monotonic() - started:.0f} s", flush=True)
    finally:
        engine.close()


def _run(repetition: Repetition, engine: Any, cases: Any, responses: Any, arguments: argparse.Namespace) -> None:
    from offline_eval.judge.panel import load_panel
    from offline_eval.pipeline.config import RunConfig, assign_judges, rubric_hashes
    from offline_eval.pipeline.execute import Executor
    from offline_eval.store.run_file import RunFile

    panel = load_panel("three-examiners")
    config = RunConfig(
        panel=panel,
        judges=assign_judges(panel, [arguments.judge]),
        engine=arguments.engine,
        dtype=arguments.dtype,
        batch_size=repetition.batch_size,
        reasons="all" if repetition.with_reasons else "none",
        models={arguments.judge: engine.info.weights_hash},
        rubrics=rubric_hashes(panel.examiners),
    )
    run_file = RunFile(_path(repetition, arguments), create=True)
    order = _ordered(cases, repetition.order)
    run_file.begin_run({"run_id": repetition.name, "config": config.model_dump(mode="json")}, order, responses)
    told = _tell_batch if arguments.unattended else lambda done, total: None
    Executor(run_file, config, open_judge=lambda name: _Kept(engine), progress=told).run()
    run_file.close()


class _Kept:
    """An engine that the next repetition goes on using."""

    def __init__(self, engine: Any) -> None:
        self.info, self.generate = engine.info, engine.generate

    def close(self) -> None:
        """Left to the measurement."""


def _kill_halfway(repetition: Repetition, arguments: argparse.Namespace) -> None:
    """Start the repetition in a process of its own and kill it when a quarter of its verdicts is committed."""
    command = [sys.executable, __file__, str(arguments.folder), "--only", str(repetition.number), "--unattended"]
    for name in ("judge", "engine", "dtype", "prompts"):
        command += [f"--{name}", str(getattr(arguments, name))]
    command += ["--no-certified"] if arguments.no_certified else []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        word, _, numbers = line.partition(" ")
        if word == _TOLD and 4 * int(numbers.split()[0]) >= int(numbers.split()[1]):
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    n = len(_verdicts(repetition, arguments, kind="verdict"))
    print(f"{repetition.name}: killed with {n} verdicts committed (exit {process.returncode})", flush=True)


def _tell_batch(done: int, total: int) -> None:
    print(_TOLD, done, total, flush=True)


def _ordered(cases: Sequence[Any], order: int) -> list[Any]:
    found = list(cases)
    if order == -1:
        found.reverse()
    elif order:
        random.Random(order).shuffle(found)
    return found


def _path(repetition: Repetition, arguments: argparse.Namespace) -> Path:
    folder: Path = arguments.folder
    mode = "ordinary-" if arguments.no_certified else ""
    return folder / f"{arguments.engine}-{arguments.dtype}-{mode}{repetition.name}.sqlite"


def _is_finished(repetition: Repetition, arguments: argparse.Namespace) -> bool:
    from offline_eval.pipeline.plan import FINISHED
    from offline_eval.store.run_file import RunFile

    path = _path(repetition, arguments)
    if not path.exists():
        return False
    run_file = RunFile(path)
    try:
        return FINISHED in run_file.committed_batches()
    finally:
        run_file.close()


def _verdicts(repetition: Repetition, arguments: argparse.Namespace, *, kind: str) -> dict[str, dict[str, Any]]:
    """What is stored of each verdict or reason: label, score and probabilities, or quote and reason."""
    from offline_eval.core.errors import StoreError
    from offline_eval.core.evidence import ReasonEvidence, VerdictEvidence
    from offline_eval.store.run_file import RunFile

    try:
        run_file = RunFile(_path(repetition, arguments))
    except StoreError:
        return {}
    try:
        return {
            f"{piece.response_key}|{piece.dimension}": _stored(piece)
            for piece in run_file.evidence()
            if isinstance(piece, VerdictEvidence | ReasonEvidence) and piece.kind == kind and piece.judge != "rule"
        }
    except StoreError:  # not begun, or locked by the process that writes it
        return {}
    finally:
        run_file.close()


def _stored(piece: Any) -> dict[str, Any]:
    left_out = {"provenance", "response_key", "dimension"}
    found: dict[str, Any] = piece.model_dump(mode="json", exclude=left_out)
    return found


def _row(repetition: Repetition, arguments: argparse.Namespace) -> tuple[str, ...]:
    reference = _verdicts(repetitions()[0], arguments, kind="verdict")
    found = _verdicts(repetition, arguments, kind="verdict")
    shared = [key for key in reference if key in found]
    same = sum(found[key] == reference[key] for key in shared)
    flips = sum(found[key]["verdict"]["label"] != reference[key]["verdict"]["label"] for key in shared)
    moves = [_move(found[key]["verdict"], reference[key]["verdict"]) for key in shared]
    return (
        repetition.name,
        str(repetition.batch_size),
        repetition.order_text,
        repetition.cache_text,
        str(len(found)),
        f"{same}/{len(reference)}",
        str(flips),
        f"{max(moves, default=0.0):.6f}",
        _texts(repetition, arguments),
    )


def _move(found: dict[str, Any], reference: dict[str, Any]) -> float:
    """The largest difference of a stored probability."""
    first, second = found["probabilities"], reference["probabilities"]
    return max((abs(first[label] - second[label]) for label in second if label in first), default=0.0)


def _texts(repetition: Repetition, arguments: argparse.Namespace) -> str:
    """Quotes and reasons that are the same as in the first repetition that asked for them."""
    first = next(one for one in repetitions() if one.with_reasons)
    if not repetition.with_reasons:
        return "not asked"
    reference, found = (_verdicts(one, arguments, kind="reason") for one in (first, repetition))
    return f"{sum(found.get(key) == reference[key] for key in reference)}/{len(reference)}"


def _table(chosen: Sequence[Repetition], arguments: argparse.Namespace) -> str:
    rows = [_row(one, arguments) for one in chosen if _is_finished(one, arguments)]
    lines = ["| " + " | ".join(_COLUMNS) + " |", "|" + " --- |" * len(_COLUMNS)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    compared = [row for row in rows if row[5].split("/")[0] == row[5].split("/")[1]]
    lines.append(
        f"{len(compared)} of {len(rows)} finished repetitions ({len(chosen)} wanted) on {arguments.engine} in "
        f"{arguments.dtype}: all labels, scores and stored probabilities identical to the first"
    )
    return "\n".join(lines)


def _material(arguments: argparse.Namespace) -> tuple[list[Any], list[Any]]:
    """Short real cases, half of them English, half Chinese: public data where they are, else the demo's."""
    from offline_eval.checks.rubric_verdict import Question
    from offline_eval.core.records import Case, Response
    from offline_eval.judge.rules import decide
    from offline_eval.pipeline.plan import pair

    rows = (
        _public(Path(os.environ["OFFLINE_EVAL_PUBLIC_DATA"])) if "OFFLINE_EVAL_PUBLIC_DATA" in os.environ else _demo()
    )
    cases, responses, n = [], [], 0
    for case_row, response_row in rows:
        case, response = Case.model_validate(case_row), Response.model_validate(response_row)
        item = pair([case], [response])[0]
        questions = [Question(item=item, dimension=name) for name in ("faithfulness", "relevance", "completeness")]
        cases.append(case)
        responses.append(response)
        n += sum(decide(case, response, question.rubric) is None for question in questions)
        if n >= arguments.prompts:
            break
    return cases, responses


def _demo() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    import offline_eval.demo

    folder = Path(offline_eval.demo.__file__).parent
    cases, answers = (_lines(folder / name) for name in ("cases.jsonl", "answers-careful.jsonl"))
    by_id = {row["id"]: row for row in cases}
    return [(by_id[answer["case_id"]], answer) for answer in answers if answer["case_id"] in by_id]


def _public(folder: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Questions with their published answers: ClapNQ in English and XQuAD in Chinese in turn, short passages first."""
    english = [
        _row_of(row["id"], "en", row["input"], row["output"][0]["answer"], row["passages"][0]["text"])
        for row in _lines(folder / "clapnq" / "dev_answerable_even.jsonl")
    ]
    paragraphs = [
        paragraph
        for article in json.loads((folder / "xquad" / "xquad.zh.json").read_text("utf-8"))["data"]
        for paragraph in article["paragraphs"]
    ]
    chinese = [
        _row_of(qa["id"], "zh", qa["question"], qa["answers"][0]["text"], paragraph["context"])
        for paragraph in paragraphs
        for qa in paragraph["qas"][:1]
    ]
    shortest = [
        sorted(rows, key=lambda row: len(row[1]["passages"][0]["text"]) + len(row[1]["answer"]))
        for rows in (english, chinese)
    ]
    return [row for two in zip(*shortest, strict=False) for row in two]


def _row_of(id_: str, language: str, query: str, answer: str, passage: str) -> tuple[dict[str, Any], dict[str, Any]]:
    case = {"id": id_, "query": query, "language": language, "reference": answer}
    return case, {"case_id": id_, "system": "gold", "answer": answer, "passages": [{"id": f"{id_}-1", "text": passage}]}


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


if __name__ == "__main__":
    main()

"""`offline-eval labels`: what people labelled, for the benchmark and for people."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from offline_eval.cli.output import csv_text, write_text
from offline_eval.cli.rows import FORMATS, RowFormat, print_rows
from offline_eval.cli.run_files import open_run, runs_option

if TYPE_CHECKING:
    from offline_eval.review.agreement import Agreement
    from offline_eval.review.decision_log import DecisionLog


@click.group(name="labels")
def command() -> None:
    """Export the labels of a review, and compare them with the judge."""


@command.command(name="export")
@click.argument("target", metavar="RUN|FILE")
@runs_option
@click.option("--format", "format", type=click.Choice(["jsonl", "csv"]), default="jsonl", show_default=True)
@click.option("--with-seen", is_flag=True, help="Also labels given with the judge's verdict in view.")
@click.option("--out", type=click.Path(path_type=Path), help="Write to a file instead of printing.")
def export(target: str, folder: Path, format: Literal["jsonl", "csv"], with_seen: bool, out: Path | None) -> None:
    """Labels of RUN (or of a labels FILE) as rows that `offline-eval benchmark` reads."""
    from offline_eval.review.export import flat_rows, label_rows

    found = label_rows(_log_of(target, folder), with_seen=with_seen)
    if format == "csv":
        text = csv_text(flat_rows(found.rows))
    else:
        text = "".join(json.dumps(row.model_dump(mode="json"), ensure_ascii=False) + "\n" for row in found.rows)
    write_text(text, out) if text else None
    left_out = f"{found.seen} given with the judge's verdict in view (--with-seen adds them), " if found.seen else ""
    click.echo(f"{len(found.rows)} rows; left out: {left_out}{found.undecided} answers 'cannot tell'", err=True)


@command.command(name="agreement")
@click.argument("run")
@runs_option
@click.option("--labels", type=click.Path(path_type=Path), help="Labels file.  [default: beside the run]")
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def agreement_(run: str, folder: Path, labels: Path | None, format: RowFormat) -> None:
    """Every rater against RUN's judges and against each other, from blind labels."""
    from offline_eval.pipeline.aggregate import Results
    from offline_eval.review.agreement import agreement_rows
    from offline_eval.review.answers import people
    from offline_eval.review.desk import agreement, labels_path, read_log
    from offline_eval.review.reviewed_run import ReviewedRun

    run_file = open_run(run, folder)
    reviewed = ReviewedRun(Results(run_file))
    log, queue = read_log(reviewed, _existing(labels or labels_path(run_file.path)))
    judged: list[Agreement] = []
    among: list[Agreement] = []
    for person in people(log.rows()):
        own, among = agreement(reviewed, log, queue, person=person)
        judged += own
    print_rows(agreement_rows([*judged, *among]), format)


@command.command(name="notes")
@click.argument("target", metavar="RUN|FILE")
@runs_option
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def notes(target: str, folder: Path, format: RowFormat) -> None:
    """What raters noted on RUN's responses (or in a labels FILE)."""
    from offline_eval.review.export import note_rows

    print_rows(note_rows(_log_of(target, folder)), format, columns=("response", "rater", "note"))


def _log_of(target: str, folder: Path) -> "DecisionLog":
    from offline_eval.review.decision_log import DecisionLog, is_decision_log
    from offline_eval.review.desk import labels_path

    if is_decision_log(Path(target)):
        return DecisionLog(Path(target))
    return DecisionLog(_existing(labels_path(open_run(target, folder).path)))


def _existing(path: Path) -> Path:
    from offline_eval.core.errors import DataError

    if not path.is_file():
        raise DataError(f"{path}: there are no labels yet; `offline-eval review` makes some")
    return path

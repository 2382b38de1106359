"""`offline-eval cases`: the bad-case library."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from pydantic import JsonValue

from offline_eval.cli.rows import FORMATS, Row, RowFormat, print_rows
from offline_eval.cli.run_files import open_results, runs_option

if TYPE_CHECKING:
    from offline_eval.core.bad_case import BadCase
    from offline_eval.core.diagnosis import Tag

library_option = click.option(
    "--file",
    "library",
    type=click.Path(path_type=Path),
    default=Path("bad-cases.jsonl"),
    show_default=True,
    help="The library.",
)
tag_option = click.option("--tag", "tags", multiple=True, help="Only cases with this cause; repeat for several.")


@click.group(name="cases")
def command() -> None:
    """Keep low-scoring and failed cases across runs, and export them as a regression test set."""


@command.command(name="add")
@click.argument("run")
@runs_option
@library_option
@tag_option
@click.option("--worse-than", "limits", multiple=True, help="METRIC=VALUE.  [default: the first metric's middle]")
@click.option("--faulty", is_flag=True, help="Also cases with a cause whose score is not low.")
@click.option("--case", "cases", multiple=True, help="Only this case, whatever its score; repeat for several.")
@click.option("--worst", type=click.IntRange(1), help="At most this many of a system.")
@click.option("--note", help="Kept with each case.")
def add(
    run: str,
    folder: Path,
    library: Path,
    tags: tuple[str, ...],
    limits: tuple[str, ...],
    faulty: bool,
    cases: tuple[str, ...],
    worst: int | None,
    note: str | None,
) -> None:
    """Add RUN's (or RUN:SYSTEM's) failed and low-scoring cases with their causes."""
    from offline_eval.pipeline.bad_cases import Wanted, select
    from offline_eval.pipeline.sides import pick_sides
    from offline_eval.store.case_library import merge, read_library, write_library

    known = read_library(library)
    wanted = Wanted(limits=_limits(limits), faulty=faulty, tags=_tags(tags), cases=cases, worst=worst, note=note)
    more = list(wanted.limits)
    sides = pick_sides([run], lambda name: open_results(name, folder, more=more))
    found = [bad for side in sides for bad in select(side, wanted)]
    merged = merge(known, found)
    write_library(merged, library)
    click.echo(
        f"{len(found)} responses, {len(merged) - len(known)} new cases; {len(merged)} cases in {library}", err=True
    )


@command.command(name="list")
@library_option
@tag_option
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def list_(library: Path, tags: tuple[str, ...], format: RowFormat) -> None:
    """All cases of the library, with their causes and how often they were seen."""
    wanted = set(_tags(tags))
    rows: list[Row] = []
    for bad in _library(library):
        if wanted and not wanted & set(bad.tags):
            continue
        rows.append(_row(bad))
    print_rows(rows, format, columns=("case", "query", "causes", "fault", "why", "seen", "systems", "last_run"))


@command.command(name="export")
@library_option
@tag_option
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Test set, as JSON Lines for `run`.")
@click.option("--responses", type=click.Path(path_type=Path), help="Also write the latest recorded responses.")
def export(library: Path, tags: tuple[str, ...], out: Path, responses: Path | None) -> None:
    """Write the cases as a regression test set; causes become tags such as cause:invention."""
    from offline_eval.core.errors import DataError
    from offline_eval.formats.writer import write_cases, write_responses
    from offline_eval.pipeline.bad_cases import regression_set

    chosen = regression_set(_library(library), tags=_tags(tags))
    if not chosen:
        raise DataError(f"{library}: no case to export; see `offline-eval cases list`")
    write_cases((case for case, _ in chosen), out)
    if responses is not None:
        write_responses((response for _, response in chosen), responses)
    click.echo(f"{len(chosen)} cases written to {out}", err=True)


def _row(bad: "BadCase") -> Row:
    last = bad.sightings[-1]
    systems: list[JsonValue] = [*sorted({sighting.system for sighting in bad.sightings})]
    return {
        "case": bad.case.id,
        "query": bad.case.query,
        "causes": list(bad.tags),
        "fault": last.fault,
        "why": last.why,
        "seen": len(bad.sightings),
        "systems": systems,
        "last_run": last.run_id,
        "reasons": list(last.reasons),
        "failures": dict(last.failures),
        "note": last.note,
    }


def _library(path: Path) -> list["BadCase"]:
    from offline_eval.core.errors import UsageError
    from offline_eval.store.case_library import read_library

    if not path.exists():
        raise UsageError(f"{path}: no such library; `offline-eval cases add RUN` makes one, --file names another")
    return read_library(path)


def _limits(texts: tuple[str, ...]) -> dict[str, float]:
    from offline_eval.core.errors import UsageError
    from offline_eval.pipeline.metric_plan import load_metric

    found = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            found[load_metric(name).name] = float(value)
        except ValueError:
            raise UsageError(f"--worse-than {text}: expected METRIC=VALUE, for example faithfulness=0.5") from None
    return found


def _tags(names: tuple[str, ...]) -> tuple["Tag", ...]:
    from offline_eval.core.diagnosis import TAGS
    from offline_eval.core.errors import UnknownNameError

    for name in names:
        if name not in TAGS:
            raise UnknownNameError("cause", name, TAGS)
    return tuple(tag for tag in TAGS if tag in names)

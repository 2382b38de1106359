"""`offline-eval compare`: systems on the same cases, better, worse or cannot tell."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from offline_eval.cli.language_option import language_option
from offline_eval.cli.progress import Progress
from offline_eval.cli.run_files import open_results, runs_option

if TYPE_CHECKING:
    from offline_eval.report.html_texts import Language

FORMATS = ("table", "json", "csv", "md", "html")


@click.command(name="compare")
@click.argument("runs", nargs=-1, required=True)
@runs_option
@click.option("--metrics", multiple=True, help="Other metrics or groups than the runs' own; no model is asked.")
@click.option("--by", help="Metric that decides which cases moved most.  [default: the first]")
@click.option("--cases", "moved", type=click.IntRange(0), default=10, show_default=True, help="Moved cases shown.")
@click.option("--allow-mismatch", is_flag=True, help="Compare other test sets, judges or rubrics; says what differs.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--format", "format", type=click.Choice(FORMATS), help="[default: by --out's ending, else table]")
@click.option("--out", type=click.Path(path_type=Path), help="Write to a file instead of printing.")
@language_option
def command(
    runs: tuple[str, ...],
    folder: Path,
    metrics: tuple[str, ...],
    by: str | None,
    moved: int,
    allow_mismatch: bool,
    seed: int,
    format: str | None,
    out: Path | None,
    language: "Language",
) -> None:
    """Compare the first of RUNS with the others, case by case.

    Each is RUN or RUN:SYSTEM; one RUN alone compares its systems. Better and worse need a paired interval that leaves
    out 0 and a p that survives the correction for all tests shown.
    """
    from offline_eval.cli.output import format_by_ending, write_text
    from offline_eval.pipeline.compare import compare
    from offline_eval.pipeline.sides import pick_sides

    with Progress() as shown:
        sides = pick_sides(runs, lambda run: open_results(run, folder, metrics=metrics))
        found = compare(
            sides,
            seed=seed,
            by=by,
            allow_mismatch=allow_mismatch,
            moved=moved,
            progress=lambda done, total: shown.tell("metrics compared", done, total),
        )
    chosen = format or format_by_ending(out, FORMATS)
    write_text(_rendered(found, chosen, is_file=out is not None, language=language), out)


def _rendered(found: object, format: str, *, is_file: bool, language: "Language") -> str:
    from offline_eval.cli.output import csv_text, rendered_sections
    from offline_eval.core.comparison import Comparison
    from offline_eval.report.comparison import comparison_sections
    from offline_eval.report.json_document import render_record

    assert isinstance(found, Comparison)
    if format == "json":
        return render_record(found)
    if format == "csv":
        return csv_text([row.model_dump(mode="json") for row in found.metrics])
    sections = comparison_sections(found, cut=None if format == "html" else 200, language=language)
    if format == "html":
        from offline_eval.report.page import render_page

        return render_page(" / ".join(side.label for side in found.sides), sections, language=language)
    return rendered_sections(sections, format, is_file=is_file)

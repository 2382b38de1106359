"""`offline-eval testset stats`: what a test set is made of and how large a difference it can detect."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from offline_eval.cli.language_option import language_option

if TYPE_CHECKING:
    from offline_eval.testset.printed import Language


@click.command(name="stats")
@click.argument("cases", type=click.Path(path_type=Path))
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    help="Expected passages, or documents that are cut as `testset generate` cuts them, for the distance by words.",
)
@click.option(
    "--index", "index_folder", type=click.Path(path_type=Path), help="The same from a saved index, or from drafts."
)
@click.option(
    "--range", "score_range", default="1:3", show_default=True, metavar="LOW:HIGH", help="Of the planned score."
)
@click.option("--sd", type=click.FloatRange(0), help="Measured spread of one system's scores.  [default: the widest]")
@click.option("--sd-difference", type=click.FloatRange(0), help="Measured spread of two systems' differences.")
@click.option("--formal", is_flag=True, help="For a formal report, which wants 300 cases.")
@language_option
@click.option("--format", "format", type=click.Choice(["table", "md", "json"]), default="table", show_default=True)
def command(
    cases: Path,
    corpus: Path | None,
    index_folder: Path | None,
    score_range: str,
    sd: float | None,
    sd_difference: float | None,
    formal: bool,
    language: "Language",
    format: str,
) -> None:
    """Describe CASES: types, difficulties, languages, distance to the passages, and the difference it can show."""
    from offline_eval.cli.output import rendered_sections
    from offline_eval.cli.testset_corpus import expected_in
    from offline_eval.formats.reader import read_cases
    from offline_eval.testset.statistics import set_statistics
    from offline_eval.testset.statistics_text import statistics_sections

    found = read_cases(cases)
    low, high = _range(score_range)
    there = expected_in(found, corpus, index_folder)
    statistics = set_statistics(
        found,
        passages=None if there is None else there.passages,
        low=low,
        high=high,
        sd=sd,
        sd_difference=sd_difference,
        formal=formal,
    )
    if format == "json":
        click.echo(statistics.model_dump_json(indent=1))
        return
    is_measured = sd is not None or sd_difference is not None
    sections = statistics_sections(statistics, language=language, measured=is_measured)
    click.echo(rendered_sections(sections, format, is_file=False), nl=False)


def _range(text: str) -> tuple[float, float]:
    from offline_eval.core.errors import UsageError

    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        raise UsageError(f"--range {text}: expected LOW:HIGH, as 1:3 or 0:1") from None

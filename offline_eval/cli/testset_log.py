"""`offline-eval testset log`: the versions of a test set with their reasons."""

from pathlib import Path

import click
from pydantic import JsonValue

from offline_eval.cli.rows import FORMATS, RowFormat, print_rows


@click.command(name="log")
@click.argument("cases", type=click.Path(path_type=Path))
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def command(cases: Path, format: RowFormat) -> None:
    """List the versions of CASES, oldest first; the changelog is checked from its first entry on.

    Also says which of them the file is, or how to get it back when it is gone.
    """
    from offline_eval.core.errors import DataError
    from offline_eval.testset.changelog import Changelog
    from offline_eval.testset.versions import no_version, standing

    changelog = Changelog(cases)
    if not changelog.versions:
        raise DataError(no_version(cases, changelog))
    rows: list[dict[str, JsonValue]] = [
        {
            "version": changelog.label(version),
            "cases_hash": version.cases_hash if format in ("json", "jsonl", "csv") else version.cases_hash[:12],
            "n_cases": version.n_cases,
            "changes": version.diff.summary,
            "unreviewed": version.unreviewed,
            "author": version.author,
            "at": version.at,
            "reason": version.reason,
        }
        for version in changelog.versions
    ]
    print_rows(rows, format)
    click.echo(standing(cases, changelog), err=True)

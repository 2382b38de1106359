"""`offline-eval testset diff`: what changed between two versions, field by field."""

import click

from offline_eval.cli.rows import FORMATS, RowFormat, print_rows


@click.command(name="diff")
@click.argument("old", metavar="CASES[@N]")
@click.argument("new", required=False, metavar="[CASES[@N]]")
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def command(old: str, new: str | None, format: RowFormat) -> None:
    """Compare two files of cases or versions (`cases.jsonl@2`); one alone, as it is, with its last version or `@N`.

    Cases are compared by id, their order means nothing.
    """
    from offline_eval.testset.diff import diff_cases, diff_rows
    from offline_eval.testset.versions import before_and_now, cases_at

    before, after = before_and_now(old) if new is None else (cases_at(old), cases_at(new))
    found = diff_cases(before, after)
    print_rows(diff_rows(found), format, columns=("change", "case", "field", "old", "new"))
    click.echo(found.summary, err=True)

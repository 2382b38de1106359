"""`offline-eval testset validate`: what is wrong or doubtful in a test set."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from offline_eval.cli.language_option import language_option
from offline_eval.cli.rows import FORMATS, RowFormat, print_rows

if TYPE_CHECKING:
    from offline_eval.testset.printed import Language


@click.command(name="validate")
@click.argument("cases", type=click.Path(path_type=Path))
@click.option(
    "--corpus", type=click.Path(path_type=Path), help="Check that expected ids exist in these passages or documents."
)
@click.option(
    "--index", "index_folder", type=click.Path(path_type=Path), help="The same in a saved index, or a folder of drafts."
)
@language_option
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def command(
    cases: Path, corpus: Path | None, index_folder: Path | None, language: "Language", format: RowFormat
) -> int:
    """Look through CASES: contradictions, repeated questions, unknown ids. Exit code 3 when a case is wrong.

    Documents of --corpus are cut as `testset generate` cuts them; a passage of a document that was cut in another way
    is a warning, and --index knows. Also says which version of its changelog the file is, where it has one.
    """
    from offline_eval.cli.testset_corpus import expected_in
    from offline_eval.core.errors import EXIT_DATA, EXIT_OK
    from offline_eval.formats.reader import read_cases
    from offline_eval.pipeline.config import case_set_hash
    from offline_eval.testset.changelog import version_label
    from offline_eval.testset.printed import printed
    from offline_eval.testset.validate import COLUMNS, validate_cases

    words = printed(language)
    found = read_cases(cases)
    there = expected_in(found, corpus, index_folder)
    findings = validate_cases(
        found,
        passage_ids=None if there is None else there.ids,
        uncertain_ids=() if there is None else there.uncertain,
    )
    if format in ("table", "md"):
        rows = words.rows([finding.row(language) for finding in findings], COLUMNS)
        print_rows(rows, format, columns=[words.heading(name) for name in COLUMNS])
    else:
        print_rows([finding.row() for finding in findings], format, columns=(*COLUMNS, "code"))
    errors = sum(finding.severity == "error" for finding in findings)
    label, remark = version_label(cases, found)
    line = words.line(
        "validated", cases=len(found), hash=case_set_hash(found)[:12], version=label or words.line("none"),
        errors=errors, warnings=len(findings) - errors,
    )  # fmt: skip
    click.echo(line, err=True)
    if remark:
        click.echo(remark, err=True)
    return EXIT_DATA if errors else EXIT_OK

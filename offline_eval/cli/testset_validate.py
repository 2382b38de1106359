"""`offline-eval testset validate`: what is wrong or doubtful in a test set."""

from pathlib import Path

import click

from offline_eval.cli.rows import FORMATS, RowFormat, print_rows


@click.command(name="validate")
@click.argument("cases", type=click.Path(path_type=Path))
@click.option("--corpus", type=click.Path(path_type=Path), help="Check that expected ids exist in these passages.")
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def command(cases: Path, corpus: Path | None, format: RowFormat) -> int:
    """Look through CASES: contradictions, repeated questions, unknown ids. Exit code 3 when a case is wrong.

    Also says which version of its changelog the file is, where it has one.
    """
    from offline_eval.core.errors import EXIT_DATA, EXIT_OK
    from offline_eval.formats.corpus import read_corpus
    from offline_eval.formats.reader import read_cases
    from offline_eval.pipeline.config import case_set_hash
    from offline_eval.testset.changelog import version_label
    from offline_eval.testset.validate import validate_cases

    found = read_cases(cases)
    known = None
    if corpus is not None:
        known = {id for passage in read_corpus(corpus) for id in (passage.id, passage.doc_id) if id}
    findings = validate_cases(found, passage_ids=known)
    print_rows([finding.model_dump() for finding in findings], format, columns=("severity", "case", "field", "what"))
    errors = sum(finding.severity == "error" for finding in findings)
    label, remark = version_label(cases, found)
    click.echo(
        f"{len(found)} cases, hash {case_set_hash(found)[:12]}, version {label or 'none'}: {errors} errors, "
        f"{len(findings) - errors} warnings",
        err=True,
    )
    if remark:
        click.echo(remark, err=True)
    return EXIT_DATA if errors else EXIT_OK

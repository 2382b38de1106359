"""`offline-eval testset restore`: write a version's cases as a file again."""

from pathlib import Path

import click


@click.command(name="restore")
@click.argument("version", metavar="CASES[@N]")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File of cases, as JSON Lines.")
def command(version: str, out: Path) -> None:
    """Write a version (`cases.jsonl@2`; the last one without a number) to --out, from the changelog beside CASES.

    CASES itself need not exist any more. Cases come in the order of ids. A file that is in no version is not replaced.
    """
    from offline_eval.testset.versions import restore_version

    restored = restore_version(version, out)
    click.echo(restored.label)
    click.echo(f"{restored.n_cases} cases; written to {out}", err=True)

"""`offline-eval testset version`: write a version down, with its reason."""

from pathlib import Path

import click


@click.command(name="version")
@click.argument("source", type=click.Path(path_type=Path), metavar="CASES|DRAFTS")
@click.option("--reason", required=True, help="Why there is a new version; kept in the changelog.")
@click.option("--out", type=click.Path(path_type=Path), help="File of cases that accepted drafts are added to.")
@click.option("--author", help="Who makes it.  [default: the name you are logged in with]")
@click.option("--unreviewed", is_flag=True, help="Take undecided drafts too; rejected ones never.")
def command(source: Path, reason: str, out: Path | None, author: str | None, unreviewed: bool) -> None:
    """Make a version of CASES as they are, or of the accepted DRAFTS together with the cases in --out.

    The changelog beside the cases keeps hash, reason and every change; runs over exactly these cases carry the version.
    """
    from datetime import UTC, datetime
    from getpass import getuser

    from offline_eval.core.errors import UsageError
    from offline_eval.formats.reader import read_cases
    from offline_eval.formats.writer import write_cases
    from offline_eval.testset.changelog import Changelog
    from offline_eval.testset.versions import is_drafts, take_drafts

    doubtful: int | None = None
    if is_drafts(source):
        if out is None:
            raise UsageError("drafts go into a file of cases; name it with --out")
        intake = take_drafts(source, known=read_cases(out) if out.exists() else [], with_unreviewed=unreviewed)
        cases, target, doubtful = intake.cases, out, intake.unreviewed
        left = ", ".join(f"{count} {status}" for status, count in intake.left_out.items())
        click.echo(f"drafts left out: {left or 'none'}; taken unreviewed: {doubtful}", err=True)
    else:
        if out is not None or unreviewed:
            raise UsageError("--out and --unreviewed belong to drafts; a file of cases is taken as it is")
        cases, target = read_cases(source), source
    changelog = Changelog(target)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    version = changelog.add(cases, reason=reason, author=author or getuser(), at=now, unreviewed=doubtful)
    if is_drafts(source):
        write_cases(cases, target)
    click.echo(f"{changelog.label(version)} {version.cases_hash[:12]}")
    click.echo(f"{version.n_cases} cases: {version.diff.summary}; kept in {changelog.path}", err=True)

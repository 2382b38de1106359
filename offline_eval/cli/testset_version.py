"""`offline-eval testset version`: write a version down, with its reason."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from offline_eval.testset.changelog import Changelog
    from offline_eval.testset.intake import Intake

_MOST_IDS = 50


@click.command(name="version")
@click.argument("source", type=click.Path(path_type=Path), metavar="CASES|DRAFTS")
@click.option("--reason", required=True, help="Why there is a new version; kept in the changelog.")
@click.option("--out", type=click.Path(path_type=Path), help="File of cases that accepted drafts are added to.")
@click.option("--author", help="Who makes it.  [default: the name you are logged in with]")
@click.option("--unreviewed", is_flag=True, help="Take undecided drafts too, tagged `unreviewed`; rejected ones never.")
@click.option("--replace-edited", is_flag=True, help="Let drafts replace cases that were edited by hand since.")
def command(
    source: Path, reason: str, out: Path | None, author: str | None, unreviewed: bool, replace_edited: bool
) -> None:
    """Make a version of CASES as they are, or of the accepted DRAFTS together with the cases in --out.

    A case that was edited by hand in --out stays as it is, and a case whose draft was rejected since leaves. The
    changelog beside the cases keeps hash, reason and every change; runs over exactly these cases carry the version.
    """
    from datetime import UTC, datetime
    from getpass import getuser

    from offline_eval.core.errors import UsageError
    from offline_eval.formats.writer import write_cases
    from offline_eval.testset.changelog import Changelog
    from offline_eval.testset.draft_file import holds_drafts
    from offline_eval.testset.versions import check_writable_as_cases, read_present

    now = datetime.now(UTC).isoformat(timespec="seconds")
    who = author or getuser()
    if holds_drafts(source):
        if out is None:
            raise UsageError("drafts go into a file of cases; name it with --out")
        check_writable_as_cases(out)
        changelog = Changelog(out)
        intake = _intake(source, out, changelog, unreviewed=unreviewed, replace_edited=replace_edited)
        version = changelog.prepare(
            intake.cases, reason=reason, author=who, at=now, unreviewed=intake.unreviewed_ids, drafts=intake.drafts
        )
        out.parent.mkdir(parents=True, exist_ok=True)
        write_cases(intake.cases, out)  # before the entry: a version whose cases were never written would be a lie
        changelog.append(version)
    else:
        if out is not None or unreviewed or replace_edited:
            raise UsageError("--out, --unreviewed and --replace-edited belong to drafts; cases are taken as they are")
        changelog = Changelog(source)
        version = changelog.add(read_present(source, changelog), reason=reason, author=who, at=now)
    click.echo(f"{changelog.label(version)} {version.cases_hash[:12]}")
    click.echo(f"{version.n_cases} cases: {version.diff.summary}; kept in {changelog.path}", err=True)


def _intake(source: Path, out: Path, changelog: "Changelog", *, unreviewed: bool, replace_edited: bool) -> "Intake":
    """What enters, with what the user has to know about it said."""
    from offline_eval.testset.diff import diff_cases
    from offline_eval.testset.intake import take_drafts
    from offline_eval.testset.versions import read_present

    known = read_present(out, changelog) if changelog.versions or out.exists() else []
    intake = take_drafts(
        source, known=known, changelog=changelog, with_unreviewed=unreviewed, replace_edited=replace_edited
    )
    if changelog.versions and (unversioned := diff_cases(changelog.last_cases(), known)):
        _say(f"{out} is not {changelog.label(changelog.versions[-1])} ({unversioned.summary}); it is taken as it is")
    left = ", ".join(f"{count} {status}" for status, count in intake.left_out.items())
    _say(f"drafts left out: {left or 'none'}; taken unreviewed: {intake.unreviewed}")
    if intake.edited:
        _say(
            f"edited by hand, so kept against their drafts: {_listed(intake.edited)}; --replace-edited takes the drafts"
        )
    if intake.removed:
        _say(f"removed by hand, so not taken again: {_listed(intake.removed)}; --replace-edited takes the drafts")
    if intake.drafts.withdrew:
        _say(f"taken away, as their drafts were rejected: {_listed(intake.drafts.withdrew)}")
    return intake


def _listed(ids: Sequence[str]) -> str:
    """`2 cases (a, b)`."""
    more = f" … and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else ""
    return f"{len(ids)} {'case' if len(ids) == 1 else 'cases'} ({', '.join(ids[:_MOST_IDS])}{more})"


def _say(line: str) -> None:
    click.echo(line, err=True)

"""`offline-eval testset review`: a web page on this machine for accepting, editing and rejecting drafts or cases."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    from offline_eval.testset.draft import Draft


@click.command(name="review")
@click.argument("source", type=click.Path(path_type=Path), metavar="DRAFTS|CASES")
@click.option("--reviewer", help="Who decides.  [default: the name you are logged in with]")
@click.option(
    "--index",
    "index_folder",
    type=click.Path(path_type=Path),
    help="Texts of the sources.  [default: beside the drafts]",
)
@click.option(
    "--corpus", type=click.Path(path_type=Path), help="The same from documents whose ids are the sources' ids."
)
@click.option("--language", type=click.Choice(["auto", "en", "zh"]), default="auto", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="[default: any free one]")
def command(
    source: Path,
    reviewer: str | None,
    index_folder: Path | None,
    corpus: Path | None,
    language: Literal["auto", "en", "zh"],
    port: int,
) -> None:
    """Decide on DRAFTS (a file, or the folder that `testset generate` made) at a page on 127.0.0.1 until interrupted.

    CASES, for example sampled ones, are opened as drafts, which are kept beside them: `real.drafts.jsonl`.
    Every decision is kept at once. Drafts that checks threw out come last and can be taken back.
    """
    from getpass import getuser

    from offline_eval.review.desk import check_name
    from offline_eval.review.draft_desk import DraftDesk, status_counts
    from offline_eval.review.draft_pages import draft_review_app
    from offline_eval.review.draft_sources import SourceTexts
    from offline_eval.review.server import Session, listen, serve
    from offline_eval.testset.opened import open_for_review

    person = check_name(reviewer if reviewer is not None else getuser(), option="--reviewer")
    file = open_for_review(source)
    beside = file.path.parent / "index"
    index = index_folder or (beside if corpus is None and beside.is_dir() else None)
    texts = SourceTexts(file.drafts, index=index, corpus=corpus)
    desk = DraftDesk(file, person=person, passages=texts, known=texts.known)
    listener = listen(port)
    session = Session(listener.getsockname()[1])
    app = draft_review_app(desk, session, language=_main_language(file.drafts) if language == "auto" else language)
    click.echo(session.link)
    counts = status_counts(desk.drafts())
    click.echo(
        f"{counts['draft']} of {len(desk.ids)} drafts to decide as {person}; decisions are kept in {file.path}. "
        "Open the link above; Ctrl+C ends.",
        err=True,
    )
    serve(app, listener)
    counts = status_counts(desk.drafts())
    click.echo(
        f"{counts['accepted']} accepted, {counts['rejected']} rejected, {counts['draft']} open; "
        f"`offline-eval testset version {file.path} --out CASES --reason …` takes the accepted ones",
        err=True,
    )


def _main_language(drafts: "tuple[Draft, ...]") -> Literal["en", "zh"]:
    """The language most questions are in."""
    from offline_eval.text.language import detect_language

    chinese = sum(detect_language(draft.case.query) == "zh" for draft in drafts)
    return "zh" if 2 * chinese > len(drafts) else "en"

"""`offline-eval review`: a web page on this machine for labelling a run's answers."""

from pathlib import Path
from typing import Literal

import click

from offline_eval.cli.run_files import open_run, runs_option


@click.command(name="review")
@click.argument("run")
@runs_option
@click.option("--rater", help="Who labels.  [default: the name you are logged in with]")
@click.option("--labels", type=click.Path(path_type=Path), help="Labels file.  [default: beside the run]")
@click.option("--size", type=click.IntRange(min=1), help="Items in the queue.  [default: as before, else 60]")
@click.option("--show-verdicts", is_flag=True, help="Show the judge's verdicts at once; labels are then not blind.")
@click.option("--language", type=click.Choice(["auto", "en", "zh"]), default="auto", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="[default: any free one]")
def command(
    run: str,
    folder: Path,
    rater: str | None,
    labels: Path | None,
    size: int | None,
    show_verdicts: bool,
    language: Literal["auto", "en", "zh"],
    port: int,
) -> int:
    """Label RUN's answers at a page on 127.0.0.1 until interrupted.

    What a person is needed for comes first, then a random part that measures the judge. Every label is kept at once; a
    second rater gives another --rater and sees nothing of the first.
    """
    from getpass import getuser

    from offline_eval.pipeline.aggregate import Results
    from offline_eval.review.app import review_app
    from offline_eval.review.desk import Desk, check_name, labels_path, open_log
    from offline_eval.review.reviewed_run import ReviewedRun
    from offline_eval.review.server import Session, listen, serve

    person = check_name(rater if rater is not None else getuser())
    run_file = open_run(run, folder)
    reviewed = ReviewedRun(Results(run_file))
    log, queue = open_log(reviewed, labels or labels_path(run_file.path), size=size)
    desk = Desk(reviewed, log, queue, person=person, show_verdicts=show_verdicts)
    listener = listen(port)
    session = Session(listener.getsockname()[1])
    app = review_app(desk, session, language=reviewed.main_language if language == "auto" else language)
    click.echo(session.link)
    click.echo(
        f"{len(queue.items)} of {queue.population} answers to label as {person}, {queue.random_size} of them drawn at "
        f"random; labels are kept in {log.path}. Open the link above; Ctrl+C ends.",
        err=True,
    )
    serve(app, listener)
    click.echo(f"labels are in {log.path}; `offline-eval labels export {run}` writes them out", err=True)
    return 0

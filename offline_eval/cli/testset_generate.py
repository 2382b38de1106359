"""`offline-eval testset generate`: questions, references and key points from documents."""

from pathlib import Path
from typing import Any

import click

from offline_eval.cli.defaults import DEFAULT_ENCODERS, DEFAULT_JUDGE
from offline_eval.cli.rows import FORMATS
from offline_eval.cli.writer_options import writer_options

MIX = "simple=.3,multi_hop=.25,conditional=.1,counterfactual=.1,unanswerable=.15,adversarial=.1"


@click.command(name="generate")
@click.argument("documents", type=click.Path(path_type=Path))
@click.option(
    "--size",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="Questions wanted; of each type at most 6 a passage, or a pair of passages that belong together.",
)
@click.option("--mix", default=MIX, show_default=True, help="Type to its share; shares add up to 1.")
@click.option("--lang", type=click.Choice(["auto", "zh", "en"]), default="auto", show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--examples",
    type=click.Path(path_type=Path),
    help="Questions whose style is wanted: a file of cases, or .txt or .md with one a line. None is written again.",
)
@click.option(
    "--known",
    "known_files",
    multiple=True,
    metavar="CASES_OR_DRAFTS",
    type=click.Path(path_type=Path),
    help="Questions of earlier sets, which are not to be asked again. Can be repeated.",
)
@click.option(
    "--steps",
    default="facts,links,reference,distractor,critic",
    show_default=True,
    help="Steps beside the question itself; leave any out.",
)
@click.option(
    "--attempts",
    type=click.IntRange(1, 100),
    default=4,
    show_default=True,
    help="Most tries a question; more of them fill up a set that fell short.",
)
@click.option("--split", "cut", type=click.Choice(["auto", "none", "sentence", "heading"]), default="auto")
@click.option("--accept-unreviewed", is_flag=True, help="Take what the checks let pass without a review.")
@click.option("--out", "folder", type=click.Path(path_type=Path, file_okay=False), required=True)
@click.option("--judge", default=DEFAULT_JUDGE, show_default=True, help="MODEL that writes.")
@click.option("--nli", default=DEFAULT_ENCODERS["nli"], show_default=True, help="Entailment MODEL, or none.")
@click.option("--answerability", default=DEFAULT_ENCODERS["answerability"], show_default=True, help="MODEL, or none.")
@click.option("--embedder", default=DEFAULT_ENCODERS["embedder"], show_default=True, help="MODEL, or none.")
@writer_options
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def command(documents: Path, **options: Any) -> int:
    """Write test questions from DOCUMENTS, check them, and keep them as drafts for review.

    DOCUMENTS are a folder of Markdown and text, one such file, or a corpus in JSONL, Parquet, BEIR or TREC form. What
    the checks throw out is counted by reason. Running the same command again, also with more --attempts, continues
    where it stopped. The exit code is 1 when nothing was kept. `--engine scripted` asks no model: a dry run.
    """
    from offline_eval.cli.testset_generation import GenerationSession

    return GenerationSession(documents, options).run()

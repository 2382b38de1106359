"""`offline-eval benchmark`: how far can a judge be trusted, against human labels."""

from pathlib import Path
from typing import Any

import click

from offline_eval.cli.dtype_option import DTYPES, resolved_dtype

BENCHMARK_FORMATS = ("table", "json", "csv", "md", "html")


@click.command(name="benchmark")
@click.argument("labels", nargs=-1, required=True)
@click.option("--judges", multiple=True, help="MODELs to ask; commas or repeat.")
@click.option("--panel", "panels", multiple=True, metavar="A+B+C", help="Judges that vote together; repeat for more.")
@click.option("--encoders", multiple=True, help="Entailment models and rerankers to ask; commas or repeat.")
@click.option("--scripted", multiple=True, help="Judges with a known behaviour: first, last, hash.")
@click.option("--baselines/--no-baselines", default=True, show_default=True, help="Trivial judges beside them.")
@click.option(
    "--pass-from",
    type=click.Choice(["2", "3", "both"]),
    default="2",
    show_default=True,
    help="Lowest grade of a judge that means yes.",
)
@click.option("--swap", is_flag=True, help="Ask about pairs in both orders; a tie where the answers disagree.")
@click.option("--max-rows", type=click.IntRange(1), help="A seeded part of each file, whole queries together.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--resamples", type=click.IntRange(100), default=2000, show_default=True, help="Of each interval.")
@click.option("--engine", default="auto", show_default=True, help="auto, vllm, transformers, endpoint or scripted.")
@click.option("--url", help="Of the endpoint, for example http://127.0.0.1:8000/v1.")
@click.option("--allow-host", "allow_hosts", multiple=True, help="A host beyond this machine that may be asked.")
@click.option("--dtype", type=click.Choice(DTYPES), callback=resolved_dtype, help="[default: the model config's]")
@click.option("--batch-size", type=click.IntRange(1, 4096), default=16, show_default=True)
@click.option("--context-length", type=click.IntRange(min=256), help="[default: the model config's]")
@click.option(
    "--max-failed",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="Share of a judge's rows that may fail; above, exit code 4.",
)
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("benchmarks"),
    show_default=True,
    help="Folder that keeps the answers and the whole table in every form.",
)
@click.option("--format", "format", type=click.Choice(BENCHMARK_FORMATS), default="table", show_default=True)
def command(labels: tuple[str, ...], **options: Any) -> int:
    """Ask judges about rows that people labelled, and print how well they agree.

    LABELS are files with one labelled row a line (JSONL, CSV, JSON or Parquet), from the review page, RAGChecker's
    human labels or your own. Running the same command again continues where it stopped.
    """
    from offline_eval.cli.benchmark_session import BenchmarkSession

    return BenchmarkSession(labels, options).run()

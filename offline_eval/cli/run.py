"""`offline-eval run`: judge a system's answers."""

from pathlib import Path
from typing import Any

import click

from offline_eval.cli.defaults import DEFAULT_ENCODERS, DEFAULT_JUDGE
from offline_eval.cli.dtype_option import DTYPES
from offline_eval.cli.report import REPORT_FORMATS


@click.command(name="run")
@click.argument("cases")
@click.option("--responses", type=click.Path(path_type=Path), multiple=True, help="Recorded answers; one file or more.")
@click.option(
    "--system", "systems", multiple=True, help="[NAME=]package.module:function or [NAME=]mapping.yaml to ask live."
)
@click.option("--map", "mapping", multiple=True, metavar="OURS=THEIRS", help="A column's name in your file.")
@click.option("--input-format", help="jsonl, json, csv, parquet or huggingface. [default: guessed]")
@click.option(
    "--metrics",
    multiple=True,
    default=["panel"],
    show_default=True,
    help="Metrics or groups (panel, claims, context, answer, refusal, robustness, retrieval, all); commas or repeat.",
)
@click.option("--nli", help=f"MODEL that reads claims and passages. [default: {DEFAULT_ENCODERS['nli']}]")
@click.option(
    "--answerability",
    help=f"MODEL that tells whether passages answer a query. [default: {DEFAULT_ENCODERS['answerability']}]",
)
@click.option("--embedder", help=f"MODEL for similarities. [default: {DEFAULT_ENCODERS['embedder']}]")
@click.option("--judge-claims", is_flag=True, help="Let a judge reword the claims; without, they are split by rule.")
@click.option(
    "--screen",
    is_flag=False,
    flag_value="0.1,0.9",
    metavar="[LOW,HIGH]",
    help="Let the encoder settle faithfulness where all claims have support below LOW or above HIGH. [0.1,0.9]",
)
@click.option("--panel", "panel_name", default="three-examiners", show_default=True)
@click.option(
    "--judge", "judges", multiple=True, help=f"MODEL or dimension=MODEL; repeat for more. [default: {DEFAULT_JUDGE}]"
)
@click.option("--arbiter", help="MODEL that decides where a dimension's judges disagree.")
@click.option("--engine", default="auto", show_default=True, help="auto, vllm, transformers, endpoint or scripted.")
@click.option("--url", help="Of the endpoint, for example http://127.0.0.1:8000/v1.")
@click.option("--allow-host", "allow_hosts", multiple=True, help="A host beyond this machine that may be asked.")
@click.option(
    "--dtype", type=click.Choice(DTYPES), help="Of judges; auto takes what is fast here. [default: the model config's]"
)
@click.option(
    "--encoder-dtype",
    type=click.Choice(["auto", "float32", "bfloat16", "float16"]),
    default="auto",
    show_default=True,
    help="Of encoders and embedders. auto: bfloat16 on a GPU or a processor with AMX, float32 elsewhere and in "
    "certified mode; int8 with --encoder-engine onnx.",
)
@click.option(
    "--encoder-engine",
    type=click.Choice(["transformers", "vllm", "onnx"]),
    default="transformers",
    show_default=True,
    help="What runs cross-encoders; vllm in a process of its own, onnx with 8-bit weights on the processor.",
)
@click.option(
    "--certified/--no-certified",
    "certified",
    default=None,
    help="Verdicts that do not depend on batches: float32 on a CPU, batch-invariant kernels on a GPU, fixed batches "
    "elsewhere. [default: on where a judge runs in float32 on a CPU anyway]",
)
@click.option(
    "--certify-sample",
    type=click.IntRange(min=0),
    metavar="N",
    help="Prompts of the self-test before judging; 0 for none. [default: 16, fewer for a small run]",
)
@click.option("--operator", help="Who runs this, for the manifest.")
@click.option("--purpose", help="Why it is run, for the manifest.")
@click.option("--batch-size", type=click.IntRange(1, 4096), default=16, show_default=True)
@click.option("--context-length", type=click.IntRange(min=256), help="[default: the model config's]")
@click.option(
    "--self-test",
    type=click.Choice(["auto", "skip", "refuse"]),
    default="auto",
    show_default=True,
    help="Can the judge do the task at all? auto: tried once for each new judge, failure is a warning; refuse: exit 3.",
)
@click.option(
    "--require-passport",
    "passport_condition",
    metavar="CONDITION",
    help="Refuse judges without a passport that fulfils it, for example 'kappa>=0.6' or 'kappa.low>=0.5'.",
)
@click.option(
    "--passports",
    "passport_folder",
    type=click.Path(path_type=Path),
    help="Folder of judges' passports. [default: beside the models]",
)
@click.option("--reasons", type=click.Choice(["all", "review", "none"]), default="all", show_default=True)
@click.option(
    "--batch-limit",
    "batch_limit_s",
    type=click.FloatRange(min=1),
    default=3600,
    show_default=True,
    help="Seconds for one batch.",
)
@click.option(
    "--item-limit",
    "item_limit_s",
    type=click.FloatRange(min=0, min_open=True),
    default=600,
    show_default=True,
    help="Seconds for one request; a batch has as many times that, up to --batch-limit.",
)
@click.option(
    "--cache", type=click.Path(path_type=Path), help="File of answers that runs share. [default: beside the models]"
)
@click.option("--no-cache", is_flag=True, help="Compute everything, and keep no answer for other runs.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--expected", is_flag=True, help="Totals from expected grades instead of labels.")
@click.option(
    "--max-failed",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="Share of failed verdicts that ends in exit code 4.",
)
@click.option(
    "--out", "folder", type=click.Path(path_type=Path), default=Path("runs"), show_default=True, help="Folder of runs."
)
@click.option(
    "--report", "report_file", type=click.Path(path_type=Path), help="Write the report to .html, .md or .json too."
)
@click.option("--format", "format", type=click.Choice(REPORT_FORMATS), default="table", show_default=True)
@click.option("--dry-run", is_flag=True, help="Say what would be asked, and ask nothing.")
def command(cases: str, **options: Any) -> int:
    """Judge the answers to CASES (a file, a dataset folder, or - for JSON Lines on standard input).

    Without --responses and --system, the rows of CASES hold the answers too. Running the same command again continues
    where it stopped.
    """
    from offline_eval.cli.run_session import Session

    return Session(cases, options).run()

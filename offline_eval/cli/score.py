"""`offline-eval score`: other weights and metrics over stored evidence."""

from pathlib import Path

import click

from offline_eval.cli.report import REPORT_FORMATS, format_of, show
from offline_eval.cli.run_files import open_run, runs_option


@click.command(name="score")
@click.argument("run")
@runs_option
@click.option(
    "--weights", "text", help="For example faithfulness=.6,relevance=.2,completeness=.2; for every query type."
)
@click.option("--metrics", multiple=True, help="Other metrics or groups than the run's own; commas or repeat.")
@click.option("--expected", is_flag=True, help="Totals from expected grades instead of labels.")
@click.option("--format", "format", type=click.Choice(REPORT_FORMATS), help="[default: by --out's ending, else table]")
@click.option("--out", type=click.Path(path_type=Path), help="Write to a file instead of printing.")
def command(
    run: str,
    folder: Path,
    text: str | None,
    metrics: tuple[str, ...],
    expected: bool,
    format: str | None,
    out: Path | None,
) -> None:
    """Score RUN again from its stored evidence; no model is asked."""
    from offline_eval.judge.panel import parse_weights
    from offline_eval.pipeline.aggregate import Results, summarize
    from offline_eval.pipeline.config import RunConfig
    from offline_eval.pipeline.metric_plan import resolve_metrics

    run_file = open_run(run, folder)
    panel = RunConfig.model_validate((run_file.configuration() or {})["config"]).panel
    weights = parse_weights(text, panel.examiners) if text else None
    chosen = resolve_metrics(metrics, panel)
    show(
        summarize(Results(run_file, weights=weights, by_expected=expected, metrics=chosen)),
        format or format_of(out),
        out=out,
    )

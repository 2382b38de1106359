"""`offline-eval correct`: a run's pass rates, put right with human labels of a part of its answers."""

from pathlib import Path

import click

from offline_eval.cli.rows import FORMATS, RowFormat, print_rows
from offline_eval.cli.run_files import open_run, runs_option


@click.command(name="correct")
@click.argument("run")
@click.argument("labels", type=click.Path(path_type=Path))
@runs_option
@click.option(
    "--pass-from",
    type=click.FloatRange(1, 3),
    default=2.0,
    show_default=True,
    help="Lowest grade that is a pass, for the judge and, at the same place of their scale, for people.",
)
@click.option(
    "--weights", "fits_weights", is_flag=True, help="Fit the panel's weights to labels of dimension `total` instead."
)
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def command(run: str, labels: Path, folder: Path, pass_from: float, fits_weights: bool, format: RowFormat) -> None:
    """Estimate every system's true pass rate in RUN from LABELS of some of its answers, drawn at random.

    A label names its answer as `response_key`, as the review page's labels do. Printed are the judge's raw rate, the
    labels alone, Rogan-Gladen and PPI++, each with its interval, and how many labels would halve the last two.
    """
    from offline_eval.benchmark.corrected import flat_estimates, system_estimates
    from offline_eval.benchmark.label_files import read_label_file
    from offline_eval.benchmark.panel_weights import flat_weights, weights_of_run
    from offline_eval.pipeline.aggregate import Results

    results = Results(open_run(run, folder))
    rows = read_label_file(str(labels))
    seed = results.config.seed
    if fits_weights:
        fitted = weights_of_run(results.items, results.verdicts, rows, results.panel, seed=seed)
        print_rows(flat_weights(fitted), format, title=f"Panel weights of run {results.run_id}")
        return
    found = system_estimates(
        results.items,
        results.verdicts,
        rows,
        run_id=results.run_id,
        pass_from=pass_from,
        seed=seed,
    )
    print_rows(flat_estimates(found), format, title=f"Pass rates of run {results.run_id}")
    click.echo("intervals are 95 %; they hold when the labelled answers were drawn at random from the run", err=True)

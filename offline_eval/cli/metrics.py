"""`offline-eval metrics`: the metrics and their cards."""

from importlib import import_module

import click

from offline_eval.cli.rows import FORMATS, RowFormat, print_rows


@click.group(name="metrics")
def command() -> None:
    """List metrics, or show one's card."""


@command.command(name="list")
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def list_(format: RowFormat) -> None:
    """All metrics with their group, their range and what they measure."""
    from offline_eval.pipeline.metric_plan import METRICS, metric_groups

    rows = []
    for group, names in sorted(metric_groups().items()):
        for name in names:
            metric = METRICS.load(name)
            measures = _card(name).splitlines()[0]
            rows.append({"metric": name, "group": group, "low": metric.low, "high": metric.high, "measures": measures})
    print_rows(rows, format)


@command.command(name="show")
@click.argument("name")
def show(name: str) -> None:
    """NAME's card: definition, formula, range, needs, when undefined, differences from other tools, source."""
    from offline_eval.pipeline.metric_plan import METRICS

    METRICS.load(name)
    click.echo(f"{name}\n\n{_card(name)}")


def _card(name: str) -> str:
    from offline_eval.pipeline.metric_plan import METRICS

    return (import_module(METRICS.module(name)).__doc__ or "").strip()

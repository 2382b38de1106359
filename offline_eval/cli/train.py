"""`offline-eval train`: fine-tune an encoder on your own labels, with scores on labels it has not seen."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offline_eval.cli.rows import FORMATS, RowFormat, print_rows

if TYPE_CHECKING:
    from offline_eval.stats.measured import Measured


@click.command(name="train")
@click.argument("task", type=click.Choice(["nli", "answerability", "alignment"]))
@click.option("--data", type=click.Path(path_type=Path), required=True, help="Labelled pairs: JSONL, CSV or Parquet.")
@click.option("--base", default="all-minilm-l6-v2", show_default=True, help="An installed encoder, or its folder.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A new folder for the trained model.")
@click.option("--lora", "lora_rank", type=click.IntRange(0), default=0, help="Train adapters of this rank instead.")
@click.option("--epochs", type=click.IntRange(1), default=6, show_default=True, help="At most.")
@click.option("--patience", type=click.IntRange(1), default=2, show_default=True, help="Epochs without a better loss.")
@click.option("--learning-rate", type=float, help="Peak. [default: 3e-5, with --lora 1e-3]")
@click.option("--batch-size", type=click.IntRange(1), default=16, show_default=True)
@click.option("--max-tokens", type=click.IntRange(8), default=256, show_default=True, help="Longer pairs are left out.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--license", "license_", default="unstated", show_default=True, help="Of the result; see your labels'.")
@click.option("--language", "languages", multiple=True, help="Of your labels; repeatable. [default: the base's]")
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def command(
    task: str,
    data: Path,
    base: str,
    out: Path,
    license_: str,
    languages: tuple[str, ...],
    format: RowFormat,
    **training: Any,
) -> None:
    """Fine-tune an encoder for TASK on your labels.

    nli reads columns premise, hypothesis, label (entailment, neutral, contradiction, or yes/no); answerability reads
    query, passage, label (yes/no); alignment reads query, passage, label (0 to 1). A column group keeps rows together.
    """
    from offline_eval.models.installed import require_installed
    from offline_eval.training.evaluate import evaluate
    from offline_eval.training.finetune import TrainSettings, train
    from offline_eval.training.labels import read_labels
    from offline_eval.training.save import check_out, save

    check_out(out)
    labels = read_labels(data, task=task)  # type: ignore[arg-type]  # click.Choice has checked it
    model = require_installed(base)
    settings = TrainSettings(**training)  # every other option is named after the setting it is
    trained = train(labels, model, settings=settings, progress=lambda line: click.echo(line, err=True))
    held_out = evaluate(labels, trained.parts.report, trained.report, seed=settings.seed)
    config = save(
        trained,
        labels,
        model,
        held_out=held_out,
        out=out,
        settings=settings,
        license=license_,
        languages=languages or model.config.languages,
    )
    print_rows([_row(name, found) for name, found in held_out.measures.items()], format)
    left_out = sum(trained.too_long.values())
    if left_out:
        click.echo(f"{left_out} pairs were left out: they exceed {settings.max_tokens} tokens", err=True)
    click.echo(held_out.sentence(), err=True)
    click.echo(f"ready: offline-eval models import {out} --name {config.name}", err=True)


def _row(name: str, found: "Measured") -> dict[str, Any]:
    return {
        "measure": name,
        "value": found.value,
        "low": found.interval.low if found.interval else None,
        "high": found.interval.high if found.interval else None,
        "pairs": found.n,
    }

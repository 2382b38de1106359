"""Options of commands that ask one judge about label files, and what they stand for."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from offline_eval.cli.defaults import DEFAULT_JUDGE
from offline_eval.cli.dtype_option import DTYPES, resolved_dtype

if TYPE_CHECKING:
    from offline_eval.benchmark.labels import LabelSet
    from offline_eval.benchmark.passport import JudgeIdentity
    from offline_eval.engines.select import EngineOptions

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--judge", default=DEFAULT_JUDGE, show_default=True, help="MODEL to ask."),
    click.option("--engine", default="auto", show_default=True, help="auto, vllm, transformers, endpoint or scripted."),
    click.option("--url", help="Of the endpoint, for example http://127.0.0.1:8000/v1."),
    click.option("--allow-host", "allow_hosts", multiple=True, help="A host beyond this machine that may be asked."),
    click.option("--dtype", type=click.Choice(DTYPES), callback=resolved_dtype, help="[default: the config's]"),
    click.option("--batch-size", type=click.IntRange(1, 4096), default=16, show_default=True),
    click.option("--context-length", type=click.IntRange(min=256), help="[default: the model config's]"),
    click.option("--max-rows", type=click.IntRange(1), help="A seeded part of each file, whole queries together."),
    click.option("--seed", type=int, default=0, show_default=True),
)


def judge_options(function: F) -> F:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def chosen_engine(options: dict[str, Any]) -> "EngineOptions":
    """Engine options with the engine decided on.

    Raises:
        UsageError: An unknown engine, or one that is not installed.
    """
    from offline_eval.airgap.guard import arm
    from offline_eval.engines.select import EngineOptions, pick_engine

    if options["allow_hosts"]:
        arm([(host, "--allow-host") for host in options["allow_hosts"]])
    engine, why = pick_engine(options["engine"])
    click.echo(f"engine {engine} ({why})", err=True)
    names = ("dtype", "batch_size", "context_length", "url", "allow_hosts", "seed")
    return EngineOptions(engine=engine, **{name: options[name] for name in names})


def judge_identity(judge: str, engine_options: "EngineOptions") -> "JudgeIdentity":
    """Who is asked; a model behind an endpoint or a script has no weights of its own.

    Raises:
        ModelError: The model is not installed.
    """
    from offline_eval.benchmark.passport import JudgeIdentity
    from offline_eval.engines.select import family_of
    from offline_eval.models.installed import require_installed

    is_local = engine_options.engine in ("vllm", "transformers")
    return JudgeIdentity(
        judge=judge,
        family=family_of(judge, engine_options),
        engine=engine_options.engine,
        dtype=engine_options.dtype or "config",
        weights_hash=require_installed(judge).weights_hash if is_local else engine_options.engine,
    )


def labelled_sets(sources: Sequence[str | Path], options: dict[str, Any]) -> "list[LabelSet]":
    """Label files, parted by dimension, kind and the rubric's language; what no rubric is for is left out, and said.

    Raises:
        DataError: All bad rows of all files, or nothing that a judge can be asked about.
    """
    from offline_eval.benchmark.judges import has_rubric
    from offline_eval.benchmark.label_files import read_label_file, stem
    from offline_eval.benchmark.labels import label_sets
    from offline_eval.benchmark.passport import by_language
    from offline_eval.benchmark.sampling import sample
    from offline_eval.core.errors import DataError

    problems: list[str] = []
    found: list[LabelSet] = []
    for source in sources:
        try:
            rows = read_label_file(str(source))
        except DataError as error:
            problems += error.problems
            continue
        if options["max_rows"] is not None:
            rows = sample(rows, options["max_rows"], seed=options["seed"])
        asked = [row for row in rows if has_rubric(row)]
        if len(asked) < len(rows):
            click.echo(f"{source}: {len(rows) - len(asked)} rows have a dimension without a rubric", err=True)
        found += [part for whole in label_sets(asked, stem(str(source))) for part in by_language(whole)]
    if problems:
        raise DataError(problems)
    if not found:
        raise DataError(f"{', '.join(map(str, sources))}: no row that a judge can be asked about")
    return found

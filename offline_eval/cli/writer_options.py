"""Options of commands in which a judge writes instead of judging: which engine computes, and how."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from offline_eval.cli.dtype_option import DTYPES

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--engine", default="auto", show_default=True, help="auto, vllm, transformers, endpoint or scripted."),
    click.option("--url", help="Of the endpoint, for example http://127.0.0.1:8000/v1."),
    click.option("--allow-host", "allow_hosts", multiple=True, help="A host beyond this machine that may be asked."),
    click.option("--dtype", type=click.Choice(DTYPES), help="Of the judge. [default: the config's]"),
    click.option("--certified/--no-certified", "certified", default=None, help="The same bits every time."),
    click.option("--batch-size", type=click.IntRange(1, 4096), default=16, show_default=True),
    click.option("--context-length", type=click.IntRange(min=256), help="[default: the model config's]"),
)


def writer_options(command: Command) -> Command:
    """Add them to a command, in their order."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command

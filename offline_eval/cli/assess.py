"""`offline-eval assess`: answers with a stated confidence; each subcommand is a module of its own."""

import click

from offline_eval.cli.lazy_group import LazyGroup

# Subcommand to its one-line help; the module `assess_<subcommand>` provides it as `command`.
SUBCOMMANDS = {
    "check": "Assess one answer that is already there.",
    "evaluate": "Measure on labelled cases what the assessment catches and what it costs.",
    "serve": "Serve assessments on 127.0.0.1 until interrupted.",
}


@click.command(name="assess", cls=LazyGroup, helps=SUBCOMMANDS, prefix="assess_")
def command() -> None:
    """Answer questions with a stated confidence, check answers, and measure how far that confidence can be trusted."""

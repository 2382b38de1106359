"""The program: commands are loaded only when called, and every error ends in one message and an exit code."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from offline_eval import __version__

# Command to its one-line help; the module of the same name provides it as `command`.
COMMANDS = {
    "demo": "Copy the demo project: a staff handbook, a test set and two recorded systems.",
    "doctor": "Say what this machine can run, and what is missing.",
    "metrics": "List metrics, or show one's card.",
    "models": "List, fetch, import and verify models.",
    "report": "Print a finished run as a table, Markdown or JSON.",
    "retrieve": "Index a corpus, search it, and measure retrievers.",
    "run": "Judge a system's answers.",
    "runs": "List, show, export and audit runs.",
    "score": "Score a finished run again, with other weights; asks no model.",
    "serve": "Serve a model on loopback with vLLM's OpenAI-compatible server.",
    "train": "Fine-tune an encoder on your own labels, with scores on labels it has not seen.",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called; listing them imports nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in order of the alphabet."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"offline_eval.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Offer the nearest command for an unknown one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from offline_eval.core.errors import UnknownNameError

            raise UnknownNameError("command", args[0], list(COMMANDS))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with their one-line helps."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, package_name="offline-eval")
def cli() -> None:
    """Score RAG systems and benchmark judges on one machine, with open weights and no network."""
    from offline_eval.airgap.guard import arm
    from offline_eval.airgap.switches import set_switches

    set_switches()
    arm()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and exit with its code."""
    sys.exit(run_cli(arguments))


def run_cli(arguments: Sequence[str] | None = None) -> int:
    """Run the program.

    Returns:
        0 fine; 1 a gate failed; 2 wrong use; 3 trouble with data, a model or a run file; 4 too many cases unscored;
        130 interrupted.
    """
    try:
        result = cli.main(
            args=arguments, prog_name="offline-eval", standalone_mode=False, auto_envvar_prefix="OFFLINE_EVAL"
        )
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left; nothing more to say
        return 0
    except Exception as error:  # noqa: BLE001 - the program's edge: people get a message, not a traceback
        return _say(error)


def _say(error: Exception) -> int:
    from offline_eval.core.errors import EXIT_DATA, OfflineEvalError

    if isinstance(error, OfflineEvalError):
        click.echo(f"error: {error}", err=True)
        return error.exit_code
    if os.environ.get("OFFLINE_EVAL_DEBUG"):
        raise error
    click.echo(
        f"error: unexpected {type(error).__name__}: {error}\n"
        "This is a fault of the program. Run again with OFFLINE_EVAL_DEBUG=1 for details, and report them.",
        err=True,
    )
    return EXIT_DATA

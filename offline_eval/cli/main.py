"""The program: commands are loaded only when called, and every error ends in one message and an exit code."""

import os
import sys
from collections.abc import Sequence

import click

from offline_eval import __version__
from offline_eval.airgap.switches import set_switches
from offline_eval.cli.lazy_group import LazyGroup

# Command to its one-line help; the module of the same name provides it as `command`.
COMMANDS = {
    "assess": "Answer with a stated confidence: check answers, serve, and measure what it catches.",
    "benchmark": "Hold judges against human labels: agreement with intervals, people's ceiling, baselines.",
    "cases": "Keep low-scoring and failed cases across runs, and export them as a regression test set.",
    "compare": "Compare systems case by case: better, worse, or cannot tell.",
    "bundle": "Carry models, wheels, configs and test sets to a machine without a network.",
    "cache": "Show, prune or clear the answers that runs share.",
    "calibrate": "Say whether a judge's probabilities mean what they say, and fit maps and thresholds.",
    "correct": "Correct a run's pass rates, or fit its panel weights, with human labels of some of its answers.",
    "demo": "Copy the demo project: a staff handbook, a test set and two recorded systems.",
    "doctor": "Say what this machine can run, and what is missing.",
    "feedback": "Hold metrics against users' thumbs up and down.",
    "gate": "Hold a run against thresholds, for CI; exit code 1 when it fails.",
    "history": "Show how metrics moved over a folder of runs.",
    "metrics": "List metrics, or show one's card.",
    "models": "List, fetch, import and verify models.",
    "passport": "Make, show and check judges' passports: what is known about a judge, for runs to require.",
    "probe": "Measure a judge's biases: order, length, style, authority, injected instructions, empty openers.",
    "report": "Print a finished run as a table, Markdown or JSON.",
    "retrieve": "Index a corpus, search it, and measure retrievers.",
    "labels": "Export what people labelled, and compare it with the judge.",
    "review": "Label a run's answers at a web page on this machine.",
    "run": "Judge a system's answers.",
    "runs": "List, show, export and audit runs.",
    "sbom": "List every installed package and model with its licence, as a CycloneDX bill of materials.",
    "score": "Score a finished run again, with other weights; asks no model.",
    "serve": "Serve a model on loopback with vLLM's OpenAI-compatible server.",
    "testset": "Build test sets from documents and logs: generated, reviewed, versioned, free of leaks.",
    "train": "Fine-tune an encoder on your own labels, with scores on labels it has not seen.",
    "verify": "Replay a run on the same set-up and compare bit by bit.",
}


@click.command(
    cls=LazyGroup, helps=COMMANDS, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, package_name="offline-eval")
def cli() -> None:
    """Score RAG systems and benchmark judges on one machine, with open weights and no network."""
    from offline_eval.airgap.guard import arm

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
    set_switches()  # before a command's module is imported, whatever it imports
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
    from offline_eval.core.errors import EXIT_DATA, DataError, OfflineEvalError

    if isinstance(error, DataError):
        return _say_all(error.problems, error.exit_code)
    if isinstance(error, OfflineEvalError):
        click.echo(f"error: {error}", err=True)
        return error.exit_code
    if os.environ.get("OFFLINE_EVAL_DEBUG"):
        raise error
    if isinstance(error, OSError) and error.filename is not None:  # a folder that is a file, no permission, no room
        click.echo(f"error: {error.filename}: {error.strerror or error}; check the path and the disk", err=True)
        return EXIT_DATA
    click.echo(
        f"error: unexpected {type(error).__name__}: {error}\n"
        "This is a fault of the program. Run again with OFFLINE_EVAL_DEBUG=1 for details, and report them.",
        err=True,
    )
    return EXIT_DATA


def _say_all(problems: Sequence[str], exit_code: int) -> int:
    """Line by line, since there may be very many, and the reader may leave before the last."""
    try:
        for place, problem in enumerate(problems):
            click.echo(problem if place else f"error: {problem}", err=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    return exit_code

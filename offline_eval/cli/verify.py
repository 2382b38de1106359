"""`offline-eval verify`: replay a run and compare bit by bit."""

from pathlib import Path

import click

from offline_eval.cli.rows import FORMATS, RowFormat, print_rows
from offline_eval.cli.run_files import open_run, runs_option

_COLUMNS = ("response_key", "kind", "dimension", "judge", "label_then", "label_now", "largest_move", "fields")


@click.command(name="verify")
@click.argument("run")
@runs_option
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Replay at least N pieces of evidence, in whole batches. [default: everything]",
)
@click.option("--allow-different", is_flag=True, help="Replay on other weights, versions or hardware too; tells drift.")
@click.option("--allow-host", "allow_hosts", multiple=True, help="A host beyond this machine that may be asked.")
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def command(
    run: str, folder: Path, sample: int | None, allow_different: bool, allow_hosts: tuple[str, ...], format: RowFormat
) -> int:
    """Ask RUN's models the same again and compare every verdict, score and probability with what is stored.

    Exit code 0: identical; 1: something differs, and is listed; 3: refused, because weights, versions or hardware are
    not the run's (the message names them), or the run file was altered. Nothing is added to the run.
    """
    import tempfile
    from datetime import UTC, datetime

    from offline_eval.airgap.guard import arm
    from offline_eval.cli.progress import Progress
    from offline_eval.engines.select import open_encoder, open_engine
    from offline_eval.pipeline.config import RunConfig
    from offline_eval.pipeline.manifest import describe_session, manifest_of
    from offline_eval.pipeline.setup import session_differences
    from offline_eval.pipeline.verify import Replay, engine_options

    if allow_hosts:
        arm([(host, "--allow-host") for host in allow_hosts])
    run_file = open_run(run, folder)
    manifest = manifest_of(run_file)
    now = describe_session(RunConfig.model_validate(manifest.config), now=datetime.now(UTC))
    setup = session_differences(manifest.sessions[-1] if manifest.sessions else None, now)
    replay = Replay(run_file, setup=setup, allow_different=allow_different)
    options = engine_options(replay.config, allow_hosts=allow_hosts)
    with Progress() as progress, tempfile.TemporaryDirectory(prefix="offline-eval-verify-") as scratch:
        found = replay.run(
            Path(scratch),
            sample=sample,
            open_judge=lambda name: open_engine(name, options),
            open_encoder=lambda kind, name: open_encoder(
                kind,
                name,
                options,
                announce=lambda line: click.echo(line, err=True),
                progress=lambda done, total: progress.tell("converted to ONNX, steps", done, total),
            ),
            progress=lambda done, total: progress.tell("replayed", done, total),
        )
    if format == "json":
        click.echo(found.model_dump_json(indent=1))
    elif found.changed:
        print_rows([changed.model_dump(mode="json") for changed in found.changed], format, columns=_COLUMNS)
    for difference in found.setup:
        click.echo(f"other set-up: {difference.part}: {difference.then} then, {difference.now} now", err=True)
    click.echo(
        f"{found.compared} pieces of evidence in {found.batches} batches replayed, {found.verdicts} of them judges' "
        f"verdicts: {len(found.changed)} differ, {found.flips} labels changed, largest move of a probability "
        f"{found.largest_move:.6f}",
        err=True,
    )
    return 1 if found.changed else 0

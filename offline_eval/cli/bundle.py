"""`offline-eval bundle`: carry models, wheels, configs and test sets to a machine without a network."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from offline_eval.cli.rows import FORMATS, RowFormat, print_rows

if TYPE_CHECKING:
    from offline_eval.models.bundle_format import BundleManifest

key_option = click.option(
    "--key", "key_file", type=click.Path(path_type=Path), help="A local key file of 32 bytes or more (HMAC-SHA256)."
)
format_option = click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)


@click.group(name="bundle")
def command() -> None:
    """Carry models, wheels, configs and test sets across an air gap in one checked file."""


@command.command(name="create")
@click.option("--models", multiple=True, metavar="A,B", help="Installed models; commas or repeat.")
@click.option("--configs", type=click.Path(path_type=Path), multiple=True, help="A folder or file of YAML configs.")
@click.option("--test-sets", type=click.Path(path_type=Path), multiple=True, help="A file or folder; repeatable.")
@click.option("--wheels", type=click.Path(path_type=Path), help="A folder of wheels, taken as they are.")
@click.option("--lock", type=click.Path(path_type=Path), help="A lock file; pip collects its wheels and our own.")
@click.option("--environment", is_flag=True, help="Wheels of everything installed here; pip collects them.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The tar file to write.")
@key_option
@format_option
def create(
    models: tuple[str, ...],
    configs: tuple[Path, ...],
    test_sets: tuple[Path, ...],
    wheels: Path | None,
    lock: Path | None,
    environment: bool,
    out: Path,
    key_file: Path | None,
    format: RowFormat,
) -> None:
    """Pack a bundle with the SHA-256 of every file. With --lock or --environment, pip asks its package registry."""
    from offline_eval.cli.progress import Progress
    from offline_eval.core.hashing import file_digest
    from offline_eval.models.bundle import Wanted, create_bundle

    names = [name.strip() for listed in models for name in listed.split(",") if name.strip()]
    wanted = Wanted(
        models=tuple(dict.fromkeys(names)),
        configs=configs,
        test_sets=test_sets,
        wheels=wheels,
        lock=lock,
        environment=environment,
    )
    with Progress() as progress:
        manifest = create_bundle(
            wanted,
            out,
            key_file=key_file,
            announce=_say,
            progress=lambda done, total: progress.tell("packed MiB", done >> 20, total >> 20),
        )
    _print(manifest, format)
    _say(f"{out}: SHA-256 {file_digest(out)}; compare it on the far side before you run anything of it")
    _say(f"how to install it there: tar xfO {out} INSTALL.txt")


@command.command(name="verify")
@click.argument("bundle", type=click.Path(path_type=Path))
@key_option
@format_option
def verify(bundle: Path, key_file: Path | None, format: RowFormat) -> None:
    """Hash every file of BUNDLE again. Exit code 3 names the first that is altered, missing or extra."""
    from offline_eval.cli.progress import Progress
    from offline_eval.models.bundle_install import verify_bundle
    from offline_eval.models.signature import signature_path

    with Progress() as progress:
        manifest = verify_bundle(
            bundle,
            key_file=key_file,
            progress=lambda done, total: progress.tell("checked MiB", done >> 20, total >> 20),
        )
    _print(manifest, format)
    signed = "the signature fits" if key_file else "the signature was not checked, give --key"
    is_signed = key_file or signature_path(bundle).is_file()
    _say(f"{bundle}: {len(manifest.files):,} files are unaltered; {signed if is_signed else 'not signed'}")


@command.command(name="install")
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    help="New folder for configs, test sets and wheels. [default: BUNDLE's name]",
)
@click.option("--venv", type=click.Path(path_type=Path), help="Also make this environment from the bundle's wheels.")
@key_option
def install(bundle: Path, into: Path | None, venv: Path | None, key_file: Path | None) -> None:
    """Install BUNDLE: models where models live, the other parts into a folder; no network is asked."""
    import json

    from offline_eval.cli.progress import Progress
    from offline_eval.models.bundle_install import install_bundle

    with Progress() as progress:
        placed = install_bundle(
            bundle,
            into or Path(bundle.name.removesuffix(".tar") + "-installed"),
            venv=venv,
            key_file=key_file,
            announce=_say,
            progress=lambda done, total: progress.tell("unpacked MiB", done >> 20, total >> 20),
        )
    click.echo(json.dumps(placed.model_dump(mode="json"), ensure_ascii=False, indent=1))
    if "configs" in placed.folders:
        _say(f"to use the configs: export OFFLINE_EVAL_CONFIGS={placed.folders['configs']}")


def _print(manifest: "BundleManifest", format: RowFormat) -> None:
    from offline_eval.models.bundle_format import PARTS

    found = [(part, manifest.of(part)) for part in PARTS]
    print_rows(
        [
            {
                "part": part,
                "files": len(files),
                "mib": round(sum(file.size for file in files) / 2**20, 3),
                "names": ", ".join(manifest.models) if part == "models" else None,
            }
            for part, files in found
            if files
        ],
        format,
        columns=("part", "files", "mib", "names"),
    )


def _say(line: str) -> None:
    click.echo(line, err=True)

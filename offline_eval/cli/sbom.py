"""`offline-eval sbom`: a bill of materials of this environment."""

from pathlib import Path

import click


@click.command(name="sbom")
@click.option("--out", type=click.Path(path_type=Path), help="Write to a file instead of printing.")
def command(out: Path | None) -> None:
    """Every installed package and model with versions, hashes and licences, as CycloneDX JSON."""
    from datetime import UTC, datetime

    from offline_eval.core.errors import DataError
    from offline_eval.models.installed import list_installed
    from offline_eval.models.sbom import sbom

    document = sbom(list_installed(), now=datetime.now(UTC))
    if out is None:
        click.echo(document)
        return
    try:
        out.write_text(document + "\n", "utf-8")
    except OSError as error:
        raise DataError(f"{out}: cannot be written ({error.strerror or error}); name another with --out") from error
    click.echo(f"written to {out}", err=True)

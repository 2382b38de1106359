"""`offline-eval cache`: the answers that runs share."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from offline_eval.cli.rows import FORMATS, RowFormat, print_rows
from offline_eval.core.errors import StoreError, UsageError
from offline_eval.models.home import models_home
from offline_eval.store.cache import ResponseCache, clear_cache

_FILE = ".answers.sqlite"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_cache_option = click.option(
    "--cache", "path", type=click.Path(path_type=Path), help="The file. [default: beside the models]"
)


@click.group(name="cache")
def command() -> None:
    """Show, prune or clear the answers that runs share.

    An answer is kept under the hash of everything that decides it: weights, chat template, prompt, schema, decoding,
    number format, engine, machine and, where results depend on it, the batch.
    """


@command.command(name="info")
@_cache_option
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def info_(path: Path | None, format: RowFormat) -> None:
    """What the cache holds, one line a model and weights."""
    found = _existing(path).info()
    size = f"{_size(found.bytes)} of at most {_size(found.limit_bytes)}, file of {_size(found.file_bytes)}"
    click.echo(f"{found.path}: {found.entries:,} entries, {size}", err=True)
    rows: list[dict[str, Any]] = [entry.model_dump(mode="json") for entry in found.models]
    print_rows(rows, format, columns=("model", "weights", "entries", "bytes"))


@command.command(name="prune")
@click.option("--limit", default="0", show_default=True, metavar="SIZE", help="What may stay: bytes, or 500M, 2G.")
@_cache_option
def prune_(limit: str, path: Path | None) -> None:
    """Let the least recently used entries go until the rest is within --limit."""
    cache = _existing(path)
    gone = cache.prune(parse_size(limit))
    left = cache.info()
    click.echo(f"{gone:,} entries went, {left.entries:,} ({_size(left.bytes)}) stay in {left.path}")


@command.command(name="clear")
@_cache_option
def clear_(path: Path | None) -> None:
    """Remove the cache, damaged or not; runs stay as they are."""
    file = path or default_cache()
    click.echo(f"{file} removed" if clear_cache(file) else f"{file}: there is no cache")


def default_cache() -> Path:
    """Where the cache lies unless told otherwise: beside the models."""
    return models_home() / _FILE


def open_cache(path: Path | None, *, wanted: bool, announce: Callable[[str], None]) -> ResponseCache | None:
    """The cache of a run.

    Args:
        path: A file the user named; None for the default, which a run can do without.
        wanted: Whether there shall be one at all.

    Raises:
        StoreError: The named file cannot be used.
        UsageError: A file was named and no cache is wanted.
    """
    if not wanted:
        if path is not None:
            raise UsageError("--cache names a file and --no-cache wants none; leave one of them out")
        return None
    try:
        return ResponseCache(path or default_cache())
    except StoreError as error:
        if path is not None:
            raise
        announce(f"{error}; the run goes on without the cache")
        return None


def parse_size(text: str) -> int:
    """Read a number of bytes: `1000`, `500M`, `1.5G`; units are powers of 1024.

    Raises:
        UsageError: Something else.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise UsageError(f"--limit {text}: write a size such as 500M or 2G")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def _existing(path: Path | None) -> ResponseCache:
    file = path or default_cache()
    if not file.is_file():
        raise StoreError(f"{file}: there is no cache yet; `offline-eval run` makes one")
    return ResponseCache(file)


def _size(n: int) -> str:
    return f"{n / (1 << 20):.1f} MiB"

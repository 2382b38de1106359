"""`offline-eval testset sample`: diverse real queries from logs, without personal data."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from offline_eval.cli.language_option import language_option
from offline_eval.cli.rows import FORMATS, RowFormat, print_rows

if TYPE_CHECKING:
    from offline_eval.core.protocols import Embedder
    from offline_eval.testset.printed import Language, Printed
    from offline_eval.testset.query_log import QueryLog

_DEFAULT_EMBEDDER = "all-minilm-l6-v2"


@click.command(name="sample")
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--size", type=click.IntRange(1), required=True, help="Queries wanted.")
@click.option(
    "--quota", "quotas", multiple=True, metavar="TYPE=N", help="So many (or .3: a share) of a type; repeatable."
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File of cases, as JSON Lines.")
@click.option("--known", type=click.Path(path_type=Path), help="Leave out what this test set asks already.")
@click.option("--map", "mapping", multiple=True, metavar="OURS=THEIRS", help="For example query=text; repeatable.")
@click.option(
    "--embedder", default=_DEFAULT_EMBEDDER, show_default=True, help="Tells alike queries; `none` for words alone."
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--report", "report_file", type=click.Path(path_type=Path), help="Where personal data stood, as JSON Lines."
)
@language_option
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def command(
    logs: tuple[Path, ...],
    size: int,
    quotas: tuple[str, ...],
    out: Path,
    known: Path | None,
    mapping: tuple[str, ...],
    embedder: str,
    seed: int,
    report_file: Path | None,
    language: "Language",
    format: RowFormat,
) -> None:
    """Pick --size diverse queries from LOGS and write them as cases for review.

    Phone numbers, e-mail addresses, identity numbers, bank cards and accounts are taken out before anything else; the
    report says what kind stood where, never the value. Thumbs up and down are kept as feedback.
    """
    import json

    from offline_eval.cli.output import write_text
    from offline_eval.formats.column_map import read_pairs
    from offline_eval.formats.reader import read_cases
    from offline_eval.formats.writer import write_cases
    from offline_eval.testset.printed import printed
    from offline_eval.testset.query_log import as_case, read_logs, removal_counts, removal_rows
    from offline_eval.testset.sample import TypeShare, draw_sample, parse_quotas

    words = printed(language)
    wanted = parse_quotas(quotas, size=size)
    log = read_logs(logs, mapping=read_pairs(mapping), known=read_cases(known) if known else ())
    sample = draw_sample(log.queries, size=size, quotas=wanted, embedder=_embedder(embedder, log, words), seed=seed)
    write_cases((as_case(query) for query in sample.queries), out)
    if report_file is not None:
        write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in removal_rows(log)), report_file)
    rows = [share.model_dump() for share in sample.types]
    if format in ("table", "md"):
        rows = words.rows(rows, tuple(TypeShare.model_fields))
    print_rows(rows, format)
    if log.n_empty:
        _say(words.line("sample_rows_empty", rows=log.n_rows, empty=log.n_empty, queries=len(log.queries)))
    else:
        _say(words.line("sample_rows", rows=log.n_rows, queries=len(log.queries)))
    removed = words.line("separator").join(
        words.line("sample_kind", count=count, kind=words.word("personal", kind))
        for kind, count in removal_counts(log).items()
    )
    places = len({removal.where for removal in log.removed})
    _say(words.line("sample_removed", kinds=removed or words.line("none"), rows=places))
    method = words.word("sample_method", sample.method)
    _say(words.line("sample_written", picked=len(sample.queries), size=size, method=method, seed=str(seed), out=out))


def _embedder(name: str, log: "QueryLog", words: "Printed") -> "Embedder | None":
    """The embedder, where it is installed and knows the language of most queries; else a remark and words alone."""
    if name == "none":
        return None
    from collections import Counter

    from offline_eval.models.installed import find_installed

    installed = find_installed(name)
    if installed is None:
        _say(words.line("sample_not_installed", name=name))
        return None
    spoken = Counter(query.language for query in log.queries)
    foreign = sum(count for language, count in spoken.items() if language not in (*installed.config.languages, "other"))
    if "*" not in installed.config.languages and 2 * foreign > len(log.queries):
        _say(words.line("sample_not_applicable", name=name, foreign=foreign, queries=len(log.queries)))
        return None
    from offline_eval.engines.embedder import open_embedder

    return open_embedder(name)


def _say(line: str) -> None:
    click.echo(line, err=True)

"""`offline-eval testset leakage`: what a test set shares with its corpus, with examples and with training data."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offline_eval.cli.progress import Progress
from offline_eval.cli.rows import FORMATS, RowFormat, print_rows

if TYPE_CHECKING:
    from offline_eval.core.records import Case
    from offline_eval.testset.leakage import Leak, Limits
    from offline_eval.testset.leakage_elsewhere import Other

_EXISTING = click.Path(path_type=Path)


@click.command(name="leakage")
@click.argument("cases", type=_EXISTING)
@click.option("--corpus", type=_EXISTING, help="Documents the questions are asked over.")
@click.option(
    "--index", "index_folder", type=_EXISTING, help="A saved index: its passages and, if it has them, vectors."
)
@click.option("--train", "train", type=_EXISTING, multiple=True, help="Labels somebody trained on; repeatable.")
@click.option("--examples", type=_EXISTING, multiple=True, help="Examples shown to a model, or drafts; repeatable.")
@click.option(
    "--embedder", help="The index' embedder, where it goes by another name here; also for --train, --examples."
)
@click.option("--run", "run_length", type=click.IntRange(8), default=13, show_default=True,
              help="Words, in Chinese characters, of a shared run.")  # fmt: skip
@click.option("--share", type=click.FloatRange(0, 1, min_open=True), default=0.8, show_default=True,
              help="Of a text in shared runs.")  # fmt: skip
@click.option("--likeness", type=click.FloatRange(0, 1, min_open=True), default=0.9, show_default=True,
              help="Overlap of two questions' words.")  # fmt: skip
@click.option("--cosine", type=click.FloatRange(0, 1, min_open=True), default=0.9, show_default=True,
              help="Of two questions' vectors.")  # fmt: skip
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def command(
    cases: Path,
    corpus: Path | None,
    index_folder: Path | None,
    train: tuple[Path, ...],
    examples: tuple[Path, ...],
    embedder: str | None,
    run_length: int,
    share: float,
    likeness: float,
    cosine: float,
    format: RowFormat,
) -> int:
    """Look for the questions and answers of CASES where they should not stand. Exit code 1 when any is found.

    Questions: runs of the same words, the same words in another order, near vectors. An answer alone is a leak only
    outside the case's expected passages. The judges' own worked examples are always looked through.
    """
    from offline_eval.core.errors import EXIT_GATE_FAILED, EXIT_OK
    from offline_eval.formats.reader import read_cases
    from offline_eval.testset.leakage import Limits
    from offline_eval.testset.leakage_report import COLUMNS, LeakageReport, leak_lines, leak_rows, merged

    asked = read_cases(cases)
    limits = Limits(run=run_length, share=share, words=likeness, embedding=cosine)
    check = _Check(asked, limits, embedder)
    with Progress() as progress:
        check.elsewhere(train, examples, progress)
        if corpus is not None:
            check.corpus(corpus, progress)
        if index_folder is not None:
            check.index(index_folder, progress)
    if corpus is None and index_folder is None:
        check.left_out.append("a corpus; name one with --corpus or --index")
    report = LeakageReport(merged(check.leaks), tuple(check.looked), tuple(check.left_out))
    print_rows(leak_rows(report), format, columns=COLUMNS)
    for line in leak_lines(report):
        click.echo(line, err=True)
    return EXIT_GATE_FAILED if report.leaks else EXIT_OK


class _Check:
    """Collects what the parts of one check found."""

    def __init__(self, cases: "Sequence[Case]", limits: "Limits", embedder: str | None) -> None:
        self.leaks: list[Leak] = []
        self.looked: list[str] = []
        self.left_out: list[str] = []
        self._cases = cases
        self._limits = limits
        self._embedder = embedder

    def elsewhere(self, train: Sequence[Path], examples: Sequence[Path], progress: Progress) -> None:
        """The rubrics' examples, and the files that were named."""
        from offline_eval.testset.leakage_elsewhere import rubric_examples, texts_of

        self._compare(rubric_examples(), "example", "the judges' worked examples", progress)
        for path in examples:
            self._compare(_drafts(path) or texts_of(path), "example", str(path), progress)
        for path in train:
            self._compare(texts_of(path), "training", str(path), progress)

    def corpus(self, path: Path, progress: Progress) -> None:
        """Documents as they lie in files."""
        from offline_eval.formats.corpus import read_corpus

        self._search(read_corpus(path), str(path), progress)

    def index(self, folder: Path, progress: Progress) -> None:
        """A saved index: its passages, and its vectors where it has some."""
        from offline_eval.engines.embedder import open_embedder
        from offline_eval.retrieval.index import Index
        from offline_eval.testset.leakage_embedding import embedding_leaks

        index = Index(folder)
        self._search(index.store, str(folder), progress)
        if index.manifest.dense is None:
            self.left_out.append(f"other wordings in {folder}: it has no vectors (build it with --embedder)")
            return
        embedder = open_embedder(self._embedder or index.manifest.dense.embedder)
        progress.tell("comparing vectors", 0, 0)
        found = embedding_leaks(
            self._cases, index.store, index.dense(embedder), embedder, languages=embedder.languages, limits=self._limits
        )
        self._take_vectors(found, f"the vectors of {folder}")

    def _search(self, passages: Any, name: str, progress: Progress) -> None:
        from offline_eval.testset.leakage import corpus_leaks

        found = corpus_leaks(
            self._cases, passages, limits=self._limits,
            progress=lambda done, total: progress.tell("passages read", done, total),
        )  # fmt: skip
        self.leaks += found.leaks
        self.looked.append(f"{found.n_passages:,} passages of {name}")
        if found.answers_unchecked:
            self.left_out.append(
                f"the answers of {found.answers_unchecked} cases in {name}: they name no expected passage or document, "
                "so an answer cannot be told from its source"
            )

    def _compare(self, others: "Sequence[Other]", kind: Any, name: str, progress: Progress) -> None:
        from offline_eval.testset.leakage_elsewhere import leaks_elsewhere

        self.leaks += leaks_elsewhere(
            self._cases, others, kind=kind, limits=self._limits, tell=lambda done, n: progress.tell(name, done, n)
        )
        self.looked.append(f"{len(others):,} questions and answers of {name}")
        if self._embedder is None:
            return
        from offline_eval.engines.embedder import open_embedder
        from offline_eval.testset.leakage_embedding import embedding_leaks_elsewhere

        embedder = open_embedder(self._embedder)
        found = embedding_leaks_elsewhere(
            self._cases, others, embedder, kind=kind, languages=embedder.languages, limits=self._limits
        )
        self._take_vectors(found, f"the vectors of {name}")

    def _take_vectors(self, found: Any, name: str) -> None:
        self.leaks += found.leaks
        self.looked.append(f"{name} for {found.n_compared:,} questions and answers")
        for language, count in found.not_applicable.items():
            self.left_out.append(f"{name} for {count} texts: not applicable (language: {language})")


def _drafts(path: Path) -> "list[Other]":
    """The examples that steered a generation; none when the path holds no drafts."""
    from offline_eval.testset.draft_file import DRAFTS_NAME, DraftFile
    from offline_eval.testset.leakage_elsewhere import Other

    if not (path.is_dir() or path.name == DRAFTS_NAME):
        return []
    header = DraftFile(path).header
    return [Other(f"{path}: example {n}", text, True) for n, text in enumerate(header.examples if header else (), 1)]

"""`offline-eval testset leakage`: what a test set shares with its corpus, with examples and with training data."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offline_eval.cli.language_option import language_option
from offline_eval.cli.progress import Progress
from offline_eval.cli.rows import FORMATS, RowFormat, print_rows

if TYPE_CHECKING:
    from offline_eval.core.protocols import Embedder
    from offline_eval.core.records import Case
    from offline_eval.testset.leakage import Leak, Limits
    from offline_eval.testset.leakage_elsewhere import Other
    from offline_eval.testset.printed import Language, Note, Printed

_EXISTING = click.Path(path_type=Path)


@click.command(name="leakage")
@click.argument("cases", type=_EXISTING)
@click.option("--corpus", type=_EXISTING, help="Documents the questions are asked over.")
@click.option(
    "--index",
    "index_folder",
    type=_EXISTING,
    help="A saved index, or a folder of drafts with one: passages and, if it has them, vectors.",
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
@language_option
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
    language: "Language",
    format: RowFormat,
) -> int:
    """Look for the questions and answers of CASES where they should not stand. Exit code 1 when any is found.

    Questions: runs of the same words, the same words in another order, near vectors; slips of spelling in examples and
    labels. An answer alone is a leak only outside the case's expected passages and their documents. Worked examples of
    judges and of the question writer are always looked through. Every comparison that was not made is named.
    """
    from offline_eval.core.errors import EXIT_GATE_FAILED, EXIT_OK
    from offline_eval.formats.reader import read_cases
    from offline_eval.testset.leakage import Limits
    from offline_eval.testset.leakage_report import COLUMNS, LeakageReport, leak_lines, leak_rows, merged
    from offline_eval.testset.printed import printed

    words = printed(language)
    limits = Limits(run=run_length, share=share, words=likeness, embedding=cosine)
    check = _Check(read_cases(cases), limits, embedder, words)
    with Progress() as progress:
        check.elsewhere(train, examples, progress)
        check.inside(corpus, index_folder, progress)
    report = LeakageReport(merged(check.leaks), tuple(check.looked), tuple(check.left_out))
    rows = leak_rows(report)
    if format in ("table", "md"):
        print_rows(words.rows(rows, COLUMNS), format, columns=[words.heading(name) for name in COLUMNS])
    else:
        print_rows(rows, format, columns=COLUMNS)
    for line in leak_lines(report, language):
        click.echo(line, err=True)
    return EXIT_GATE_FAILED if report.leaks else EXIT_OK


class _Check:
    """Collects what the parts of one check found."""

    def __init__(self, cases: "Sequence[Case]", limits: "Limits", embedder: str | None, words: "Printed") -> None:
        self.leaks: list[Leak] = []
        self.looked: list[Note] = []
        self.left_out: list[Note] = []
        self._cases = cases
        self._limits = limits
        self._embedder = embedder
        self._words = words
        self._opened: dict[str, Embedder] = {}

    def elsewhere(self, train: Sequence[Path], examples: Sequence[Path], progress: Progress) -> None:
        """The shipped examples, and the files that were named."""
        from offline_eval.testset.leakage_elsewhere import prompt_examples, rubric_examples, texts_of

        worked = self._words.line("name_worked")
        self._compare([*rubric_examples(), *prompt_examples()], "example", worked, progress)
        for path in examples:
            shown = _drafts(path)
            if shown is None:
                self._compare(texts_of(path), "example", str(path), progress)
            elif shown:
                self._compare(shown, "example", str(path), progress)
            else:
                self._note(self.looked, "looked_no_examples", name=path)
        for path in train:
            self._compare(texts_of(path), "training", str(path), progress)
        if not examples:
            self._note(self.left_out, "left_examples")
        if not train:
            self._note(self.left_out, "left_train")

    def inside(self, corpus: Path | None, index: Path | None, progress: Progress) -> None:
        """Documents as they lie in files, and a saved index."""
        from offline_eval.cli.testset_corpus import index_in, open_corpus

        if corpus is not None and index_in(corpus) is None:
            self._search(open_corpus(corpus).passages, str(corpus), progress)
            self._note(self.left_out, "left_vectors_corpus", name=corpus)
        elif corpus is not None:
            self._index(corpus, progress)
        if index is not None:
            self._index(index, progress)
        if corpus is None and index is None:
            self._note(self.left_out, "left_corpus")

    def _index(self, folder: Path, progress: Progress) -> None:
        """A saved index: its passages, and its vectors where it has some."""
        from offline_eval.cli.testset_corpus import index_in
        from offline_eval.retrieval.index import Index
        from offline_eval.testset.leakage_embedding import embedding_leaks

        index = Index(index_in(folder) or folder)
        self._search(index.store, str(folder), progress)
        if index.manifest.dense is None:
            self._note(self.left_out, "left_vectors_index", name=folder)
            return
        embedder = self._open(self._embedder or index.manifest.dense.embedder)
        progress.tell("comparing vectors", 0, 0)
        found = embedding_leaks(
            self._cases, index.store, index.dense(embedder), embedder, languages=_languages(embedder),
            limits=self._limits,
        )  # fmt: skip
        self._take_vectors(found, str(folder))

    def _search(self, passages: Any, name: str, progress: Progress) -> None:
        from offline_eval.testset.leakage import corpus_leaks

        found = corpus_leaks(
            self._cases, passages, limits=self._limits,
            progress=lambda done, total: progress.tell("passages read", done, total),
        )  # fmt: skip
        self.leaks += found.leaks
        self._note(self.looked, "looked_passages", count=found.n_passages, name=name)
        self._note(self.left_out, "left_spelling", name=name)
        if found.questions_short:
            self._note(self.left_out, "left_short_questions", count=found.questions_short, name=name)
        if found.answers_short:
            self._note(self.left_out, "left_short", count=found.answers_short, name=name, run=self._limits.run)
        if found.answers_unchecked:
            self._note(self.left_out, "left_no_source", count=found.answers_unchecked, name=name)

    def _compare(self, others: "Sequence[Other]", kind: Any, name: str, progress: Progress) -> None:
        from offline_eval.testset.leakage_elsewhere import leaks_elsewhere
        from offline_eval.testset.leakage_embedding import embedding_leaks_elsewhere

        self.leaks += leaks_elsewhere(
            self._cases, others, kind=kind, limits=self._limits, tell=lambda done, n: progress.tell(name, done, n)
        )
        self._note(self.looked, "looked_texts", count=len(others), name=name)
        if self._embedder is None:
            self._note(self.left_out, "left_vectors_elsewhere", name=name)
            return
        embedder = self._open(self._embedder)
        found = embedding_leaks_elsewhere(
            self._cases, others, embedder, kind=kind, languages=_languages(embedder), limits=self._limits
        )
        self._take_vectors(found, name)
        answers = sum(not other.is_question for other in others)
        if answers:
            self._note(self.left_out, "left_vectors_answers", count=answers, name=name)

    def _take_vectors(self, found: Any, name: str) -> None:
        self.leaks += found.leaks
        self._note(self.looked, "looked_vectors", count=found.n_compared, name=name)
        for language, count in found.not_applicable.items():
            self._note(self.left_out, "left_language", count=count, name=name, language=language)

    def _open(self, name: str) -> "Embedder":
        """The embedder, loaded once."""
        from offline_eval.engines.embedder import open_embedder

        if name not in self._opened:
            self._opened[name] = open_embedder(name)
        return self._opened[name]

    @staticmethod
    def _note(lines: "list[Note]", key: str, **values: object) -> None:
        from offline_eval.testset.printed import Note

        lines.append(Note(key, values))


def _languages(embedder: Any) -> Sequence[str]:
    found: Sequence[str] = embedder.languages
    return found


def _drafts(path: Path) -> "list[Other] | None":
    """The examples that steered a generation, maybe none; None when the path holds no drafts."""
    from offline_eval.testset.draft_file import DRAFTS_NAME, DraftFile
    from offline_eval.testset.leakage_elsewhere import Other

    if path.name != DRAFTS_NAME and not (path / DRAFTS_NAME).is_file():
        return None
    header = DraftFile(path).header
    return [Other(f"{path}: example {n}", text, True) for n, text in enumerate(header.examples if header else (), 1)]

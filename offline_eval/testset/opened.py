"""Opens a file for review: drafts as they are, cases as drafts that are kept in a file beside them.

Why beside and not in the file itself: a file of cases says what is asked, never who decided what and when.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

from offline_eval.core.errors import DataError
from offline_eval.core.hashing import digest
from offline_eval.core.records import Case
from offline_eval.formats.build import RowError, native_columns
from offline_eval.formats.problems import Problems, refuse
from offline_eval.formats.reader import read_cases
from offline_eval.formats.rows import read_rows
from offline_eval.testset.changelog import SUFFIX, set_name
from offline_eval.testset.draft import QUESTION_TYPES, Draft, QuestionType
from offline_eval.testset.draft_file import DRAFTS_NAME, DRAFTS_SUFFIX, DraftFile, Header, holds_drafts

_SQLITE_MAGIC = b"SQLite format 3\x00"
_MOST_COLUMNS = 8


def open_for_review(path: Path) -> DraftFile:
    """The drafts of a file or folder; cases are opened as drafts in `real.drafts.jsonl` beside `real.jsonl`.

    A case that was changed to something its draft never was is opened anew, with the decisions so far.

    Raises:
        DataError: No such file, a file of another kind, no drafts, or rows that are no cases.
    """
    if holds_drafts(path):
        file = DraftFile(path)
        if not file.drafts:
            raise DataError(f"{file.path}: holds no drafts; `offline-eval testset generate` writes some")
        return file
    _check_holds_cases(path)
    return _opened(path, read_cases(path))


def question_type(case: Case) -> QuestionType:
    """A case's type as its own type or a tag names it, `unanswerable` where it has no answer, else `simple`."""
    named = [name.strip().lower().replace("-", "_").replace(" ", "_") for name in (case.query_type or "", *case.tags)]
    told: QuestionType = "unanswerable" if case.answerable is False else "simple"
    return next((kind for kind in QUESTION_TYPES if kind in named), told)


def _opened(path: Path, cases: Sequence[Case]) -> DraftFile:
    file = DraftFile(path.with_name(f"{set_name(path)}{DRAFTS_SUFFIX}"))
    file.begin(Header(settings={"opened_from": path.name}))
    before = {draft.id: draft.reviews for draft in file.drafts}
    drafts = [
        Draft(id=case.id, type=question_type(case), case=case, reviews=before.get(case.id, ()))
        for case in cases
        if case not in file.forms_of(case.id)
    ]
    if drafts:
        name = digest("OpenedCases", [draft.case.content_hash() for draft in drafts])[:12]
        file.append_batch(f"cases-{name}", drafts)
    return file


def _check_holds_cases(path: Path) -> None:
    """Say in one message what a file is that holds no cases, before every row of it is called wrong."""
    if not path.exists():
        raise DataError(f"{path}: no such file or folder; check the path")
    wanted = "review takes drafts, or cases"
    if path.is_file() and path.name.endswith(SUFFIX):
        cases = path.with_name(f"{path.name.removesuffix(SUFFIX)}.jsonl")
        raise DataError(f"{path}: this is a changelog; {wanted}, so name the file it lies beside, for example {cases}")
    if path.is_file() and _starts_with(path, _SQLITE_MAGIC):
        raise DataError(f"{path}: this is a run or labels; {wanted} (`offline-eval review` labels a run's answers)")
    if path.is_dir() and (path / "cases.jsonl").is_file():
        raise DataError(f"{path}: a folder without {DRAFTS_NAME}; did you mean {path / 'cases.jsonl'}?")
    problems = Problems(str(path))
    row = next(iter(read_rows(path, problems)), None)
    if row is None:
        if problems:
            refuse([problems])
        raise DataError(f"{path}: holds no rows; {wanted}")
    try:
        known = native_columns(row.values, text_cells=row.text_cells).known
    except RowError:
        return  # it has rows of its own faults, which are named one by one
    if "query" not in known:
        columns = ", ".join([*row.values][:_MOST_COLUMNS]) or "nothing"
        kind = _kind(known.keys() | row.values.keys())
        raise DataError(f"{path}: this is {kind}, its first row has {columns}; {wanted} with a query each")


def _kind(columns: Collection[str]) -> str:
    if {"answer", "case_id", "passages"} & set(columns):
        return "a file of answers"
    return "a file of documents" if "text" in columns else "no file of cases"


def _starts_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(magic)) == magic

"""Drafts on disk: one append-only JSON Lines file that holds batches of drafts and what reviewers decided later.

A batch is one line, written and flushed whole, so that an interrupted generation continues at the first batch that is
missing. Nothing is ever changed in place: a decision is a line of its own, and the latest one counts.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from offline_eval.core.errors import DataError
from offline_eval.core.hashing import digest
from offline_eval.core.records import Case, Record
from offline_eval.testset.draft import Draft, Review

DRAFTS_NAME = "drafts.jsonl"
DRAFTS_SUFFIX = f".{DRAFTS_NAME}"  # `real.drafts.jsonl`
_KINDS = ("header", "batch", "review", "acceptance")
_MOST_COLUMNS = 8  # of a foreign file that a message names


class Header(Record):
    """The first line: what decides the drafts.

    Attributes:
        settings: JSON data; its hash is the file's identity.
        examples: The questions that steered the style; none of them may be in the set.
    """

    kind: Literal["header"] = "header"
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    examples: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """Hash of settings and examples."""
        return digest("Drafts", [self.settings, list(self.examples)])


class Batch(Record):
    """Drafts that were made together; `name` is known before they are."""

    kind: Literal["batch"] = "batch"
    name: str
    drafts: tuple[Draft, ...]


class ReviewLine(Record):
    """A person's decision about the draft with this id."""

    kind: Literal["review"] = "review"
    draft_id: str
    review: Review


class Acceptance(Record):
    """Drafts that were taken without a review, because somebody asked for it."""

    kind: Literal["acceptance"] = "acceptance"
    draft_ids: tuple[str, ...]


Line = Header | Batch | ReviewLine | Acceptance
_LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="kind")])


class DraftFile:
    """A file of drafts.

    Args:
        path: The file, or the folder with `drafts.jsonl` in it; it need not exist yet.

    Raises:
        DataError: Lines that are no drafts; a torn last line is no fault, its batch is made again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path / DRAFTS_NAME if path.is_dir() else path
        self.header: Header | None = None
        self._batches: dict[str, Batch] = {}
        self._drafts: dict[str, Draft] = {}
        self._forms: dict[str, list[Case]] = {}
        self._made: dict[str, list[Case]] = {}
        for line in _read(self.path):
            self._take(line)

    @property
    def drafts(self) -> tuple[Draft, ...]:
        """All drafts in the order they were made, every one as the latest decision left it."""
        return tuple(self._drafts.values())

    @property
    def accepted(self) -> tuple[Case, ...]:
        """The cases of accepted drafts: what may enter a version."""
        return tuple(draft.case for draft in self.drafts if draft.status == "accepted")

    def forms_of(self, draft_id: str) -> tuple[Case, ...]:
        """Every form a draft's case has had, oldest first; none for an unknown draft."""
        return tuple(self._forms.get(draft_id, ()))

    def made_again(self, draft_id: str) -> Case | None:
        """The case a draft was last made of, where a later batch holds it again; None where one batch alone does."""
        made = self._made.get(draft_id, [])
        return made[-1] if len(made) > 1 else None

    def begin(self, header: Header) -> None:
        """Write the header of a new file, or make sure an older one has the same.

        Raises:
            DataError: The file holds drafts that were made with other settings.
        """
        if self.header is None:
            self._append(header)
            return
        if self.header.identity != header.identity:
            before, now = self.header.settings, header.settings
            differing = sorted(key for key in {*before, *now} if before.get(key) != now.get(key)) or ["examples"]
            raise DataError(
                f"{self.path}: holds drafts made with other settings ({', '.join(differing)}); "
                "choose another folder, or call with the settings of before to continue"
            )

    def batch(self, name: str) -> tuple[Draft, ...] | None:
        """The drafts of a batch as they were made; None when it is not whole."""
        found = self._batches.get(name)
        return None if found is None else found.drafts

    def append_batch(self, name: str, drafts: Sequence[Draft]) -> None:
        """Keep a batch, on disk before this returns.

        Raises:
            DataError: The file cannot be written.
        """
        self._append(Batch(name=name, drafts=tuple(drafts)))

    def review(self, draft_id: str, review: Review) -> Draft:
        """Keep a decision, on disk before this returns.

        Returns:
            The draft as it is now.

        Raises:
            DataError: No such draft, an edit that makes no valid case, or the file cannot be written.
        """
        if draft_id not in self._drafts:
            raise DataError(f"{self.path}: holds no draft {draft_id!r}")
        try:
            self._drafts[draft_id].reviewed(review)
        except ValidationError as error:
            first = error.errors()[0]
            raise DataError(f"{draft_id}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        self._append(ReviewLine(draft_id=draft_id, review=review))
        return self._drafts[draft_id]

    def accept_unreviewed(self) -> int:
        """Accept every draft that nobody decided about; each says so.

        Returns:
            How many there were.

        Raises:
            DataError: The file cannot be written.
        """
        ids = tuple(draft.id for draft in self.drafts if draft.status == "draft")
        if ids:
            self._append(Acceptance(draft_ids=ids))
        return len(ids)

    def _take(self, line: Line) -> None:
        if isinstance(line, Header):
            self.header = line
        elif isinstance(line, Batch):
            self._batches[line.name] = line
            self._keep(line.drafts)
            for draft in line.drafts:
                self._made.setdefault(draft.id, []).append(draft.case)
        elif isinstance(line, Acceptance):
            known = [self._drafts[draft_id] for draft_id in line.draft_ids if draft_id in self._drafts]
            self._keep([draft.accepted_unreviewed() for draft in known])
        elif line.draft_id in self._drafts:
            self._keep([self._drafts[line.draft_id].reviewed(line.review)])

    def _keep(self, drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            self._drafts[draft.id] = draft
            self._forms.setdefault(draft.id, []).append(draft.case)

    def _append(self, line: Line) -> None:
        data = {"kind": line.kind, **line.model_dump(mode="json", exclude_defaults=True)}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _cut_torn_line(self.path)
            with self.path.open("a", encoding="utf-8", newline="\n") as stream:
                stream.write(json.dumps(data, ensure_ascii=False) + "\n")
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise DataError(f"{self.path}: cannot be written ({error.strerror or error}); check the folder") from None
        self._take(line)


def holds_drafts(path: Path) -> bool:
    """Whether a path is a drafts file, or a folder with `drafts.jsonl`.

    The first line decides; where it is none, as in a file that is still empty, the name does.
    """
    if path.is_dir():
        return (path / DRAFTS_NAME).is_file()
    named = path.name == DRAFTS_NAME or path.name.endswith(DRAFTS_SUFFIX)
    if not path.is_file():
        return named
    row = _first_row(path)
    return named if row is None else row.get("kind") in _KINDS and "query" not in row


def _first_row(path: Path) -> dict[str, JsonValue] | None:
    with path.open("rb") as stream:
        try:
            row = json.loads(stream.readline())
        except ValueError:
            return None
    return row if isinstance(row, dict) else None


def _read(path: Path) -> list[Line]:
    if not path.is_file():
        return []
    if (row := _first_row(path)) is not None and not holds_drafts(path):
        columns = ", ".join([*row][:_MOST_COLUMNS]) or "nothing"
        raise DataError(
            f"{path}: no file of drafts (its first line has {columns}); `offline-eval testset review CASES` makes one"
        )
    found: list[Line] = []
    problems: list[str] = []
    *lines, _ = path.read_bytes().split(b"\n")  # what follows the last line end was torn by a crash
    for number, line in enumerate(lines, start=1):
        try:
            found.append(_LINE.validate_json(line))
        except ValidationError as error:
            problems.append(f"{path}:{number}: no line of a drafts file ({error.errors()[0]['msg']})")
    if problems:
        raise DataError(problems)
    return found


def _cut_torn_line(path: Path) -> None:
    if not path.is_file():
        return
    with path.open("r+b") as stream:
        stream.truncate(stream.read().rfind(b"\n") + 1)

"""Reads logs of real queries: personal data is taken out at once, repetitions are counted, thumbs are kept.

Why at once: what is never held cannot be written by mistake; a report says how much was taken out and where.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field, JsonValue

from offline_eval.core.hashing import digest
from offline_eval.core.records import Case, Record
from offline_eval.formats.build import RowError
from offline_eval.formats.column_map import ColumnMap
from offline_eval.formats.problems import Problems, refuse
from offline_eval.formats.rows import Source, read_rows, source_name
from offline_eval.testset.validate import asked_form
from offline_eval.text.language import detect_language
from offline_eval.text.personal_data import mask_personal_data
from offline_eval.text.query_type import classify_query

ORIGIN = "log"
_THUMBS = {"up": 1, "thumbs_up": 1, "like": 1, "good": 1, "赞": 1, "down": -1, "thumbs_down": -1, "dislike": -1,
           "bad": -1, "踩": -1}  # fmt: skip
_THUMB_COLUMNS = ("thumb", "thumbs", "rating")
_NO_MAPPING: Mapping[str, str] = {}


class LoggedQuery(Record):
    """One query that users asked, once or more often, without personal data.

    Attributes:
        query_type: As the log says, else as its words say.
        asked: How often.
        up: Thumbs up on its answers.
        down: Thumbs down.
        masked: Personal data was taken out of it.
    """

    query: str
    language: str
    query_type: str
    asked: int = Field(ge=1)
    up: int = Field(default=0, ge=0)
    down: int = Field(default=0, ge=0)
    masked: bool = False


class Removal(Record):
    """Personal data that was taken out of one query; where and what kind, never the value.

    Attributes:
        where: `file:line`.
        count: Of this kind in this query.
    """

    where: str
    kind: str
    count: int = Field(ge=1)


class QueryLog(Record):
    """Logs as they were read.

    Attributes:
        queries: Different ones, in the order they first came.
        n_rows: Rows read.
        n_empty: Rows without a query, which are passed over.
        removed: In the order of the files.
    """

    queries: tuple[LoggedQuery, ...]
    n_rows: int
    n_empty: int
    removed: tuple[Removal, ...]


def read_logs(
    sources: Sequence[Source], *, mapping: Mapping[str, str] = _NO_MAPPING, known: Iterable[Case] = ()
) -> QueryLog:
    """Read logs in any format that responses have; of a row, query, type, language and feedback are taken.

    Feedback is `feedback` with 1 or -1, or `thumb`, `thumbs` or `rating` with up/down or the like.

    Args:
        mapping: Native column to the log's column.
        known: Cases whose questions are left out, because a test set has them.

    Raises:
        DataError: Rows that cannot be read, or none with a query.
        UnknownNameError: A mapping that names no field or no column.
    """
    had = {asked_form(text) for case in known for text in (case.query, *case.variants)}
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    removed: list[Removal] = []
    files: list[Problems] = []
    column_map = ColumnMap(mapping)
    empty = 0
    for source in sources:
        problems = Problems(source_name(source))
        files.append(problems)
        for row in read_rows(source, problems):
            try:
                columns = column_map.sorted_row(row)
            except RowError as error:
                for fault in error.faults:
                    problems.add(row.line, fault)
                continue
            taken = _taken({**columns.extra, **columns.known})
            if taken is None:
                empty += 1
                continue
            where = f"{problems.name}:{row.line}"
            removed += [Removal(where=where, kind=kind, count=count) for kind, count in taken.pop("kinds").items()]
            form = asked_form(taken["query"])
            if form not in had:
                found[form].append(taken)
        if not problems and problems.rows == empty and problems.rows:
            problems.add(None, "no row has a query, expected one (or --map query=COLUMN)")
    column_map.check()
    refuse(files)
    queries = tuple(_merged(rows) for rows in found.values())
    return QueryLog(queries=queries, n_rows=sum(file.rows for file in files), n_empty=empty, removed=tuple(removed))


def as_case(query: LoggedQuery) -> Case:
    """The query as a case that a reviewer completes; how often it was asked and what users thought are kept."""
    feedback = {name: count for name, count in (("up", query.up), ("down", query.down)) if count}
    metadata: dict[str, JsonValue] = {"asked": query.asked, **({"feedback": {**feedback}} if feedback else {})}
    return Case(
        id=f"log-{digest('LoggedQuery', query.query)[:12]}",
        query=query.query,
        language=query.language,
        query_type=query.query_type,
        origin=ORIGIN,
        tags=(ORIGIN, *(f"feedback:{name}" for name in feedback)),
        metadata=metadata,
    )


def removal_rows(log: QueryLog) -> list[dict[str, JsonValue]]:
    """What was taken out, by place."""
    return [removal.model_dump() for removal in log.removed]


def removal_counts(log: QueryLog) -> dict[str, int]:
    """What was taken out, by kind."""
    counts: Counter[str] = Counter()
    for removal in log.removed:
        counts[removal.kind] += removal.count
    return dict(sorted(counts.items()))


def _taken(values: Mapping[str, Any]) -> dict[str, Any] | None:
    query = values.get("query")
    if not isinstance(query, str) or not query.strip():
        return None
    text, found = mask_personal_data(query.strip())
    thumb = _thumb(values)
    given = values.get("query_type")
    return {
        "query": text,
        "kinds": Counter(item.kind for item in found),
        "query_type": str(given) if given else None,
        "up": int(thumb > 0),
        "down": int(thumb < 0),
        "masked": bool(found),
    }


def _thumb(values: Mapping[str, Any]) -> int:
    for name in ("feedback", *_THUMB_COLUMNS):
        value = values.get(name)
        if isinstance(value, bool):
            return 1 if value else -1
        if isinstance(value, int | float):
            return (value > 0) - (value < 0)
        if isinstance(value, str) and value.strip().lower() in _THUMBS:
            return _THUMBS[value.strip().lower()]
    return 0


def _merged(rows: Sequence[dict[str, Any]]) -> LoggedQuery:
    query = rows[0]["query"]
    given = next((row["query_type"] for row in rows if row["query_type"]), None)
    return LoggedQuery(
        query=query,
        language=detect_language(query),
        query_type=given or classify_query(query).type,
        asked=len(rows),
        up=sum(row["up"] for row in rows),
        down=sum(row["down"] for row in rows),
        masked=any(row["masked"] for row in rows),
    )

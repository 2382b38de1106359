"""Queries with their judgements, from a case file, a BEIR folder or TREC files, in the one form evaluation needs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.ranking import Qrels
from offline_eval.core.records import Case, Record
from offline_eval.formats import beir
from offline_eval.formats.corpus import read_queries
from offline_eval.formats.reader import read_cases
from offline_eval.formats.trec import read_qrels

Level = Literal["passages", "documents"]


class Questions(Record):
    """What is asked and what is relevant.

    Attributes:
        queries: Query id to query; empty when only recorded runs are scored.
        qrels: Query id to id to grade; empty when nobody judged.
        level: Whether the ids are passages' or documents'; None when the source does not say.
    """

    queries: dict[str, str]
    qrels: Qrels
    level: Level | None = None


def questions_from_cases(cases: Sequence[Case], *, level: Level | None = None) -> Questions:
    """Queries and expected ids of cases.

    Args:
        cases: At least one.
        level: Which expected ids to take; passages where any case names some, unless given.

    Returns:
        Cases without expected ids have a query and empty judgements, so that they are counted as not applicable.
    """
    chosen: Level = level or ("passages" if any(case.relevant_passages for case in cases) else "documents")
    qrels = {
        case.id: dict(case.relevant_passages if chosen == "passages" else case.relevant_documents) for case in cases
    }
    return Questions(queries={case.id: case.query for case in cases}, qrels=qrels, level=chosen)


def load_questions(
    *,
    cases: Path | None = None,
    folder: Path | None = None,
    split: str = "test",
    queries: Path | None = None,
    qrels: Path | None = None,
    by_position: bool = False,
    level: Level | None = None,
) -> Questions:
    """Read questions from exactly one source.

    Args:
        cases: A case file.
        folder: A BEIR folder; only the queries judged in `split` are asked.
        split: The BEIR split.
        queries: A queries file; may go with `qrels`.
        qrels: TREC or BEIR judgements; alone they serve to score recorded runs.
        by_position: Number TREC topics by their place in the file.
        level: What the ids name.

    Raises:
        UsageError: No source, or several.
        DataError: Files that cannot be read, or judgements for none of the queries.
    """
    given = [cases is not None, folder is not None, queries is not None or qrels is not None]
    if sum(given) != 1:
        raise UsageError(
            "say where the questions are: --cases FILE, or --beir FOLDER, or --queries FILE and --qrels FILE"
        )
    if cases is not None:
        return questions_from_cases(read_cases(cases), level=level)
    if folder is not None:
        judged = beir.read_split(folder, split)
        asked = {query_id: text for query_id, text in beir.read_queries(folder).items() if query_id in judged}
        return Questions(queries=asked, qrels=judged, level=level)
    texts = read_queries(queries, by_position=by_position) if queries is not None else {}
    grades = read_qrels(qrels) if qrels is not None else {}
    if texts and grades and not set(texts) & set(grades):
        raise DataError(
            f"{qrels}: judges none of the queries in {queries} (queries {list(texts)[:3]}, judgements "
            f"{list(grades)[:3]}); if the judgements count queries by their place in the file, add --by-position"
        )
    return Questions(queries=texts, qrels=grades, level=level)

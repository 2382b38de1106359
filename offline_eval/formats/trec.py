"""TREC qrels, runs, documents and topics, plain or gzipped, because every retrieval test collection speaks them."""

import html
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from offline_eval.core.errors import DataError
from offline_eval.core.ranking import Qrels, RetrievalRun
from offline_eval.core.records import Passage
from offline_eval.formats.lines import numbered_lines

_BEIR_HEADER = "query-id"
_QREL_COLUMNS = {
    3: "query-id document-id grade (after the header line)",
    4: "query-id iteration document-id grade",
}
_TAG = re.compile(r"<[^<>]{0,200}>")
_DOCUMENT_START = re.compile(r"<doc\b[^>]*>", re.IGNORECASE)
_DOCUMENT_END = re.compile(r"</doc>", re.IGNORECASE)
_TITLE_TAGS = ("title", "headline", "hl", "head")
_TOPIC = re.compile(r"<top\b[^>]*>(.*?)(?=</top>|<top\b|\Z)", re.IGNORECASE | re.DOTALL)
_TOPIC_NUMBER = re.compile(r"<num>\s*(?:number:)?\s*(\S+?)\s*(?=<|\s)", re.IGNORECASE)
_TOPIC_LABEL = re.compile(r"^\s*(?:topic|description|narrative):", re.IGNORECASE)


def read_qrels(path: Path) -> Qrels:
    """Read relevance judgements, TREC's four columns or BEIR's three.

    TREC: `query-id iteration document-id grade`. BEIR: a header line, then `query-id document-id grade`.

    Returns:
        Query id to document id to grade (an integer; below 1 means judged and not relevant).

    Raises:
        DataError: Lines that cannot be read or judge a document twice; all are listed.
    """
    qrels: Qrels = {}
    problems: list[str] = []
    columns = 4
    for number, line in numbered_lines(path):
        fields = line.split()
        if fields[0].lower() == _BEIR_HEADER:
            columns = 3
            continue
        if len(fields) != columns:
            problems.append(f"{path}:{number}: {len(fields)} fields, expected {columns}: {_QREL_COLUMNS[columns]}")
            continue
        query_id, document_id, grade_text = fields[0], fields[-2], fields[-1]
        grade = _integer(grade_text)
        if grade is None:
            problems.append(f"{path}:{number}: grade {grade_text!r} is not a whole number")
        elif document_id in qrels.setdefault(query_id, {}):
            problems.append(f"{path}:{number}: query {query_id!r} judges document {document_id!r} twice; keep one line")
        else:
            qrels[query_id][document_id] = grade
    _refuse(path, problems, empty=not qrels, what="judgements")
    return qrels


def write_qrels(qrels: Qrels, path: Path) -> None:
    """Write judgements as TREC qrels, queries and documents in id order.

    Raises:
        DataError: An id holds white space, which the format cannot carry.
    """
    _refuse_spaces(path, {*qrels, *(item for grades in qrels.values() for item in grades)})
    with path.open("w", encoding="utf-8") as stream:
        for query_id in sorted(qrels):
            stream.writelines(f"{query_id} 0 {item} {grade}\n" for item, grade in sorted(qrels[query_id].items()))


def read_run(path: Path, *, name: str | None = None) -> RetrievalRun:
    """Read a run: `query-id Q0 document-id rank score tag` on each line; order comes from the score, not the rank.

    Args:
        path: The file, plain or gzipped.
        name: The run's name; the tag of its first line unless given.

    Raises:
        DataError: Lines that cannot be read or return a document twice; all are listed.
    """
    scores: dict[str, dict[str, float]] = {}
    problems: list[str] = []
    tag: str | None = None
    for number, line in numbered_lines(path):
        fields = line.split()
        if len(fields) not in (5, 6):
            problems.append(
                f"{path}:{number}: {len(fields)} fields, expected 6: query-id Q0 document-id rank score tag"
            )
            continue
        query_id, _, document_id, _, score_text = fields[:5]
        tag = tag or (fields[5] if len(fields) == 6 else None)
        score = _finite(score_text)
        if score is None:
            problems.append(f"{path}:{number}: score {score_text!r} is not a finite number")
        elif document_id in scores.setdefault(query_id, {}):
            problems.append(f"{path}:{number}: query {query_id!r} has document {document_id!r} twice; keep one line")
        else:
            scores[query_id][document_id] = score
    _refuse(path, problems, empty=not scores, what="results")
    return RetrievalRun(name=name or tag or path.name, scores=scores)


def write_runs(runs: Sequence[RetrievalRun], folder: Path) -> list[Path]:
    """Write runs into a folder, one file each, named after the run as far as a file name allows.

    A run's name may come from a file that somebody sent, so nothing in it can lead elsewhere.

    Raises:
        DataError: An id holds white space, or the folder cannot be written.
    """
    paths: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, run in enumerate(runs, 1):
            stem = re.sub(r"[^\w.+@=()-]", "_", run.name)[:60].lstrip(".") or "run"
            path = folder / f"{stem}.trec"
            paths.append(folder / f"{stem}-{number}.trec" if path in paths else path)
            write_run(run, paths[-1])
    except OSError as error:
        raise DataError(f"{folder}: cannot be written ({error.strerror or error}); name another folder") from error
    return paths


def write_run(run: RetrievalRun, path: Path) -> None:
    """Write a run under the tie rule; scores keep full precision, so reading it back gives the same ranking.

    Raises:
        DataError: An id holds white space, which the format cannot carry.
    """
    path.write_text("".join(run_lines(run, where=str(path))), encoding="utf-8")


def run_lines(run: RetrievalRun, *, where: str) -> Iterator[str]:
    """The run's lines in TREC form, each with its line end.

    Args:
        run: What to write.
        where: Named in the message when an id cannot be written.

    Raises:
        DataError: An id holds white space, which the format cannot carry.
    """
    _refuse_spaces(where, {*run.scores, *(item for scores in run.scores.values() for item in scores)})
    tag = re.sub(r"\s+", "_", run.name) or "run"
    for query_id, scores in run.scores.items():
        for rank, item in enumerate(run.ranking(query_id), start=1):
            yield f"{query_id} Q0 {item} {rank} {scores[item]!r} {tag}\n"


def read_documents(path: Path) -> Iterator[Passage]:
    """Stream the documents of a TREC SGML file: `<doc>`, `<docno>`, a title tag and `<text>`.

    Tags of any case; markup inside the text is dropped; entities are resolved. A document without text keeps its
    place with an empty one.

    Raises:
        DataError: Documents without a number, or no document at all; all are listed, after the last readable one.
    """
    problems: list[str] = []
    found = False
    started_at = 0
    lines: list[str] = []
    for number, line in numbered_lines(path):
        if not started_at:
            start = _DOCUMENT_START.search(line)
            if start is None:
                continue
            started_at, line = number, line[start.end() :]
        end = _DOCUMENT_END.search(line)
        lines.append(line[: end.start()] if end else line)
        if end is None:
            continue
        document = _document("\n".join(lines))
        if document is None:
            problems.append(f"{path}:{started_at}: <doc> without <docno>; every document needs an id")
        else:
            found = True
            yield document
        started_at, lines = 0, []
    if started_at:
        problems.append(f"{path}:{started_at}: <doc> without </doc>; the file seems cut off")
    _refuse(path, problems, empty=not found, what="<doc> elements")


def read_topics(path: Path, *, by_position: bool = False) -> dict[str, str]:
    """Read queries from a TREC topics file (`<top>`, `<num>`, `<title>`; closing tags optional).

    Args:
        path: The file, plain or gzipped.
        by_position: Number the queries 1, 2, 3 … by their place in the file and ignore `<num>`. Cranfield's qrels count
            that way; with `<num>` its scores drop to almost nothing.

    Returns:
        Query id to query.

    Raises:
        DataError: Topics without number or title, or numbers that repeat; all are listed.
    """
    text = "\n".join(line for _, line in numbered_lines(path))
    queries: dict[str, str] = {}
    problems: list[str] = []
    for position, topic in enumerate(_TOPIC.findall(text), start=1):
        number = _TOPIC_NUMBER.search(topic)
        title = _one_line(_TOPIC_LABEL.sub("", _element(topic, "title") or _element(topic, "desc")))
        query_id = str(position) if by_position else (number[1] if number else "")
        if not query_id or not title:
            problems.append(f"{path}: topic {position} in the file lacks <{'title' if query_id else 'num'}>")
        elif query_id in queries:
            problems.append(f"{path}: topic {position} in the file repeats number {query_id!r}")
        else:
            queries[query_id] = title
    _refuse(path, problems, empty=not queries, what="<top> elements")
    return queries


def _document(markup: str) -> Passage | None:
    number = _element(markup, "docno")
    if not number:
        return None
    title = next((found for tag in _TITLE_TAGS if (found := _element(markup, tag))), None)
    return Passage(id=number, text=_element(markup, "text"), title=_one_line(title) if title else None)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _element(markup: str, tag: str) -> str:
    """Text of all elements with this tag; one without a closing tag ends at the next tag."""
    pattern = rf"<{tag}\b[^>]*>(.*?)</{tag}>"
    found = re.findall(pattern, markup, re.IGNORECASE | re.DOTALL)
    if not found:
        found = re.findall(rf"<{tag}\b[^>]*>([^<]*)", markup, re.IGNORECASE)
    return "\n".join(html.unescape(_TAG.sub(" ", part)).strip() for part in found).strip()


def _integer(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _refuse(path: Path, problems: list[str], *, empty: bool, what: str) -> None:
    if not problems and empty:
        problems = [f"{path}: no {what} found; is it the right file?"]
    if problems:
        raise DataError(problems)


def _refuse_spaces(where: Path | str, ids: set[str]) -> None:
    bad = sorted(item for item in ids if not item or any(char.isspace() for char in item))
    if bad:
        raise DataError([f"{where}: id {item!r} holds white space, which TREC files cannot carry" for item in bad])

"""Brings native columns into their native shape: one text becomes a list, a list of ids becomes grades, and so on.

Only shapes that can be read in one way are changed; everything else is left as it is for the record's own validation
to refuse.
"""

import ast
import re
from typing import Any

from offline_eval.formats.json_text import parse_json
from offline_eval.formats.wording import quoted

_LABELS = frozenset({"id", "case_id", "system", "language", "query_type", "difficulty", "origin"})
_LABEL_LISTS = frozenset({"tags", "citations"})
_TEXT_LISTS = frozenset({"key_points", "variants"})
_GRADES = frozenset({"relevant_passages", "relevant_documents"})
_WHOLE_NUMBERS = frozenset({"variant", "attempt", "feedback"})
_STRUCTURED = _LABEL_LISTS | _TEXT_LISTS | _GRADES | {"passages", "rankings", "metadata"}
_EMPTY_MEANS_EMPTY = frozenset({"answer", "query"})
_TRUE = frozenset({"true", "yes", "1", "是"})
_FALSE = frozenset({"false", "no", "0", "否"})

_PASSAGE_FIELDS = ("id", "text", "title", "doc_id", "date", "score", "metadata")
_TEXT_NAMES = ("text", "content", "page_content")


def from_cell(name: str, cell: str) -> Any:
    """Give a CSV cell of a native column its type.

    Lists and objects are JSON, or what Python prints for them (as pandas' `to_csv` does); a list column also takes one
    plain text. An empty cell is an absent value, except where the empty text means something.

    Raises:
        ValueError: In plain words: a cell that begins as a list or an object and is neither.
    """
    text = cell.strip()
    if not text:
        return "" if name in _EMPTY_MEANS_EMPTY else None
    if name in _STRUCTURED and text[0] in "[{":
        try:
            return parse_json(text)
        except ValueError as error:
            printed = _printed(text)
            if printed is not None:
                return printed
            raise ValueError(
                f"begins like a JSON list or object but is none ({error}): {quoted(text)}, "
                'expected for example ["first", "second"]'
            ) from None
    if name in _WHOLE_NUMBERS and re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        return int(text)
    if name == "answerable" and text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    return cell


def _printed(text: str) -> Any:
    """The list or object whose Python print the text is; None for any other text.

    Only an exact print counts: NumPy prints `['a' 'b']`, which Python would read as the one text `ab`.
    """
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if repr(value) == text and isinstance(value, list | dict) else None


def in_shape(name: str, value: Any) -> Any:
    """A native column's value in the shape its record wants, where that is possible."""
    if name in _LABELS:
        return _label(value)
    if name in _LABEL_LISTS:
        return tuple(_label(item) for item in _listed(value))
    if name in _TEXT_LISTS:
        return tuple(_listed(value))
    if name in _GRADES:
        return _grades(value)
    if name in _WHOLE_NUMBERS:
        return _whole(value)
    if name == "reference":
        return _one_text(value)
    if name == "passages":
        return tuple(_passage(item, rank) for rank, item in enumerate(_listed(value), start=1))
    if name == "rankings" and isinstance(value, dict):
        return {key: tuple(_label(item) for item in _listed(ids)) for key, ids in value.items()}
    return value


def _label(value: Any) -> Any:
    """Numbers become text, because ids and names are compared as text everywhere."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return str(_whole(value))


def _listed(value: Any) -> Any:
    """A single value as a list of one."""
    return value if isinstance(value, list | tuple) else (value,)


def _whole(value: Any) -> Any:
    """3.0 as 3: tables with gaps in a column keep whole numbers as floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _grades(value: Any) -> Any:
    """Grades by id; ids without grades are relevant with grade 1; a null grade is none."""
    if isinstance(value, dict):
        return {key: _whole(grade) for key, grade in value.items() if grade is not None}
    ids = [_label(item) for item in _listed(value)]
    return dict.fromkeys(ids, 1) if all(isinstance(item, str) for item in ids) else value


def _one_text(value: Any) -> Any:
    """Several references as one text, a line each."""
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return "\n".join(value)
    return value


def _passage(value: Any, rank: int) -> Any:
    """A passage as an object; a missing text inside an object stays missing, so that it is noticed."""
    if value is None or isinstance(value, str):
        return {"id": f"p{rank}", "text": value or ""}
    if not isinstance(value, dict):
        return value
    text_name = next((name for name in _TEXT_NAMES if name in value), "text")
    known = {name: value[name] for name in _PASSAGE_FIELDS if value.get(name) is not None}
    extra = {key: item for key, item in value.items() if key not in (*_PASSAGE_FIELDS, text_name)}
    if text_name in value:
        known["text"] = value[text_name] if value[text_name] is not None else ""
    for name in {"id", "doc_id", "date"} & known.keys():
        known[name] = _label(known[name])
    known.setdefault("id", f"p{rank}")
    metadata = known.get("metadata", {})
    if extra and isinstance(metadata, dict):
        known["metadata"] = {**extra, **metadata}
    return known

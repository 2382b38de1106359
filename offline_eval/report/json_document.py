"""The summary as JSON, for programs; what a terminal could obey is escaped, and the data stay the same."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

from offline_eval.core.records import Record
from offline_eval.core.summary import RunSummary

# C0 and C1 controls, zero-width and direction marks, line separators, tags: everything JSON lets through unescaped.
_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def render(summary: RunSummary) -> str:
    """The whole summary, one field a line."""
    return render_record(summary)


def render_record(record: Record) -> str:
    """Any record, one field a line."""
    return _UNSEEN.sub(_escaped, record.model_dump_json(indent=1))


def render_data(data: Mapping[str, Any]) -> str:
    """What a record was dumped as, one field a line, with the same bytes as the record itself."""
    return _UNSEEN.sub(_escaped, to_json(data, indent=1).decode())


def _escaped(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))

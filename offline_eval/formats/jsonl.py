"""JSON Lines, the native format: one object a line, read line by line so that size does not matter."""

from collections.abc import Iterable, Iterator

from offline_eval.formats.json_text import UTF8_BOM, decode_utf8, parse_json
from offline_eval.formats.problems import Problems
from offline_eval.formats.row import Row
from offline_eval.formats.wording import described


def rows(stream: Iterable[bytes], problems: Problems) -> Iterator[Row]:
    """Yield one row a line; blank lines are skipped, broken ones noted."""
    for line, raw in enumerate(stream, start=1):
        content = raw.removeprefix(UTF8_BOM) if line == 1 else raw
        if not content.strip():
            continue
        try:
            value = parse_json(decode_utf8(content))
        except ValueError as error:
            problems.add(line, str(error))
            continue
        if isinstance(value, dict):
            yield Row(line, value)
        else:
            problems.add(line, f"the line is {described(value)}, expected a JSON object")

"""JSON Lines, the native format: one object a line, read line by line so that size does not matter."""

from collections.abc import Iterable, Iterator

from offline_eval.formats.encoding import chinese_text
from offline_eval.formats.json_text import UTF8_BOM, decode_utf8, parse_json
from offline_eval.formats.problems import Problems
from offline_eval.formats.row import Row
from offline_eval.formats.wording import described


def rows(stream: Iterable[bytes], problems: Problems) -> Iterator[Row]:
    """Yield one row a line; blank lines are skipped, broken ones noted.

    The file is UTF-8, or GB18030 when its first line beyond ASCII is; one file has one encoding.
    """
    decode = _Decoder()
    for line, raw in enumerate(stream, start=1):
        content = raw.removeprefix(UTF8_BOM) if line == 1 else raw
        if not content.strip():
            continue
        try:
            value = parse_json(decode(content))
        except ValueError as error:
            problems.add(line, str(error))
            continue
        if isinstance(value, dict):
            yield Row(line, value)
        else:
            problems.add(line, f"the line is {described(value)}, expected a JSON object")


class _Decoder:
    """Decodes line by line; the first line beyond ASCII decides the encoding."""

    def __init__(self) -> None:
        self._encoding: str | None = None

    def __call__(self, raw: bytes) -> str:
        if self._encoding == "gb18030":
            return _decode_gb18030(raw)
        try:
            text = decode_utf8(raw)
        except ValueError:
            if self._encoding is not None or b"\x00" in raw or (chinese := chinese_text(raw)) is None:
                raise
            self._encoding = "gb18030"
            return chinese
        if not text.isascii():
            self._encoding = "utf-8"
        return text


def _decode_gb18030(raw: bytes) -> str:
    try:
        return raw.decode("gb18030")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"invalid GB18030 at byte offset {error.start} (0x{raw[error.start]:02x}), expected the encoding of the "
            "lines before"
        ) from None

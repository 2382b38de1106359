"""Makes good input bad: bytes flipped, cut or doubled; values of the wrong kind; text that breaks naive readers.

Everything is drawn from a seeded generator, so that a number names an input.
"""

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

DEEP = "[" * 3000 + "]" * 3000
HUGE_NUMBER = "9" * 5000
# Raw JSON texts, since some of them (NaN, a lone surrogate, a number of 5,000 digits) cannot be had from values.
WILD_JSON = (
    *("null", "true", "-1", "0", "1e308", "1e999", "NaN", "-Infinity", HUGE_NUMBER, '""', '" "', '"\\u0000"'),
    *('"\\ud800"', '"\\u202e\\u200b"', '"' + "长" * 20_000 + '"', "[]", "{}", "[null]", "[[]]", '{"": ""}', DEEP),
    *('"../../../etc/passwd"', '"<script>alert(1)</script>"', '"{query}"', '"=1+1"', '[1, "a", {}]', "1.5", '"1"'),
    *('{"a": {"b": {"c": [1, 2, {"d": null}]}}}', '["\\ud83d"]', '{"\\udc00": 1}', "0.1", '"nan"', '"\\r\\n\\t"'),
)
WILD_TEXT = (
    *("", " ", "~", "- ", "null", "{}", "[]", ":", "!!python/object/apply:os.system ['true']", "&a *a", "*unknown"),
    *("9" * 5000, "-1", "1e999", ".nan", ".inf", "\x00", "\ufeff", "\u2028", "长" * 5000, "[" * 2000, "{a: " * 500),
    *("<<: *x", "? ", "| ", "> ", "%TAG ! tag:", "---", "...", "\t\t", '"\\ud800"', "2026-13-45", "0o17", "!!binary x"),
)
_JUNK = (
    b"\xff\xfe",
    b"\x00" * 64,
    b"\xef\xbb\xbf",
    b"\x1f\x8b\x08\x00",
    b"PK\x03\x04",
    b"\r",
    b"\xed\xa0\x80",
    b"\n" * 50,
)
# Of the right kind, and still nothing a person would write.
STRANGE = {
    str: (
        *(
            "",
            " ",
            "\n",
            "\x00",
            "\x1b[31mred",
            "\u202egnp",
            "\u200b",
            "\ufeff",
            "长" * 30_000,
            "a " * 50_000,
            "e\u0301" * 99,
        ),
        *(
            "../../x",
            "/etc/passwd",
            "a/b~1#2",
            "<script>x</script>",
            "{query}",
            "${HOME}",
            "%s%n",
            "a\tb",
            "|x|y|",
            "=1+1",
        ),
        *("\U0001f469\u200d\U0001f680", "nan", "null", "-0", "x" * 300, "<<<END>>>", "<|im_end|>", '"}', "١٢٣", "𝟙𝟚"),
    ),
    int: (0, -1, 1, 2**31, 2**63, -(2**64), 10**30),
    float: (0.0, -0.0, 1e308, -1e308, 5e-324, 1e-12),
    bool: (True, False),
}
_MARK = "\ue000wild\ue000"


def broken_bytes(random: Random, data: bytes) -> bytes:
    """One to three of: a byte flipped, a stretch cut out, the end cut off, a stretch doubled, junk put in."""
    for _ in range(random.randint(1, 3)):
        data = random.choice(_DAMAGES)(random, data)
    return data


def broken_row(random: Random, row: dict[str, Any]) -> str:
    """A JSON line whose fields are missing, misnamed, or of the wrong kind."""
    changed = copy.deepcopy(row)
    wild: list[str] = []
    for _ in range(random.randint(1, 3)):
        if not changed:
            break
        holder, key = _place(random, changed)
        action = random.randrange(5)
        if action == 0 and isinstance(holder, dict):
            del holder[key]
        elif action == 1 and isinstance(holder, dict):
            holder[random.choice(["", "Query", "id ", "答案", "__proto__", "answer"])] = holder.pop(key)
        else:
            holder[key] = f"{_MARK}{len(wild)}"
            wild.append(random.choice(WILD_JSON))
    text = json.dumps(changed, ensure_ascii=random.random() < 0.5)
    for number, value in enumerate(wild):
        text = text.replace(json.dumps(f"{_MARK}{number}"), value).replace(f'"{_MARK}{number}"', value)
    return text


def strange_row(random: Random, row: dict[str, Any]) -> str:
    """A JSON line of the right shape with strange values."""
    changed = copy.deepcopy(row)
    for _ in range(random.randint(1, 4)):
        holder, key = _place(random, changed)
        if type(holder[key]) in STRANGE:
            holder[key] = random.choice(STRANGE[type(holder[key])])
        elif isinstance(holder[key], list):
            holder[key] = random.choice([[], holder[key] * 2, holder[key] * 40])
    return json.dumps(changed, ensure_ascii=random.random() < 0.5)


def broken_rows(random: Random, rows: list[dict[str, Any]]) -> bytes:
    """JSON Lines in which some rows are bad, doubled or no objects; now and then the bytes are damaged instead."""
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    if random.random() < 0.25:
        return broken_bytes(random, "".join(f"{line}\n" for line in lines).encode())
    if random.random() < 0.4:
        return "".join(f"{strange_row(random, row)}\n" for row in rows).encode()
    for _ in range(random.randint(1, 2)):
        at = random.randrange(len(lines))
        action = random.randrange(6)
        if action == 0:
            lines.insert(at, lines[at])
        elif action == 1:
            lines[at] = random.choice([*WILD_JSON, "{", '{"a": 1', "not json", '{"id": "x"} {"id": "y"}'])
        else:
            lines[at] = broken_row(random, rows[min(at, len(rows) - 1)])
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")


def broken_text(random: Random, text: str) -> bytes:
    """Text by lines (YAML, TREC, CSV) in which lines or values are dropped, doubled, swapped or made wild."""
    if random.random() < 0.25:
        return broken_bytes(random, text.encode())
    lines = text.splitlines()
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(lines))
        action = random.randrange(6)
        if action == 0:
            lines.pop(at)
            lines = lines or [""]
        elif action == 1:
            lines.insert(at, lines[at])
        elif action == 2:
            lines[at] = random.choice(WILD_TEXT)
        elif action == 3:
            lines[at] = random.choice([" ", "\t", "  ", "- "]) + lines[at]
        else:
            lines[at] = _wild_value(random, lines[at])
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _wild_value(random: Random, line: str) -> str:
    separator = next((mark for mark in (": ", ",", "\t", " ") if mark in line), " ")
    parts = line.split(separator)
    parts[random.randrange(len(parts))] = random.choice(WILD_TEXT)
    return separator.join(parts)


def _place(random: Random, value: Any) -> tuple[Any, Any]:
    """A random container inside a row, and one of its keys."""
    holder = value
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = random.choice(keys)
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or random.random() < 0.4:
            return holder, key
        holder = inner


def _flip(random: Random, data: bytes) -> bytes:
    if not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]


def _scramble(random: Random, data: bytes) -> bytes:
    at = random.randrange(len(data) + 1)
    size = random.choice([1, 4, 64, 512])
    return data[:at] + random.randbytes(min(size, len(data) - at)) + data[at + size :]


def _cut_out(random: Random, data: bytes) -> bytes:
    at, size = random.randrange(len(data) + 1), random.choice([1, 3, 50, 512, 4096])
    return data[:at] + data[at + size :]


def _cut_off(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _double(random: Random, data: bytes) -> bytes:
    at, size = random.randrange(len(data) + 1), random.choice([1, 20, 512, 4096])
    return data[:at] + data[at : at + size] + data[at:]


def _put_in(random: Random, data: bytes) -> bytes:
    at = random.choice([0, len(data), random.randrange(len(data) + 1)])
    return data[:at] + random.choice(_JUNK) + data[at:]


_DAMAGES: tuple[Callable[[Random, bytes], bytes], ...] = (_flip, _scramble, _cut_out, _cut_off, _double, _put_in)

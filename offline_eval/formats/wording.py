"""Turns values and validation errors into plain words, because a person has to find and mend the row."""

from typing import Any

from pydantic import ValidationError

_LONGEST_QUOTE = 60

_EXPECTED = {
    "string_type": "text",
    "string_too_short": "at least one character",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "float_type": "a number",
    "finite_number": "a finite number",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
}


def quoted(text: str) -> str:
    """A text fit for a terminal: quoted, on one line, without control characters, shortened visibly."""
    if len(text) <= _LONGEST_QUOTE:
        return repr(text)
    return f"{text[:_LONGEST_QUOTE]!r}… ({len(text):,} characters)"


def described(value: Any) -> str:
    """What kind of value this is, with the value where it is short."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"a JSON boolean ({'true' if value else 'false'})"
    if isinstance(value, int | float):
        # Printing a huge whole number is slow and, beyond some digits, refused by Python.
        big = isinstance(value, int) and value.bit_length() > 64
        return "a very large number" if big else f"the number {value!r}"
    if isinstance(value, str):
        return f"the text {quoted(value)}" if value else "empty"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    return f"of type {type(value).__name__}"


def place(path: tuple[str | int, ...]) -> str:
    """A path into a row, as `passages[0].text`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif not text:
            text = step if step.isidentifier() else quoted(step)
        else:
            text += f".{step}" if step.isidentifier() else f"[{quoted(step)}]"
    return text


def plain_words(error: ValidationError, names: dict[str, str] | None = None) -> list[str]:
    """Each fault of a validation error as `field is …, expected …`.

    Args:
        error: From validating one of our records.
        names: Native field to the name the file has for it.
    """
    return [_fault(detail, names or {}) for detail in error.errors(include_url=False, include_context=True)]


def _fault(detail: Any, names: dict[str, str]) -> str:
    path = list(detail["loc"])
    if path and path[0] in names:
        path[0] = names[path[0]]
    where = place(tuple(path)) or "it"
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return f"no {where}, expected one"
    if kind == "extra_forbidden":
        return f"{where} is not known here, expected none"
    return f"{where} is {described(detail['input'])}, expected {_expected(kind, context, detail['msg'])}"


def _expected(kind: str, context: dict[str, Any], message: str) -> str:
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind == "greater_than_equal":
        return f"{context['ge']:g} or more"
    if kind == "greater_than":
        return f"more than {context['gt']:g}"
    if kind == "less_than_equal":
        return f"{context['le']:g} or less"
    if kind == "literal_error":
        return str(context["expected"])
    return message.removeprefix("Input should be ").removeprefix("Value error, ")

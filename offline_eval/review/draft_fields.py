"""The fields of a case as texts of a form, and back: lists a line each, expected passages as `id grade`."""

from pydantic import JsonValue

from offline_eval.testset.draft import Draft, EditedField

_ANSWERABLE: dict[str, bool | None] = {"": None, "yes": True, "no": False}


class FieldFault(ValueError):
    """A field that cannot be read.

    Args:
        word: Name of the page's words that say so.
        values: What these words need.
    """

    def __init__(self, word: str, **values: str) -> None:
        super().__init__(word, values)
        self.word = word
        self.values = values


def field_text(draft: Draft, field: EditedField) -> str:
    """A field as it stands in the form."""
    case = draft.case
    if field == "key_points":
        return "\n".join(case.key_points)
    if field == "relevant_passages":
        return "\n".join(f"{id} {grade}" for id, grade in case.relevant_passages.items())
    if field == "answerable":
        return {None: "", True: "yes", False: "no"}[case.answerable]
    return getattr(case, field) or ""


def field_value(field: EditedField, text: str) -> JsonValue:
    """What a form's text means.

    Raises:
        FieldFault: Passages without a grade of 0 or more, or named twice; an answerability that is none.
    """
    if field == "key_points":
        return [*lines_of(text)]
    if field == "relevant_passages":
        return {**_grades(text)}
    if field == "answerable":
        if text.strip() not in _ANSWERABLE:
            raise FieldFault("bad_answerable", value=text.strip()[:80])
        return _ANSWERABLE[text.strip()]
    return text.replace("\r\n", "\n").strip() or None


def lines_of(text: str) -> list[str]:
    """The lines that say something, without white space at their ends."""
    return [line.strip() for line in text.replace("\r\n", "\n").split("\n") if line.strip()]


def _grades(text: str) -> dict[str, int]:
    """Passage id to grade; an id may have blanks in it, a grade is what stands after the last one."""
    found: dict[str, int] = {}
    for line in lines_of(text):
        id, *rest = line.rsplit(None, 1)
        grade = "".join(rest)
        if not (grade.isascii() and grade.isdecimal() and len(grade) <= 3):
            raise FieldFault("bad_passage", line=line[:200])
        if id in found:
            raise FieldFault("passage_twice", id=id[:200])
        found[id] = int(grade)
    return found

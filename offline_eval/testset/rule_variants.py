"""Reworded questions by rule: spoken, misspelt, with a limit, lengthened, with synonyms; no model, the same every time.

Why data and a seed: a robustness figure means something only when everybody's questions are misspelt alike.
"""

import random
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from pydantic import Field, ValidationError

from offline_eval.core.errors import DataError
from offline_eval.core.records import Record
from offline_eval.core.yaml_text import parse_yaml

RuleKind = Literal["colloquial", "typos", "limit", "lengthened", "synonyms"]
RULE_KINDS: tuple[RuleKind, ...] = get_args(RuleKind)
WordingLanguage = Literal["en", "zh"]

_LETTERS_PER_TYPO = 18
_CHARACTERS_PER_TYPO = 10
_MOST_SYNONYMS = 2
_WORD = re.compile(r"[A-Za-z]{4,}")


class Wording(Record):
    """The data rules work with, in one language.

    Attributes:
        neighbours: Key to the keys beside it.
        homophones: Chinese character to others of the same sound.
        shapes: Chinese character to others that look like it.
        synonyms: Words to others that mean the same.
        kept: Longer words in which no synonym is put.
        colloquial_swaps: Written form to spoken form.
        limits: Sentences around `{question}` that add a limit.
        lengthened: Sentences around `{question}` that add nothing.
    """

    version: str
    neighbours: dict[str, str] = Field(default_factory=dict)
    homophones: dict[str, str] = Field(default_factory=dict)
    shapes: dict[str, str] = Field(default_factory=dict)
    synonyms: dict[str, tuple[str, ...]]
    kept: tuple[str, ...] = ()
    colloquial_openers: tuple[str, ...]
    colloquial_swaps: dict[str, str]
    limits: tuple[str, ...]
    lengthened: tuple[str, ...]


@cache
def load_wording(language: WordingLanguage) -> Wording:
    """Read the shipped data.

    Raises:
        DataError: The file does not fit.
    """
    name = f"{language}.yaml"
    text = files(__package__).joinpath("wordings", name).read_bytes()
    try:
        return Wording.model_validate(parse_yaml(text, name).data)
    except ValidationError as error:
        raise DataError([f"{name}: {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]) from error


def rule_variant(question: str, kind: RuleKind, *, language: WordingLanguage, seed: int = 0) -> str | None:
    """One variant of a question.

    Figures, codes and names in capitals are left as they are, so that the same answer stays right.

    Args:
        seed: With the question itself it decides what is drawn; the same on every machine.

    Returns:
        None where the rule finds nothing to change.
    """
    draw = random.Random(f"{seed}/{kind}/{question}")
    changed = _RULES[kind](question.strip(), load_wording(language), draw)
    return changed if changed != question.strip() else None


def _colloquial(question: str, wording: Wording, draw: random.Random) -> str:
    text = question
    for written, spoken in wording.colloquial_swaps.items():
        text = _swapped(text, written, spoken, times=1)
    opener = draw.choice(wording.colloquial_openers)
    return opener + (_lowered(text) if opener.isascii() else text)


def _typos(question: str, wording: Wording, draw: random.Random) -> str:
    return _slips(question, wording, draw) if wording.homophones else _keys(question, wording, draw)


def _keys(question: str, wording: Wording, draw: random.Random) -> str:
    """Slips of the finger inside words of four letters or more: a neighbouring key, two keys swapped, one left out."""
    places = [
        at
        for word in _WORD.finditer(question)
        if not word.group()[1:].isupper() and not (word.group()[0].isupper() and word.start() > 0)
        for at in range(word.start() + 1, word.end() - 1)
    ]
    wanted = max(1, sum(map(str.isalpha, question)) // _LETTERS_PER_TYPO)
    letters = list(question)
    used: set[int] = set()
    for at in draw.sample(places, len(places)):
        if len(used) == wanted:
            break
        if any(abs(at - other) < 4 for other in used):
            continue
        how = draw.choice(("neighbour", "swap", "drop"))
        if how == "neighbour" and letters[at].lower() in wording.neighbours:
            letters[at] = draw.choice(wording.neighbours[letters[at].lower()])
        elif how == "swap" and letters[at] != letters[at + 1]:
            letters[at], letters[at + 1] = letters[at + 1], letters[at]
        else:
            letters[at] = ""
        used.add(at)
    return "".join(letters)


def _slips(question: str, wording: Wording, draw: random.Random) -> str:
    """Characters of the same sound or a similar shape."""
    places = [at for at, character in enumerate(question) if character in wording.homophones | wording.shapes]
    wanted = max(1, len(question) // _CHARACTERS_PER_TYPO)
    characters = list(question)
    for at in draw.sample(places, min(wanted, len(places))):
        character = characters[at]
        characters[at] = draw.choice(wording.homophones.get(character, "") + wording.shapes.get(character, ""))
    return "".join(characters)


def _limit(question: str, wording: Wording, draw: random.Random) -> str:
    return draw.choice(wording.limits).replace("{question}", question)


def _lengthened(question: str, wording: Wording, draw: random.Random) -> str:
    return draw.choice(wording.lengthened).replace("{question}", question)


def _synonyms(question: str, wording: Wording, draw: random.Random) -> str:
    """Up to two words or phrases of the question replaced; longer phrases are looked for first."""
    taken = [found.span() for word in wording.kept for found in re.finditer(re.escape(word), question)]
    changes: list[tuple[int, int, str]] = []
    for word in sorted(wording.synonyms, key=lambda word: (-len(word), word)):
        new = draw.choice(wording.synonyms[word])
        for found in _pattern(word).finditer(question):
            if all(found.end() <= start or end <= found.start() for start, end in taken):
                taken.append(found.span())
                changes.append((*found.span(), _as_written(found.group(), new)))
                break
        if len(changes) == _MOST_SYNONYMS:
            break
    text = question
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _swapped(text: str, old: str, new: str, *, times: int) -> str:
    """Replace a phrase."""
    return _pattern(old).sub(lambda found: _as_written(found.group(), new), text, count=times)


@cache
def _pattern(phrase: str) -> re.Pattern[str]:
    """A phrase in any case; in English as whole words."""
    written = re.escape(phrase)
    return re.compile(rf"(?<![A-Za-z']){written}(?![A-Za-z'])" if phrase.isascii() else written, re.IGNORECASE)


def _as_written(old: str, new: str) -> str:
    """The new phrase with the old one's capital at the start."""
    return new[0].upper() + new[1:] if old[0].isupper() and new[0].isalpha() else new


def _lowered(text: str) -> str:
    """The text with its first letter in lower case, unless it is a name, "I" or written in capitals."""
    first = text.split(" ", 1)[0]
    keep = first == "I" or first.startswith(("I'", "I’")) or not first[1:].islower()
    return text if keep else text[:1].lower() + text[1:]


_RULES: dict[RuleKind, Callable[[str, Wording, random.Random], str]] = {
    "colloquial": _colloquial,
    "typos": _typos,
    "limit": _limit,
    "lengthened": _lengthened,
    "synonyms": _synonyms,
}

"""Turns an answer into clauses of word classes and these into patterns that a small linear model can weigh.

Why patterns of classes: "document not say" is one pattern for every wording in English and Chinese alike.
"""

import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from offline_eval.text.normalize import normalize
from offline_eval.text.refusal_words import DECLINING, WORDS
from offline_eval.text.sentences import split_sentences

_QUOTED = re.compile(r"[“「『\"][^“”「」『』\"]{0,300}[”」』\"]")
_CITED = re.compile(r"\s?[\[【][\w.,;、\-–#/]*\d[\w.,;、\-–#/ ]*[\]】]")  # a source's mark is no number that is said
_QUOTE = "□"  # stands for what was said in quotation marks
_CLAUSE = re.compile(
    r"[,;:，；：、()（）]+|\s[-–—]+\s|——|\s+(?=(?:but|however|although|though|whereas|because|so|yet)\b)|"
    r"(?=但是?|不过|然而|因为|所以|却)"
)
_CONTRACTIONS = (
    (re.compile(r"can't|cannot"), "can not"),
    (re.compile(r"won't"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'(?:m|re|s)\b"), " be"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'(?:ll|d)\b"), " will"),
)
_REACH = 4
"""Classes that may lie between the two of an ordered pair, the second included."""


class Clause(NamedTuple):
    """A part of a sentence.

    Attributes:
        text: As it stands in the normalised answer.
        classes: Its words' classes in order, neighbours of one class as one; `x` for words of no class, `number`,
            `quote`.
    """

    text: str
    classes: tuple[str, ...]

    @property
    def declines(self) -> bool:
        """Whether it holds a word without which nothing is a refusal."""
        return not DECLINING.isdisjoint(self.classes)


def read_clauses(answer: str) -> list[list[Clause]]:
    """An answer's sentences as lists of their clauses; quotations and marks of sources do not count."""
    text = _CITED.sub("", answer).strip()
    if _QUOTED.fullmatch(text):
        text = text[1:-1]
    sentences: list[list[Clause]] = []
    for sentence in split_sentences(text):
        plain = normalize(_QUOTED.sub(f" {_QUOTE} ", sentence.text)).replace("’", "'")
        pieces = (piece.strip() for piece in _CLAUSE.split(plain))
        clauses = [Clause(piece, classes) for piece in pieces if (classes := _classes(piece))]
        if clauses:
            sentences.append(clauses)
    return sentences


def clause_features(clause: Clause) -> set[str]:
    """Which classes a clause holds, which follow each other at once, in twos and threes, and which later on."""
    ends = ("^", *clause.classes, "$")
    known = ("^", *(name for name in clause.classes if name != "x"), "$")
    found = {f"{a} {b}" for a, b in pairwise(ends)}
    found |= {f"{a} {b} {c}" for a, b, c in zip(ends, ends[1:], ends[2:], strict=False)}
    found |= {f"{a} .. {b}" for place, a in enumerate(known) for b in known[place + 1 : place + 1 + _REACH]}
    return found | set(known[1:-1])


def answer_features(sentences: list[list[Clause]]) -> set[str]:
    """All clauses' features, the first clause's classes, and how much stands beside what declines."""
    clauses = [clause for sentence in sentences for clause in sentence]
    if not clauses:
        return set()
    plain = [clause for clause in clauses if not clause.declines]
    found = set().union(*map(clause_features, clauses)) | {f"first {name}" for name in clauses[0].classes}
    found |= {f"plain clauses {min(len(plain), 3)}", f"clauses {min(len(clauses), 5)}"}
    found |= {f"sentences {min(len(sentences), 4)}"}
    found |= {f"plain numbers {min(sum('number' in clause.classes for clause in plain), 2)}"}
    if any("contrast" in clause.classes for clause in plain):
        found.add("plain contrast")
    for place, sentence in enumerate(sentences):
        if not any(clause.declines for clause in sentence):
            found |= {"plain sentence", "plain sentence first" if place == 0 else "plain sentence later"}
    return found


def _classes(clause: str) -> tuple[str, ...]:
    pattern, names = _lexicon()
    for contraction, words in _CONTRACTIONS:
        clause = contraction.sub(words, clause)
    found: list[str] = []
    for match in pattern.finditer(clause):
        name = names.get(match["stem"] or match["word"] or "", match.lastgroup or "x")
        name = "x" if name == "other" else name
        if not found or found[-1] != name:
            found.append(name)
    return tuple(found)


@cache
def _lexicon() -> tuple[re.Pattern[str], dict[str, str]]:
    names = {word.replace("_", " "): name for name, words in WORDS.items() for word in words.split()}
    stems = _longest_first(word[:-1] for word in names if word.endswith("*"))
    words = _longest_first(word for word in names if word.isascii() and not word.endswith("*"))
    chinese = _longest_first(word for word in names if not word.isascii())
    names |= {word[:-1]: name for word, name in names.items() if word.endswith("*") and word[:-1] not in names}
    pattern = re.compile(
        rf"(?P<word>{chinese}|(?<![a-z0-9])(?:{words})(?![a-z0-9]))|(?<![a-z0-9])(?P<stem>{stems})[a-z]*(?![a-z0-9])|"
        rf"(?P<number>\d[\d.,:/]*|[零一二三四五六七八九十百千万]+(?=[年月日天个元名倍周岁]))|(?P<quote>{_QUOTE})|"
        r"(?P<x>[a-z]+|[\u4e00-\u9fff])"
    )
    return pattern, names


def _longest_first(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))

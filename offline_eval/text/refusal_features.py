"""Turns an answer into clauses of word classes and these into patterns that a small linear model can weigh.

Why patterns of classes: "document not say" is one pattern for every wording in English and Chinese alike.
"""

import re
from collections.abc import Iterable
from functools import cache
from itertools import groupby, pairwise
from typing import NamedTuple

from offline_eval.text.normalize import normalize
from offline_eval.text.refusal_words import DECLINING, WORDS
from offline_eval.text.sentences import split_sentences

_QUOTED = re.compile(r"[“「『\"][^“”「」『』\"]{0,300}[”」』\"]|``[^`]{0,300}?''")  # ``TeX quotes''
_CITED = re.compile(r"\s?[\[【][\w.,;、\-–#/]*\d[\w.,;、\-–#/ ]*[\]】]")  # a source's mark is no number that is said
_QUOTE = "□"  # stands for what was said in quotation marks
_CLAUSE = re.compile(
    r"[,;:，；：、()（）]+|\s[-–—]+\s|——|\s+(?=(?:but|however|although|though|whereas|because|so|yet)\b)|"
    r"(?=但是?|不过|然而|因为|所以|却)"
)
_CONTRACTIONS = (
    (re.compile(r"can't|cannot"), "can not"),
    (re.compile(r"won't"), "will not"),
    (re.compile(r"\bain't"), "be not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'(?:m|re|s)\b"), " be"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'(?:ll|d)\b"), " will"),
)
_VERBS = "[找查搜看瞧读听说讲谈答猜判推断认记想弄搞问翻检索询寻辨算拿摸吃确回懂验核测估数报给帮顾得下定解透]"
_UNABLE = (
    rf"{_VERBS}[断索询认定答复现别测明解到]?不(?:了|出来|出|到|上来|上|着|起来|清楚|清|准|定论|定|全|明白|透|懂)|"
    rf"没(?:有|能)?{_VERBS}[断索询认定答复现别测明解看]?(?:到|着|见|出来|出)|"
    r"未(?:能)?[找查检搜看翻][索询找看]?(?:到|见|出|得|着)"
)
"""Chinese verbs of finding and telling that did not reach their end, "查不到", "没有找到", "未能检索出"."""
_ENDS = re.compile(r"[?的时]$")
"""Ends that make a clause a question, a thing that is spoken of, or a condition."""
_REACH = 4
"""Classes that may lie between the two of an ordered pair, the second included."""
_SMALL = frozenset({"be", "have", "do", "will", "even", "from", "topic", "there", "enough"})
"""Classes without which a clause's outline, in the coarse classes below, says the same."""
_COARSE = {
    **dict.fromkeys(("self", "we", "assistant"), "speaker"),
    **dict.fromkeys(("document", "context", "binding", "given"), "source"),
    **dict.fromkeys(
        ("not", "none", "lack", "unknown", "cannot", "not_know", "idiom", "scope", "secret", "nobody"), "denial"
    ),
    **dict.fromkeys(("say", "hold", "info", "answer", "know", "help", "looked"), "telling"),
}
_MERGED = {"context": "document", "binding": "document", "we": "self", "hold": "say", "was": "be", "if": "rule"}
"""Classes that are told apart only where it matters, so that patterns of them are not too rare to weigh."""


class Clause(NamedTuple):
    """A part of a sentence.

    Attributes:
        text: As it stands in the normalised answer.
        classes: Its words' classes in order, neighbours of one class as one; `x` for words of no class, `number`,
            `quote`, `?` at the end of a question.
        unknown: How many English words, or pairs of Chinese characters, are of no class.
    """

    text: str
    classes: tuple[str, ...]
    unknown: int

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
        clauses = [Clause(piece, *read) for piece in pieces if (read := _classes(piece))[0]]
        if clauses:
            sentences.append(clauses)
    return sentences


def clause_features(clause: Clause) -> set[str]:
    """Which classes follow each other at once, in twos and threes, which later on, and who denies what."""
    merged = tuple(name for name, _ in groupby(_MERGED.get(name, name) for name in clause.classes))
    ends = ("^", *merged, "$")
    known = ("^", *(name for name in merged if name != "x"), "$")
    found = {f"{a} {b}" for a, b in pairwise(ends)}
    found |= {f"{a} {b} {c}" for a, b, c in zip(ends, ends[1:], ends[2:], strict=False)}
    found |= {f"{a} .. {b}" for place, a in enumerate(known) for b in known[place + 1 : place + 1 + _REACH]}
    return found | set(known[1:-1]) | _outline_features(clause) | _fine_features(clause)


def _fine_features(clause: Clause) -> set[str]:
    """Whether a source or a binding rule denies, the speaker or the house, and of what kind of telling."""
    names = [name for name in clause.classes if name not in _SMALL]
    found = {f"fine {name}" for name in names if name in _MERGED}
    place = next((place for place, name in enumerate(names) if _COARSE.get(name) == "denial"), None)
    if place is not None:
        before = [name for name in names[:place] if name != "x"]
        after = [name for name in names[place + 1 :] if name != "x"]
        subject, thing = before[0] if before else "^", after[0] if after else "$"
        found |= {f"fine subject {subject}", f"fine thing {thing}", f"fine {subject} {names[place]}"}
        found |= {f"fine {names[place]} {thing}", f"fine {subject} denial {thing}"}
    return found


def _outline_features(clause: Clause) -> set[str]:
    """The clause in coarse classes, and what stands before and after its first denial."""
    outline = _outline(clause)
    ends = ("^", *outline, "$")
    found = {f"outline {a} {b}" for a, b in pairwise(ends)}
    found |= {f"outline {a} {b} {c}" for a, b, c in zip(ends, ends[1:], ends[2:], strict=False)}
    if "denial" in outline:
        place = outline.index("denial")
        before, after = outline[:place], outline[place + 1 :]
        subject, thing = before[0] if before else "^", after[0] if after else "$"
        found |= {f"denied of {before[-1] if before else '^'}", f"subject {subject}", f"object {thing}"}
        found.add(f"subject {subject} object {thing}")
        found |= {f"before denial {name}" for name in before} | {f"after denial {name}" for name in after}
        found.add(f"denial unknown {min(clause.unknown // 2, 4)}")
    return found


def _outline(clause: Clause) -> tuple[str, ...]:
    """Its coarse classes in order without small words."""
    found: list[str] = []
    for name in clause.classes:
        coarse = _COARSE.get(name, name)
        if coarse not in _SMALL and (not found or found[-1] != coarse):
            found.append(coarse)
    return tuple(found)


def _kind(clause: Clause) -> str:
    """What a clause is in one word: whom it denies something, a question, a plain one with or without a number."""
    outline = _outline(clause)
    if "denial" in outline:
        before = outline[: outline.index("denial")]
        whose = [name for name in before if name in ("speaker", "source", "third")]
        return f"denial of {whose[0] if whose else 'x' if before else 'nothing'}"
    if "?" in outline:
        return "question"
    if "redirect" in outline:
        return "redirect"
    if "sorry" in outline:
        return "sorry"
    if "number" in outline:
        return "number"
    return "source" if "source" in outline else "plain" if "x" in outline else "small"


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
    found |= {f"plain unknown {min(sum(clause.unknown for clause in plain) // 3, 4)}"}
    found |= {f"share {4 * (len(clauses) - len(plain)) // len(clauses)}"}
    kinds = ("^", *map(_kind, clauses), "$")
    found |= {f"then {a}, {b}" for a, b in pairwise(kinds)} | {f"kind {kind}" for kind in kinds[1:-1]}
    if any("contrast" in clause.classes for clause in plain):
        found.add("plain contrast")
    for place, sentence in enumerate(sentences):
        if not any(clause.declines for clause in sentence):
            found |= {"plain sentence", "plain sentence first" if place == 0 else "plain sentence later"}
    return found


def _classes(clause: str) -> tuple[tuple[str, ...], int]:
    """A clause's classes, and how many of its words are of none."""
    pattern, names = _lexicon()
    for contraction, words in _CONTRACTIONS:
        clause = contraction.sub(words, clause)
    found: list[str] = []
    unknown = 0.0
    for match in pattern.finditer(clause):
        name = names.get(match["stem"] or match["word"] or "", match.lastgroup or "x")
        name = "x" if name == "other" else name
        if name in ("document", "context") and found[-1:] == ["not"] and match[0].isascii():
            name = "say"  # "does not report", "never recorded"
        if name == "x":
            unknown += 1 if match[0].isascii() else len(match[0]) / 2
        if not found or found[-1] != name:
            found.append(name)
    if found and (mark := _ENDS.search(clause)):
        found.append(mark[0])
    return tuple(found), round(unknown)


@cache
def _lexicon() -> tuple[re.Pattern[str], dict[str, str]]:
    names = {word.replace("_", " "): name for name, words in WORDS.items() for word in words.split()}
    stems = _longest_first(word[:-1] for word in names if word.endswith("*"))
    words = _longest_first(word for word in names if word.isascii() and not word.endswith("*"))
    chinese = _longest_first(word for word in names if not word.isascii())
    names |= {word[:-1]: name for word, name in names.items() if word.endswith("*") and word[:-1] not in names}
    pattern = re.compile(
        rf"(?P<not_know>{_UNABLE})|(?P<word>{chinese}|(?<![a-z0-9])(?:{words})(?![a-z0-9]))|(?<![a-z0-9])(?P<stem>{stems})[a-z]*(?![a-z0-9])|"
        rf"(?P<number>\d[\d.,:/]*|[零一二三四五六七八九十百千万]+(?=[年月日天个元名倍周岁]))|(?P<quote>{_QUOTE})|"
        r"(?P<x>[a-z]+|[\u4e00-\u9fff])"
    )
    return pattern, names


def _longest_first(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))

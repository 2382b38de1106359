"""Cuts Chinese and English text into sentences without losing a character.

Why: claims, citations and evidence all point at sentences; a cut inside "3.5" or "Dr. Wang" would invent one.
"""

import re
from typing import NamedTuple

from offline_eval.text.scripts import HAN, HANGUL, KANA, LATIN


class Sentence(NamedTuple):
    """A sentence and where it stands: `text == source[start:end]`, without white space around it."""

    text: str
    start: int
    end: int


_CITATION = r"(?:[ \t]?(?:\[\^?[^\[\]\n]{1,24}\]|【[^【】\n]{1,24}】))*"
_CLOSERS = r"""["'”’」』）)\]】》*_]*"""
_STOP = re.compile(rf"(?P<mark>[.!?。！？｡…]+){_CLOSERS}{_CITATION}")
_LINE_END = re.compile(r"\n\s*")

# A stop between these does not end the sentence around them. Bounded, so that a stray opener costs little.
_QUOTED = re.compile(
    r"“[^“”\n]{0,200}”|「[^「」\n]{0,200}」|『[^『』\n]{0,200}』|《[^《》\n]{0,100}》|"
    r"（[^（）\n]{0,200}）|\([^()\n]{0,200}\)|(?<![\w\"])\"[^\"\n]{1,200}\"(?!\w)"
)

_LIST_ITEM = re.compile(
    rf"(?:[-*+•·●○◦▪■–—][ \t]*|#{{1,6}} |>|\|)\S|\(?\d{{1,3}}[.)、）．](?!\d)|（\d{{1,3}}）|[①-⑳]|"
    rf"[（(]?[一二三四五六七八九十]{{1,3}}[、）).]|[（(]?[A-Za-z][.)）](?=[ \t{HAN}])"
)
_NUMBERED = re.compile(r"\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,4})")

# Titles and the like: a name or number follows.
_NEVER_LAST_WORDS = """
    mr mrs ms dr prof rev hon gen col lt sgt capt sen rep gov pres st mt ft vs eg e.g ie i.e cf viz approx ca fig figs
    eq sec vol ch pp pt art nos ed eds al resp incl excl max min tel ext dept est
"""
_NEVER_LAST = frozenset(_NEVER_LAST_WORDS.split())
# May end a sentence: a capital after it decides, for some only a word that usually starts one.
_MAYBE_LAST_WORDS = """
    etc inc ltd co corp jr sr bros no p a.m p.m u.s u.k u.n e.u u.s.a d.c ph.d m.d b.a m.a b.sc m.sc a.d b.c jan feb
    mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
"""
_MAYBE_LAST = frozenset(_MAYBE_LAST_WORDS.split())
_CAPITAL_DECIDES = frozenset({"etc", "a.m", "p.m"})
_STARTERS_WORDS = """
    the a an it he she they we you i this that these those there in on at by for from with as if when while although
    however but and so then after before since because its his her their our my your what who how why where which all
    some many most no not one two both each every another other also first second finally moreover
"""
_STARTERS = frozenset(_STARTERS_WORDS.split())
_WORD_BEFORE = re.compile(rf"[{LATIN}]+(?:\.[{LATIN}]+)*$")
_WORD_AFTER = re.compile(rf"[{LATIN}']+")
_ATTRIBUTION = re.compile(
    rf"[{HAN}]{{1,6}}?(?:说|道|问|答|表示|指出|写道|称|认为|喊|回答|强调)[，。,：:]?"
    r"|(?:said|says|asked|replied|wrote|answered|added)\b"
)
_EAST_ASIAN = re.compile(f"[{HAN}{KANA}{HANGUL}]")
_OPENING = "\"'“‘「『（([【《*_"
_WRAPPED_LINE = 50  # characters; a shorter line that ends without a stop is a heading or an item


def split_sentences(text: str) -> list[Sentence]:
    """Cut a text into sentences.

    The rule: `。！？` end a sentence; `.!?` do when white space, the end or an East Asian character follows, unless the
    dot belongs to an abbreviation, an initial, a number or a list number, or the next word is in lower case; an
    ellipsis does only at a line's end or before a capital. Closing quotes and citation marks such as `[1]` stay with
    the sentence before them. Nothing is cut inside a short quotation or bracket. A line break ends a sentence except
    inside wrapped English prose. Semicolons do not.

    Args:
        text: Any text.

    Returns:
        Sentences in order; between them stands nothing but white space.
    """
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    cuts = sorted({*_stops(text, quoted), *_line_ends(text), len(text)})
    sentences: list[Sentence] = []
    start = 0
    for cut in cuts:
        piece = text[start:cut]
        stripped = piece.strip()
        if stripped:
            begin = start + len(piece) - len(piece.lstrip())
            sentences.append(Sentence(stripped, begin, begin + len(stripped)))
        start = cut
    return sentences


def is_list_item(line: str) -> bool:
    """Whether a line starts with a list marker, a heading mark or a table bar."""
    return _LIST_ITEM.match(line) is not None


def _stops(text: str, quoted: list[tuple[int, int]]) -> list[int]:
    cuts: list[int] = []
    at = 0  # the first quotation that may still hold the stop
    for stop in _STOP.finditer(text):
        while at < len(quoted) and quoted[at][1] < stop.end():
            at += 1
        if at < len(quoted) and quoted[at][0] < stop.start() and stop.end() < quoted[at][1]:
            continue
        if _ends_sentence(text, stop):
            cuts.append(stop.end())
    return cuts


def _ends_sentence(text: str, stop: re.Match[str]) -> bool:
    mark = stop["mark"]
    following = text[stop.end() : stop.end() + 40]
    closed_quote = stop.end() > stop.end("mark") and text[stop.end() - 1] in "\"'”’」』"
    if closed_quote and _ATTRIBUTION.match(following.lstrip(" ")):
        return False
    if following[:1] in "，,、；;：:" and following:
        return False
    if any(character in "。！？｡" for character in mark):
        return True
    after = following.lstrip()
    if "…" in mark or mark.startswith(".."):
        return not after or (following[0].isspace() and after.lstrip(_OPENING)[:1].isupper())
    if not after:
        return True
    if not following[0].isspace():
        east_asian_next = _EAST_ASIAN.match(following) is not None
        return east_asian_next and not (mark == "." and _is_number_or_abbreviation(text, stop, after))
    if after.lstrip(_OPENING)[:1].islower():
        return False
    return not (mark == "." and _is_number_or_abbreviation(text, stop, after))


def _is_number_or_abbreviation(text: str, stop: re.Match[str], after: str) -> bool:
    if stop.end() > stop.end("mark"):
        return False  # "etc.)" or "etc. [1]" is over
    before = text[max(0, stop.start() - 24) : stop.start()]
    line = before.rpartition("\n")[2].lstrip()
    if _NUMBERED.fullmatch(line) and (stop.start() < 24 or "\n" in before):
        return True  # "1. First item"
    found = _WORD_BEFORE.search(before)
    if found is None:
        return False
    word = found.group().lower()
    next_word = _WORD_AFTER.match(after)
    starts_sentence = next_word is not None and next_word.group().lower() in _STARTERS
    if word in _NEVER_LAST:
        return True
    if word in _CAPITAL_DECIDES:
        return not after.lstrip(_OPENING)[:1].isupper()
    if word in ("no", "p"):
        return after[:1].isdigit()
    if word in _MAYBE_LAST:
        return not starts_sentence
    return len(word) == 1 and found.group().isupper() and not starts_sentence  # an initial


def _line_ends(text: str) -> list[int]:
    return [found.start() for found in _LINE_END.finditer(text) if _line_break_cuts(text, found)]


def _line_break_cuts(text: str, found: re.Match[str]) -> bool:
    following = text[found.end() : found.end() + 8]
    before = text[max(0, found.start() - _WRAPPED_LINE) : found.start()].rstrip(" \t\r")
    if found.group().count("\n") > 1 or not following or not before or is_list_item(following):
        return True
    if _EAST_ASIAN.match(before[-1]) or _EAST_ASIAN.match(following) or before[-1] in ":：.!?。！？":
        return True
    short = "\n" in before or len(before) < _WRAPPED_LINE - 5
    return short and not following[0].islower()

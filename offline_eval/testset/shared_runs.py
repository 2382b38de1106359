"""Finds runs of words, in Chinese of characters, that texts of a test set share with passages of any number.

Why seeds that are extended: a passage is read once, every third place is looked up, and what a test set knows stays
small; a hundred thousand passages take seconds and no memory of their own.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from offline_eval.text.scripts import HAN, HANGUL, KANA

RUN = 13
"""Words, or Chinese, Japanese or Korean characters, that make a run worth naming."""

_SHORTEST = 8  # units of a text that is looked for as a whole because it is shorter than a run
_SEED = 6
_STRIDE = _SHORTEST - _SEED + 1  # every run of `_SHORTEST` units holds a seed that starts at a multiple of it
_CHARACTER = 0.6
_EAST_ASIAN = re.compile(f"[{HAN}{KANA}{HANGUL}]")
_ASCII_UNIT = re.compile(r"[a-z0-9]+")
_UNIT = re.compile(rf"[{HAN}{KANA}{HANGUL}]|[^\W_{HAN}{KANA}{HANGUL}]+")


class Shared(NamedTuple):
    """A text that a passage shares runs with.

    Attributes:
        key: Which text.
        share: Of the text's units that stand in shared runs, in (0, 1].
        longest: Units of the longest run.
        left: Different units that stand in no run.
    """

    key: str
    share: float
    longest: int
    left: frozenset[str] = frozenset()


class SharedRuns:
    """Texts to look for.

    Args:
        texts: Key to text; texts below 8 units are left out.
        run: Units of a run, 8 or more; a text with fewer is looked for as a whole.
    """

    def __init__(self, texts: Mapping[str, str], *, run: int = RUN) -> None:
        if run < _SHORTEST:
            raise ValueError(f"a run has at least {_SHORTEST} units")
        self._run = run
        self._units: list[list[str]] = []
        self._keys: list[str] = []
        self._seeds: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for key, text in texts.items():
            found = units(text)
            if len(found) >= _SHORTEST:
                self._add(key, found)

    def __len__(self) -> int:
        return len(self._keys)

    def search(self, passage: str) -> list[Shared]:
        """The texts that share a run with a passage, in the order they were given."""
        there = units(passage)
        covered: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        read_to: dict[tuple[int, int], int] = {}  # (text, diagonal) to where in the passage its run ended
        seeds = self._seeds
        for at in range(0, len(there) - _SEED + 1, _STRIDE):
            places = seeds.get(" ".join(there[at : at + _SEED]))
            if places is None:
                continue
            for number, offset in places:
                diagonal = (number, at - offset)
                if read_to.get(diagonal, 0) > at:
                    continue
                start, end = _extended(self._units[number], there, offset, at)
                read_to[diagonal] = at - offset + end
                if end - start >= min(self._run, len(self._units[number])):
                    covered[number].append((start, end))
        return [self._shared(number, covered[number]) for number in sorted(covered)]

    def _add(self, key: str, found: list[str]) -> None:
        number = len(self._keys)
        self._keys.append(key)
        self._units.append(found)
        for offset in range(len(found) - _SEED + 1):
            self._seeds[" ".join(found[offset : offset + _SEED])].append((number, offset))

    def _shared(self, number: int, runs: Sequence[tuple[int, int]]) -> Shared:
        places = {place for start, end in runs for place in range(start, end)}
        longest = max(end - start for start, end in runs)
        found = self._units[number]
        left = frozenset(unit for place, unit in enumerate(found) if place not in places)
        return Shared(self._keys[number], len(places) / len(found), longest, left)


def units(text: str) -> list[str]:
    """The words of a text, and each Chinese, Japanese or Korean character, in one width and case.

    Marks fall away here, so the whole of `normalize` would be twice the work for the same units.
    """
    if text.isascii():
        return _ASCII_UNIT.findall(text.lower())
    return _UNIT.findall(unicodedata.normalize("NFKC", text).casefold())


def spoken_length(text: str) -> float:
    """How many words a text has; a Chinese, Japanese or Korean character counts as .6 of one, as in Chinese prose."""
    return sum(_CHARACTER if _EAST_ASIAN.match(unit) else 1.0 for unit in units(text))


def _extended(text: Sequence[str], passage: Sequence[str], offset: int, at: int) -> tuple[int, int]:
    """Where in the text the run around a seed starts and ends."""
    start, end = offset, offset + _SEED
    shift = at - offset
    while start > 0 and start + shift > 0 and text[start - 1] == passage[start - 1 + shift]:
        start -= 1
    while end < len(text) and end + shift < len(passage) and text[end] == passage[end + shift]:
        end += 1
    return start, end

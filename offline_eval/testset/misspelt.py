"""Questions that are another one with slips of spelling: letters left out, doubled, swapped or mistaken.

Why words are looked at beside the likeness of letters: "sick leave" in the place of "annual leave" leaves two questions
as like as two slips do, and asks for something else.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from offline_eval.testset.near_duplicates import likeness
from offline_eval.testset.questions import FUNCTION_WORDS, AlikeQuestion, may_ask_the_same
from offline_eval.testset.rule_variants import load_wording
from offline_eval.testset.shared_runs import units

_LEAST_SHARED = 0.3  # of the words of the longer question, so that few pairs are looked at letter by letter
_SHORTEST = 4  # letters of the longer of two words in which a slip is no other word
_LETTERS_A_SLIP = 5


class Misspelt:
    """Questions to look for.

    Args:
        texts: Key to question.
        least: Likeness of runs of letters from which a question can be a copy, in (0, 1].
    """

    def __init__(self, texts: Mapping[str, str], *, least: float) -> None:
        self._least = least
        self._texts = texts
        self._units = {key: units(text) for key, text in texts.items()}
        self._with: defaultdict[str, list[str]] = defaultdict(list)
        for key, said in self._units.items():
            for unit in set(said):
                self._with[unit].append(key)

    def alike(self, question: str) -> list[AlikeQuestion]:
        """Those that a given one copies with slips, most alike first, then by key; the same words are no slip."""
        said = units(question)
        shared = Counter(key for unit in set(said) for key in self._with.get(unit, ()))
        found = []
        for key, count in shared.items():
            other = self._units[key]
            if count < _LEAST_SHARED * max(len(said), len(other)) or said == other:
                continue
            if not has_slips_alone(other, said) or not may_ask_the_same(question, self._texts[key]):
                continue
            value = likeness(self._texts[key], question)
            if value >= self._least:
                found.append(AlikeQuestion(key, value))
        return sorted(found, key=lambda item: (-item.likeness, item.key))


def has_slips_alone(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether words, or Chinese characters, differ by slips of spelling and by function words alone."""
    for _, start, end, other_start, other_end in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        left, right = first[start:end], second[other_start:other_end]
        if left != right and not _is_slip(left, right):
            return False
    return True


def _is_slip(left: Sequence[str], right: Sequence[str]) -> bool:
    if not left or not right:
        return all(unit in FUNCTION_WORDS for unit in (*left, *right))
    if all(unit.isascii() for unit in (*left, *right)):
        first, second = "".join(left), "".join(right)  # a blank may be one of the slips
        return first == second or (len(left) == len(right) and all(map(_is_misspelt, left, right)))
    return len(left) == len(right) and all(map(_is_mistaken, left, right))


def _is_misspelt(word: str, other: str) -> bool:
    """Few letters differ and not the first: "maternity" is no slip of "paternity"."""
    if word == other:
        return True
    if word[0] != other[0] or any(map(str.isdigit, word + other)):
        return False
    if max(len(word), len(other)) < _SHORTEST:
        return sorted(word) == sorted(other)
    return _edits(word, other) <= max(1, min(len(word), len(other)) // _LETTERS_A_SLIP)


def _is_mistaken(character: str, other: str) -> bool:
    """Whether one Chinese character is typed for the other: it has the same sound or nearly the same shape."""
    wording = load_wording("zh")
    return character == other or any(
        right in table.get(left, "")
        for table in (wording.homophones, wording.shapes)
        for left, right in ((character, other), (other, character))
    )


def _edits(word: str, other: str) -> int:
    """Letters put in, left out, mistaken, or swapped with the next one: optimal string alignment."""
    before, row = [0] * (len(other) + 1), list(range(len(other) + 1))
    for at, letter in enumerate(word, start=1):
        earlier, before, row = before, row, [at] * (len(other) + 1)
        for place, match in enumerate(other, start=1):
            row[place] = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (letter != match))
            is_swap = at > 1 and place > 1 and letter == other[place - 2] and word[at - 2] == match
            if is_swap:
                row[place] = min(row[place], earlier[place - 2] + 1)
    return row[-1]

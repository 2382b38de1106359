"""Numbers that compare each clause of a claim with the clause of a text that speaks of the same.

Why: in "normal posts 3000, research posts 6000" every figure and denial stands somewhere; only beside its own clause
does a figure or a denial that was exchanged show. Chinese sentences hold many clauses, so a sentence is too wide.
"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from offline_eval.text.negation import find_negations
from offline_eval.text.numbers import find_quantities
from offline_eval.text.words import content_words

CLAUSES = ("figures_elsewhere", "units_missing", "denials_differ")
"""Names of the features, in their order.

figures_elsewhere: figures of the claim that stand in the text but not in the clause that fits, nor beside it.
units_missing: figures that stand in the text with another unit or not at all. denials_differ: clauses of the text that
deny where the clauses of the claim that fit them do not, or the other way round; a bound (不超过, "no more than") is no
denial.
"""

_MARK = re.compile(r"[。！？；，：、（）\n]|;|(?<!\d)[,:]|[,:.!?](?=\s|$)")
_BOUND = re.compile(  # as the shipped weights were fitted; `text.negation` knows more of them
    r"不(?:得|能|可以|可|应)?(?:超过|少于|低于|高于|多于|大于|小于|晚于|早于|迟于|满|足)|"
    r"\b(?:no|not) (?:more|less|fewer|later|earlier) than\b|\b(?:not|never) exceed\b",
    re.IGNORECASE,
)
_FITS = 0.5  # share of a clause's words from which a denial can be compared
_MOST_CLAUSES = 400  # of a text; beyond them comparing each with each would cost more than it tells


class _Clause(NamedTuple):
    words: frozenset[str]
    figures: frozenset[str]
    denies: bool


class _Text(NamedTuple):
    clauses: tuple[_Clause, ...]
    figures: frozenset[str]
    keys: frozenset[tuple[str, str]]


def clause_features(text: str, claim: str) -> tuple[float, ...]:
    """Compare a claim with a text clause by clause.

    Args:
        text: The evidence.
        claim: The claim.

    Returns:
        One finite number for each name of `CLAUSES`.
    """
    whole, part = _taken_apart(text), _taken_apart(claim)
    figures_elsewhere = 0
    denied: dict[int, bool] = {}
    for clause in part.clauses if whole.clauses else ():
        at = _fitting(whole, clause)
        near = {figure for other in whole.clauses[max(0, at - 1) : at + 2] for figure in other.figures}
        figures_elsewhere += len((clause.figures & whole.figures) - near)
        best = whole.clauses[at]
        if clause.words and len(clause.words & best.words) >= _FITS * len(clause.words):
            denied[at] = denied.get(at, False) or clause.denies
    differing = sum(denies != whole.clauses[at].denies for at, denies in denied.items())
    return float(figures_elsewhere), float(len(part.keys - whole.keys)), float(differing)


def _fitting(text: _Text, clause: _Clause) -> int:
    """The place of the clause with most words in common; on a tie one that denies alike, then the shorter."""
    ranks = [
        (len(clause.words & other.words), clause.denies == other.denies, -len(other.words)) for other in text.clauses
    ]
    return ranks.index(max(ranks))


@lru_cache(maxsize=2048)
def _taken_apart(text: str) -> _Text:
    quantities = find_quantities(text)
    spans = [(found.start, found.end) for found in quantities]
    inside = {at for start, end in spans for at in range(start + 1, end)}
    cuts = [0, *(found.end() for found in _MARK.finditer(text) if found.start() not in inside), len(text)]
    hidden = {at for start, end in spans for at in range(start, end)}
    bounded = {at for found in _BOUND.finditer(text) for at in range(*found.span())}
    denials = [cue for cue in find_negations(text, bounds=True) if cue.start not in bounded]
    hidden |= bounded | {at for cue in denials for at in range(cue.start, cue.end)}
    bare = "".join(" " if at in hidden else character for at, character in enumerate(text))
    clauses: list[_Clause] = []
    for start, end in pairwise(cuts):
        figures = frozenset(found.value for found in quantities if start <= found.start < end)
        content = frozenset(content_words(bare[start:end]))
        if content or figures:
            flips = sum(cue.flips for cue in denials if start <= cue.start < end)
            clauses.append(_Clause(content, figures, flips % 2 == 1))
    return _Text(
        clauses=tuple(clauses[:_MOST_CLAUSES]),
        figures=frozenset(found.value for found in quantities),
        keys=frozenset((found.value, found.unit) for found in quantities),
    )

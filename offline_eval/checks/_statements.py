"""Takes sentences apart into words, quantities and denial, and finds those that cannot both be true, by rule.

Encoders are worst where it matters most: "15 days" and "20 days" look alike to them.
"""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from offline_eval.text.negation import find_bounds, find_negations, is_negated
from offline_eval.text.numbers import find_quantities
from offline_eval.text.sentences import split_sentences
from offline_eval.text.words import content_words

Rule = Literal["number", "date", "negation"]

SAME_STATEMENT = 0.6
"""Share of content words (numbers and denials apart) two sentences have in common, from which a rule compares them."""
SAME_SUBJECT = 0.3
"""The same share, from which a model is asked whether passages contradict each other."""

_DATES = ("date", "time")
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_ROUNDING = 0.02  # numbers this close, as a share of the larger, may be one number rounded
_BOUND = re.compile(
    r"\b(?:more|less|fewer|greater|higher|lower) than\b|\bat (?:least|most)\b|"
    r"\b(?:over|under|above|below|up to|nearly|almost)\b|"
    r"超过|至少|不少于|不足|未满|以上|以下|不低于|不高于|最多|最少|将近|接近"
)


class Statement(NamedTuple):
    """A sentence taken apart.

    Attributes:
        words: Its content words without quantities and denials.
        values: Kind and unit of a quantity to the values it has.
        negated: Whether it denies; a bound (不超过, "no more than") is no denial.
        bounded: Whether it gives a bound ("more than 5") instead of a value.
        over: Comparisons it makes: 超过, "more".
        not_over: Comparisons it turns round: 超过 of 不超过, "more" of "no more than".
    """

    text: str
    words: frozenset[str]
    values: dict[tuple[str, str], frozenset[str]]
    negated: bool
    bounded: bool
    over: frozenset[str]
    not_over: frozenset[str]


@lru_cache(maxsize=16_384)
def statement_of(sentence: str) -> Statement:
    """Take a sentence apart; kept for a while, because a passage's sentence meets many claims."""
    quantities = find_quantities(sentence)
    values: dict[tuple[str, str], set[str]] = {}
    for quantity in quantities:
        is_year = quantity.kind == "number" and not quantity.unit and _YEAR.fullmatch(quantity.value) is not None
        values.setdefault(("date" if is_year else quantity.kind, quantity.unit), set()).add(quantity.value)
    spans = [(found.start, found.end) for found in quantities]
    spans += [(found.start, found.end) for found in find_negations(sentence, bounds=True)]
    bounds = find_bounds(sentence)
    hidden = {at for start, end in spans for at in range(start, end)}
    bare = "".join(" " if at in hidden else character for at, character in enumerate(sentence))
    return Statement(
        text=sentence,
        words=frozenset(content_words(bare)),
        values={kind: frozenset(found) for kind, found in values.items()},
        negated=is_negated(sentence),
        bounded=any(bound.denied for bound in bounds) or _BOUND.search(sentence.lower()) is not None,
        over=frozenset(bound.verb for bound in bounds if not bound.denied),
        not_over=frozenset(bound.verb for bound in bounds if bound.denied),
    )


def overlap(first: Statement, second: Statement) -> float:
    """Content words in common over all content words of both, in [0, 1]; 0 without any."""
    union = first.words | second.words
    return len(first.words & second.words) / len(union) if union else 0.0


def conflict_by_rule(first: Statement, second: Statement) -> Rule | None:
    """Decide whether two sentences that say the same thing say it with other numbers, dates or the opposite sign.

    The rule: at least `SAME_STATEMENT` of the content words are shared. If exactly one kind of quantity (the same unit)
    has values in both that do not agree, and neither sentence gives a bound, that is a conflict; if several differ, the
    sentences speak of different times or things. Dates agree when one is a part of the other, numbers when they differ
    by no more than rounding. If no quantity differs, it is a conflict too when one of the two denies, or when both or
    neither do and one turns round what the other compares: 超过3天 and 不超过3天, but not 不超过3天 and 最多3天.

    Returns:
        What contradicts, or None.
    """
    if overlap(first, second) < SAME_STATEMENT:
        return None
    differing = differing_kinds(first, second)
    if len(differing) == 1 and first.negated == second.negated and not (first.bounded or second.bounded):
        return "date" if differing[0][0] in _DATES else "number"
    turned_round = _turns_round(first, second) or _turns_round(second, first)
    return "negation" if not differing and (first.negated != second.negated) != turned_round else None


def _turns_round(first: Statement, second: Statement) -> bool:
    """Whether the second only denies a comparison that the first only makes."""
    return bool((first.over - first.not_over) & (second.not_over - second.over))


def differing_kinds(first: Statement, second: Statement) -> list[tuple[str, str]]:
    """Kinds of quantity (with unit) that both have, with no value of the one agreeing with a value of the other."""
    return [
        kind
        for kind in first.values.keys() & second.values.keys()
        if not any(_agree(kind[0], a, b) for a in first.values[kind] for b in second.values[kind])
    ]


def denied_at(premise: str, hypothesis: str) -> tuple[int, int] | None:
    """Where a premise states the hypothesis with another number or date.

    The rule: a sentence of the premise conflicts with the hypothesis by number or date (`conflict_by_rule`), and the
    hypothesis' own value stands nowhere in the premise.

    Returns:
        The sentence's first character and the one after its last; None when the rule does not decide.
    """
    claim = statement_of(hypothesis)
    if not claim.values:
        return None
    for sentence in split_sentences(premise):
        stated = statement_of(sentence.text)
        if conflict_by_rule(stated, claim) in ("number", "date"):
            kind = differing_kinds(stated, claim)[0]
            return (sentence.start, sentence.end) if kind in differing_kinds(statement_of(premise), claim) else None
    return None


def _agree(kind: str, first: str, second: str) -> bool:
    if first == second:
        return True
    if kind == "date":
        return first.strip("-") in second or second.strip("-") in first
    if kind == "time":
        return False
    left, right = float(first), float(second)
    return abs(left - right) <= _ROUNDING * max(abs(left), abs(right))

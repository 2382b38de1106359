"""Tells whether an answer declines to answer, in English and Chinese.

Why: right refusals on unanswerable questions are a success, and an answer that merely contains "cannot" is no refusal.
"""

import json
from functools import cache
from importlib.resources import files

from offline_eval.core.hashing import digest
from offline_eval.core.records import Record
from offline_eval.text.refusal_features import answer_features, clause_features, read_clauses
from offline_eval.text.refusal_words import DECLINING, WORDS

_LONGEST = 2000  # characters


class Refusal(Record):
    """Whether an answer declines.

    Attributes:
        matched: The clause that gave it away, as it stands in the normalised answer; None when it is no refusal.
    """

    refused: bool
    matched: str | None = None


def detect_refusal(answer: str) -> Refusal:
    """Decide whether an answer declines to answer.

    The rule: words are replaced by their classes (`refusal_words`), and the patterns of classes found in the answer's
    clauses, with how much else it says, are weighed by a linear model (`refusal_weights.json`). An answer without any
    declining word is never a refusal; a partial answer ("the day is not given, but it opened in 1932") is an answer;
    asking back ("Which one do you mean?") declines.
    Words in quotation marks do not count, and neither do answers of more than 2,000 characters.

    Args:
        answer: What a system returned.

    Returns:
        The decision with the clause that weighs most for it.
    """
    if len(answer) > _LONGEST:
        return Refusal(refused=False)
    sentences = read_clauses(answer)
    declining = [clause for sentence in sentences for clause in sentence if clause.declines]
    weights = _weights()
    if not declining or weights["bias"] + _weigh(answer_features(sentences), weights) <= 0:
        return Refusal(refused=False)
    telling = max(declining, key=lambda clause: _weigh(clause_features(clause), weights))
    return Refusal(refused=True, matched=telling.text)


@cache
def refusal_fingerprint() -> str:
    """Twelve hexadecimal digits that change with the words' classes and with the weights."""
    return digest("refusal", [WORDS, sorted(DECLINING), _weights()])[:12]


def _weigh(features: set[str], weights: dict[str, float]) -> float:
    return sum(sorted(weights.get(feature, 0.0) for feature in features))  # sorted: one sum whatever a set's order


@cache
def _weights() -> dict[str, float]:
    text = files("offline_eval.text").joinpath("refusal_weights.json").read_text(encoding="utf-8")
    return {str(name): float(value) for name, value in json.loads(text)["weights"].items()}

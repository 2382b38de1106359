"""Tells whether an answer declines to answer, in English and Chinese.

Why: right refusals on unanswerable questions are a success, and an answer that merely contains "cannot" is no refusal.
"""

import re
from functools import cache

from offline_eval.core.records import Record
from offline_eval.text.language import detect_language
from offline_eval.text.normalize import normalize
from offline_eval.text.refusal_phrases import FILLERS_EN, FILLERS_ZH, REFUSALS_EN, REFUSALS_ZH
from offline_eval.text.sentences import split_sentences

_LONGEST = 2000  # characters

_QUOTED = re.compile(r"[“「『\"][^“”「」『』\"]{0,300}[”」』\"]")
_MARKS = " \t\n.,;:!?-。，；：！？、…*_#>()（）[]\"'"

# Where one clause of a sentence ends and the next may say something else.
_CLAUSE_EN = re.compile(
    r"[;:]\s+|\s-\s|,?\s+(?=(?:but|however|although|though|whereas|because|so|yet)\b)|"
    r"\s+(?=and (?:this|the|there|they|it|i|we|none|no)\b)|"
    r",\s+(?=(?:and|they|it|he|she|we|i|you|the|this|these|that|there|which|my|please|scholars)\b)"
)
_CLAUSE_ZH = re.compile(r"[，,；;：:、]\s*|\s+(?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])\s+")
_LINK = re.compile(
    r"^(?:but|however|although|though|whereas|because|so|yet|and|also|then|unfortunately|sadly|regrettably),?\s+|^(?:虽然|尽管|但是?|不过|然而|因此|所以)[,，]?"
)
# A part of a sentence says something of its own only with a verb or a number; else it continues the part before.
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|does|did|can|could|may|might|must|shall|should|will|would|\w{3,}ed)\b|\d|"
    r"^(?:they|he|she|it|you|there)\b|[是为有由可应需能会须将被归在了着过]"
)


class Refusal(Record):
    """Whether an answer declines.

    Attributes:
        matched: The clause that gave it away, as it stands in the normalised answer; None when it is no refusal.
    """

    refused: bool
    matched: str | None = None


def detect_refusal(answer: str) -> Refusal:
    """Decide whether an answer declines to answer.

    The rule: the answer is cut into clauses; each declines ("the documents do not say"), is polite filler ("please ask
    HR", "the passages are about sick leave"), or says something. An answer is a refusal if at least one clause declines
    and none says something. So a partial answer ("the day is not given, but it opened in 1932") is an answer. Words in
    quotation marks do not count, and neither do answers of more than 2,000 characters.

    Args:
        answer: What a system returned.

    Returns:
        The decision with the declining clause.
    """
    if len(answer) > _LONGEST:
        return Refusal(refused=False)
    refusals, fillers = _patterns(detect_language(answer) == "zh")
    matched: str | None = None
    for sentence in _sentences(answer):
        declining = [clause for clause in sentence if _matches(refusals, clause)]
        saying = [clause for clause in sentence if clause not in declining and not _matches(fillers, clause)]
        # A part of a sentence that neither declines nor fills may continue one that does; a whole sentence cannot.
        if saying and (len(saying) == len(sentence) or any(map(_VERB.search, saying))):
            return Refusal(refused=False)
        matched = matched or next(iter(declining), None)
    return Refusal(refused=matched is not None, matched=matched)


def _sentences(answer: str) -> list[list[str]]:
    """The answer's sentences as lists of their clauses, normalised and without what stands in quotation marks."""
    text = answer.strip()
    if _QUOTED.fullmatch(text):
        text = text[1:-1]
    split = (_CLAUSE_ZH if detect_language(text) == "zh" else _CLAUSE_EN).split
    sentences: list[list[str]] = []
    for sentence in split_sentences(text):
        pieces = split(normalize(_QUOTED.sub(" … ", sentence.text)))
        clauses = [bare for piece in pieces if (bare := _LINK.sub("", piece.strip(_MARKS)).strip(_MARKS))]
        if clauses:
            sentences.append(clauses)
    return sentences


def _matches(patterns: tuple[re.Pattern[str], ...], clause: str) -> bool:
    return any(pattern.search(clause) for pattern in patterns)


@cache
def _patterns(chinese: bool) -> tuple[tuple[re.Pattern[str], ...], tuple[re.Pattern[str], ...]]:
    refusals, fillers = (REFUSALS_ZH, FILLERS_ZH) if chinese else (REFUSALS_EN, FILLERS_EN)
    return tuple(map(re.compile, refusals)), tuple(map(re.compile, fillers))

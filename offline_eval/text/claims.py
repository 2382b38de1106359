"""Splits an answer into atomic claims by rule, in Chinese and English.

Why: one sentence can be half right; only single statements can be checked against passages one by one.
"""

import re
from typing import NamedTuple

from offline_eval.text.contentless import is_contentless
from offline_eval.text.scripts import HAN
from offline_eval.text.sentences import Sentence, split_sentences

CITATION = re.compile(
    r"[ \t]?(?:\[\^?\d{1,3}(?:\s?[-,，、–]\s?\d{1,3})*\]|【[^【】\n]{1,24}】|\[(?:doc|passage|source|ref|"
    r"id)[^\[\]\n]{0,24}\]|"
    r"[（(](?:来源|参见|参考|见|出处|source|see)[:： ][^（）()\n]{1,40}[）)]|[⁰¹²³⁴-⁹]+(?=$|[\s。，,.;；]))",
    re.IGNORECASE,
)
"""A citation mark, with the space before it."""


class Claim(NamedTuple):
    """One statement.

    Attributes:
        text: The statement without list marker, citation marks and joining words.
        start: Where it starts in the answer.
        end: Where it ends in the answer.
        sentence: The whole sentence it comes from, which names the subject a later part may leave out.
    """

    text: str
    start: int
    end: int
    sentence: str


_MARKER = re.compile(
    r"\s*(?:>\s*)*(?:[-*+•·●○◦▪■–—]\s+|[•·●○◦▪■]|#{1,6}\s+|\(?\d{1,3}[.)、）．](?!\d)\s*|（\d{1,3}）\s*|[①-⑳]\s*|"
    r"[（(]?[一二三四五六七八九十]{1,3}(?:、|[）)])\s*|[（(]?[A-Za-z][.)）]\s+|"
    r"第[一二三四五六七八九十\d]{1,3}[,，、:：]\s*|"
    r"(?:首先|其次|再次|最后|另外|此外|第[一二三四五][点条])[,，:：]\s*)+"
)
_HEADING = re.compile(
    r"\s*#{1,6}\s|\s*\*\*[^*\n]{1,40}\*\*[:：]?\s*$|\s*[（(]?[一二三四五六七八九十]{1,3}[、）)][^。！？，；]{1,16}$"
)
_QUESTION = re.compile(r"[?？][\"'”’」』)）\s]*$")
_PROTECTED = re.compile(
    r"“[^“”\n]{0,200}”|「[^「」\n]{0,200}」|《[^《》\n]{0,100}》|（[^（）\n]{0,200}）|\([^()\n]{0,200}\)|"
    r"\"[^\"\n]{1,200}\""
)

_LINK_ZH = "并且|而且|同时|但是|然而|不过|此外|另外|因此|所以|于是|随后|之后|其中|但|且|并|而(?!是|不是|非)"
# Where a sentence may be cut: what stands between the two parts.
_SEMICOLON = re.compile(r"[；;](?!\w)\s*|；\s*")
_JOINT_ZH = re.compile(
    rf"[，,]\s*(?:(?:{_LINK_ZH})(?=[{HAN}A-Za-z0-9《“，,])[，,]?|(?=(?:该|这|此)[{HAN}]{{1,6}}))|"
    rf"(?<=[{HAN}])(?:并且|而且)(?=[{HAN}])"
)
_JOINT_EN = re.compile(r",?\s+(?:and|but|while|whereas)\s+(?:also |then |therefore )?", re.IGNORECASE)
_VERB_EN = re.compile(
    r"\b(?:is|are|was|were|be|has|have|had|does|do|did|can|cannot|could|may|might|must|shall|should|will|would|"
    r"\w{3,}ed|"
    r"\w{3,}n't|won|rose|fell|grew|began|became|went|made|took|gave|said|wrote|led|held|lost|sold|built|runs?|gets?|"
    r"needs?|applies|apply|allows?|requires?|includes?|contains?|costs?|lasts?|covers?|starts?|ends?|takes?|makes?|"
    r"gives?|says?|means?|provides?|remains?|becomes?|lives?|works?|belongs?|expires?|receives?)\b",
    re.IGNORECASE,
)
_SUBJECT_EN = re.compile(
    r"(?:it|he|she|they|we|you|i|this|that|these|those|there|the|a|an|his|her|its|their|our|my|your|each|every|all|"
    r"both|"
    r"some|many|most|no|[A-Z]\w*)\b"
)
# A part that starts so is half a condition; cutting it off would claim the condition itself.
_CONDITION = re.compile(
    r"\s*(?:如果|若|假如|倘若|只要|只有|除非|一旦|当|因为|由于|(?:if|when|whenever|unless|because|since|although|"
    r"while)\b)",
    re.IGNORECASE,
)
_CONCESSION = re.compile(r"(?:虽然|尽管|不仅|不但)(?=[\u4e00-\u9fff])")
_LOOKED_AT = 120  # characters of a part that decide whether it states something; keeps the time linear
_SHORTEST = 4  # letters and digits a part must have to be a statement


def split_claims(answer: str) -> list[Claim]:
    """Split an answer into atomic claims.

    The rule: every sentence and list item is a claim. It is cut further at semicolons; in Chinese at a comma before
    并且, 而且, 同时, 但是 and the like or before 该 and 这; in English at "and", "but", "while" with a subject and a
    verb after it. It is not cut inside quotes and brackets, after a condition (如果…, "if …"), or where a part would
    have fewer than four letters; a plain comma cuts nothing. Lines that only introduce a list (ending in a colon),
    headings, questions and openers without content claim nothing and are left out. Citation marks, list markers and
    the joining words are not part of a claim.

    Args:
        answer: What a system returned.

    Returns:
        The claims in order; empty when the answer claims nothing.
    """
    claims: list[Claim] = []
    for sentence in split_sentences(answer):
        if _claims_nothing(sentence.text):
            continue
        whole = _clean(sentence.text)
        for start, end in _parts(sentence):
            text = _clean(answer[start:end])
            if any(character.isalnum() for character in text):
                claims.append(Claim(text, start, end, whole))
    return claims


def strip_citations(text: str) -> str:
    """The text without citation marks such as `[1]`, `【2】`, `[doc-3]` and （来源：手册）."""
    return CITATION.sub("", text)


def _claims_nothing(sentence: str) -> bool:
    bare = _clean(sentence)
    return (
        not any(character.isalnum() for character in bare)
        or strip_citations(sentence).rstrip(" *_").endswith((":", "："))
        or _QUESTION.search(strip_citations(sentence)) is not None
        or _HEADING.match(sentence) is not None
        or is_contentless(bare) is not None
    )


def _parts(sentence: Sentence) -> list[tuple[int, int]]:
    """Where the sentence's statements stand in the answer."""
    marker = _MARKER.match(sentence.text)
    first = marker.end() if marker and marker.end() < len(sentence.text) else 0
    text = sentence.text
    closed = bytearray(len(text))
    for span in _PROTECTED.finditer(text):
        closed[span.start() + 1 : span.end() - 1] = b"\x01" * (span.end() - span.start() - 2)
    joints = sorted(
        (joint.start(), joint.end(), pattern is _JOINT_EN)
        for pattern in (_SEMICOLON, _JOINT_ZH, _JOINT_EN)
        for joint in pattern.finditer(text, first)
        if not closed[joint.start()]
    )
    parts: list[tuple[int, int]] = []
    begin = first
    for at, (start, end, english) in enumerate(joints):
        following = joints[at + 1][0] if at + 1 < len(joints) else len(text)
        left, right = text[begin : min(start, begin + _LOOKED_AT)], text[end : min(following, end + _LOOKED_AT)]
        if start >= begin and _both_state(left, right, english=english):
            parts.append((sentence.start + begin, sentence.start + start))
            begin = end
    parts.append((sentence.start + begin, sentence.end))
    return parts


def _both_state(left: str, right: str, *, english: bool) -> bool:
    if min(_letters(left), _letters(right)) < _SHORTEST or _CONDITION.match(left):
        return False
    if not english:
        return True
    head = " ".join(right.split()[:8])
    return (
        len(left.split()) > 2
        and _VERB_EN.search(left) is not None
        and _SUBJECT_EN.match(right) is not None
        and _VERB_EN.search(head) is not None
    )


def _letters(part: str) -> int:
    return sum(map(str.isalnum, strip_citations(part)))


def _clean(text: str) -> str:
    marker = _MARKER.match(text)
    text = text[marker.end() :] if marker and marker.end() < len(text) else text
    text = strip_citations(text).replace("**", "").strip(" \t\r\n，,；;:：、*")
    return _CONCESSION.sub("", text, count=1) if _CONCESSION.match(text) else text

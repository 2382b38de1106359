"""Says what a passage of the demo handbook says in another form: a part of it, numerals spelled out, other words.

Why: supported claims that are copies would teach a scorer to look for copies; answers reword.
"""

import random
import re
from typing import NamedTuple

from offline_eval.text.numbers import find_quantities
from offline_eval.text.sentences import split_sentences
from offline_eval.training.numeral_spelling import (
    Spelling,
    chinese_numeral,
    english_numeral,
    read_spelling,
    stands_for_no_figure,
)

REWORDINGS = ("part", "shortened", "numerals", "synonym", "joined", "reordered", "framed", "reworded", "computed")
"""part: one sentence, or what stands between two semicolons. shortened: without an aside. numerals: digits for number
words or the other way round. synonym: words or short forms replaced. joined, reordered: two parts in one claim, in
their order or the other one. framed: in the words answers put around a statement. reworded, computed: written by hand
(`handbook_rewordings.yaml`), in other words or as what follows by a sum."""

_HAN = re.compile(r"[\u4e00-\u9fff]")
_PART = re.compile(r"[；;]\s*")
_MARKS = "。.；;，, "
_MOST_DIGITS = 3  # of a number that anybody would write in words, zeros at its end apart
_SHORTEST = 8  # characters of a part that says something by itself

Rule = tuple[re.Pattern[str], str]


class Rewording(NamedTuple):
    """A claim and how it was made, one of `REWORDINGS`."""

    kind: str
    text: str


def rules_of(*pairs: tuple[str, str]) -> tuple[Rule, ...]:
    """Patterns with what takes their place."""
    return tuple((re.compile(pattern), replacement) for pattern, replacement in pairs)


_ASIDES = rules_of(
    (r"（[^（）]*）", ""),
    (r"一律|统一(?=转)|集中(?=审)|(?<=部)均(?=不)|凭票|全程|随员工|凭工牌|在系统中", ""),
    (r"，?通过“行知”平台", ""),
    (r"，(?:补贴当日有效、不累计|并回避相关采购|可以匿名|结清水电费后退还押金)", ""),
    (r", (?:drinks|breakfast) included", ""),
    (r", (?:which|who|among them|not even) [^,.;]*(?:,(?= )|(?=[.;]|$))", ""),
    (
        r" (?:as well|at all|at once|in Harbour|at reception|by its user|for the employee|whatever their value)"
        r"(?=[ .,;]|$)",
        "",
    ),
    (r" and at any time of day| at the time of booking| per person| in working time", ""),
)
_SYNONYMS = rules_of(
    (r"不得", "不能"),
    (r"不得", "不可以"),
    (r"禁止", "不准"),
    (r"(?<![必无])须(?!知)", "必须"),
    (r"(?<![必无])须(?!知)", "要"),
    (r"必须", "一定要"),
    (r"员工", "职工"),
    (r"补贴", "津贴"),
    (r"提交", "递交"),
    (r"每月", "每个月"),
    (r"支付", "发放"),
    (r"上限", "最高"),
    (r"审批", "批准"),
    (r"(?<![不认许])可以", "能够"),
    (r"没有", "无"),
    (r"不得超过|不超过", "最多"),
    (r"不超过", "不高于"),
    (r"(?<=的)(?=[不为由按])", "，"),
    (r"(?<!不)超过", "多于"),
    (r"以内", "之内"),
    (r"提前(?=\d)", "早"),
    (r"费用", "开支"),
    (r"不予", "不会"),
    (r"(?<!及)以上", "及以上"),
    (r"\b[Ss]taff receive\b", "Employees get"),
    (r"\bstaff\b", "employees"),
    (r"\bmay not\b", "can't"),
    (r"\bcannot\b", "can not"),
    (r"\bmay be\b", "can be"),
    (r"\bat least\b", "no less than"),
    (r"\bat most\b", "no more than"),
    (r"\bno more than\b|\bmay not exceed\b", "at most"),
    (r"\bup to (?=£?\d)", "a maximum of "),
    (r"\bare not accepted\b", "will not be accepted"),
    (r"\bare reimbursed\b", "get refunded"),
    (r"\bis reimbursed\b", "gets refunded"),
    (r"\bis compulsory\b", "is mandatory"),
    (r"\bneeds\b(?! no)", "requires"),
    (r"\bpermission\b", "consent"),
    (r"\ba year\b", "per year"),
    (r"\ba month\b", "per month"),
    (r"(?<!no )\bmore than\b", "over"),
    (r"\bforbidden\b", "not allowed"),
    (r"\bis not allowed\b", "is forbidden"),
    (r"\bfinished\b", "completed"),
    (r"\breceives\b", "is given"),
    (r"\bemployee\b", "member of staff"),
    (r"£(\d[\d,]*)", r"\1 pounds"),
)


_FRAMES_ZH = (
    "根据规定，{}",
    "按照手册的说法，{}",
    "是的，{}",
    "简单来说，{}",
    "请您注意，{}",
    "您好，关于这个问题，{}",
    "{}，供您参考",
    "{}，请提前做好安排",
    "{}，大家都要遵守",
)
_FRAMES_EN = (
    "According to the handbook, {}",
    "Yes, {}",
    "In short, {}",
    "Please note that {}",
    "To answer your question: {}",
    "As far as I can see, {}",
    "{}, so please plan ahead",
    "{}, which everybody has to follow",
    "{}, as the rules say",
)


_CAPITAL_WORDS = """
    Harbour Finch Priya Leeds London Tuesday Public Internal Confidential Restricted
"""
_CAPITALS = frozenset(_CAPITAL_WORDS.split())


def parts_of(passage: str) -> list[str]:
    """The sentences of a passage, cut at semicolons as well, without their final marks."""
    parts = [part.strip(_MARKS) for found in split_sentences(passage) for part in _PART.split(found.text)]
    return [part for part in parts if len(part) >= _SHORTEST]


def as_claim(part: str) -> str:
    """A part as a sentence."""
    return f"{part}。" if _HAN.search(part) else f"{part[0].upper()}{part[1:]}."


def reworded_part(part: str, *, draw: random.Random) -> list[Rewording]:
    """Reword a part in every way it allows.

    Args:
        part: One of `parts_of`.
        draw: Decides which synonyms are taken.

    Returns:
        At most one claim of each kind, each other than the part and with the same quantities, but for the aside.
    """
    makers = {"shortened": _shortened(part), "numerals": _respelled(part), "synonym": _with_synonyms(part, draw)}
    return [Rewording(kind, as_claim(text)) for kind, text in makers.items() if text not in (part, "")]


def framed(claim: str, *, draw: random.Random) -> str:
    """A claim with words around it that state nothing."""
    bare = claim.rstrip(_MARKS)
    if _HAN.search(claim):
        return f"{draw.choice(_FRAMES_ZH).format(bare)}。"
    frame = draw.choice(_FRAMES_EN)
    return as_claim(frame.format(bare if frame.startswith("{}") else _inside(bare)))


def joined(first: str, second: str) -> str:
    """Two parts or claims in one sentence."""
    first, second = first.rstrip(_MARKS), second.rstrip(_MARKS)
    if _HAN.search(first):
        return f"{first}，另外，{second}。"
    return f"{as_claim(first)[:-1]}, and {_inside(second)}."


def reordered(first: str, second: str) -> str:
    """Two parts that follow each other, the second first."""
    return f"{second}；{first}。" if _HAN.search(first) else f"{as_claim(second)} {as_claim(first)}"


def _inside(part: str) -> str:
    """An English part as it stands inside a sentence; a name keeps its capital."""
    first = part.split()[0]
    return part if first in _CAPITALS or first[1:].lower() != first[1:] else part[0].lower() + part[1:]


def _shortened(part: str) -> str:
    for pattern, replacement in _ASIDES:
        part = pattern.sub(replacement, part)
    return part.strip(_MARKS)


def _respelled(part: str) -> str:
    """Small numbers written the other way; left alone where the quantities would no longer be read as the same."""
    for quantity in reversed(find_quantities(part)):
        spelling = read_spelling(quantity.text)
        if spelling is None or quantity.kind in ("date", "time") or stands_for_no_figure(part, quantity):
            continue
        text = quantity.text.replace(spelling.text, _other_script(spelling, chinese=bool(_HAN.search(part))), 1)
        if text.endswith("%"):
            text = f"百分之{text[:-1]}" if _HAN.search(part) else f"{text[:-1]} percent"
        new = part[: quantity.start] + text + part[quantity.end :]
        part = new if _keys(new) == _keys(part) else part
    return part


def _other_script(spelling: Spelling, *, chinese: bool) -> str:
    if len(str(spelling.value).rstrip("0")) > _MOST_DIGITS:
        return spelling.text
    if spelling.script in ("zh", "en"):
        return str(spelling.value)
    if chinese and 0 < spelling.value < 10_000:
        return "两" if spelling.value == 2 else chinese_numeral(spelling.value)
    return english_numeral(spelling.value) if not chinese and 0 < spelling.value < 100 else spelling.text


def _with_synonyms(part: str, draw: random.Random) -> str:
    fitting = [rule for rule in _SYNONYMS if rule[0].search(part)]
    for pattern, replacement in draw.sample(fitting, min(2, len(fitting))):
        new = pattern.sub(replacement, part, count=1)
        part = new if _keys(new) == _keys(part) else part
    return part


def _keys(text: str) -> list[tuple[str, str, str]]:
    return sorted(quantity.key for quantity in find_quantities(text))

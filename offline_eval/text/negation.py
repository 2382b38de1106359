"""Finds words that turn a statement into its opposite, in English and Chinese, and tells them from those of a bound.

Why: "may be carried over" and "may not be carried over" share every content word; "no more than 3 days" and "at most
3 days" say the same, though one of them has a denying word.
"""

import re
from typing import NamedTuple

_EN = re.compile(
    r"(?:\b(?:not|no|never|none|nobody|nothing|neither|nor|nowhere|without|cannot|unable|fails?|failed|lacks?|lacking|"
    r"prohibit(?:s|ed)?|forbid(?:s|den)?|ban(?:s|ned)|refuses?d?|denie[sd]|excludes?d?|exempt|hardly|rarely|seldom)\b|n['’]t\b)",
    re.IGNORECASE,
)
# The word is there, the denial is not.
_EN_HARMLESS = re.compile(
    r"\b(?:not only|no\.? ?\d|no doubt|nothing but|none other than|not to mention|no matter|without (?:a )?doubt|"
    r"whether or not|not least|if not)\b",
    re.IGNORECASE,
)
_ZH = re.compile(
    r"不得不|不能不|不可不|无不|并非|绝非|从不|毫不|毫无|没有|未曾|不曾|不得|不能|不可|不会|不是|不应|不准|不许|不予|不需|无须|无需|"
    r"无法|禁止|严禁|拒绝|谢绝|取消|排除|除外|否认|[不没未无勿莫非]|别(?=[^的人处墅名致])"
)
_ZH_HARMLESS = re.compile(
    r"不仅|不但|不光|不只|不单|不过|不同|不断|不少|不错|不久|不管|不论|不如|不妨|不料|不禁|不由|不良|不足|不等|不止|不动产|不锈钢|"
    r"无论|无线|无锡|无人机|无限|无数|无疑|无非|非常|非洲|非凡|是非|除非|莫非|未来|未必|差不多|要不|对不起|不好意思|了不起|没错|没准|"
    r"特别|分别|区别|级别|类别|性别|个别|鉴别|识别|告别|差别|莫名|莫斯科|能不能|可不可以|是不是|有没有|会不会|要不要|南非|东非|西非|北非"
)
_DOUBLE = frozenset({"不得不", "不能不", "不可不", "无不"})
_FIGURE_NEXT = r"(?= ?[\d零〇一二两三四五六七八九十百千万])"
_ZH_COMPARED = rf"超过|超出|超{_FIGURE_NEXT}|多于|少于|高于|低于|大于|小于|晚于|迟于|早于|长于|短于|满{_FIGURE_NEXT}"
_ZH_DENIED_BOUND = re.compile(
    rf"(?:(?:从|绝|决|并|均|都)?(?:不(?:得|能|可以|可能|可|应该|应|会|要|宜|许|准|允许|需要|需|必)?|未曾|未|没有|没)|"
    rf"切勿|勿|禁止|严禁)(?P<verb>{_ZH_COMPARED})"
)
_ZH_BOUND = re.compile(f"(?P<verb>{_ZH_COMPARED})")
_EN_DEGREE = "more|less|fewer|later|earlier|greater|higher|lower|longer|shorter|larger|smaller"
_EN_PLACE = r"(?P<place>over|above|under|below)(?= [$€£¥]?\d)"
_EN_DENIED_BOUND = re.compile(
    rf"\b(?:no|not) (?:any )?(?P<degree>{_EN_DEGREE}) than\b|\bnot (?:be )?{_EN_PLACE}|"
    r"(?:\b(?:not|never|cannot)|n['’]t)(?: (?:to|ever))? (?P<verb>exceed)(?:s|ed|ing)?\b",
    re.IGNORECASE,
)
_EN_BOUND = re.compile(
    rf"\b(?P<degree>{_EN_DEGREE}) than\b|\b{_EN_PLACE}|\b(?P<verb>exceed)(?:s|ed|ing)?\b", re.IGNORECASE
)


class NegationCue(NamedTuple):
    """A denying word and where it stands in the text; `flips` is False for a double denial such as 不得不."""

    text: str
    start: int
    end: int
    flips: bool


class Bound(NamedTuple):
    """A comparison with a figure and where it stands; `denied` for 不超过 and "no more than", not for 超过."""

    verb: str
    denied: bool
    start: int
    end: int


def find_bounds(text: str) -> list[Bound]:
    """Find the comparisons of a text that a denying word can turn round.

    Args:
        text: Usually one clause.

    Returns:
        In order: 超过, 少于, 晚于, "more than", "exceed" and the like, each with the denying word right before it.
        不满 and 不超 are bounds before a figure alone: 客户不满意 denies.
    """
    found: list[Bound] = []
    taken: set[int] = set()
    for patterns, denied in (((_EN_DENIED_BOUND, _ZH_DENIED_BOUND), True), ((_EN_BOUND, _ZH_BOUND), False)):
        for match in (match for pattern in patterns for match in pattern.finditer(text)):
            groups = match.groupdict()
            verb = next(name for name in ("verb", "degree", "place") if groups.get(name))
            if match.start(verb) not in taken:
                taken.add(match.start(verb))
                found.append(Bound(match[verb].lower(), denied, match.start(), match.end()))
    return sorted(found, key=lambda bound: bound.start)


def find_negations(text: str, *, bounds: bool = False) -> list[NegationCue]:
    """Find the denying words of a text.

    Args:
        text: Usually one clause.
        bounds: Whether the denying word of a bound (不超过, "no more than") is one too, though it denies nothing.

    Returns:
        The cues in order; words that only look like one ("not only", 非常, 未来) are left out.
    """
    harmless = [found.span() for pattern in (_EN_HARMLESS, _ZH_HARMLESS) for found in pattern.finditer(text)]
    if not bounds:
        harmless += [(bound.start, bound.end) for bound in find_bounds(text) if bound.denied]
    hidden = {at for start, end in harmless for at in range(start, end)}
    return sorted(
        (
            NegationCue(found.group(), found.start(), found.end(), found.group() not in _DOUBLE)
            for pattern in (_EN, _ZH)
            for found in pattern.finditer(text)
            if found.start() not in hidden
        ),
        key=lambda cue: cue.start,
    )


def is_negated(text: str, *, bounds: bool = False) -> bool:
    """Whether a clause denies: an odd number of its cues flip its sense.

    Args:
        text: One clause.
        bounds: As in `find_negations`.
    """
    return sum(cue.flips for cue in find_negations(text, bounds=bounds)) % 2 == 1

"""Finds words that turn a statement into its opposite, in English and Chinese.

Why: "may be carried over" and "may not be carried over" share every content word.
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


class NegationCue(NamedTuple):
    """A denying word and where it stands in the text; `flips` is False for a double denial such as 不得不."""

    text: str
    start: int
    end: int
    flips: bool


def find_negations(text: str) -> list[NegationCue]:
    """Find the denying words of a text.

    Args:
        text: Usually one clause.

    Returns:
        The cues in order; words that only look like one ("not only", 非常, 未来) are left out.
    """
    harmless = [found.span() for pattern in (_EN_HARMLESS, _ZH_HARMLESS) for found in pattern.finditer(text)]
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


def is_negated(text: str) -> bool:
    """Whether a clause denies: an odd number of its cues flip its sense."""
    return sum(cue.flips for cue in find_negations(text)) % 2 == 1

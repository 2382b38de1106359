"""Finds passages that speak to the model instead of the reader, by rule, in Chinese and English.

A corpus that others may write into can carry orders; such a passage is kept from the generator and shown as what it is.
"""

import re

from offline_eval.core.records import Passage
from offline_eval.text.normalize import normalize

_WHAT_EN = r"(?:instructions?|prompts?|rules?|directions?|guidelines?|context|messages?|documents?|passages?)"
_EARLIER_EN = (
    r"(?:(?:all|any|every|the|these|those|your|my|of|previous|prior|above|earlier|preceding|other|system)\s+){1,5}"
)
_WHAT_ZH = r"(?:指令|指示|说明|规则|提示词?|要求|命令|内容|资料|段落|文档)"
_EARLIER_ZH = r"(?:此前|之前|以上|上述|上面|前面|先前|其他|其它|所有|全部|一切|任何|的|系统|你)"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:ignore|disregard|forget|override|bypass)\s+{_EARLIER_EN}{_WHAT_EN}\b",
        r"\b(?:system prompt|developer message)\b\s*(?:[:：]|is\b|says?\b)",
        r"\bfrom now on,?\s+(?:you|answer|reply|respond|always)\b",
        r"\byou are (?:now|no longer)\s+(?:an?|the|in)?\s*\w+\s*(?:mode|assistant|model|ai|bot|dan)\b",
        r"\b(?:answer|reply|respond|output|print|say)\s+(?:only|exactly|just)\s+(?:with\b|the\s+(?:word|text)\b|[\"'“:])",
        r"\bdo not (?:tell|mention to|inform|warn) the (?:user|reader|customer)\b(?!')",
        r"<\|?(?:im_start|im_end|system|endoftext|assistant)\|?>|\[/?inst\]|<</?sys>>|^#{2,}\s*(?:instruction|system)\b",
        rf"(?:忽略|无视|忘记|忘掉|不要理会|不必理会|抛开){_EARLIER_ZH}+{_WHAT_ZH}",
        r"系统提示词?\s*(?:[:：]|是|为)",
        r"从现在(?:起|开始)[,，]?\s*(?:你|请你|只|一律|总是)",
        r"你现在(?:是|扮演|进入)",
        r"(?:只|仅|直接)(?:需要?|能|要)?(?:回答|回复|输出)\s*[\"“「'：:]",
        r"(?:不要|不得|别)(?:告诉|提醒|告知)(?:用户|读者|客户|提问者)",
    )
)


def find_instruction(text: str) -> str | None:
    """The first words of a text that order a model about.

    Args:
        text: A passage of any length.

    Returns:
        The words in normalised form; None when there are none.
    """
    normal = normalize(text)
    found = [match for pattern in _PATTERNS if (match := pattern.search(normal))]
    return min(found, key=lambda match: match.start()).group().strip() if found else None


def order_in(passage: Passage) -> str | None:
    """The same for a passage with its title."""
    return find_instruction(f"{passage.title or ''}\n{passage.text}")

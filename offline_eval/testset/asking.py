"""Tells what asks for something from what states something, in English and Chinese, with or without a question mark."""

import re

from offline_eval.testset.questions import is_question

_CLAUSE_ASKS = re.compile(
    r"(?:^\W*|[,;:.!?—]\s+)(?:(?:and|but|or|so|then)\s+)?(?:(?:(?:in|on|at|by|to|for|from|of|with|until|till|under|after)"
    r"\s+)?(?:what|who|whom|whose|which|when|where|why|how)\b|(?:is|are|was|were|am|do|does|did|has|have|had|can|could|may|"
    r"might|must|shall|should|will|would|need)\s+(?:an?|the|any|all|each|every|some|no|i|you|he|she|it|we|they|there|this|"
    r"that|these|those|my|your|his|her|its|our|their|one|somebody|someone|anybody|anyone)\b)|"
    r"\b(?:which|what|whom|how (?:many|much|long|often))\b(?:\s{1,9}\S{1,40}){0,3}\W{0,9}$|"
    r"有没有|是不是|会不会|能不能|要不要|可不可以|何[时地处人]",
    re.IGNORECASE,
)
_START = (
    r"(?:^\W*|[.!?;:—]\s+|,\s+(?:then\s+)?)(?:(?:please|kindly|also|and|then|now)\s+)*"
    r"(?:(?:can|could|would) you\s+(?:please\s+)?)?"
)
_DETERMINER = (
    r"(?:the|an?|all|any|each|every|both|some|no|me|us|him|them|it|my|our|your|his|her|its|their|this|that|these|those|"
    r"what|who|whom|whose|which|when|where|why|how|whether|if|at least|up to|as many|one|two|three|four|five|six|seven|"
    r"eight|nine|ten|\d+)\b"
)
_AUXILIARY = r"(?:is|are|was|were|has|have|had|must|may|can|will|shall|should|gets?|receives?|do|does|apply|applies)"
_PREPOSITION = r"(?:of|for|in|from|to|about|between|on|with|by|under|at|that|which|who|where|when)"
# "State employees get …", "List prices are …": what can be a noun too needs more than any word after it.
_REQUEST = re.compile(
    rf"{_START}(?:(?:list|name|state|show|find|outline|mention|contrast)\s+{_DETERMINER}|"
    rf"(?:list|name|show|find|outline|contrast)(?![^.!?;]{{0,160}}\b{_AUXILIARY}\b)(?:\s+[\w'-]{{1,30}}){{1,4}}\s+{_PREPOSITION}\b|"
    r"(?:give|explain|describe|tell|compare|identify|summari[sz]e|define|calculate|compute|determine|specify|discuss|"
    r"provide|suggest|recommend)\s+\w)",
    re.IGNORECASE,
)
_TELL_ZH = (
    "列[出举]|说明|解释|描述|介绍|比较|对比|概括|总结|简述|指出|说出|写出|给出|告诉|计算|分析|举例|谈谈|说说|论述|阐述"
)
# "介绍费由…", "解释权归…", "说明如下": words that only begin like a request.
_NO_REQUEST_ZH = (
    "费(?!用)|权(?!利|限|益)|师|员(?!工)|机(?!构|制|票)|器|书(?!面)|栏|会(?!议|计|员)|信(?!息|用|任)|"
    "人(?![事员工力才民类生口])|的|由(?!来)|归(?!档|还)|是|[^，,。]{0,8}如下|表明|显示|结果"
)
_CLAUSE_ZH = r"(?:^|[，,。；;：:！!？?\n])[^\w，,。；;：:！!？?\n]{0,9}"
_REQUEST_ZH = re.compile(
    rf"{_CLAUSE_ZH}(?:[也还再并]|麻烦|烦|敬|[那就]|另外)?请(?![病事年产婚丧休探育]{{0,2}}假|[客勿愿示求])[^，,。；;：:！!？?\n]{{0,14}}?"
    rf"(?:{_TELL_ZH}|问|回答|答|告知|提供|推荐|翻译|判断|找|选|讨论|评价|讲|说|列|写|给|算|举|帮)|"
    rf"{_CLAUSE_ZH}(?:并|再|然后|帮我|麻烦)?(?:{_TELL_ZH})(?!{_NO_REQUEST_ZH})"
)


def asks(text: str) -> bool:
    """Whether a text asks for something: a question, with or without its mark, or a request ("List the …", 请列出)."""
    return is_question(text) or any(pattern.search(text) for pattern in (_CLAUSE_ASKS, _REQUEST, _REQUEST_ZH))

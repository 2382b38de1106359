"""Guesses what kind of question a query is, from cue words in English and Chinese.

Why: weights and tables go by type of question, and most test sets do not say it; a rule is local and can be read.
"""

import re
from typing import Literal

from offline_eval.core.records import Record
from offline_eval.text.normalize import normalize

Type = Literal["conditional", "comparison", "multi-hop", "reasoning", "open", "factual"]

_WH = r"(?:who|whom|whose|what|when|where|which|how (?:many|much|long|often|far|old|high))"
_ASK_ZH = r"(?:谁|哪|多少|几|什么|何时|何地|多久|多长|多大|多高)"

# A case that is supposed, not a fact that is asked for.
_SUPPOSED = (
    r"\b(?:if|suppose|supposing|assuming|provided that|in case|unless|given that|in the event|what happens when)\b",
    r"如果|假如|假设|若(?!干)|倘若|要是|万一|的情况下|的情形下|一旦|只要|除非|的前提下|的话[,，]|"
    r"(?:超过|未满|不足|不满).{0,12}(?:时|后|的话)",
)
# A situation told before the question.
_SITUATION = (
    r"^(?:i|i'm|i've|my|we|we're|our|as an?|someone|somebody|an? (?:\w+ )?(?:employee|customer|patient|student|user|"
    r"tenant|colleague|visitor))\b[^?]{8,}[.,;:] [^?]{6,}\?",
    r"^(?:我|本人|我们|某|作为|有人|员工|客户|同事|一名|一位)[^?]{4,}[,。;][^?]{2,}(?:吗|能否|可否|是否|怎么|多少|几|什么|"
    r"谁|哪|如何|可以)",
)
_CONDITION_ASKED = (r"\bunder (?:what|which) (?:conditions?|circumstances)\b", r"什么(?:条件|情况)下")

# Tried from top to bottom; the first that is found decides.
_CUES: tuple[tuple[Type, str], ...] = (
    *(("conditional", pattern) for pattern in (*_SUPPOSED, *_SITUATION, *_CONDITION_ASKED)),
    # Two things side by side.
    (
        "comparison",
        r"\b(?:compared? (?:to|with|and)?|comparison|versus|vs|differ(?:s|ence|ences|ent)?|distinguish|"
        r"similarit(?:y|ies)|in common|contrast)\b",
    ),
    (
        "comparison",
        r"\b(?:more|less|fewer|longer|shorter|higher|lower|better|worse|cheaper|faster|larger|smaller|"
        r"older|newer|"
        r"greater|stricter|earlier|later)\b.*\b(?:than|or)\b|\bwhich (?:of|is|has|one|\w+ is)\b.*\b(?:or|most|least|"
        r"\w+er)\b",
    ),
    (
        "comparison",
        r"区别|差别|差异|不同(?:点|之处|于|吗)|有何不同|有什么不同|异同|对比|相比|比较|优劣|哪个更|哪种更|"
        r"哪一个更|谁更|"
        r"相同(?:点|之处|吗)|一样吗|还是.{1,16}更|比.{1,16}(?:多|少|高|低|长|短|快|慢|贵|便宜|早|晚|大|小|好|差)",
    ),
    # One fact is needed to find another.
    (
        "multi-hop",
        rf"\b{_WH}\b.*\b(?:and|, then)\b (?:\w+ )?{_WH}\b|\b(?:both|respectively|in total|altogether|"
        rf"combined)\b",
    ),
    (
        "multi-hop",
        r"\bthe \w+(?: \w+)? (?:of|for|in|from) the \w+(?: \w+)* (?:that|who|which|where|whose)\b|"
        r"\bwhose\b.*\bthe same\b",
    ),
    (
        "multi-hop",
        rf"{_ASK_ZH}[^?]{{0,20}}[,，、?](?:他|她|它|其|该|并且?|以及|同时|又|还)?[^?]{{0,14}}{_ASK_ZH}|分别|"
        rf"各自|"
        r"一共|合计|总共|加起来",
    ),
    (
        "multi-hop",
        rf"(?:负责|所在|所属|主管|管理|撰写|设计|发明|创办|制定|"
        rf"审批)[^?]{{1,14}}的[^?]{{0,14}}的[^?]{{0,10}}{_ASK_ZH}",
    ),
    # A reason or a derivation.
    (
        "reasoning",
        r"\b(?:why|how come|reasons?|explain|cause[sd]?|infer|deduce|conclude|calculate|justify|prove|"
        r"derive|imply|"
        r"implies|consequences?|rationale|what makes)\b",
    ),
    (
        "reasoning",
        r"为什么|为何|为啥|原因|理由|何以|缘故|推断|推导|推理|解释|说明了什么|意味着|怎么会|导致|计算|证明|"
        r"凭什么|出于",
    ),
    # No single right answer.
    (
        "open",
        r"\b(?:describe|discuss|summari[sz]e|overview|outline|suggest\w*|recommend\w*|advice|advise|tips?|"
        r"opinion|think|ideas?|"
        r"tell me about|improve|best way|should (?:we|i|one)|pros and cons|write|brainstorm|evaluate|how (?:can|could|"
        r"might|do) we|"
        r"help me)\b",
    ),
    (
        "open",
        r"谈谈|介绍|概述|总结|描述|建议|看法|评价|怎么看|如何看待|怎样才能|如何(?:提高|改善|改进|更好|提升|看)|"
        r"论述|讨论|"
        r"分享|有哪些方法|有什么办法|注意(?:些)?什么|注意哪些|帮我|请写|展望|简述|阐述|说说|聊聊|了解一下",
    ),
)
_READ = 2000  # characters
_STATED = tuple(re.compile(pattern) for pattern in (*_SUPPOSED, *_SITUATION))
# What only looks like a condition: "whether", the question for one, and who asks.
_NO_CONDITION = re.compile(
    r"\b(?:know|ask|asks|asked|wonder|wonders|wondering|check|checks|see|sure|clear|say|says|tell(?: \w+)?|find out|"
    r"determine|confirm|explain) if\b|"
    r"(?:什么|哪些|哪种|何种|怎)样?的?(?:情况|情形|条件|前提)下|"
    r"(?:^|(?<=[,.;:。!?]))\s*(?:(?:and )?(?:i'm called|(?:my|our) (?:\w+ )?(?:name|phone|mobile|number|e-?mail|"
    r"identity|id|account|card|address|passport)(?: (?:number|address|card))?(?: is|:))[^,;:!?]{0,80}[,;:!?]|"
    r"i (?:have a question|(?:want|would like|need) to (?:know|ask))[^,;:.?!]{0,20}[,;:.]|"
    r"(?:我们?|本人)?的?(?:身份证|证件|手机|电话|电子邮箱|邮箱|名字|姓名|工号|账号|帐号|卡号|银行卡|住址|地址|学号|护照)"
    r"(?:号码?)?(?:是|为|:|(?=[\[\d]))[^,;:!?。]{0,60}[,;!?。]|"
    r"(?:我|本人)叫[^,;:!?。]{1,12}[,;!?。]|(?:我|本人)?(?:想|要|来)(?:请问|问|请教|咨询|了解|知道)(?:一下|下)?[,:。])"
)
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _CUES)


class QueryType(Record):
    """The guessed type with the words that decided it; `cue` is None when nothing did and `factual` is the default."""

    type: Type
    cue: str | None = None


def classify_query(query: str) -> QueryType:
    """Guess a query's type.

    The rule: cue words are tried in the order conditional, comparison, multi-hop, reasoning, open; a query without any
    is factual. It knows words, not meanings: a type given with the case always comes first.

    Args:
        query: The question as asked.

    Returns:
        The type and its cue.
    """
    text = normalize(query)[:_READ]
    for kind, pattern in _PATTERNS:
        found = pattern.search(text)
        if found is not None:
            return QueryType(type=kind, cue=found.group())
    return QueryType(type="factual")


def states_condition(query: str) -> bool:
    """Whether a query states a condition that its answer depends on.

    Narrower than the type `conditional`: to ask for the condition states none ("under what conditions"), "if" after a
    verb of asking is "whether", and a fact that only says who asks ("my number is …") decides nothing.

    Args:
        query: The question as asked.
    """
    text = normalize(query)[:_READ]
    told = _NO_CONDITION.sub(" ", text).strip()
    return any(pattern.search(told) for pattern in _STATED)

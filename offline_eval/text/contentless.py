"""Finds answers that hold nothing to judge: empty, punctuation, or an opener with nothing after it.

Why: many judges pass ":" or "Solution" as correct; such answers are decided by rule before any model is asked.
"""

import re

from offline_eval.text.normalize import normalize

# Each is matched whole, in normalised form, again and again from the start: "Sure! Here is the answer:" is two of them.
_OPENERS: tuple[str, ...] = (
    # English
    r"(thought|thinking|reasoning)( process)?( steps?)?",
    r"(the |my |final )*(solution|answer|response|result|conclusion|output|explanation|analysis|summary)( is| are)?"
    r"( below| as follows)?",
    r"(let's|lets|let us|let me|i will|i'll|we will|we'll|we can) (now )?"
    r"(solve|think|work|go|break|answer|start|begin|analy[sz]e|look|reason|explain|see)"
    r"( (about|through|over|at|with|into|down|by))?( (this|it|the|that|your))?( (problem|question|task|issue|thought))?"
    r"( (step by step|carefully|one by one|together|first|thoroughly))*",
    r"step by step",
    r"step (\d+|one)",
    r"here('s| is| are) (the|my|your|an?) (\w+ )?(solution|answer|response|result|explanation|summary)",
    r"(hello|hi|hey)( there)?",
    r"(great|good) question",
    r"(thanks|thank you)( for (your|the) question)?",
    r"(i'd be|i am|i'm) happy to help",
    r"(based on|according to) (the |your )?(provided |given |retrieved )*"
    r"(context|documents?|passages?|information|text|sources?)",
    r"(to )?answer (the|this|your) question",
    r"to solve (this|the) problem",
    # Chinese
    r"解(答|析|题|题思路|题过程|法)?",
    r"(以下|下面|这)?(就)?(是|为)?(我|您|你|该|这个|此|最终|标准|参考|正确)?的?(问题)?的?"
    r"(答案|回答|回复|结果|结论|解答|输出|分析|总结)(是|为)?(如下|如下所示)?",
    r"(思考|推理|分析|思路)(过程|步骤|如下)*",
    r"(让我们?|我们|我|下面|首先|接下来)+(来|先|一起|将|会)*"
    r"(一步一步|一步步|逐步|仔细|详细|认真)?(地)?(来)?(解决|分析|思考|解答|回答|看|看看|看一下|推理|想一想)"
    r"(一下)?(这个|该|此|这道)?(问题|题目|题)?",
    r"(一步一步|一步步|逐步)(来|思考|分析|推理|解答)?",
    r"(您好|你好|是这样的|明白了?|感谢您?的?提问|这是一个好问题)",
    r"(根据|基于|按照)(所|您)?(提供|给出|检索到?|给定)?的?(上下文|资料|文档|材料|信息|内容|文本)",
    r"第(一|1)步",
    r"(如下|答)",
)
# A yes is an answer when it stands alone and an opener when another opener follows.
_AFFIRMATIONS: tuple[str, ...] = (
    r"(sure|certainly|of course|ok|okay|well|absolutely|yes|right)( thing)?",
    r"(好的?|当然|当然可以|没问题|可以|是的|对)(呀|啊|呢)?",
)
_OPENER = re.compile("(?:" + "|".join(_OPENERS) + r")(?=$|[^\w])")
_AFFIRMATION = re.compile("(?:" + "|".join(_AFFIRMATIONS) + r")(?=$|[^\w])")
_NOTHING = re.compile(r"[\W_]+")
_TAG = re.compile(r"</?(?:think|thinking|thought|answer|solution|reasoning|response)>")
_LONGEST_OPENER = 400  # characters; anything longer says something


def is_contentless(answer: str) -> str | None:
    """Say why an answer has no content.

    A bare "No", "OK", "5" or "巴黎" is content: only empty text, marks without words, and openers such as `Solution`,
    `Thought process:`, `解：` or `答案：` with nothing after them are not.

    Args:
        answer: What a system returned.

    Returns:
        `empty`, `punctuation only` or `opener only`; None when there is something to judge.
    """
    if not any(map(str.isalnum, answer)):
        return "punctuation only" if normalize(answer) else "empty"
    if len(answer.strip()) > _LONGEST_OPENER:
        return None
    rest = _skip_marks(_TAG.sub(" ", normalize(answer)))
    only_affirmed = bool(rest)
    while rest:
        opener = _OPENER.match(rest)
        affirmation = _AFFIRMATION.match(rest)
        found = opener if opener and opener.group() else affirmation
        if found is None:
            return None
        only_affirmed = only_affirmed and found is affirmation
        rest = _skip_marks(rest[found.end() :])
    return None if only_affirmed else "opener only"


def _skip_marks(text: str) -> str:
    marks = _NOTHING.match(text)
    return text[marks.end() :] if marks else text

"""What the causes are called and what to try against each, apart from the rules so that wording can change alone."""

from offline_eval.core.diagnosis import Fault, Part, Tag, Text

NAMES: dict[Tag, Text] = {
    "retrieval_miss": Text(en="retrieval miss", zh="检索遗漏"),
    "ranking": Text(en="ranking", zh="排序靠后"),
    "noise": Text(en="noise", zh="噪声干扰"),
    "invention": Text(en="invention", zh="凭空编造"),
    "contradiction_ignored": Text(en="contradiction ignored", zh="忽视矛盾"),
    "incomplete": Text(en="incomplete", zh="回答不完整"),
    "off_topic": Text(en="off-topic", zh="答非所问"),
    "should_refuse": Text(en="should refuse", zh="应拒答未拒答"),
    "over_refusal": Text(en="over-refusal", zh="过度拒答"),
    "wrong_citation": Text(en="wrong citation", zh="引用错误"),
}

PARTS: dict[Tag, Part] = {
    "retrieval_miss": "retrieval",
    "ranking": "retrieval",
    "noise": "both",
    "invention": "generation",
    "contradiction_ignored": "generation",
    "incomplete": "generation",
    "off_topic": "generation",
    "should_refuse": "generation",
    "over_refusal": "generation",
    "wrong_citation": "generation",
}

ADVICE: dict[Tag, Text] = {
    "retrieval_miss": Text(
        en="Retrieve more passages, combine BM25 with dense search, split documents differently, or check that the "
        "answer is in the corpus.",
        zh="增加召回数量，混合 BM25 与向量检索，调整切分方式，或确认语料中确有答案。",
    ),
    "ranking": Text(
        en="Rerank with a cross-encoder, or change the weights of the retrievers.",
        zh="用交叉编码器重排，或调整各检索器的权重。",
    ),
    "noise": Text(
        en="Drop passages below a score, show fewer of them, and tell the generator to use only what answers the "
        "question.",
        zh="按分数过滤段落、减少段落数量，并要求生成器只使用能回答问题的内容。",
    ),
    "invention": Text(
        en="Tell the generator to state only what the passages say, lower its temperature, or check claims before "
        "answering.",
        zh="要求生成器只陈述段落中的内容，降低温度，或在回答前核对每条论断。",
    ),
    "contradiction_ignored": Text(
        en="Remove outdated documents, give dates to the generator, and ask it to name conflicts.",
        zh="清理过期文档，把日期提供给生成器，并要求它指出矛盾之处。",
    ),
    "incomplete": Text(
        en="Ask for all conditions and exceptions, allow a longer answer, or answer long questions in parts.",
        zh="要求列出全部条件与例外，放宽答案长度，或将复杂问题拆开回答。",
    ),
    "off_topic": Text(
        en="Put the question at the end of the prompt, ask for a direct answer, and check how queries are rewritten.",
        zh="把问题放在提示词末尾，要求直接作答，并检查查询改写。",
    ),
    "should_refuse": Text(
        en="Let the system decline when no passage answers the question; check answerability before generating.",
        zh="段落都不能回答时应拒答；生成之前先判断可答性。",
    ),
    "over_refusal": Text(
        en="Loosen the instruction to decline; show an example that answers from a passage.",
        zh="放宽拒答指令；在提示词中给出依据段落作答的示例。",
    ),
    "wrong_citation": Text(
        en="Number the passages in the prompt and ask for a citation after each sentence; check them before answering.",
        zh="在提示词中为段落编号，要求逐句引用，并在输出前核对引用。",
    ),
}

READINGS: dict[Fault, Text] = {
    "retrieval": Text(
        en="Most faults lie in retrieval ({n} of {faulty} faulty responses): mend it first, then measure again.",
        zh="问题主要在检索（{faulty} 条有问题的回答中占 {n} 条）：先改检索，再重新评测。",
    ),
    "generation": Text(
        en="Most faults lie in generation ({n} of {faulty} faulty responses): retrieval is not what holds it back.",
        zh="问题主要在生成（{faulty} 条有问题的回答中占 {n} 条）：瓶颈不在检索。",
    ),
    "both": Text(
        en="Neither part is alone at fault for most of the {faulty} faulty responses ({n} have faults in both).",
        zh="{faulty} 条有问题的回答大多不能只归于某一部分（{n} 条检索与生成均有问题）。",
    ),
    "none_found": Text(
        en="No fault was found in the {n} responses that could be examined.",
        zh="在可检查的 {n} 条回答中没有发现问题。",
    ),
}

NOT_EXAMINED = Text(
    en="No response could be examined: the run lacks the evidence. Score claims, context and refusal as well "
    "(`run --metrics panel,claims,context,refusal,answer`).",
    zh="没有回答可供检查：本次运行缺少证据。请同时计算论断、上下文与拒答指标"
    "（`run --metrics panel,claims,context,refusal,answer`）。",
)

"""Function words of English and Chinese that say nothing about a topic; left out of search only when asked."""

_ENGLISH = (
    "a about after all also an and any are as at be because been before being between both but by can could did do "
    "does doing down during each few for from further had has have having he her here hers him his how i if in into is "
    "it its just me more most my no nor not of off on once only or other our out over own same she should so some such "
    "than that the their them then there these they this those through to too under until up very was we were what "
    "when where which while who whom why will with would you your"
)
_CHINESE = (
    "的 了 吗 呢 吧 啊 呀 着 过 地 得 是 在 和 与 及 或 而 并 也 都 就 又 还 很 把 被 给 让 对 从 向 以 于 为 之 其 "
    "这 那 哪 我 你 他 她 它 我们 你们 他们 什么 怎么 怎样 如何 哪些 哪个 哪里 谁 为什么 多少 几 有 没有 这个 那个 "
    "这些 那些 一个 可以 需要 以及 因为 所以 如果 但是"
)

STOP_WORDS = frozenset(_ENGLISH.split()) | frozenset(_CHINESE.split())
"""Lower case; Chinese words work with word segmentation, single characters with bigrams only where one stands alone."""

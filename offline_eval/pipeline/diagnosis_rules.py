"""One stated rule a cause: it reads a response's metrics and says what went wrong, nothing, or what evidence it lacks.

The limits are stated here and nowhere else. They name gross faults: a rule that fired on every blemish would blame both
parts of every system.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from offline_eval.core.diagnosis import Cause, Tag, Text
from offline_eval.core.evidence import ContradictionEvidence, EntailmentEvidence, Evidence, RefusalEvidence
from offline_eval.core.pieces import pieces_of
from offline_eval.core.protocols import Item, Metric
from offline_eval.core.results import Score, Status
from offline_eval.metrics._score import NotScored
from offline_eval.metrics.claims._matrix import matrix_of
from offline_eval.pipeline.diagnosis_texts import ADVICE, NAMES, PARTS
from offline_eval.pipeline.metric_plan import load_metric

BROUGHT = 0.5  # of what the answer needs: retrieval that brought less missed it
RANK_SHOWN = 3  # the first useful passage at this rank or lower stands too low
INVENTED = 0.34  # of the claims, without support: one claim of two or of three, not one of four
FROM_NOISE = 0.25  # of the claims, wrong and taken from irrelevant passages
COVERED = 0.67  # of the key points: an answer that states fewer leaves out a third
ON_TOPIC = 0.3  # cosine of the questions an answer would answer with the query
CITED_RIGHT = 0.5  # of the citations: fewer are more wrong than right
LOWEST_GRADE = 1.5  # a judge's grade below this is "fail" for most of its judges

NOT_SCORED: Mapping[str, Mapping[str, Score]] = {}

_CONFLICT_WORDS = (
    *("conflict", "contradict", "inconsistent", "differ", "disagree", "whereas", "however", "outdated", "superseded"),
    *("矛盾", "冲突", "不一致", "不同", "相左", "出入", "然而", "旧版", "已废止", "以最新"),
)


class Lacking(Exception):
    """Ends a rule: the evidence it needs is not there, and this is what lacks."""


class Seen:
    """What is known about one response; each metric is computed when a rule first asks for it.

    Args:
        item: The response with its case; a response that has an answer.
        evidence: All of its evidence.
        scores: Metric to response key to score, of what was scored already.
    """

    def __init__(
        self, item: Item, evidence: Sequence[Evidence], scores: Mapping[str, Mapping[str, Score]] = NOT_SCORED
    ) -> None:
        self.item = item
        self.evidence = evidence
        self._known = scores
        self._key = item.response.key
        self._scores: dict[str, Score] = {}

    def score(self, metric: str) -> Score:
        """The response's score on a metric, whether the run asked for it or not."""
        if metric not in self._scores:
            self._scores[metric] = self._known.get(metric, {}).get(self._key) or self._computed(metric)
        return self._scores[metric]

    def _computed(self, metric: str) -> Score:
        loaded = cast(Metric, load_metric(metric))  # rules read metrics of single responses
        return loaded.score(self.item.case, self.item.response, self.evidence)

    def first(self, *metrics: str) -> tuple[str, float]:
        """The first of these metrics that has a value.

        Raises:
            Lacking: None has one; says why for each.
        """
        for metric in metrics:
            value = self.score(metric).value
            if value is not None:
                return metric, value
        raise Lacking("; ".join(f"{metric}: {self.score(metric).reason}" for metric in metrics))

    @property
    def refused(self) -> bool:
        """Whether the answer declines.

        Raises:
            Lacking: Nobody looked.
        """
        found = next(iter(pieces_of(self.evidence, RefusalEvidence)), None)
        if found is None:
            raise Lacking("refusal: not_checked")
        return found.refused

    @property
    def unanswerable(self) -> bool:
        """Whether the case says that the corpus holds no answer."""
        return self.item.case.answerable is False

    def brought(self) -> tuple[str, float]:
        """Which share of what the answer needs retrieval brought, by ids or by what the passages say."""
        return self.first("recall", "context_recall", "claim_recall")


Rule = Callable[[Seen], Cause | None]


def retrieval_miss(seen: Seen) -> Cause | None:
    """Retrieval brought less than half of the expected passages, or of the key points or claims of the reference."""
    if seen.unanswerable:
        return None
    metric, value = seen.brought()
    if value >= BROUGHT:
        return None
    of = "expected passages" if metric == "recall" else "what the answer needs"
    return _cause(
        "retrieval_miss",
        {metric: value},
        en=f"retrieval brought {_percent(value)} of {of} ({metric})",
        zh=f"检索只带回了{'应有段落' if metric == 'recall' else '所需内容'}的 {_percent(value)}（{metric}）",
    )


def ranking(seen: Seen) -> Cause | None:
    """The first expected (or useful) passage came, but at rank 3 or lower."""
    if seen.unanswerable:
        return None
    metric, value = seen.first("mrr", "context_precision_ranked")
    if value == 0 or value > 1 / RANK_SHOWN:
        return None
    return _cause(
        "ranking",
        {metric: value},
        en=f"the first useful passage stands at rank {RANK_SHOWN} or lower ({metric} {value:.2g})",
        zh=f"第一个有用段落排在第 {RANK_SHOWN} 位或更后（{metric} {value:.2g}）",
    )


def noise(seen: Seen) -> Cause | None:
    """A quarter of the claims or more is wrong and comes from irrelevant passages."""
    if seen.refused or seen.unanswerable:
        return None
    metric, value = seen.first("noise_sensitivity_irrelevant")
    if value < FROM_NOISE:
        return None
    return _cause(
        "noise",
        {metric: value},
        en=f"{_percent(value)} of the claims are wrong and come from irrelevant passages",
        zh=f"{_percent(value)} 的论断有误且来自无关段落",
    )


def invention(seen: Seen) -> Cause | None:
    """A third of the claims or more has no support in the passages, nor in the reference where there is one."""
    if seen.refused:
        return None
    metric, value = seen.first("hallucination", "faithfulness", "faithfulness_grade")
    if metric == "faithfulness_grade":
        seen_text = Text(
            en=f"the judges grade its faithfulness {value:.2g} (1 is fail)",
            zh=f"评审忠实度为 {value:.2g}（1 为不合格）",
        )
        return _cause("invention", {metric: value}, en=seen_text.en, zh=seen_text.zh) if value < LOWEST_GRADE else None
    share = value if metric == "hallucination" else 1 - value
    if share < INVENTED - 0.01:  # one of three is a third
        return None
    return _cause(
        "invention",
        {metric: value},
        en=f"{_percent(share)} of the claims have no support ({metric} {value:.2g})",
        zh=f"{_percent(share)} 的论断没有依据（{metric} {value:.2g}）",
    )


def contradiction_ignored(seen: Seen) -> Cause | None:
    """A passage contradicts a claim that none supports, or passages contradict each other and the answer is silent."""
    if seen.refused:
        return None
    against = _contradicted_claims(seen)
    conflicts = next((piece.conflicts for piece in pieces_of(seen.evidence, ContradictionEvidence)), None)
    if against:
        return _cause(
            "contradiction_ignored",
            {"contradicted_claims": float(against)},
            en=f"{against} claims are contradicted by a passage and supported by none",
            zh=f"{against} 条论断与某段落矛盾，且没有段落支持",
        )
    answer = seen.item.response.answer.casefold()
    if conflicts and not any(word in answer for word in _CONFLICT_WORDS):
        first = conflicts[0]
        return _cause(
            "contradiction_ignored",
            {"conflicts": float(len(conflicts))},
            en=f"passages {first.first_id} and {first.second_id} contradict each other and the answer does not say so",
            zh=f"段落 {first.first_id} 与 {first.second_id} 互相矛盾，回答未说明",
        )
    if against is None and conflicts is None:
        raise Lacking("contradiction: not_checked; no contradiction probabilities")
    return None


def incomplete(seen: Seen) -> Cause | None:
    """A third of the key points or more is missing from the answer although retrieval brought more than it states."""
    if seen.unanswerable or seen.refused:
        return None
    metric, value = seen.first("key_point_coverage", "claim_recall_reference", "completeness_grade")
    if metric == "completeness_grade":
        low = value < LOWEST_GRADE
        en, zh = f"the judges grade its completeness {value:.2g} (1 is fail)", f"评审完整度为 {value:.2g}（1 为不合格）"
        return _cause("incomplete", {metric: value}, en=en, zh=zh) if low else None
    brought = seen.score("context_recall" if metric == "key_point_coverage" else "claim_recall").value
    if value >= COVERED or (brought is not None and value >= brought):
        return None
    measured = {metric: value} | ({} if brought is None else {"brought": brought})
    known = (
        ("", "") if brought is None else (f", retrieval brought {_percent(brought)}", f"，检索带回 {_percent(brought)}")
    )
    return _cause(
        "incomplete",
        measured,
        en=f"the answer states {_percent(value)} of the key points{known[0]}",
        zh=f"回答只覆盖了 {_percent(value)} 的要点{known[1]}",
    )


def off_topic(seen: Seen) -> Cause | None:
    """The judges fail its relevance, or the questions it would answer are far from the one that was asked."""
    if seen.refused:
        return None
    metric, value = seen.first("relevance_grade", "reverse_question_relevance")
    if value >= (LOWEST_GRADE if metric == "relevance_grade" else ON_TOPIC):
        return None
    return _cause(
        "off_topic",
        {metric: value},
        en=f"the answer is about something else ({metric} {value:.2g})",
        zh=f"回答与问题无关（{metric} {value:.2g}）",
    )


def should_refuse(seen: Seen) -> Cause | None:
    """The case has no answer in the corpus and was answered all the same."""
    if seen.item.case.answerable is None:
        raise Lacking("the case does not say whether it is answerable")
    if not seen.unanswerable or seen.refused:
        return None
    return _cause(
        "should_refuse",
        {"unsupported_answer_rate": 1.0},
        en="the corpus holds no answer, and the system gave one",
        zh="语料中没有答案，系统却作了回答",
    )


def over_refusal(seen: Seen) -> Cause | None:
    """The case is answerable, retrieval brought the answer as far as is known, and the system declined."""
    if seen.item.case.answerable is None:
        raise Lacking("the case does not say whether it is answerable")
    if seen.unanswerable or not seen.refused:
        return None
    try:
        metric, value = seen.brought()
    except Lacking:
        return _cause(
            "over_refusal",
            {"over_refusal": 1.0},
            en="the case is answerable and was refused; whether retrieval brought the answer is not known",
            zh="问题可答却被拒答；检索是否带回答案未知",
        )
    if value < BROUGHT:
        return None  # to decline was right with what it was given: retrieval_miss says so
    return _cause(
        "over_refusal",
        {"over_refusal": 1.0, metric: value},
        en=f"retrieval brought {_percent(value)} of what was needed ({metric}), and the system declined",
        zh=f"检索带回了所需的 {_percent(value)}（{metric}），系统却拒答",
    )


def wrong_citation(seen: Seen) -> Cause | None:
    """Half of the citations or more do not support the sentence that cites them."""
    if seen.refused or seen.score("citation_precision").reason == "no_citations":
        return None
    metric, value = seen.first("citation_precision")
    if value > CITED_RIGHT:
        return None
    return _cause(
        "wrong_citation",
        {metric: value},
        en=f"{_percent(1 - value)} of the citations do not support their sentence",
        zh=f"{_percent(1 - value)} 的引用不支持其所在句子",
    )


RULES: Mapping[Tag, Rule] = {
    "retrieval_miss": retrieval_miss,
    "ranking": ranking,
    "noise": noise,
    "invention": invention,
    "contradiction_ignored": contradiction_ignored,
    "incomplete": incomplete,
    "off_topic": off_topic,
    "should_refuse": should_refuse,
    "over_refusal": over_refusal,
    "wrong_citation": wrong_citation,
}


def _contradicted_claims(seen: Seen) -> int | None:
    """Claims of the answer that some passage contradicts and none supports; None when nobody could tell."""
    for piece in reversed(pieces_of(seen.evidence, EntailmentEvidence)):
        if (piece.hypotheses, piece.premises) == ("answer", "passages"):
            if piece.status is not Status.SCORED or not any(
                cell.contradiction is not None for row in piece.rows for cell in row
            ):
                return None
            try:
                return sum(matrix_of(seen.evidence, piece).contradicted)
            except NotScored:
                return None
    return None


def _cause(tag: Tag, measured: Mapping[str, float], *, en: str, zh: str) -> Cause:
    return Cause(
        tag=tag,
        name=NAMES[tag],
        part=PARTS[tag],
        reason=Text(en=en, zh=zh),
        advice=ADVICE[tag],
        measured=dict(measured),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"

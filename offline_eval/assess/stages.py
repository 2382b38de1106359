"""The stages that check, one function each: an item and an encoder → signals and evidence; nothing is remembered.

They run the checks and metrics that evaluate offline; here is only how a score becomes a signal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from offline_eval.assess.instructions import order_in
from offline_eval.assess.policy import Policy
from offline_eval.checks.alignment import CHECK as ALIGNMENT
from offline_eval.checks.answerability import CHECK as ANSWERABILITY
from offline_eval.checks.citations import CHECK as CITATIONS
from offline_eval.checks.claims import CHECK as CLAIMS
from offline_eval.checks.claims import states_nothing
from offline_eval.checks.contradiction import CHECK as CONTRADICTION
from offline_eval.checks.entailment import CHECK as ENTAILMENT
from offline_eval.confidence.signals import Signal, SignalStatus, missing, scored
from offline_eval.core.evidence import ClaimsEvidence, ContradictionEvidence, Evidence
from offline_eval.core.protocols import Embedder, Item, PairScorer
from offline_eval.core.records import Case, Passage, Response
from offline_eval.core.results import Score, Status
from offline_eval.metrics.answer.citation_precision import METRIC as CITATION_PRECISION
from offline_eval.metrics.claims.faithfulness import METRIC as FAITHFULNESS
from offline_eval.metrics.context.context_alignment import METRIC as CONTEXT_ALIGNMENT
from offline_eval.metrics.context.context_answerability import METRIC as CONTEXT_ANSWERABILITY
from offline_eval.metrics.context.context_conflict import METRIC as CONTEXT_CONFLICT
from offline_eval.metrics.retrieval.consensus import METRIC as CONSENSUS
from offline_eval.text.words import content_words

_OUR_SYSTEM = "assess"
_NOT_THE_MODEL = ("language: ", "the model does not tell", "no_engine")
# They ask for what an answer says in other words, so no source has to have them.
_ASKING_WORDS = """
    many much often long far old kind sort type 多少 多久 多长 多大 几 哪 哪里 何时 谁
"""
_ASKING = frozenset(_ASKING_WORDS.split())
_STATUS = {Status.NOT_APPLICABLE: SignalStatus.NOT_APPLICABLE, Status.FAILED: SignalStatus.FAILED}


@dataclass(frozen=True)
class Found:
    """What a stage found out."""

    signals: tuple[Signal, ...]
    evidence: tuple[Evidence, ...] = ()


def item_of(
    query: str,
    passages: Sequence[Passage],
    *,
    answer: str = "",
    citations: Sequence[str] = (),
    rankings: dict[str, tuple[str, ...]] | None = None,
) -> Item:
    """The query, its passages and perhaps an answer as the item that checks and metrics work on."""
    response = Response(
        case_id="query",
        system=_OUR_SYSTEM,
        answer=answer,
        passages=tuple(passages),
        citations=tuple(citations),
        rankings=rankings or {},
    )
    return Item(case=Case(id="query", query=query), response=response)


def answerability(item: Item, scorer: PairScorer | None) -> Found:
    """Whether the passages hold an answer."""
    evidence = ANSWERABILITY.run([item], evidence={}, engine=scorer)
    score = CONTEXT_ANSWERABILITY.score(item.case, item.response, evidence)
    return Found((signal_of("answerability", score),), tuple(evidence))


def consensus(item: Item, *, k: int) -> Found:
    """How far the retrievers agree on their first k passages; needs no model."""
    score = CONSENSUS.at(k).score(item.case, item.response, ())
    names = ", ".join(item.response.rankings) or None
    return Found((signal_of("consensus", score, detail=names),))


def alignment(item: Item, embedder: Embedder | None, policy: Policy) -> Found:
    """How close query and passages are: by embedding, or by words where the embedder does not speak the language."""
    evidence = ALIGNMENT.run([item], evidence={}, engine=embedder)
    score = CONTEXT_ALIGNMENT.score(item.case, item.response, evidence)
    if score.value is not None:
        low, high = policy.cosine_range
        value = min(1.0, max(0.0, (score.value - low) / (high - low)))
        return Found((scored("alignment", value, detail=f"cosine {score.value:.3g}"),), tuple(evidence))
    if (score.reason or "").startswith("language: ") and item.response.passages:
        covered = max(_covered(item.case.query, passage) for passage in item.response.passages)
        signal = scored("alignment", covered, detail="share of the query's words", reason=score.reason)
        return Found((signal,), tuple(evidence))
    return Found((signal_of("alignment", score),), tuple(evidence))


def contradiction(item: Item, scorer: PairScorer | None, *, why_not_asked: str | None = None) -> Found:
    """Whether passages contradict each other.

    Args:
        scorer: None to apply the rules alone.
        why_not_asked: Why that was decided.
    """
    evidence = CONTRADICTION.run([item], evidence={}, engine=scorer)
    score = CONTEXT_CONFLICT.score(item.case, item.response, evidence)
    if score.value is None:
        return Found((signal_of("coherence", score),), tuple(evidence))
    piece = next(piece for piece in evidence if isinstance(piece, ContradictionEvidence))
    reason = why_not_asked or piece.model_reason
    failed = not piece.conflicts and reason is not None and why_not_asked is None
    if failed and not str(reason).startswith(_NOT_THE_MODEL):
        return Found((missing("coherence", SignalStatus.FAILED, str(reason)),), tuple(evidence))
    said = None if piece.by_model else f"by rules alone ({reason})"
    detail = f"{len(piece.conflicts)} conflicts between {piece.pairs} pairs of passages"
    return Found((scored("coherence", 1.0 - score.value, detail=detail, reason=said),), tuple(evidence))


def rules(item: Item, policy: Policy, *, today: date) -> Found:
    """What needs no model: orders inside passages, the age of sources, words of the query that stand nowhere."""
    passages = item.response.passages
    if not passages:
        nothing = SignalStatus.NOT_APPLICABLE, "no_passages"
        return Found(tuple(missing(name, *nothing) for name in ("instructions", "freshness", "coverage")))
    clean = sum(order_in(passage) is None for passage in passages)
    words = asked_words(item.case.query)
    lacking = uncovered_words(item.case.query, passages)
    coverage = (
        scored("coverage", 1 - len(lacking) / len(words), detail=", ".join(lacking) or None)
        if words
        else missing("coverage", SignalStatus.NOT_APPLICABLE, "no_content_words")
    )
    return Found(
        (
            scored("instructions", clean / len(passages), detail=f"{clean} of {len(passages)} passages are clean"),
            freshness(passages, policy, today=today),
            coverage,
        )
    )


def freshness(passages: Sequence[Passage], policy: Policy, *, today: date) -> Signal:
    """Share of the passages that are not old; without an age limit it does not apply."""
    if policy.profile.oldest_days is None:
        return missing("freshness", SignalStatus.NOT_APPLICABLE, "the profile sets no age limit")
    old = [passage for passage in passages if is_old(passage, policy, today=today)]
    fresh = len(passages) - len(old)
    return scored("freshness", fresh / len(passages), detail=f"{fresh} of {len(passages)} sources are recent enough")


def is_old(passage: Passage, policy: Policy, *, today: date) -> bool:
    """Whether a source is older than the profile allows; one without a readable date as the profile says."""
    if policy.profile.oldest_days is None:
        return False
    written = date_of(passage)
    if written is None:
        return policy.profile.undated_is_old
    return (today - written).days > policy.profile.oldest_days


def date_of(passage: Passage) -> date | None:
    """A passage's date where it is written as 2024, 2024-05 or 2024-05-01; the start of the period, else None."""
    parts = (passage.date or "").strip()[:10].replace("/", "-").split("-")
    try:
        year, month, day = (int(part) for part in [*parts, "1", "1"][:3])
        return date(year, month, day)
    except ValueError:
        return None


def grounding(item: Item, scorer: PairScorer | None, policy: Policy) -> Found:
    """Which claims of the answer stand in the passages, and whether its citations are right."""
    claims = CLAIMS.run([item], evidence={})
    matrix = ENTAILMENT.run([item], evidence={item.response.key: claims}, engine=scorer)
    evidence = [*claims, *matrix]
    score = FAITHFULNESS.at(policy.supported_from).score(item.case, item.response, evidence)
    return Found((signal_of("grounding", score),), tuple(evidence))


def citations(item: Item, scorer: PairScorer | None) -> Found:
    """Whether the cited passages support what cites them."""
    evidence = CITATIONS.run([item], evidence={}, engine=scorer)
    score = CITATION_PRECISION.score(item.case, item.response, evidence)
    return Found((signal_of("citations", score),), tuple(evidence))


def generation(answer: str) -> Signal:
    """Whether there is an answer at all: a refusal or an empty one says nothing."""
    nothing = states_nothing(answer)
    return scored("generation", 0.0 if nothing else 1.0, reason=nothing)


def signal_of(name: str, score: Score, *, detail: str | None = None) -> Signal:
    """A score between 0 and 1 as a signal."""
    if score.value is not None:
        return scored(name, score.value, detail=detail)
    return missing(name, _STATUS[score.status], score.reason or str(score.status))


def uncovered_words(query: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Words the query asks about that stand in no passage, in their order."""
    known = {word for passage in passages for word in content_words(f"{passage.title or ''}\n{passage.text}")}
    return tuple(word for word in asked_words(query) if word not in known)


def asked_words(query: str) -> tuple[str, ...]:
    """Content words of the query, each once, without those that only ask."""
    return tuple(word for word in dict.fromkeys(content_words(query)) if word not in _ASKING)


def _covered(query: str, passage: Passage) -> float:
    wanted = asked_words(query)
    return 1 - len(uncovered_words(query, [passage])) / len(wanted) if wanted else 0.0


def claims_and_matrix(answer: str, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence with the answer's claims, which need no model and exist even where grounding failed."""
    if not answer or any(isinstance(piece, ClaimsEvidence) for piece in evidence):
        return list(evidence)
    return [*CLAIMS.run([item_of("?", (), answer=answer)], evidence={}), *evidence]

"""Small claim-level runs for tests: all checks over one response, with encoders that follow a script."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from offline_eval.checks.alignment import AlignmentCheck
from offline_eval.checks.answerability import AnswerabilityCheck
from offline_eval.checks.citations import CitationsCheck
from offline_eval.checks.claims import ClaimsCheck
from offline_eval.checks.contradiction import ContradictionCheck
from offline_eval.checks.entailment import EntailmentCheck
from offline_eval.checks.entities import EntitiesCheck
from offline_eval.checks.key_points import KeyPointsCheck
from offline_eval.checks.refusal import RefusalCheck
from offline_eval.checks.reverse_questions import ReverseQuestionsCheck
from offline_eval.checks.reverse_similarity import ReverseSimilarityCheck
from offline_eval.core.evidence import Claim, ClaimsEvidence, Evidence, Provenance
from offline_eval.core.protocols import Failure, Item
from offline_eval.core.records import Case, Passage, Response
from offline_eval.core.registry import Registry
from offline_eval.core.results import Score
from offline_eval.engines.scripted import ScriptedEmbedder, ScriptedEngine, ScriptedScorer

METRICS = Registry("metric", "offline_eval.metrics", "METRIC")
PROVENANCE = Provenance(producer="claims", version="1", parameters_hash="0" * 64)
Script = Callable[[str, str], "dict[str, float] | float | Failure"]


def passages(*texts: str) -> tuple[Passage, ...]:
    return tuple(Passage(id=f"p{number}", text=text) for number, text in enumerate(texts, 1))


def make_item(answer: str, *texts: str, query: str = "What is it?", **case: Any) -> Item:
    return Item(
        case=Case(id="c1", query=query, **case),
        response=Response(case_id="c1", answer=answer, passages=passages(*texts)),
    )


def supports(*true: tuple[str, str]) -> Script:
    """A scorer's script: entailed where a (premise part, hypothesis part) of `true` fits, else neutral."""

    def script(premise: str, hypothesis: str) -> dict[str, float]:
        p = float(any(part in premise and claim in hypothesis for part, claim in true))
        return {"entailment": p, "neutral": 1.0 - p, "contradiction": 0.0}

    return script


def claims_evidence(source: str, claims: Sequence[str], *, key: str = "system/c1") -> ClaimsEvidence:
    return ClaimsEvidence.model_validate(
        {
            "response_key": key,
            "source": source,
            "claims": [Claim(text=claim) for claim in claims],
            "none_because": None if claims else "no_statement",
            "provenance": PROVENANCE,
        }
    )


def check_all(
    item: Item,
    *,
    scorer: ScriptedScorer | None = None,
    embedder: ScriptedEmbedder | None = None,
    judge: ScriptedEngine | None = None,
) -> list[Evidence]:
    """Every check's evidence of one response, in an order that gives each what it needs."""
    key = item.response.key
    evidence: dict[str, list[Evidence]] = {key: []}
    runs: list[tuple[Any, Any]] = [
        (ClaimsCheck(), None),
        (KeyPointsCheck(), None),
        (EntitiesCheck(), None),
        (EntailmentCheck(), scorer),
        (AnswerabilityCheck(), scorer),
        (CitationsCheck(), scorer),
        (ContradictionCheck(), scorer),
        (AlignmentCheck(), embedder),
        (ReverseQuestionsCheck(), judge),
        (ReverseSimilarityCheck(), embedder),
    ]
    evidence[key] += RefusalCheck().run([item])
    for check, engine in runs:
        evidence[key] += check.run([item], evidence=evidence, engine=engine)
    return evidence[key]


def score_of(name: str, item: Item, evidence: Sequence[Evidence]) -> Score:
    score: Score = METRICS.load(name).score(item.case, item.response, evidence)
    return score


def values(item: Item, evidence: Sequence[Evidence], *names: str) -> Mapping[str, float | str | None]:
    """Each metric's value, or its reason when it has none."""
    scores = {name: score_of(name, item, evidence) for name in names}
    return {name: score.reason if score.value is None else score.value for name, score in scores.items()}

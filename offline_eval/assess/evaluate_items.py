"""Runs the assessment over recorded answers, and adds what the baselines need."""

from collections.abc import Callable, Mapping, Sequence

from offline_eval.assess.evaluate_records import EvaluatedItem
from offline_eval.assess.evaluate_truth import Truth, TruthRule, truth_of
from offline_eval.assess.records import Assessment, Tier
from offline_eval.core.errors import OfflineEvalError
from offline_eval.core.records import Case, Passage, Response, query_of
from offline_eval.text.language import detect_language

Assess = Callable[[Case, Response], Assessment]
"""Assesses one recorded response."""

_DECIMALS = 6


class Evaluated:
    """Items with what all of them share.

    Attributes:
        items: One for each response, in order.
        versions: What could move the results.
        notes: What a reader should know.
    """

    def __init__(self, items: Sequence[EvaluatedItem], *, versions: Mapping[str, str], notes: Sequence[str]) -> None:
        self.items = tuple(items)
        self.versions = dict(versions)
        self.notes = tuple(notes)


def evaluate_responses(
    cases: Sequence[Case],
    responses: Sequence[Response],
    *,
    assess: Assess,
    rule: TruthRule,
    progress: Callable[[str, int, int], None] | None = None,
) -> Evaluated:
    """Assess recorded responses one after the other, so that the times are those of a lone request.

    Args:
        cases: What was asked.
        responses: Of one or several systems.
        assess: Usually `SelfAssessingRag.check`.
        rule: What counts as right.
        progress: Told how far it is.

    Returns:
        One item for each response; one that could not be assessed counts as the lowest tier, with its reason.
    """
    known = {case.id: case for case in cases}
    labelled = {response.system for response in responses if rule.fault_field in response.metadata}
    scores, origin = retrieval_scores(known, responses)
    items: list[EvaluatedItem] = []
    versions: dict[str, str] = {}
    for number, response in enumerate(responses):
        case = known[response.case_id]
        truth = truth_of(case, response, rule=rule, labelled=response.system in labelled)
        found, problem = _assessed(assess, case, response, asserts=truth.asserts)
        versions |= found.versions if found else {}
        items.append(_item(case, response, found, truth=truth, problem=problem, retrieval_score=scores[number]))
        if progress:
            progress("assess", number + 1, len(responses))
    failed = sum(item.problem is not None and item.truth.asserts for item in items)
    notes = [f"retrieval score: {origin}"]
    if failed:
        notes.append(f"{failed} answers could not be assessed and count as the lowest tier")
    return Evaluated(items, versions=versions, notes=notes)


def _item(
    case: Case,
    response: Response,
    found: Assessment | None,
    *,
    truth: Truth,
    problem: str | None,
    retrieval_score: float | None,
) -> EvaluatedItem:
    """One response with what was found about it; without an assessment, the lowest tier."""
    return EvaluatedItem(
        case_id=case.id,
        system=response.system,
        response_key=response.key,
        language=found.language if found else case.language or detect_language(case.query),
        answerable=case.answerable,
        truth=truth,
        tier=found.tier if found else Tier.ABSTAIN,
        confidence=_rounded(found.confidence.value) if found else None,
        limiting=found.limiting if found else None,
        signals=found.signals if found else (),
        problem=problem,
        retrieval_score=retrieval_score,
        ms=_times(found) if found else {},
    )


def retrieval_scores(cases: Mapping[str, Case], responses: Sequence[Response]) -> tuple[list[float | None], str]:
    """The best passage's retrieval score of every response, for the baseline that trusts it.

    Returns:
        The scores, None without passages, and where they come from: as recorded when every passage has one, else BM25
        of the query over all passages of all responses.
    """
    # By id and text: every response may number its passages from 1.
    passages = {(p.id, p.text): p for response in responses for p in response.passages}
    if passages and all(p.score is not None for response in responses for p in response.passages):
        best = [max((p.score for p in r.passages if p.score is not None), default=None) for r in responses]
        return best, "the best passage's, as recorded"
    if not any(p.text.strip() for p in passages.values()):
        return [None] * len(responses), "none, there are no passages"
    score = _bm25(list(passages.values()))
    found = [max(score(query_of(cases[r.case_id], r), r.passages), default=None) for r in responses]
    return found, "BM25 of the best passage, computed here because the responses record none"


def _bm25(passages: Sequence[Passage]) -> Callable[[str, Sequence[Passage]], list[float]]:
    from offline_eval.retrieval.analysis import Analyzer, AnalyzerSettings
    from offline_eval.retrieval.bm25 import Bm25Settings, build_bm25
    from offline_eval.retrieval.passage_store import searchable_text

    analyzer = Analyzer(AnalyzerSettings())
    model = build_bm25((analyzer.tokens(searchable_text(p)) for p in passages), Bm25Settings())
    place = {(p.id, p.text): number for number, p in enumerate(passages)}

    def score(query: str, shown: Sequence[Passage]) -> list[float]:
        tokens = [model.vocab_dict[t] for t in analyzer.tokens(query) if t in model.vocab_dict]
        if not tokens:
            return [0.0] * len(shown)
        scores = model.get_scores_from_ids(tokens)  # (n_passages,)
        return [float(scores[place[p.id, p.text]]) for p in shown]

    return score


def _assessed(assess: Assess, case: Case, response: Response, *, asserts: bool) -> tuple[Assessment | None, str | None]:
    if response.error is not None:
        return None, f"the system failed: {response.error}"
    if not asserts:
        return None, "nothing was asserted"
    try:
        return assess(case, response), None
    except OfflineEvalError as error:  # one response's trouble is data
        return None, str(error)


def _rounded(value: float | None) -> float | None:
    """Confidences to six decimals, as probabilities are stored: the last bits differ between machines."""
    return None if value is None else round(value, _DECIMALS)


def _times(found: Assessment) -> dict[str, float]:
    if found.cached:
        return {}
    return {timing.stage.value: timing.ms for timing in found.timings} | {"total": found.total_ms}

"""Checks with encoders: key points follow from the expected passages, which answer the question, and nothing else does.

All drafts of a batch share one call an encoder, as in the checks of a run, whose reading of pairs is used here too.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from offline_eval.checks._support import Pair, Relation, support_of, unspoken_language
from offline_eval.core.evidence import Support
from offline_eval.core.protocols import PairScorer, Retriever
from offline_eval.core.records import Passage
from offline_eval.testset.draft import CheckResult, Draft
from offline_eval.testset.surface_checks import FindPassage, Thresholds, passed, refused, unknown

_JOIN = "\n\n"
_WITH_PREMISE = ("counterfactual", "adversarial")


class Encoders(NamedTuple):
    """What the checks ask.

    Attributes:
        nli: Does a passage entail a statement; None leaves those checks out, and says so.
        answerability: Does a passage answer a question; None the same.
        search: Finds passages of the whole corpus.
        find: Passage id to passage.
        twins: Passage id to the other passages of the corpus with the same text, which are expected where it is.
    """

    nli: PairScorer | None
    answerability: PairScorer | None
    search: Retriever
    find: FindPassage
    twins: Mapping[str, Sequence[str]] = MappingProxyType({})


class Shown(NamedTuple):
    """A draft with the passages its checks look at.

    Attributes:
        expected: The passages it expects; the ones it was written from when it expects none.
        others: What the corpus finds for its question beside them and their twins, best first.
        twins: Passages with an expected one's text, each with that one's id.
    """

    draft: Draft
    expected: tuple[Passage, ...]
    others: tuple[Passage, ...]
    twins: tuple[tuple[Passage, str], ...] = ()

    @property
    def together(self) -> str:
        """The expected passages as one text."""
        return _JOIN.join(passage.text for passage in self.expected)

    @property
    def premises(self) -> list[str]:
        """Texts a key point may follow from; a counterfactual one may follow from what is supposed."""
        texts = [*(passage.text for passage in self.expected), self.together]
        if self.draft.type == "counterfactual" and self.draft.false_premise:
            texts += [self.draft.false_premise, f"{self.together}{_JOIN}{self.draft.false_premise}"]
        return list(dict.fromkeys(texts))

    @property
    def wants_an_answer(self) -> bool:
        """Whether an encoder can be asked if passages answer it; against a false premise it would rightly say no."""
        return self.draft.type not in _WITH_PREMISE


class Cells(NamedTuple):
    """What an encoder said about pairs, or why it was not asked."""

    cells: Mapping[Pair, Support]
    refused: Mapping[str, str]  # draft id to reason

    def value(self, premise: str, hypothesis: str) -> float:
        """The probability; a failure counts as none, `failure_of` tells."""
        return self.cells[premise, hypothesis].entailment or 0.0


def show(drafts: Sequence[Draft], encoders: Encoders, thresholds: Thresholds) -> list[Shown]:
    """Look up the passages each draft is held against."""
    expected = [
        tuple(name for name, grade in draft.case.relevant_passages.items() if grade > 1) or draft.sources
        for draft in drafts
    ]
    twins = [{twin: name for name in names for twin in encoders.twins.get(name, ())} for names in expected]
    most = max((len(names) + len(same) for names, same in zip(expected, twins, strict=True)), default=0)
    hits = encoders.search.search([draft.case.query for draft in drafts], k=thresholds.search_depth + most)
    shown = []
    for draft, names, same, found in zip(drafts, expected, twins, hits, strict=True):
        others = [hit.passage_id for hit in found if hit.passage_id not in (*names, *same)][: thresholds.search_depth]
        copies = tuple((passage, same[passage.id]) for passage in _passages(list(same), encoders.find))
        shown.append(Shown(draft, _passages(names, encoders.find), _passages(others, encoders.find), copies))
    return shown


def grounding_checks(
    drafts: Sequence[Draft], encoders: Encoders, thresholds: Thresholds
) -> list[tuple[Draft, list[CheckResult]]]:
    """Hold drafts against the corpus.

    Args:
        drafts: Those that passed the surface checks.

    Returns:
        Each draft, with the further passages that bear on it as grade 1 and those with an expected one's text as that
        one, and what the checks said, up to the first that throws it out.
    """
    shown = show(drafts, encoders, thresholds)
    support = _ask(shown, encoders.nli, "entails")
    answers = _ask(shown, encoders.answerability, "answers")
    results = []
    for item in shown:
        found: list[CheckResult] = []
        for result in _checks_of(item, support, answers, encoders, thresholds):
            found.append(result)
            if result.outcome == "rejected":
                break
        graded = (
            item.draft if found[-1].outcome == "rejected" else _with_twins(_graded(item, support, thresholds), item)
        )
        results.append((graded, found))
    return results


def entailed_distractors(drafts: Sequence[Draft], encoders: Encoders, thresholds: Thresholds) -> list[CheckResult]:
    """Whether what each wrong answer says follows from the draft's passages together, so that it is a right one.

    Args:
        drafts: With a distractor.
    """
    check, limit, results = "distractor_entailed", thresholds.supported_from, []
    pairs = {
        draft.id: (_JOIN.join(p.text for p in _passages(draft.sources, encoders.find)), draft.distractor or "")
        for draft in drafts
    }
    cells = _cells({name: [pair] for name, pair in pairs.items()}, encoders.nli, "entails")
    for name, pair in pairs.items():
        if name in cells.refused:
            results.append(unknown(check, cells.refused[name]))
            continue
        value = cells.value(*pair)
        if value >= limit:
            results.append(refused(check, "entailed", "it follows from the passages", value=value, threshold=limit))
        else:
            results.append(passed(check, value=value, threshold=limit))
    return results


def _ask(shown: Sequence[Shown], engine: PairScorer | None, relation: Relation) -> Cells:
    return _cells({item.draft.id: _pairs(item, relation) for item in shown}, engine, relation)


def _cells(wanted: Mapping[str, Sequence[Pair]], engine: PairScorer | None, relation: Relation) -> Cells:
    """Every pair of every draft at once; drafts in a language the encoder was not made for are left out."""
    if engine is None:
        return Cells({}, dict.fromkeys(wanted, "no_engine"))
    spoken = {name: unspoken_language(pairs, engine, relation=relation) for name, pairs in wanted.items()}
    refusals = {name: f"language: {language}" for name, language in spoken.items() if language is not None}
    asked = [pair for name, pairs in wanted.items() if name not in refusals for pair in pairs]
    cells = support_of(asked, engine, relation=relation)
    for name, pairs in wanted.items():
        failed = next((cells[pair].failure for pair in pairs if pair in cells and cells[pair].failure), None)
        if failed is not None and name not in refusals:
            refusals[name] = failed
    return Cells(cells, refusals)


def _pairs(item: Shown, relation: Relation) -> list[Pair]:
    draft, others = item.draft, [passage.text for passage in item.others]
    if relation == "answers":
        if not item.wants_an_answer:
            return []
        alone = [passage.text for passage in item.expected]
        return [(text, draft.case.query) for text in dict.fromkeys([*alone, item.together, *others])]
    pairs = [(text, point) for point in draft.case.key_points for text in dict.fromkeys([*item.premises, *others])]
    if draft.false_premise:
        pairs.append((item.together, draft.false_premise))
    return pairs


def _checks_of(
    item: Shown, support: Cells, answers: Cells, encoders: Encoders, thresholds: Thresholds
) -> list[CheckResult]:
    draft = item.draft
    checks: list[CheckResult] = []
    if draft.type in _WITH_PREMISE:
        checks.append(_premise(item, support, thresholds))
    if draft.case.key_points:
        checks.append(_grounded(item, support, encoders, thresholds))
    if draft.type == "unanswerable":
        return [*checks, _unanswerable(item, answers, thresholds)]
    if item.wants_an_answer:
        checks += [_answered(item, answers, thresholds), _nowhere_else(item, answers, thresholds)]
    if draft.type == "multi_hop":
        checks.append(_needs_all(item, support, answers, thresholds))
    return checks


def _premise(item: Shown, support: Cells, thresholds: Thresholds) -> CheckResult:
    check, draft = "false_premise", item.draft
    if draft.id in support.refused:
        return unknown(check, support.refused[draft.id])
    value = support.value(item.together, draft.false_premise or "")
    if value >= thresholds.supported_from:
        detail = f"the passages say so themselves: {(draft.false_premise or '')[:60]}"
        return refused(check, "premise_true", detail, value=value, threshold=thresholds.supported_from)
    return passed(check, value=value, threshold=thresholds.supported_from)


def _grounded(item: Shown, support: Cells, encoders: Encoders, thresholds: Thresholds) -> CheckResult:
    """Every key point follows from the expected passages; one that follows from others shows that the ids are wrong."""
    check, draft, limit = "grounded", item.draft, thresholds.supported_from
    if draft.id in support.refused:
        return unknown(check, support.refused[draft.id])
    best = {point: max(support.value(text, point) for text in item.premises) for point in draft.case.key_points}
    weakest = min(best, key=lambda point: best[point])
    if best[weakest] >= limit:
        return passed(check, value=best[weakest], threshold=limit)
    loose = [point for point, value in best.items() if value < limit]
    other = _holder(item, loose, encoders, thresholds)
    value = best[weakest]
    if other is not None:
        detail = f"{weakest[:60]!r} follows from {other}, not from the expected passages"
        return refused(check, "wrong_passage_ids", detail, value=value, threshold=limit)
    return refused(check, "ungrounded", f"not in the passages: {weakest[:80]}", value=value, threshold=limit)


def _holder(item: Shown, points: Sequence[str], encoders: Encoders, thresholds: Thresholds) -> str | None:
    """A passage of the rest of the corpus from which all these points surely follow."""
    expected = {passage.id for passage in (*item.expected, *(twin for twin, _ in item.twins))}
    hits = encoders.search.search([*points, item.draft.case.query], k=thresholds.search_depth + len(item.twins))
    names = [name for name in dict.fromkeys(hit.passage_id for found in hits for hit in found) if name not in expected]
    passages = _passages(names, encoders.find)
    cells = support_of(((p.text, point) for p in passages for point in points), encoders.nli)
    for passage in passages:
        values = [cells[passage.text, point].entailment or 0.0 for point in points]
        if min(values) >= thresholds.sure_from:
            return passage.id
    return None


def _answered(item: Shown, answers: Cells, thresholds: Thresholds) -> CheckResult:
    check, draft = "answered", item.draft
    if draft.id in answers.refused:
        return unknown(check, answers.refused[draft.id])
    texts = [*(passage.text for passage in item.expected), item.together]
    value = max(answers.value(text, draft.case.query) for text in texts)
    if value < thresholds.answerable_from:
        detail = "the expected passages do not answer the question"
        return refused(check, "not_answered", detail, value=value, threshold=thresholds.answerable_from)
    return passed(check, value=value, threshold=thresholds.answerable_from)


def _nowhere_else(item: Shown, answers: Cells, thresholds: Thresholds) -> CheckResult:
    check, draft = "nowhere_else", item.draft
    if draft.id in answers.refused:
        return unknown(check, answers.refused[draft.id])
    value, name = max(((answers.value(p.text, draft.case.query), p.id) for p in item.others), default=(0.0, ""))
    if value >= thresholds.sure_from:
        detail = f"{name} answers it too and is not expected"
        return refused(check, "answered_elsewhere", detail, value=value, threshold=thresholds.sure_from)
    return passed(check, value=value, threshold=thresholds.sure_from)


def _unanswerable(item: Shown, answers: Cells, thresholds: Thresholds) -> CheckResult:
    check, draft = "unanswerable", item.draft
    if draft.id in answers.refused:
        return unknown(check, answers.refused[draft.id])
    looked_at = [*item.expected, *item.others]
    value, name = max(((answers.value(p.text, draft.case.query), p.id) for p in looked_at), default=(0.0, ""))
    if value >= thresholds.answerable_from:
        detail = f"{name} answers it"
        return refused(check, "answerable", detail, value=value, threshold=thresholds.answerable_from)
    return passed(check, value=value, threshold=thresholds.answerable_from)


def _needs_all(item: Shown, support: Cells, answers: Cells, thresholds: Thresholds) -> CheckResult:
    """No passage alone holds all key points, and none surely answers the question alone."""
    check, draft = "needs_all", item.draft
    points = draft.case.key_points
    unasked = support.refused.get(draft.id) if points else None
    unasked = unasked or answers.refused.get(draft.id)
    if unasked is not None:
        return unknown(check, unasked)
    for passage in item.expected:
        held = min((support.value(passage.text, point) for point in points), default=0.0)
        if points and held >= thresholds.supported_from:
            detail = f"{passage.id} alone holds every key point"
            return refused(check, "single_hop", detail, value=held, threshold=thresholds.supported_from)
    value, name = max(((answers.value(p.text, draft.case.query), p.id) for p in item.expected), default=(0.0, ""))
    if value >= thresholds.sure_from:
        detail = f"{name} alone answers it"
        return refused(check, "single_hop", detail, value=value, threshold=thresholds.sure_from)
    return passed(check, value=value, threshold=thresholds.sure_from)


def _graded(item: Shown, support: Cells, thresholds: Thresholds) -> Draft:
    """The draft with grade 1 for passages beside the expected ones from which a key point surely follows."""
    draft = item.draft
    if draft.id in support.refused or draft.type == "unanswerable":
        return draft
    points = draft.case.key_points
    helpful = {
        passage.id: 1
        for passage in item.others
        if any(support.value(passage.text, point) >= thresholds.sure_from for point in points)
    }
    if not helpful:
        return draft
    case = draft.case.model_copy(update={"relevant_passages": {**helpful, **draft.case.relevant_passages}})
    return draft.model_copy(update={"case": case})


def _with_twins(draft: Draft, item: Shown) -> Draft:
    """The draft that expects every copy of what it expects, with the same grade."""
    case, origins = draft.case, {passage.id: passage for passage in item.expected}
    passages, documents = dict(case.relevant_passages), dict(case.relevant_documents)
    for twin, name in item.twins:
        if name in case.relevant_passages:
            passages[twin.id] = case.relevant_passages[name]
        grade = case.relevant_documents.get(origins[name].doc_id or "") if name in origins else None
        if twin.doc_id and grade is not None:
            documents[twin.doc_id] = max(grade, documents.get(twin.doc_id, grade))
    if passages == case.relevant_passages and documents == case.relevant_documents:
        return draft
    update = {"relevant_passages": passages, "relevant_documents": documents}
    return draft.model_copy(update={"case": case.model_copy(update=update)})


def _passages(names: Sequence[str], find: FindPassage) -> tuple[Passage, ...]:
    return tuple(passage for passage in map(find, names) if passage is not None)

"""Questions reworded by a judge, kept only when each entails the other, names and figures stay, and nothing repeats.

Why both directions: a rewording that asks for less, or for more, would be graded against the wrong answer.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from offline_eval.checks._support import support_of, unspoken_language
from offline_eval.core.protocols import GenerateRequest, PairScorer, TextEngine
from offline_eval.core.records import Case
from offline_eval.testset.near_duplicates import likeness
from offline_eval.testset.prompts import PromptLanguage, load_prompts, step_request
from offline_eval.testset.writing import written_object
from offline_eval.text.entities import find_entities
from offline_eval.text.language import detect_language
from offline_eval.text.normalize import normalize

JudgeKind = Literal["paraphrase", "lengthened"]
JUDGE_KINDS: tuple[JudgeKind, ...] = ("paraphrase", "lengthened")

_NOTHING_NEW = 0.98


class JudgedVariant(NamedTuple):
    """One rewording.

    Attributes:
        case_id: Of the case it belongs to.
        kind: The field it was written in: `paraphrase`, `colloquial` or `lengthened`.
        dropped: Why it is not used; None when it is.
        value: The weaker of both entailments, in [0, 1]; None where it was not asked for.
    """

    case_id: str
    kind: str
    text: str
    dropped: str | None = None
    value: float | None = None


def judge_variants(
    cases: Sequence[Case],
    kinds: Sequence[JudgeKind],
    *,
    engine: TextEngine,
    nli: PairScorer | None,
    entailed_from: float = 0.5,
) -> list[JudgedVariant]:
    """Let a judge reword questions.

    Args:
        nli: None drops everything, since nobody could say whether the meaning stayed.
        entailed_from: Probability that both directions must reach, in [0, 1].

    Returns:
        Every rewording with its fate, in the order of cases and kinds.
    """
    asked = [(case, kind) for case in cases for kind in kinds]
    requests = [_request(case, kind) for case, kind in asked]
    answers = engine.generate(requests) if requests else []
    found: list[tuple[Case, JudgedVariant]] = []
    for (case, kind), request, answer in zip(asked, requests, answers, strict=True):
        written = written_object(request, answer)
        if isinstance(written, str):
            found.append((case, JudgedVariant(case.id, kind, "", dropped="step_failed")))
            continue
        for name, text in written.fields.items():
            fault = "cut_off" if name in written.cut_off else _fault(case, text)
            found.append((case, JudgedVariant(case.id, name, text, fault)))
    return _entailed(found, nli, entailed_from)


def _request(case: Case, kind: JudgeKind) -> GenerateRequest:
    prompts = load_prompts(_language(case))
    return step_request(prompts, prompts.steps[kind], shown={"question": case.query})


def _language(case: Case) -> PromptLanguage:
    return "zh" if (case.language or detect_language(case.query)) == "zh" else "en"


def _fault(case: Case, text: str) -> str | None:
    """What rules object to."""
    if not any(map(str.isalnum, text)):
        return "empty"
    if normalize(text) == normalize(case.query) or likeness(text, case.query) >= _NOTHING_NEW:
        return "nothing_new"
    if detect_language(text) != detect_language(case.query):
        return "wrong_language"
    wanted = {entity.key for entity in find_entities(case.query) if entity.kind in ("quantity", "code")}
    written = {entity.key for entity in find_entities(text) if entity.kind in ("quantity", "code")}
    return "figures_changed" if wanted != written else None


def _entailed(found: Sequence[tuple[Case, JudgedVariant]], nli: PairScorer | None, limit: float) -> list[JudgedVariant]:
    pairs = [
        pair
        for case, variant in found
        if variant.dropped is None
        for pair in ((case.query, variant.text), (variant.text, case.query))
    ]
    spoken = {pair: unspoken_language([pair], nli) for pair in pairs} if nli is not None else {}
    cells = support_of([pair for pair in pairs if spoken.get(pair) is None], nli) if nli is not None else {}
    results = []
    for case, variant in found:
        if variant.dropped is not None:
            results.append(variant)
            continue
        there, back = (case.query, variant.text), (variant.text, case.query)
        if there not in cells or back not in cells:
            results.append(variant._replace(dropped="not_checked"))
            continue
        value = min(cells[there].entailment or 0.0, cells[back].entailment or 0.0)
        results.append(variant._replace(value=value, dropped=None if value >= limit else "meaning_changed"))
    return results

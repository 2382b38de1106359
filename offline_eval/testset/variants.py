"""Adds variants to the questions of a set, for measures of robustness, and says what was added and what was dropped."""

from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from offline_eval.core.protocols import PairScorer, TextEngine
from offline_eval.core.records import Case, Record
from offline_eval.testset.judge_variants import JUDGE_KINDS, JudgedVariant, JudgeKind, judge_variants
from offline_eval.testset.rule_variants import RULE_KINDS, RuleKind, rule_variant
from offline_eval.text.language import detect_language
from offline_eval.text.normalize import normalize


class VariantCount(Record):
    """One kind of variant.

    Attributes:
        made: Variants that were added.
        dropped: Reason to cases that got none.
    """

    kind: str
    made: int = Field(ge=0)
    dropped: dict[str, int] = Field(default_factory=dict)


class Varied(Record):
    """A set with its new variants."""

    cases: tuple[Case, ...]
    counts: tuple[VariantCount, ...]


def add_variants(
    cases: Sequence[Case],
    rules: Sequence[RuleKind] = RULE_KINDS,
    *,
    judged: Sequence[JudgeKind] = JUDGE_KINDS,
    engine: TextEngine | None = None,
    nli: PairScorer | None = None,
    seed: int = 0,
) -> Varied:
    """Append variants behind those a case has already; what it has is never written twice.

    Args:
        rules: Kinds that rules make.
        judged: Kinds that a judge makes; nothing without an engine.
        nli: Says whether a judge's rewording means the same.
    """
    written: dict[str, list[JudgedVariant]] = {}
    if engine is not None:
        for variant in judge_variants(cases, judged, engine=engine, nli=nli):
            written.setdefault(variant.case_id, []).append(variant)
    outcomes: dict[str, list[str | None]] = {}
    varied = []
    for case in cases:
        texts = [(f"rule {kind}", *_by_rule(case, kind, seed)) for kind in rules]
        texts += [(f"judge {found.kind}", found.text, found.dropped) for found in written.get(case.id, ())]
        added: list[str] = []
        known = {normalize(case.query), *map(normalize, case.variants)}
        for kind, text, dropped in texts:
            repeated = dropped is None and normalize(text) in known
            reason = "repeated" if repeated else dropped
            outcomes.setdefault(kind, []).append(reason)
            if reason is None:
                added.append(text)
                known.add(normalize(text))
        varied.append(case.model_copy(update={"variants": (*case.variants, *added)}))
    return Varied(cases=tuple(varied), counts=tuple(_count(kind, found) for kind, found in outcomes.items()))


def _by_rule(case: Case, kind: RuleKind, seed: int) -> tuple[str, str | None]:
    """The variant, or why there is none."""
    spoken = case.language or detect_language(case.query)
    if spoken not in ("en", "zh"):
        return "", f"language: {spoken}"
    text = rule_variant(case.query, kind, language="zh" if spoken == "zh" else "en", seed=seed)
    return (text, None) if text is not None else ("", "nothing_to_change")


def _count(kind: str, outcomes: Sequence[str | None]) -> VariantCount:
    reasons = Counter(reason for reason in outcomes if reason is not None)
    return VariantCount(kind=kind, made=len(outcomes) - reasons.total(), dropped=dict(reasons.most_common()))

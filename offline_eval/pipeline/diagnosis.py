"""Stored evidence → which part of the system is at fault, per response and overall; pure, so no model is asked.

A mean says that something is wrong; what to change is seen only from which metrics are low together. "None found" never
stands for "nobody looked": what could not be examined is named beside it.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from offline_eval.core.diagnosis import FAULTS, TAGS, CaseDiagnosis, Cause, Fault, SystemDiagnosis, Tag, TagCount, Text
from offline_eval.core.evidence import Evidence
from offline_eval.core.protocols import Item
from offline_eval.core.results import Score, Status
from offline_eval.pipeline.diagnosis_rules import NOT_SCORED, RULES, Lacking, Seen
from offline_eval.pipeline.diagnosis_texts import ADVICE, NAMES, NOT_EXAMINED, PARTS, READINGS
from offline_eval.stats.intervals import mean_interval
from offline_eval.stats.undefined import Undefined

NO_EVIDENCE = "evidence_lacking"
_PARTS: tuple[Fault, ...] = ("retrieval", "generation")


def diagnose(
    item: Item, evidence: Sequence[Evidence], *, scores: Mapping[str, Mapping[str, Score]] = NOT_SCORED
) -> CaseDiagnosis:
    """What went wrong with one response, and which part to mend.

    Args:
        item: The response with its case.
        evidence: All of the response's evidence.
        scores: Metric to response key to score, of what was scored already; all else is computed.

    Returns:
        `failed` for a response without an answer, `not_applicable` when no rule that concerns it could be examined.
    """
    about = {"response_key": item.response.key, "case_id": item.case.id, "system": item.response.system}
    if item.response.error is not None:
        return CaseDiagnosis(**about, status=Status.FAILED, status_reason=item.response.error)
    seen = Seen(item, evidence, scores)
    causes, unchecked = [], {}
    for tag, rule in RULES.items():
        try:
            found = rule(seen)
        except Lacking as lacking:
            unchecked[tag] = str(lacking)
            continue
        if found is not None:
            causes.append(found)
    if len(unchecked) == len(RULES):
        return CaseDiagnosis(**about, status=Status.NOT_APPLICABLE, status_reason=NO_EVIDENCE, unchecked=unchecked)
    return CaseDiagnosis(**about, status=Status.SCORED, fault=_fault(causes), causes=tuple(causes), unchecked=unchecked)


def diagnose_all(
    items: Sequence[Item],
    evidence: Mapping[str, Sequence[Evidence]],
    *,
    scores: Mapping[str, Mapping[str, Score]] = NOT_SCORED,
) -> list[CaseDiagnosis]:
    """Every response's diagnosis, in the items' order.

    Args:
        evidence: Response key to the response's evidence.
        scores: Metric to response key to score, of what was scored already; all else is computed.
    """
    return [diagnose(item, evidence.get(item.response.key, ()), scores=scores) for item in items]


def overall(found: Sequence[CaseDiagnosis], *, seed: int) -> list[SystemDiagnosis]:
    """Each system's diagnosis over its responses.

    Args:
        seed: Seed of the intervals' resampling.
    """
    by_system: dict[str, list[CaseDiagnosis]] = defaultdict(list)
    for one in found:
        by_system[one.system].append(one)
    return [_system(system, ones, seed) for system, ones in by_system.items()]


def _fault(causes: Sequence[Cause]) -> Fault:
    parts = {cause.part for cause in causes}
    if not parts:
        return "none_found"
    return parts.pop() if len(parts) == 1 else "both"


def _system(system: str, found: Sequence[CaseDiagnosis], seed: int) -> SystemDiagnosis:
    counts = Counter(one.fault for one in found if one.fault is not None)
    faults: dict[Fault, int] = {fault: counts[fault] for fault in FAULTS}
    tags = sorted((_tag(tag, found, seed) for tag in TAGS), key=lambda count: -count.n)
    return SystemDiagnosis(
        system=system,
        n=len(found),
        failed=sum(one.status is Status.FAILED for one in found),
        lacking=sum(one.status is Status.NOT_APPLICABLE for one in found),
        faults=faults,
        tags=tuple(tags),
        reading=_reading(faults),
    )


def _tag(tag: Tag, found: Sequence[CaseDiagnosis], seed: int) -> TagCount:
    examined = [one for one in found if one.status is Status.SCORED and tag not in one.unchecked]
    flags = [float(any(cause.tag == tag for cause in one.causes)) for one in examined]
    interval = mean_interval(flags, low=0, high=1, clusters=[one.case_id for one in examined], seed=seed)
    lacking = Counter(one.unchecked[tag] for one in found if tag in one.unchecked)
    return TagCount(
        tag=tag,
        name=NAMES[tag],
        part=PARTS[tag],
        advice=ADVICE[tag],
        n=int(sum(flags)),
        examined=len(examined),
        share=sum(flags) / len(flags) if flags else None,
        interval=None if isinstance(interval, Undefined) else interval,
        interval_reason=interval.reason if isinstance(interval, Undefined) else None,
        lacking=dict(lacking.most_common()),
    )


def _reading(faults: Mapping[Fault, int]) -> Text:
    """The part with more than half of the faulty responses; `both` when neither has."""
    faulty = sum(faults.values()) - faults["none_found"]
    if not sum(faults.values()):
        return NOT_EXAMINED
    if not faulty:
        return _filled("none_found", n=faults["none_found"], faulty=0)
    main: Fault = next((part for part in _PARTS if 2 * faults[part] > faulty), "both")
    return _filled(main, n=faults[main], faulty=faulty)


def _filled(fault: Fault, *, n: int, faulty: int) -> Text:
    text = READINGS[fault]
    return Text(en=text.en.format(n=n, faulty=faulty), zh=text.zh.format(n=n, faulty=faulty))

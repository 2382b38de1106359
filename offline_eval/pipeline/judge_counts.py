"""Counts what each judge did, and finds judges that say the same of everything."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import mean

from offline_eval.core.diagnosis import Text
from offline_eval.core.evidence import ReasonEvidence, VerdictEvidence
from offline_eval.core.results import Status
from offline_eval.core.summary import JudgeCount

COLLAPSE_LEAST, COLLAPSE_SHARE = 10, 0.9


def judge_counts(
    verdicts: Iterable[VerdictEvidence], reasons: Iterable[ReasonEvidence], *, engine: str
) -> list[JudgeCount]:
    """What each judge was asked, how it answered, and what that cost."""
    judged: dict[str, list[VerdictEvidence]] = defaultdict(list)
    told: dict[str, list[ReasonEvidence]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.verdict.decided_by == "judge":
            judged[verdict.judge].append(verdict)
    for reason in reasons:
        told[reason.judge].append(reason)
    return [_judge_count(judge, pieces, told[judge], engine) for judge, pieces in judged.items()]


def _judge_count(
    judge: str, verdicts: Sequence[VerdictEvidence], reasons: Sequence[ReasonEvidence], engine: str
) -> JudgeCount:
    masses = [p.verdict.off_label_mass for p in verdicts if p.verdict.off_label_mass is not None]
    return JudgeCount(
        judge=judge,
        engine=engine,
        guarantee=verdicts[0].guarantee,
        verdicts=len(verdicts),
        failed=sum(piece.verdict.status is Status.FAILED for piece in verdicts),
        by_label=dict(sorted(Counter(piece.verdict.label for piece in verdicts if piece.verdict.label).items())),
        reasons=len(reasons),
        reasons_failed=sum(piece.status is Status.FAILED for piece in reasons),
        quotes=sum(bool(piece.quote) for piece in reasons),
        quotes_verbatim=sum(bool(piece.quote_verbatim) for piece in reasons),
        off_label_mass=mean(masses) if masses else None,
        prompt_tokens=sum(v.prompt_tokens for v in verdicts) + sum(r.prompt_tokens for r in reasons),
        output_tokens=sum(v.output_tokens for v in verdicts) + sum(r.output_tokens for r in reasons),
    )


def collapsed_judges(found: Sequence[VerdictEvidence]) -> Iterable[Text]:
    """Judges that gave nearly every response the same label on a dimension."""
    labels: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for piece in found:
        if piece.verdict.decided_by == "judge" and piece.verdict.label is not None:
            labels[piece.judge, piece.dimension][piece.verdict.label] += 1
    for (judge, dimension), counts in sorted(labels.items()):
        label, n = counts.most_common(1)[0]
        if counts.total() >= COLLAPSE_LEAST and n / counts.total() > COLLAPSE_SHARE:
            yield Text(
                en=f"{judge} gave {n} of {counts.total()} responses the same {dimension} label ({label}): "
                "it does not tell good answers from bad ones, use a larger judge",
                zh=f"{judge} 给 {counts.total()} 条回答中的 {n} 条在 {dimension} 维度上打了同一标签（{label}）："
                "它分不清好坏，请换用更大的评审模型",
            )

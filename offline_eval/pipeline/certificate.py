"""Stored self-tests and verdicts → what a report says about repeating the run."""

from collections.abc import Iterable, Sequence

from offline_eval.core.certification import Certification, SelfTest, UnstableVerdict
from offline_eval.core.evidence import Evidence, VerdictEvidence
from offline_eval.engines.certified import IN_PROCESS
from offline_eval.pipeline.config import RunConfig


def certification(config: RunConfig, tests: Sequence[SelfTest], evidence: Iterable[Evidence]) -> Certification:
    """Whether the run is certified, and which verdicts are not stable.

    Args:
        tests: Of this run; the last one of each judge counts, since it was made on the engine that finished.
        evidence: All of the run's.
    """
    latest = {test.judge: test for test in tests}
    noise = {judge: test.noise for judge, test in latest.items() if test.noise > 0}
    unstable = [
        UnstableVerdict(
            response_key=piece.response_key,
            dimension=piece.dimension,
            judge=piece.judge,
            label=piece.verdict.label or "",
            margin=piece.verdict.margin,
        )
        for piece in evidence
        if isinstance(piece, VerdictEvidence)
        and piece.verdict.margin is not None
        and piece.verdict.margin <= noise.get(piece.judge, -1.0)
    ]
    status, why = _judged(config, latest)
    unstable.sort(key=lambda verdict: (verdict.margin, verdict.response_key, verdict.dimension, verdict.judge))
    return Certification.model_validate(
        {
            "wanted": config.certified,
            "status": status,
            "why": why,
            "tests": tuple(latest.values()),
            "unstable": tuple(unstable),
        }
    )


def _judged(config: RunConfig, tests: dict[str, SelfTest]) -> tuple[str, str]:
    """The status and its reason."""
    asked = [name for name in config.all_judges if name in tests or name in config.judge_names]
    untested = [name for name in asked if name not in tests or not tests[name].n]
    if not asked:
        return "not_tested", "no judge was asked"
    if untested:
        return "not_tested", f"no self-test of {', '.join(untested)}: {_untested_because(config)}"
    held = {tests[name].holds_for for name in asked}
    n = min(tests[name].n for name in asked)
    if "nothing" in held:
        moved = [name for name in asked if tests[name].holds_for == "nothing"]
        return "not_certified", f"verdicts of {', '.join(moved)} move when the very same batch is asked again"
    found = (
        f"identical over batch sizes, order, cache state and resuming, on {n} prompts"
        if held == {"any_batches"}
        else f"identical for the same batches, which the plan fixes; other batches move them; on {n} prompts"
    )
    if not config.certified:
        return "not_certified", f"certified mode was off; the self-test found verdicts {found}"
    return ("certified" if held == {"any_batches"} else "certified_same_batches"), f"verdicts {found}"


def _untested_because(config: RunConfig) -> str:
    if config.engine not in IN_PROCESS:
        return f"answers of engine {config.engine} are tested with --certified alone"
    return "the judge was not loaded (stored answers were used), or --certify-sample 0"

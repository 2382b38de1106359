"""Stored self-tests and verdicts → what a report says about repeating the run."""

from collections.abc import Iterable, Sequence

from offline_eval.core.certification import Certification, SelfTest, UnstableVerdict
from offline_eval.core.evidence import Evidence, VerdictEvidence
from offline_eval.engines.certified import IN_PROCESS
from offline_eval.pipeline.config import RunConfig


def certification(config: RunConfig, tests: Sequence[SelfTest], evidence: Iterable[Evidence]) -> Certification:
    """Whether the run is certified, and which verdicts are not stable.

    A status speaks for every judge of the run, and for the arbiter where one was tested; the weakest of them decides.

    Args:
        config: What the run asked for: its judges, its engine, and whether certified mode was on.
        tests: Self-tests of this run in the order in which they were made; the last one of each judge counts, since it
            was made on the engine that finished.
        evidence: All of the run's, in any order; only verdicts are read.

    Returns:
        The status with its reason in words; the last test of each judge; and as `unstable` the verdicts whose margin
        (best label's probability less the next one's, in [0, 1]) is no larger than the noise measured for their judge,
        lowest margin first. A judge whose margins did not move has none. The statuses:

        `certified`: certified mode was on, and no test's verdicts moved over batch sizes, order, cache state and
            resuming.
        `certified_same_batches`: certified mode was on, and the verdicts are the same for the same batches, which the
            plan fixes; at least one judge's move with other batches, another order or what the cache holds.
        `not_certified`: every judge was tested, and either a judge's verdicts moved when the very same batch was asked
            again, or certified mode was off, whatever the tests found; `why` says which, and what they found.
        `not_tested`: no judge was asked, or at least one has no self-test with an answered prompt, so that nothing is
            known: it was not loaded because stored answers were used, `--certify-sample 0` was given, or its engine is
            tested with `--certified` alone.
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

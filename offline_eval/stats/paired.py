"""Two systems on the same cases: the difference, whether chance explains it, and a verdict in plain words."""

from collections.abc import Mapping, Sequence
from math import erfc, sqrt
from typing import Literal

import numpy as np
from pydantic import Field

from offline_eval.core.errors import DataError
from offline_eval.core.records import Record
from offline_eval.core.results import Interval
from offline_eval.stats.arrays import Clusters, Floats, check_equal_lengths, check_share, finite, numbered
from offline_eval.stats.intervals import LEVEL, RESAMPLES, bootstrap_mean
from offline_eval.stats.measured import Measured, measured
from offline_eval.stats.power import smallest_difference
from offline_eval.stats.undefined import Undefined

Outcome = Literal["better", "worse", "cannot tell"]

_FLIPS = 9999
_FLIPS_AT_ONCE = 2_000_000
_NORMAL_FROM = 50_000  # clusters; the sum of so many random signs is normal to well beyond three digits


class PairedComparison(Record):
    """A candidate against a baseline on the cases both were scored on.

    Attributes:
        difference: Candidate less baseline, mean over pairs, in the metric's unit; `difference.n` pairs.
        n_left_out: Pairs in which one side was not scored.
        wins: Pairs in which the candidate is better.
        losses: Pairs in which the candidate is worse.
        p: Two-sided, before any correction for several comparisons; None when undefined.
        p_method: `McNemar mid-p` or `sign flips over clusters`.
        smallest_difference: What this number of cases could show with power .8, given the spread of the differences;
            None below 2 cases and without spread.
        verdict: By the interval alone; see `verdict`.
    """

    difference: Measured
    baseline_mean: float | None
    candidate_mean: float | None
    n_left_out: int = Field(ge=0)
    wins: int = Field(ge=0)
    ties: int = Field(ge=0)
    losses: int = Field(ge=0)
    p: float | None
    p_method: str
    smallest_difference: float | None
    verdict: Outcome


def compare_paired(
    baseline: Sequence[float | None],
    candidate: Sequence[float | None],
    *,
    clusters: Clusters | None = None,
    higher_is_better: bool = True,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> PairedComparison:
    """Compare two systems case by case.

    Args:
        baseline: Shape (n,); None where it was not scored.
        candidate: Shape (n,); entry i answers the same case (variant, attempt) as the baseline's.
        clusters: Shape (n,), the case ids, where a case has several entries; None when every pair stands alone.
        higher_is_better: What counts as a win.
        seed: Seed of the resampling and of the sign flips.
        resamples: Number of resamples, 100 or more.
        level: Coverage of the interval, in (0, 1).

    Returns:
        The comparison over the pairs with both values; without any, the difference is undefined and the verdict is
        "cannot tell". p is McNemar's for pairs that stand alone and hold only 0 and 1, else by sign flips.

    Raises:
        DataError: Columns of different length, values that are not finite, or a setting out of range.
    """
    before, after, names = _scored_pairs(baseline, candidate, clusters)
    change = after - before
    interval = bootstrap_mean(change, clusters=names, seed=seed, resamples=resamples, level=level)
    value = float(change.mean()) if names else Undefined(reason="no case was scored for both systems")
    difference = measured(value, interval, n=len(names))
    p, method = _p_value(before, after, names, seed)
    gain = change if higher_is_better else -change
    return PairedComparison(
        difference=difference,
        baseline_mean=float(before.mean()) if names else None,
        candidate_mean=float(after.mean()) if names else None,
        n_left_out=len(baseline) - len(names),
        wins=int((gain > 0).sum()),
        ties=int((gain == 0).sum()),
        losses=int((gain < 0).sum()),
        p=None if isinstance(p, Undefined) else p,
        p_method=method,
        smallest_difference=_smallest(change, names, level),
        verdict=verdict(difference.interval, higher_is_better=higher_is_better),
    )


def _scored_pairs(
    baseline: Sequence[float | None], candidate: Sequence[float | None], clusters: Clusters | None
) -> tuple[Floats, Floats, Sequence[str | int]]:
    """Both sides' values of the pairs that have both, and their clusters; a pair of its own where none is given."""
    check_equal_lengths({"baseline": len(baseline), "candidate": len(candidate)})
    if clusters is not None:
        check_equal_lengths({"baseline": len(baseline), "clusters": len(clusters)})
    owners = [str(i) for i in range(len(baseline))] if clusters is None else numbered(clusters).tolist()
    rows = zip(baseline, candidate, owners, strict=True)
    kept = [(a, b, owner) for a, b, owner in rows if a is not None and b is not None]
    before, after = finite([a for a, _, _ in kept], "baseline"), finite([b for _, b, _ in kept], "candidate")
    return before, after, [owner for _, _, owner in kept]


def verdict(
    interval: Interval | None, *, higher_is_better: bool = True, adjusted_p: float | None = None, alpha: float = 0.05
) -> Outcome:
    """Say in plain words what a difference shows.

    Args:
        interval: Of candidate less baseline; None when undefined.
        higher_is_better: Which sign is good.
        adjusted_p: p after a correction for several comparisons (`holm`); None without one.
        alpha: Error rate the adjusted p is held against, in (0, 1).

    Returns:
        `better` or `worse` when the interval leaves out 0 and the adjusted p, if given, is at most alpha; else `cannot
        tell`.
    """
    check_share(alpha, "alpha")
    if interval is None or interval.low <= 0 <= interval.high:
        return "cannot tell"
    if adjusted_p is not None and adjusted_p > alpha:
        return "cannot tell"
    return "better" if (interval.low > 0) == higher_is_better else "worse"


def mcnemar(gained: int, lost: int, *, mid_p: bool = True) -> float | Undefined:
    """McNemar's test for paired yes/no results, from the pairs that differ.

    Args:
        gained: Pairs in which only the candidate is right, 0 or more.
        lost: Pairs in which only the baseline is right, 0 or more.
        mid_p: Count half of the observed result's probability, which brings the error rate close to its nominal value;
            False gives the exact test, which stays below it.

    Returns:
        Two-sided p in (0, 1]; Undefined when no pair differs.

    Raises:
        DataError: A negative count.

    Source:
        McNemar (1947), Psychometrika 12:153-157; mid-p: Fagerland, Lydersen & Laake (2013), BMC Med. Res. Methodol.
        13:91.
    """
    from scipy.special import bdtr

    if gained < 0 or lost < 0:
        raise DataError(f"counts must be 0 or more, found {gained} and {lost}")
    n, k = gained + lost, min(gained, lost)
    if n == 0:
        return Undefined(reason="no pair differs")
    up_to = float(bdtr(k, n, 0.5))
    if not mid_p:
        return min(1.0, 2 * up_to)
    below = float(bdtr(k - 1, n, 0.5)) if k else 0.0
    return min(1.0, up_to + below)


def sign_flip_p(
    differences: Sequence[float] | Floats, *, clusters: Clusters | None = None, seed: int, flips: int = _FLIPS
) -> float | Undefined:
    """Randomisation test that paired differences are as often up as down: signs are flipped cluster by cluster.

    Args:
        differences: Shape (n,), finite.
        clusters: Shape (n,), what is flipped together; None when every pair stands alone.
        seed: Seed of the flips.
        flips: Number of random flips, 100 or more.

    Returns:
        Two-sided p in [1 / (flips + 1), 1]; from 50,000 clusters on by the normal limit. Undefined when every cluster's
        sum is 0.

    Raises:
        DataError: Values that are not finite, columns of different length, or a setting out of range.

    Source:
        Fisher (1935), The Design of Experiments, sec. 21; the observed result counts as one of the flips, after Phipson
        & Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9:39.
    """
    change = finite(differences, "differences")
    if flips < 100:
        raise DataError(f"flips must be 100 or more, found {flips}")
    sums = _sums(change, clusters)
    sums = np.sort(sums[sums != 0])
    if not sums.size:
        return Undefined(reason="no pair differs")
    total, m = float(sums.sum()), sums.size
    if m >= _NORMAL_FROM:
        return erfc(abs(total) / sqrt(2 * float(np.dot(sums, sums))))
    rng = np.random.default_rng(seed)
    # Sums within rounding of the observed one count as equal to it.
    observed = abs(total) - 1e-12 * float(np.abs(sums).sum())
    as_extreme, step = 0, max(1, _FLIPS_AT_ONCE // m)
    for at in range(0, flips, step):
        random_bytes = rng.integers(0, 256, (min(step, flips - at), -(-m // 8)), dtype=np.uint8)
        up = np.unpackbits(random_bytes, axis=1, count=m)  # (step, m), 1 where the sign is kept
        as_extreme += int((np.abs(2 * (up @ sums) - total) >= observed).sum())
    return (as_extreme + 1) / (flips + 1)


def wilcoxon(differences: Sequence[float] | Floats) -> float | Undefined:
    """Wilcoxon's signed-rank test; zero differences are left out.

    Args:
        differences: Shape (n,), finite, each from a case of its own.

    Returns:
        Two-sided p in (0, 1], exact for up to 50 untied differences, else by the normal approximation; Undefined when
        no pair differs.

    Raises:
        DataError: Values that are not finite.

    Source:
        Wilcoxon (1945), Biometrics Bulletin 1:80-83.
    """
    from scipy.stats import wilcoxon as signed_ranks

    change = finite(differences, "differences")
    change = change[change != 0]
    if not change.size:
        return Undefined(reason="no pair differs")
    untied = np.unique(np.abs(change)).size == change.size
    method = "exact" if untied and change.size <= 50 else "approx"
    return float(signed_ranks(change, method=method).pvalue)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust p for several comparisons so that one false alarm among all of them stays at the stated rate.

    Args:
        p_values: Name to p, each in [0, 1].

    Returns:
        Name to adjusted p, in the same order, each in [0, 1] and not below the original.

    Raises:
        DataError: A p outside [0, 1].

    Source:
        Holm (1979), Scand. J. Statist. 6:65-70.
    """
    outside = [name for name, p in p_values.items() if not 0 <= p <= 1]
    if outside:
        raise DataError(f"p must lie between 0 and 1: {', '.join(outside)}")
    adjusted, highest = {}, 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: (p_values[name], name))):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


def _p_value(before: Floats, after: Floats, names: Sequence[str | int], seed: int) -> tuple[float | Undefined, str]:
    yes_no = bool(np.isin(before, (0, 1)).all() and np.isin(after, (0, 1)).all())
    if yes_no and len(set(names)) == len(names):
        return mcnemar(int((after > before).sum()), int((after < before).sum())), "McNemar mid-p"
    return sign_flip_p(after - before, clusters=names, seed=seed), "sign flips over clusters"


def _sums(change: Floats, clusters: Clusters | None) -> Floats:
    if clusters is None:
        return change
    check_equal_lengths({"differences": change.size, "clusters": len(clusters)})
    return np.bincount(numbered(clusters), weights=change).astype(np.float64)


def _smallest(change: Floats, names: Sequence[str | int], level: float) -> float | None:
    """From the standard error of the mean difference over clusters, scaled back to one case."""
    m = len(set(names))
    if m < 2:
        return None
    residuals = _sums(change - change.mean(), names)
    error = sqrt(m / (m - 1) * float(np.sum(residuals**2))) / change.size
    found = smallest_difference(m, error * sqrt(m), level=level)
    return None if isinstance(found, Undefined) or error == 0 else found

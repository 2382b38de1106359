"""Numbers for people: three significant digits, an interval beside every mean, the count beside every interval."""

from functools import lru_cache

from offline_eval.core.results import Estimate, Interval


def three(value: float) -> str:
    """Three significant digits, without exponent for the usual sizes."""
    return _three(value) if value else f"{value:g}"  # two zeros are equal and not written alike


@lru_cache(maxsize=4096)
def _three(value: float) -> str:
    """Most of a report's numbers come again and again."""
    if 1e-4 <= abs(value) < 1e4:
        return f"{float(f'{value:.3g}'):g}"
    return f"{value:.2e}"


def interval_text(interval: Interval | None) -> str:
    """`[low, high]`, or a dash where it is undefined."""
    return "–" if interval is None else f"[{three(interval.low)}, {three(interval.high)}]"


def estimate_text(estimate: Estimate) -> str:
    """Value, interval and count in one cell: `2.31 [2.18, 2.44] 58/60`."""
    if estimate.value is None:
        return f"– 0/{estimate.n}"
    return f"{three(estimate.value)} {interval_text(estimate.interval)} {estimate.n_scored}/{estimate.n}"


def percent(share: float) -> str:
    """A share in [0, 1] as a percentage."""
    return f"{100 * share:.3g} %"

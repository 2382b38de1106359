"""Risk–coverage curves as inline SVG: several confidences in one drawing, told apart by dashes as well as by colour."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from offline_eval.report.charts import element
from offline_eval.report.charts_axes import LEFT, SIZE, unit_axes, x_at, y_at
from offline_eval.stats.selective import RiskPoint

_LEGEND = 16  # units of height a line
_DASHES = ("none", "6 3", "2 3", "8 3 2 3")


class RiskCurve(NamedTuple):
    """One confidence's curve."""

    name: str
    points: Sequence[RiskPoint]


def risk_curves(curves: Sequence[RiskCurve], *, title: str, x_name: str = "coverage", y_name: str = "risk") -> Markup:
    """Steps from the most confident answer to all of them; the lower a line, the better.

    Args:
        curves: At most four.
        title: Says what is drawn.
        x_name: Name of the horizontal axis, the share answered.
        y_name: Name of the vertical axis, the share of wrong ones among those.
    """
    parts = [element("title", title), *unit_axes(x_name, y_name)]
    for number, curve in enumerate(curves):
        line = " ".join(f"{x_at(point.coverage)},{y_at(point.risk)}" for point in curve.points)
        if len(curve.points) == 1:  # equal confidences: the same risk at every coverage
            line = f"{x_at(0.0)},{y_at(curve.points[0].risk)} {line}"
        parts.append(_stroke("polyline", number, points=line))
        y = SIZE + _LEGEND * (number + 1) - 6
        parts.append(_stroke("line", number, x1=LEFT, x2=LEFT + 30, y1=y - 4, y2=y - 4))
        parts.append(element("text", curve.name, x=LEFT + 38, y=y))
    box = f"0 0 {SIZE} {SIZE + _LEGEND * len(curves)}"
    return element("svg", Markup("").join(parts), class_="plot curve-plot", viewBox=box, role="img", aria_label=title)


def _stroke(name: str, number: int, **place: object) -> Markup:
    """A line in the pattern of the curve of this number; its colours also hold on a page without our styles."""
    dash = _DASHES[number % len(_DASHES)]
    return element(
        name, "", class_="trend", fill="none", stroke="currentColor", stroke_width=2, stroke_dasharray=dash, **place
    )

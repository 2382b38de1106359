"""Risk–coverage curves as inline SVG: several confidences in one drawing, told apart by dashes as well as by colour."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from offline_eval.report.charts import element
from offline_eval.stats.selective import RiskPoint

_SIZE, _LEFT, _BOTTOM, _EDGE, _LEGEND = 260, 40, 36, 12, 16
_TICKS = (0.0, 0.5, 1.0)
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
    parts = [element("title", title), *_axes(x_name, y_name)]
    for number, curve in enumerate(curves):
        line = " ".join(f"{_x(point.coverage)},{_y(point.risk)}" for point in curve.points)
        if len(curve.points) == 1:  # equal confidences: the same risk at every coverage
            line = f"{_x(0.0)},{_y(curve.points[0].risk)} {line}"
        parts.append(_stroke("polyline", number, points=line))
        y = _SIZE + _LEGEND * (number + 1) - 6
        parts.append(_stroke("line", number, x1=_LEFT, x2=_LEFT + 30, y1=y - 4, y2=y - 4))
        parts.append(element("text", curve.name, x=_LEFT + 38, y=y))
    box = f"0 0 {_SIZE} {_SIZE + _LEGEND * len(curves)}"
    return element("svg", Markup("").join(parts), class_="plot curve-plot", viewBox=box, role="img", aria_label=title)


def _stroke(name: str, number: int, **place: object) -> Markup:
    """A line in the pattern of the curve of this number; its colours also hold on a page without our styles."""
    dash = _DASHES[number % len(_DASHES)]
    return element(
        name, "", class_="trend", fill="none", stroke="currentColor", stroke_width=2, stroke_dasharray=dash, **place
    )


def _axes(x_name: str, y_name: str) -> list[Markup]:
    middle, height = (_LEFT + _SIZE - _EDGE) / 2, (_SIZE - _BOTTOM + _EDGE) / 2
    ink = {"stroke": "currentColor"}
    parts = [
        element("line", x1=_x(0), x2=_x(1), y1=_y(0), y2=_y(0), class_="axis", **ink),
        element("line", x1=_x(0), x2=_x(0), y1=_y(0), y2=_y(1), class_="axis", **ink),
        element("text", x_name, x=middle, y=_SIZE - 4, class_="axis-name"),
        element("text", y_name, x=-height, y=11, transform="rotate(-90)", class_="axis-name"),
    ]
    for tick in _TICKS:
        parts.append(element("text", f"{tick:g}", x=_x(tick), y=_SIZE - _BOTTOM + 14, class_="axis-number"))
        parts.append(element("text", f"{tick:g}", x=_LEFT - 22, y=_y(tick), class_="axis-number"))
    return parts


def _x(value: float) -> str:
    return f"{_LEFT + value * (_SIZE - _LEFT - _EDGE):.1f}"


def _y(value: float) -> str:
    return f"{_SIZE - _BOTTOM - value * (_SIZE - _BOTTOM - _EDGE):.1f}"

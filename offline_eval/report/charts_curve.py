"""The reliability curve as inline SVG: what a judge says against what people found, with the diagonal of honesty."""

from collections.abc import Sequence

from markupsafe import Markup

from offline_eval.core.response_detail import CurvePoint
from offline_eval.report.charts import element

_SIZE, _LEFT, _BOTTOM, _EDGE = 260, 40, 36, 12  # of the drawing, and the room for numbers
_TICKS = (0.0, 0.5, 1.0)


def reliability_curve(points: Sequence[CurvePoint], *, title: str, x_name: str, y_name: str) -> Markup:
    """Points with whiskers, larger where more items lie behind them.

    Args:
        title: Says what is drawn.
        x_name: Name of the horizontal axis, the judge's probability.
        y_name: Name of the vertical axis, the share found.
    """
    most = max((point.n for point in points), default=1)
    parts = [element("title", title), *_axes(x_name, y_name)]
    parts.append(element("line", x1=_x(0), y1=_y(0), x2=_x(1), y2=_y(1), class_="diagonal"))
    line = " ".join(f"{_x(point.said)},{_y(point.found)}" for point in points)
    parts.append(element("polyline", points=line, class_="curve"))
    for point in points:
        x = _x(point.said)
        if point.interval is not None:
            ends = {"y1": _y(point.interval.low), "y2": _y(point.interval.high)}
            parts.append(element("line", x1=x, x2=x, class_="whisker-line", **ends))
        radius = 3 + 4 * (point.n / most) ** 0.5
        parts.append(element("circle", cx=x, cy=_y(point.found), r=f"{radius:.1f}", class_="dot"))
    inside = Markup("").join(parts)
    box = f"0 0 {_SIZE} {_SIZE}"
    return element("svg", inside, class_="plot curve-plot", viewBox=box, role="img", aria_label=title)


def _axes(x_name: str, y_name: str) -> list[Markup]:
    middle = (_LEFT + _SIZE - _EDGE) / 2
    height = (_SIZE - _BOTTOM + _EDGE) / 2
    parts = [
        element("line", x1=_x(0), x2=_x(1), y1=_y(0), y2=_y(0), class_="axis"),
        element("line", x1=_x(0), x2=_x(0), y1=_y(0), y2=_y(1), class_="axis"),
        element("text", x_name, x=middle, y=_SIZE - 4, class_="axis-name"),
        element("text", y_name, x=-height, y=11, transform="rotate(-90)", class_="axis-name"),
    ]
    for tick in _TICKS:
        parts.append(element("text", f"{tick:g}", x=_x(tick), y=_SIZE - _BOTTOM + 14, class_="axis-number"))
        parts.append(element("text", f"{tick:g}", x=_LEFT - 8, y=_y(tick), class_="axis-number axis-number-y"))
    return parts


def _x(value: float) -> str:
    return f"{_LEFT + value * (_SIZE - _LEFT - _EDGE):.1f}"


def _y(value: float) -> str:
    return f"{_SIZE - _BOTTOM - value * (_SIZE - _BOTTOM - _EDGE):.1f}"

"""The reliability curve as inline SVG: what a judge says against what people found, with the diagonal of honesty."""

from collections.abc import Sequence

from markupsafe import Markup

from offline_eval.core.response_detail import CurvePoint
from offline_eval.report.charts import element
from offline_eval.report.charts_axes import SIZE, unit_axes, x_at, y_at


def reliability_curve(points: Sequence[CurvePoint], *, title: str, x_name: str, y_name: str) -> Markup:
    """Points with whiskers, larger where more items lie behind them.

    Args:
        title: Says what is drawn.
        x_name: Name of the horizontal axis, the judge's probability.
        y_name: Name of the vertical axis, the share found.
    """
    most = max((point.n for point in points), default=1)
    parts = [element("title", title), *unit_axes(x_name, y_name)]
    parts.append(element("line", x1=x_at(0), y1=y_at(0), x2=x_at(1), y2=y_at(1), class_="diagonal"))
    line = " ".join(f"{x_at(point.said)},{y_at(point.found)}" for point in points)
    parts.append(element("polyline", points=line, class_="curve"))
    for point in points:
        x = x_at(point.said)
        if point.interval is not None:
            ends = {"y1": y_at(point.interval.low), "y2": y_at(point.interval.high)}
            parts.append(element("line", x1=x, x2=x, class_="whisker-line", **ends))
        radius = 3 + 4 * (point.n / most) ** 0.5
        parts.append(element("circle", cx=x, cy=y_at(point.found), r=f"{radius:.1f}", class_="dot"))
    inside = Markup("").join(parts)
    box = f"0 0 {SIZE} {SIZE}"
    return element("svg", inside, class_="plot curve-plot", viewBox=box, role="img", aria_label=title)

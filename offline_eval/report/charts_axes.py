"""The unit square that curves are drawn in: both axes from 0 to 1, their names and numbers, and where a value stands.

Why apart from the curves: two drawings side by side can be compared only when their squares are the same.
"""

from markupsafe import Markup

from offline_eval.report.charts import element

SIZE, LEFT = 260, 40  # of the drawing with its numbers, and the room for them on the left
_BOTTOM, _EDGE = 36, 12
_TICKS = (0.0, 0.5, 1.0)
_INK = {"stroke": "currentColor"}  # also drawn on a page without our styles


def unit_axes(x_name: str, y_name: str) -> list[Markup]:
    """Both axes with their names and numbers."""
    middle, height = (LEFT + SIZE - _EDGE) / 2, (SIZE - _BOTTOM + _EDGE) / 2
    parts = [
        element("line", x1=x_at(0), x2=x_at(1), y1=y_at(0), y2=y_at(0), class_="axis", **_INK),
        element("line", x1=x_at(0), x2=x_at(0), y1=y_at(0), y2=y_at(1), class_="axis", **_INK),
        element("text", x_name, x=middle, y=SIZE - 4, class_="axis-name"),
        element("text", y_name, x=-height, y=11, transform="rotate(-90)", class_="axis-name"),
    ]
    for tick in _TICKS:
        parts.append(element("text", f"{tick:g}", x=x_at(tick), y=SIZE - _BOTTOM + 14, class_="axis-number"))
        parts.append(element("text", f"{tick:g}", x=LEFT - 8, y=y_at(tick), class_="axis-number axis-number-y"))
    return parts


def x_at(value: float) -> str:
    """How far right a value of [0, 1] stands, in the drawing's units."""
    return f"{LEFT + value * (SIZE - LEFT - _EDGE):.1f}"


def y_at(value: float) -> str:
    """How far down a value of [0, 1] stands; 1 is at the top."""
    return f"{SIZE - _BOTTOM - value * (SIZE - _BOTTOM - _EDGE):.1f}"

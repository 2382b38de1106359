"""Plots of one line as inline SVG: dot and whisker, stacked bar, histogram.

Why percentages instead of a fixed width: a plot fills its table cell on a phone as on a wide screen, and the text
beside it keeps its size.
"""

from collections.abc import Sequence

from markupsafe import Markup, escape

from offline_eval.report.visible import visible

_INSET = 3.0  # percent left free at both ends, so that a mark at the edge is whole
_MARKS = (
    "M-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0",  # circle
    "M-4,-4h8v8h-8z",  # square
    "M0,-5.5L5.5,0L0,5.5L-5.5,0z",  # diamond
    "M0,-5L5,4H-5z",  # triangle
)
_LEAST_FOR_TEXT = 9.0  # percent of the width from which a number fits into its part of a bar


def whisker(
    value: float | None, interval: tuple[float, float] | None, *, axis: tuple[float, float], shape: int, title: str
) -> Markup:
    """A mean with its interval on the metric's range.

    Args:
        value: None draws the range alone.
        interval: Low and high end; None draws the mark alone.
        axis: Lowest and highest value of the plot.
        shape: Number of the system, from 0; systems differ by shape and not by colour.
        title: Says what is drawn, for those who cannot see it.
    """
    low, high = axis
    parts = [_line(_at(low, axis), _at(high, axis), 11, "axis")]
    parts += [
        element("line", x1=percent(_at(tick, axis)), x2=percent(_at(tick, axis)), y1=8, y2=14, class_="axis")
        for tick in (low, (low + high) / 2, high)
    ]
    if interval is not None:
        first, last = (_at(bound, axis) for bound in interval)
        parts.append(_line(first, last, 11, "whisker-line"))
        parts += [
            element("line", x1=percent(end), x2=percent(end), y1=6, y2=16, class_="whisker-line")
            for end in (first, last)
        ]
    if value is not None:
        mark = element("path", d=_MARKS[shape % len(_MARKS)], class_="dot")
        parts.append(element("svg", mark, x=percent(_at(value, axis)), y=11, overflow="visible", width=1, height=1))
    return _plot("whisker", 22, title, parts)


def stacked_bar(counts: Sequence[tuple[str, int]], *, title: str) -> Markup:
    """Shares of a whole, in the given order.

    Args:
        counts: A class of the style sheet and how many there are.
    """
    total = sum(n for _, n in counts)
    parts: list[Markup] = []
    start = 0.0
    for name, n in counts:
        if not n:
            continue
        width = 100 * n / total
        parts.append(
            element("rect", x=percent(start), y=1, width=percent(width), height=20, class_=f"part part-{name}")
        )
        if width >= _LEAST_FOR_TEXT:
            text = element("text", str(n), x=percent(start + width / 2), y=15, class_=f"part-text part-text-{name}")
            parts.append(text)
        start += width
    return _plot("bar", 22, title, parts)


def histogram(counts: Sequence[int], *, title: str) -> Markup:
    """Bars of equal width side by side; the table beside it has the numbers."""
    most, width, height = max(counts, default=0) or 1, 100 / max(1, len(counts)), 56
    parts = []
    for place, n in enumerate(counts):
        tall = max(1.0, height * n / most) if n else 0.5
        parts.append(
            element(
                "rect",
                x=percent(place * width + 0.08 * width),
                y=f"{height + 4 - tall:.1f}",
                width=percent(0.84 * width),
                height=f"{tall:.1f}",
                class_="bin",
            )
        )
    return _plot("histogram", height + 6, title, parts)


def element(name: str, content: str | Markup = "", **attributes: object) -> Markup:
    """One SVG element; text and attribute values are escaped and hold no unseen character."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(visible(str(value)))}"' for key, value in attributes.items()
    )
    inside = content if isinstance(content, Markup) else escape(visible(content))
    return Markup(f"<{name}{written}>{inside}</{name}>")  # every part was escaped above


def percent(value: float) -> str:
    """A length as a share of the plot's width, in percent."""
    return f"{value:.2f}%"


def _at(value: float, axis: tuple[float, float]) -> float:
    """Where a value stands, in percent of the width; values beyond the axis stand at its end."""
    low, high = axis
    share = (value - low) / (high - low) if high > low else 0.5
    return _INSET + min(1.0, max(0.0, share)) * (100 - 2 * _INSET)


def _line(first: float, last: float, y: int, kind: str) -> Markup:
    return element("line", x1=percent(first), x2=percent(last), y1=y, y2=y, class_=kind)


def _plot(kind: str, height: int, title: str, parts: Sequence[Markup]) -> Markup:
    named = element("title", title)
    inside = Markup("").join([named, *parts])
    return element("svg", inside, class_=f"plot {kind}", width="100%", height=height, role="img", aria_label=title)

"""A history as sections and drawings: one column a series, a line broken wherever the measurement itself changed."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from offline_eval.core.history import History, RunPoint, Series
from offline_eval.core.results import Estimate
from offline_eval.report.html_texts import Language, Words
from offline_eval.report.json_document import render_data
from offline_eval.report.numbers import estimate_text, interval_text, three
from offline_eval.report.page import Figure
from offline_eval.report.sections import Section
from offline_eval.report.visible import visible

_BARS = "▁▂▃▄▅▆▇█"
_GAP, _BREAK = "·", "│"
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 180, 48, 16, 12, 28


def history_sections(history: History, *, language: Language = "en") -> list[Section]:
    """The trend of every metric, then its table, then the marks and what could not be read.

    Args:
        language: Of the words around the figures.
    """
    t = Words(language)
    found = [_overview(history, t), _trends(history, t.history)]
    systems = dict.fromkeys(series.system for series in history.series)
    found += [_table(history, system, t.history) for system in systems]
    return [section for section in found if section.rows or section.lines]


def figures(history: History, *, language: Language = "en") -> list[Figure]:
    """One plot a series.

    Args:
        language: Of the words in the plots.
    """
    t = Words(language)
    return [
        Figure(title=t.history["figure"].format(metric=one.metric, system=one.system), svg=_plot(one, history.runs, t))
        for one in history.series
        if one.points
    ]


def history_document(history: History) -> str:
    """The history as JSON, for programs; what changed is said in English."""
    data = history.model_dump(mode="json")
    for row, run in zip(data["runs"], history.runs, strict=True):
        row["changes"] = change_texts(run)
    return render_data(data)


def change_texts(run: RunPoint, *, language: Language = "en") -> list[str]:
    """What makes a run another measurement than the one before it, one line each."""
    t = Words(language)
    return [t.difference(change) for change in run.changes]


def sparkline(series: Series, runs: int) -> str:
    """One character a run: its value's place in the metric's range; `·` without a value, `│` before a change."""
    values = dict(series.points)
    marks = []
    for place in range(runs):
        if place in series.breaks:
            marks.append(_BREAK)
        found = values.get(place)
        marks.append(_GAP if found is None or found.value is None else _bar(found.value, series))
    return "".join(marks)


def _bar(value: float, series: Series) -> str:
    share = (value - series.low) / (series.high - series.low) if series.high > series.low else 0.5
    return _BARS[min(len(_BARS) - 1, max(0, int(share * len(_BARS))))]


def history_title(history: History, *, language: Language = "en") -> str:
    """What the history is called, in the reader's language."""
    return str(Words(language).history["title"].format(folder=history.folder))


def _overview(history: History, t: Words) -> Section:
    words = t.history
    rows = tuple(
        (
            str(place),
            run.run_id or run.file,
            run.changed,
            ", ".join(run.systems) if run.problem is None else "–",
            str(run.n_cases) if run.problem is None else "–",
            _changes(run, t) if run.problem is None else words["unreadable"].format(problem=run.problem),
        )
        for place, run in enumerate(history.runs, 1)
    )
    lines = () if history.runs else (words["empty"].format(folder=history.folder),)
    title = words["title"].format(folder=history.folder)
    return Section(title=title, columns=tuple(words["columns"]), rows=rows, lines=lines)


def _changes(run: RunPoint, t: Words) -> str:
    return "; ".join(change_texts(run, language=t.language))


def _trends(history: History, words: Mapping[str, Any]) -> Section:
    rows = tuple(
        (one.metric, one.system, sparkline(one, len(history.runs)), _last(one), _since(one)) for one in history.series
    )
    lines = (words["marks"].format(gap=_GAP, mark=_BREAK), words["since"])
    columns = tuple(words["trend_columns"])
    return Section(title=words["trends"], columns=columns, rows=rows, lines=lines if rows else ())


def _last(series: Series) -> str:
    return estimate_text(series.points[-1][1])


def _since(series: Series) -> str:
    """Last value less the first one after the last change."""
    start = max(series.breaks, default=0)
    values = [found.value for place, found in series.points if place >= start and found.value is not None]
    return "–" if len(values) < 2 else f"{'+' if values[-1] > values[0] else ''}{three(values[-1] - values[0])}"


def _table(history: History, system: str, words: Mapping[str, Any]) -> Section:
    shown = [one for one in history.series if one.system == system]
    cells = {one.metric: dict(one.points) for one in shown}
    rows = tuple(
        (str(place + 1), run.run_id or run.file, *(_cell(cells[one.metric].get(place)) for one in shown))
        for place, run in enumerate(history.runs)
        if any(place in cells[one.metric] for one in shown)
    )
    return Section(
        title=words["values"].format(system=system),
        columns=(*words["value_columns"], *(one.metric for one in shown)),
        rows=rows,
        lines=(words["cells"],) if rows else (),
    )


def _cell(found: Estimate | None) -> str:
    return "–" if found is None else estimate_text(found)


def _plot(series: Series, runs: Sequence[RunPoint], t: Words) -> str:
    """A line with whiskers; broken, with a dashed mark, wherever the measurement changed."""
    words = t.history
    title = words["plot"].format(metric=series.metric, system=series.system, n=len(runs))
    parts = [_axis(series, words), *(_mark(place, len(runs), _changes(runs[place], t)) for place in series.breaks)]
    segment: list[str] = []
    for place, found in series.points:
        if place in series.breaks:
            parts.append(_line(segment))
            segment = []
        if found.value is None:
            continue
        x, y = _x(place, len(runs)), _y(found.value, series)
        segment.append(f"{x:.1f},{y:.1f}")
        parts.append(_point(found, x, series))
    parts.append(_line(segment))
    described = "; ".join(
        words["point"].format(place=place + 1, value=estimate_text(found)) for place, found in series.points
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{_text(title)}</title><desc>{_text(described)}</desc>'
        f"{''.join(parts)}</svg>"
    )


def _point(found: Estimate, x: float, series: Series) -> str:
    assert found.value is not None  # the caller leaves out the others
    whisker = ""
    if found.interval is not None:
        low, high = (_y(bound, series) for bound in (found.interval.low, found.interval.high))
        whisker = f'<line class="whisker" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'
    shown = f"{three(found.value)} {interval_text(found.interval)}"
    circle = f'<circle class="dot" cx="{x:.1f}" cy="{_y(found.value, series):.1f}" r="3.5">'
    return f"{whisker}{circle}<title>{_text(shown)}</title></circle>"


def _axis(series: Series, words: Mapping[str, Any]) -> str:
    bottom = _HEIGHT - _BOTTOM
    ticks = [(series.low + share * (series.high - series.low)) for share in (0.0, 0.5, 1.0)]
    lines = "".join(
        f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{_y(tick, series):.1f}" '
        f'y2="{_y(tick, series):.1f}"/><text x="{_LEFT - 6}" y="{_y(tick, series) + 4:.1f}" text-anchor="end">'
        f"{_text(three(tick))}</text>"
        for tick in ticks
    )
    return f'{lines}<text x="{_LEFT}" y="{bottom + 18}">{_text(words["oldest"])}</text>' + (
        f'<text x="{_WIDTH - _RIGHT}" y="{bottom + 18}" text-anchor="end">{_text(words["newest"])}</text>'
    )


def _mark(place: int, n: int, changes: str) -> str:
    half = (_WIDTH - _LEFT - _RIGHT) / max(1, n - 1) / 2
    x = _x(place, n) - (half if n > 1 else 0)
    return (
        f'<line class="change" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}">'
        f"<title>{_text(changes)}</title></line>"
    )


def _line(points: Sequence[str]) -> str:
    return f'<polyline class="trend" points="{" ".join(points)}"/>' if len(points) > 1 else ""


def _x(place: int, n: int) -> float:
    width = _WIDTH - _LEFT - _RIGHT
    return _LEFT + (width / 2 if n < 2 else width * place / (n - 1))


def _y(value: float, series: Series) -> float:
    height = _HEIGHT - _TOP - _BOTTOM
    share = (value - series.low) / (series.high - series.low) if series.high > series.low else 0.5
    return _TOP + height * (1 - min(1.0, max(0.0, share)))


def _text(text: str) -> str:
    return escape(visible(text))

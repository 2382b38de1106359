"""A run as one HTML file that needs nothing else: no network, no other file, and for what matters no script.

Why a template engine: every value that reaches the page passes one gate, which cuts what is too long, makes unseen
characters visible and escapes the rest, so that no field of a data set can become markup. The gate escapes in every
template; those that are drawn once are escaped by the engine as well, which leaves alone what the gate let through.
"""

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain, islice
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from offline_eval.core.response_detail import ReportFrame, ResponseDetail
from offline_eval.report import html_judges
from offline_eval.report.html_case import case_view, short
from offline_eval.report.html_list import MOST_BYTES, response_list
from offline_eval.report.html_marks import LONGEST_TEXT, cut
from offline_eval.report.html_scores import Scores
from offline_eval.report.html_texts import Language, Words
from offline_eval.report.html_trust import trust
from offline_eval.report.numbers import percent
from offline_eval.report.visible import visible

WORST_SHOWN = 10
_TAB = "    "
_SHORT = 60
_DRAWN_OFTEN = "case.html"  # escaping what the gate escaped once more would take long over thousands of cases
_CLUSTERS = re.compile(r" over [\d,]+ clusters")  # their number differs by metric and is beside every mean


def render(
    frame: ReportFrame,
    details: Iterable[ResponseDetail],
    *,
    language: Language | None = None,
    most_bytes: int = MOST_BYTES,
) -> str:
    """The whole report.

    Args:
        details: One for every key of `frame.order` and in that order; taken one at a time.
        language: Of the interface; None for the language most cases are in.
        most_bytes: Of all packed details; those beyond are left out, and the report says how many.
    """
    t = Words(language or frame.language)
    environment = _environment()
    draw_case = environment.get_template("case.html").make_module({"t": t}).article  # type: ignore[attr-defined]
    coming = iter(details)
    first = list(islice(coming, WORST_SHOWN))
    listed = response_list(
        chain(first, coming), t, draw=lambda detail: str(draw_case(case_view(detail, t))), most_bytes=most_bytes
    )
    style, script = _asset("report.css"), _asset("report.js")
    return environment.get_template("report.html").render(
        t=t,
        s=frame.summary,
        frame=frame,
        systems=[short(system) for system in frame.summary.systems],
        contents=_contents(frame, t, has_worst=bool(first)),
        style=Markup(style),
        script=Markup(script),
        style_hash=_csp_hash(style),
        script_hash=_csp_hash(script),
        blocks=listed.blocks,
        rows=Markup(listed.rows),  # JSON without a character that could end its element
        left_out=listed.left_out,
        filters=_filters(listed.filters, t),
        worst=[case_view(detail, t) for detail in first],
        worst_intro=t.worst_intro.format(n=len(first), metric=frame.ordered_by),
        percent=percent,
        said=t.said,
        share_text=lambda tag: html_judges.tag_share(tag, t),
        **_sections(frame, t),
    )


def _sections(frame: ReportFrame, t: Words) -> dict[str, Any]:
    summary, scores = frame.summary, Scores(frame, t)
    intervals = [e.interval for e in summary.estimates if e.group == "all" and e.interval is not None]
    return {
        "scores": scores.metric_groups(),
        "slices": scores.slices(),
        "histograms": scores.histograms(),
        "warnings": [t.said(text) for text in frame.warnings],
        "methods": sorted({_CLUSTERS.sub("", interval.method) for interval in intervals}),
        "correlations": html_judges.correlations(summary, t),
        "judges": html_judges.judges(summary),
        "refusals": html_judges.refusals(summary),
        "screen": html_judges.screen(summary, t),
        "reliability": html_judges.reliability(frame, t),
        **html_judges.labels(summary, t),
        **html_judges.disagreements(summary, t),
        **trust(summary, t),
    }


def _contents(frame: ReportFrame, t: Words, *, has_worst: bool) -> list[tuple[str, str]]:
    """Anchor and name of every section that is there."""
    summary = frame.summary
    found = [
        ("scores", t.scores, True),
        ("labels", t.labels, bool(summary.labels)),
        ("slices", t.slices, any(e.group != "all" for e in summary.estimates)),
        ("causes", t.causes, bool(frame.diagnosis)),
        ("disagreements", t.disagreements, True),
        ("judges", t.judges, bool(summary.judge_counts or summary.refusals)),
        ("reliability", t.reliability, True),
        ("worst", t.worst, has_worst),
        ("all-cases", t.all_cases, True),
        ("size", t.size, True),
        ("trust", t.trust, True),
        ("manifest", t.manifest, True),
    ]
    return [(id, name) for id, name, is_there in found if is_there]


def _filters(choices: dict[str, list[str]], t: Words) -> list[tuple[str, str, list[str]]]:
    """Filters with something to choose from."""
    return [(id, t.filters[id], values) for id, values in choices.items() if len(values) > 1 or id in ("tag", "fault")]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("offline_eval.report"),
        autoescape=lambda name: name != _DRAWN_OFTEN,
        undefined=StrictUndefined,
        finalize=_gate,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["short"] = short
    return environment


def _gate(value: object) -> object:
    """What is ours passes; everything else is cut, made visible and escaped."""
    if type(value) is str:
        return _short_shown(value) if len(value) <= _SHORT else _shown(value)
    if isinstance(value, Markup | int):
        return value
    return _shown(value) if isinstance(value, str) else escape(value)


@lru_cache(maxsize=4096)
def _short_shown(text: str) -> Markup:
    """Names, numbers and labels come again with every case."""
    return _shown(text)


def _shown(text: str) -> Markup:
    if text.isprintable() and len(text) <= LONGEST_TEXT:
        return escape(text)
    kept, left_out = cut(text)
    lines = kept.replace("\r\n", "\n").replace("\t", _TAB).split("\n")
    return escape("\n".join(visible(line) for line in lines) + (f"… (+{left_out:,})" if left_out else ""))


@cache
def _asset(name: str) -> str:
    return files("offline_eval.report").joinpath("templates", name).read_text("utf-8")


def _csp_hash(text: str) -> str:
    """The source expression that allows exactly this inline text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")

"""Sections as one self-contained HTML page without script: for comparisons and histories that are sent to people."""

from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

from offline_eval.report.html_texts import Language, Words
from offline_eval.report.sections import Section
from offline_eval.report.visible import visible


class Figure(NamedTuple):
    """A drawing: inline SVG made by this program, its texts already escaped."""

    title: str
    svg: str


def render_page(
    title: str, shown: Sequence[Section], *, figures: Sequence[Figure] = (), language: Language = "en"
) -> str:
    """The page.

    Args:
        title: Of the document.
        shown: Sections in their order; every cell and line is escaped.
        figures: Drawn between the first section and the rest.
        language: Of the texts, for screen readers and fonts.
    """
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["visible"] = visible
    template = files("offline_eval.report").joinpath("page.html.j2").read_text("utf-8")
    lang = Words(language).html_lang
    return environment.from_string(template).render(title=title, sections=shown, figures=figures, language=lang)

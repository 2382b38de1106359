"""The summary as Markdown, for job summaries and wikis."""

from collections.abc import Sequence

from offline_eval.core.summary import RunSummary
from offline_eval.report.sections import Section, sections
from offline_eval.report.visible import visible

_MARKS = "\\`*_[]<>|#~$&"  # the backslash first


def render(summary: RunSummary) -> str:
    """The whole report."""
    return render_sections(sections(summary))


def render_sections(shown: Sequence[Section]) -> str:
    """Sections in their order, as `render` shows a summary's."""
    return "\n".join(_section(section) for section in shown)


def _section(section: Section) -> str:
    lines = [f"## {_escape(section.title)}", ""]
    if section.rows:
        lines.append("| " + " | ".join(_escape(column) for column in section.columns) + " |")
        lines.append("|" + " --- |" * len(section.columns))
        lines += ["| " + " | ".join(_escape(cell) for cell in row) + " |" for row in section.rows]
        lines.append("")
    lines += [f"- {_escape(line)}" for line in section.lines]
    return "\n".join([*lines, ""])


def _escape(text: str) -> str:
    """Text that stays text: no markup, no links, no line breaks, no cell ends."""
    flat = visible(" ".join(text.split()))
    for mark in _MARKS:
        flat = flat.replace(mark, f"\\{mark}")
    return flat.replace("://", "\\://").replace("www.", "www\\.")

"""One `probe` command from its options to its tables; kept apart so that `--help` loads nothing."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import JsonValue

from offline_eval.benchmark.labels import LabelSet
from offline_eval.benchmark.passport_text import probe_sections
from offline_eval.benchmark.probes import ProbeReport
from offline_eval.cli.judge_desk import JudgeDesk
from offline_eval.cli.judge_options import labelled_sets
from offline_eval.cli.output import csv_text, format_by_ending, rendered_sections, write_text
from offline_eval.report.sections import Section

_FORMATS = ("table", "md", "json", "csv")


class ProbeSession:
    """A `probe` command.

    Args:
        labels: Label files.
        options: The command's options.
    """

    def __init__(self, labels: Sequence[Path], options: dict[str, Any]) -> None:
        self._labels = labels
        self._options = options

    def run(self) -> None:
        """Read, ask, print."""
        options = self._options
        sets = labelled_sets(self._labels, options)
        probes, mitigations = names_of(options["probes"]), names_of(options["mitigations"])
        reports: list[tuple[LabelSet, ProbeReport]] = []
        with JudgeDesk(options) as desk:
            for label_set in sets:
                test = desk.self_test(label_set)
                if test is not None:
                    click.echo(test.sentence(), err=True)
                reports.append((label_set, desk.probes(label_set, probes, mitigations)))
        out = options["out"]
        format = options["format"] or format_by_ending(out, _FORMATS)
        write_text(_rendered(reports, format, is_file=out is not None), out)


def names_of(values: Sequence[str]) -> list[str]:
    """Names of a repeatable option that also takes commas, each once."""
    return list(dict.fromkeys(name.strip() for value in values for name in value.split(",") if name.strip()))


def _rendered(reports: Sequence[tuple[LabelSet, ProbeReport]], format: str, *, is_file: bool) -> str:
    if format == "json":
        body = [
            {"labels": label_set.name, "labels_hash": label_set.labels_hash, **report.model_dump(mode="json")}
            for label_set, report in reports
        ]
        return json.dumps(body, ensure_ascii=False, indent=1) + "\n"
    if format == "csv":
        return csv_text([row for label_set, report in reports for row in _flat(label_set, report)])
    sections = [
        section.model_copy(update={"title": f"{section.title} on {label_set.name} ({_what(label_set)})"})
        for label_set, report in reports
        for section in probe_sections(report)
    ]
    return rendered_sections(_filled(sections), format, is_file=is_file)


def _filled(sections: Sequence[Section]) -> list[Section]:
    return [section for section in sections if section.rows or section.lines]


def _what(label_set: LabelSet) -> str:
    languages = ", ".join(sorted({row.spoken for row in label_set.rows}))
    return f"{label_set.kind}, {label_set.dimension}, {languages}, {len(label_set.rows)} rows"


def _flat(label_set: LabelSet, report: ProbeReport) -> list[dict[str, JsonValue]]:
    return [
        {
            "labels": label_set.name,
            "judge": report.judge,
            "probe": found.probe,
            "rows": found.group,
            "mitigation": found.mitigation,
            "unit": found.unit,
            "fair": found.neutral,
            "effect": found.effect.value,
            "low": found.effect.interval.low if found.effect.interval else None,
            "high": found.effect.interval.high if found.effect.interval else None,
            "reading": found.reading,
            "flips": found.flips.value,
            "n": found.n,
            "failed": found.n_failed,
            "not_applicable": found.not_applicable,
            "reason": found.effect.reason or found.effect.interval_reason,
        }
        for found in report.results
    ]

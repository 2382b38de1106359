"""`offline-eval gate`: a run against thresholds, for CI."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from offline_eval.cli.language_option import language_option
from offline_eval.cli.run_files import open_results, runs_option

if TYPE_CHECKING:
    from offline_eval.report.html_texts import Language

FORMATS = ("table", "json", "md", "junit")


@click.command(name="gate")
@click.argument("run")
@runs_option
@click.option("--gates", "path", type=click.Path(path_type=Path), help="Thresholds, as YAML.")
@click.option("--baseline", help="RUN or RUN:SYSTEM that gates on a difference are held against.")
@click.option("--allow-mismatch", is_flag=True, help="Take differences to runs on other test sets, judges or rubrics.")
@click.option("--suggest", "labels", type=click.Path(path_type=Path), help="Propose gates from case_id, acceptable.")
@click.option("--metrics", multiple=True, help="With --suggest: metrics or groups.  [default: the run's own]")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option("--junit", type=click.Path(path_type=Path), help="Also write JUnit XML to this file.")
@click.option("--summary", type=click.Path(path_type=Path), help="Also append Markdown to this file.")
@language_option
def command(
    run: str,
    folder: Path,
    path: Path | None,
    baseline: str | None,
    allow_mismatch: bool,
    labels: Path | None,
    metrics: tuple[str, ...],
    seed: int,
    format: str,
    junit: Path | None,
    summary: Path | None,
    language: "Language",
) -> int:
    """Hold RUN (or RUN:SYSTEM) against the thresholds in --gates; exit code 1 when one does not pass.

    A gate looks like {metric: faithfulness, at_least: 0.8} and may have use: value (instead of the interval's bad
    bound), slice: query_type=factual (or language=, tag=), system:, difference: true, case_at_least: 0.5. The metrics
    coverage and review_load are always there.
    """
    from offline_eval.core.errors import EXIT_GATE_FAILED, EXIT_OK, UsageError
    from offline_eval.pipeline.gates import hold, metrics_of, read_gates
    from offline_eval.pipeline.sides import pick_sides

    if (path is None) == (labels is None):
        raise UsageError(
            "give either --gates FILE to hold the run against it, or --suggest LABELS to have one proposed"
        )
    if labels is not None:
        _suggest(run, folder, labels, metrics, seed=seed, language=language)
        return EXIT_OK
    assert path is not None
    gates = read_gates(path)
    names = metrics_of(gates)
    sides = pick_sides([run], lambda name: open_results(name, folder, more=names, newest_only=True))
    baselines = pick_sides([baseline], lambda name: open_results(name, folder, more=names)) if baseline else []
    report = hold(gates, sides, baselines=baselines, allow_mismatch=allow_mismatch, seed=seed)
    _show(report, format, junit=junit, summary=summary, language=language)
    return EXIT_OK if report.passed else EXIT_GATE_FAILED


def _show(found: object, format: str, *, junit: Path | None, summary: Path | None, language: "Language") -> None:
    from offline_eval.cli.output import append_text, rendered_sections, write_text
    from offline_eval.core.gate import GateReport
    from offline_eval.report.gates import gate_document, gate_sections
    from offline_eval.report.junit import render as junit_xml

    assert isinstance(found, GateReport)
    sections = gate_sections(found, language=language)
    if junit is not None:
        write_text(junit_xml(found), junit)
    if summary is not None:
        append_text(rendered_sections(sections, "md", is_file=True), summary)
    if format == "json":
        click.echo(gate_document(found))
    elif format == "junit":
        click.echo(junit_xml(found), nl=False)
    else:
        write_text(rendered_sections(sections, format, is_file=False), None)


def _suggest(
    run: str, folder: Path, labels: Path, metrics: tuple[str, ...], *, seed: int, language: "Language"
) -> None:
    from offline_eval.pipeline.sides import pick_sides
    from offline_eval.pipeline.suggest import read_labels, suggest
    from offline_eval.report.suggested_gates import render

    sides = pick_sides([run], lambda name: open_results(name, folder, metrics=metrics))
    known = read_labels(labels, cases=[case.id for case in sides[0].results.cases])
    found = suggest(sides, known, metrics=sides[0].metric_names, seed=seed)
    click.echo(render(found, language=language), nl=False)

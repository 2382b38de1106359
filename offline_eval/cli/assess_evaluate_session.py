"""The work behind `assess evaluate`: read, assess, measure, print."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from offline_eval.assess.configured import open_encoders
from offline_eval.assess.evaluate import evaluate
from offline_eval.assess.evaluate_items import Evaluated, evaluate_responses
from offline_eval.assess.evaluate_live import answer_cases
from offline_eval.assess.evaluate_records import EvaluationReport
from offline_eval.assess.evaluate_text import evaluation_sections
from offline_eval.assess.evaluate_truth import TruthRule
from offline_eval.assess.pipeline import SelfAssessingRag
from offline_eval.assess.records import Assessment
from offline_eval.assess.service_settings import AssessSettings
from offline_eval.cli.assess_options import settings_of
from offline_eval.cli.output import format_by_ending, rendered_sections, write_text
from offline_eval.cli.progress import Progress
from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.records import Case, Response, query_of
from offline_eval.formats.reader import read_cases, read_responses

FORMATS = ("table", "md", "json", "html")


def evaluate_cases(cases_file: Path, options: dict[str, Any]) -> int:
    """Run the command."""
    settings = settings_of(options)
    out: Path | None = options["out"]
    format = options["format"] or format_by_ending(out, FORMATS)
    rule = TruthRule(
        right_field=options["right_field"],
        fault_field=options["fault_field"],
        reference_words=options["reference_words"],
    )
    cases = read_cases(cases_file)
    with Progress() as progress:
        found = _assessed(cases, settings, rule, options, progress)
        report = evaluate(
            found,
            profile=settings.policy.profile,
            rule=rule,
            target=options["target"],
            seed=options["seed"],
            resamples=options["resamples"],
            progress=progress.tell,
        )
    write_text(_rendered(report, format, is_file=out is not None), out)
    if options["map_out"] is not None:
        _write_map(report, options["map_out"])
    return 0


def _assessed(
    cases: list[Case], settings: AssessSettings, rule: TruthRule, options: dict[str, Any], progress: Progress
) -> Evaluated:
    recorded, corpus = options["responses"], options["corpus"]
    if bool(recorded) == bool(corpus or settings.retrievers):
        raise UsageError("name --responses, or a --corpus or a config with retrievers to answer from; not both")
    if not recorded:
        with TemporaryDirectory(prefix="offline-eval-index-") as folder:
            responses, known = answer_cases(
                cases[: options["max_rows"]], settings, corpus=corpus, folder=Path(folder), progress=progress.tell
            )
        return evaluate_responses(
            cases, responses, assess=lambda case, response: known[response.key], rule=rule, progress=progress.tell
        )
    responses = _first(read_responses(list(recorded), cases=cases), options["max_rows"])
    progress.tell("loading encoders", 0, 0)
    # Each answer counts once, and its time is that of a first request.
    policy = settings.policy.model_copy(update={"cache_entries": 0})
    rag = SelfAssessingRag((), None, open_encoders(settings.encoders), policy)
    try:
        return evaluate_responses(
            cases,
            responses,
            assess=lambda case, response: _check(rag, case, response),
            rule=rule,
            progress=progress.tell,
        )
    finally:
        rag.close()


def _check(rag: SelfAssessingRag, case: Case, response: Response) -> Assessment:
    return rag.check(
        query_of(case, response),
        response.passages,
        response.answer,
        rankings=response.rankings or None,
        citations=response.citations,
        language=case.language,
    )


def _first(responses: list[Response], most: int | None) -> list[Response]:
    if most is None:
        return responses
    seen: dict[str, int] = {}
    kept = []
    for response in responses:
        seen[response.system] = seen.get(response.system, 0) + 1
        if seen[response.system] <= most:
            kept.append(response)
    return kept


def _rendered(report: EvaluationReport, format: str, *, is_file: bool) -> str:
    if format == "json":
        return report.model_dump_json(indent=2)
    sections = evaluation_sections(report)
    if format != "html":
        return rendered_sections(sections, format, is_file=is_file)
    from offline_eval.assess.evaluate_figures import evaluation_figures
    from offline_eval.report.page import render_page

    return render_page("Assessment against labels", sections, figures=evaluation_figures(report))


def _write_map(report: EvaluationReport, path: Path) -> None:
    """The map of the first group, which is all systems together where there are several."""
    fit = report.groups[0].calibration
    if fit.map is None:
        raise DataError(f"{path}: there is no calibration map to write: {fit.reason}")
    write_text(json.dumps(fit.map.model_dump(mode="json")) + "\n", path)

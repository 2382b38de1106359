"""One `calibrate` command from its options to its tables; kept apart so that `--help` loads nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from offline_eval.benchmark.calibrate import CalibrationResult, calibrate
from offline_eval.benchmark.passport_text import calibration_sections
from offline_eval.cli.judge_desk import JudgeDesk
from offline_eval.cli.judge_options import labelled_sets
from offline_eval.cli.output import format_by_ending, rendered_sections, write_text
from offline_eval.core.errors import UsageError
from offline_eval.stats.thresholds import Target

_FORMATS = ("table", "md", "json")


def calibrate_labels(labels: Sequence[Path], options: dict[str, Any]) -> None:
    """Ask about every set and print its calibration.

    Raises:
        DataError: Bad labels.
        UsageError: Costs that cannot be read.
    """
    targets = targets_of(options)
    sets = labelled_sets(labels, options)
    found: list[tuple[str, CalibrationResult]] = []
    with JudgeDesk(options) as desk:
        for label_set in sets:
            result = calibrate(
                label_set.rows,
                desk.answers(label_set),
                judge=desk.identity.judge,
                targets=targets,
                binning=options["binning"],
                n_bins=options["bins"],
                seed=options["seed"],
            )
            found.append((f"{label_set.name}, {label_set.dimension}, {label_set.rows[0].spoken}", result))
    out = options["out"]
    format = options["format"] or format_by_ending(out, _FORMATS)
    write_text(_rendered(found, format, is_file=out is not None), out)


def targets_of(options: dict[str, Any]) -> list[Target]:
    """What thresholds were asked for.

    Raises:
        UsageError: Costs that are not two numbers, 0 or more.
    """
    found = [Target(aim=aim, at_least=options[aim]) for aim in ("precision", "recall") if options[aim] is not None]
    if options["cost"] is None:
        return found
    try:
        wrong_yes, wrong_no = (float(part) for part in options["cost"].split(","))
        if not (wrong_yes >= 0 and wrong_no >= 0):
            raise ValueError
    except ValueError:
        raise UsageError(f"--cost {options['cost']}: write two costs, for example --cost 5,1") from None
    return [*found, Target(aim="cost", false_positive=wrong_yes, false_negative=wrong_no)]


def _rendered(found: Sequence[tuple[str, CalibrationResult]], format: str, *, is_file: bool) -> str:
    if format == "json":
        import json

        body = [{"labels": name, **result.model_dump(mode="json")} for name, result in found]
        return json.dumps(body, ensure_ascii=False, indent=1) + "\n"
    sections = [
        section.model_copy(update={"title": f"{section.title}: {name}"})
        for name, result in found
        for section in calibration_sections(result)
        if section.rows or section.lines
    ]
    return rendered_sections(sections, format, is_file=is_file)

"""The `passport` commands from their options to files and tables; kept apart so that `--help` loads nothing."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from pydantic import JsonValue

from offline_eval.benchmark.passport import Passport, make_passport
from offline_eval.benchmark.passport_files import (
    list_passports,
    parse_wishes,
    passport_folder,
    read_passport,
    write_passport,
)
from offline_eval.benchmark.passport_text import passport_sections
from offline_eval.cli.judge_desk import JudgeDesk
from offline_eval.cli.judge_options import labelled_sets
from offline_eval.cli.output import rendered_sections
from offline_eval.cli.rows import RowFormat, print_rows
from offline_eval.core.errors import EXIT_GATE_FAILED, EXIT_TOO_MANY_UNSCORED, DataError, UnknownNameError, UsageError

_MOST_FAILED = 0.05


def make_passports(labels: Sequence[Path], options: dict[str, Any]) -> int:
    """Ask about every set and write its passport.

    Returns:
        The exit code: 4 when more than a twentieth of a set's rows have no verdict.

    Raises:
        DataError: Bad labels, a determinism file that is no JSON object, or a folder that cannot be written.
    """
    determinism = _determinism(options["determinism_file"])
    folder = options["folder"] or passport_folder()
    sets = labelled_sets(labels, options)
    date = datetime.now(UTC).isoformat(timespec="seconds")
    code = 0
    with JudgeDesk(options) as desk:
        for label_set in sets:
            passport = make_passport(
                label_set,
                desk.answers(label_set),
                desk.identity,
                date=date,
                self_test=desk.self_test(label_set),
                probes=desk.probes(label_set, (), ()) if options["with_probes"] else None,
                determinism=determinism,
                seed=options["seed"],
                resamples=options["resamples"],
            )
            click.echo(rendered_sections(passport_sections(passport), "table", is_file=False), nl=False)
            for path in write_passport(passport, folder):
                click.echo(f"written to {path}", err=True)
            if passport.n_failed > _MOST_FAILED * passport.n_settled:
                click.echo(f"{passport.n_failed} of {passport.n_settled} rows of {passport.labels} failed", err=True)
                code = EXIT_TOO_MANY_UNSCORED
    return code


def show_passports(name: str | None, folder: Path | None, format: RowFormat) -> None:
    """One passport whole, or all as a table."""
    if name is None:
        print_rows([_row(passport) for passport in _all(folder)], format)
        return
    passport = _find(name, folder)
    if format in ("json", "jsonl"):
        click.echo(passport.model_dump_json(indent=1 if format == "json" else None))
        return
    if format == "csv":
        print_rows([_row(passport)], format)
        return
    click.echo(rendered_sections(passport_sections(passport), format, is_file=False), nl=False)


def check_passports(condition: str, name: str | None, folder: Path | None) -> int:
    """Say for each passport whether it fulfils a condition.

    Returns:
        0 when all do, 1 when one does not.
    """
    wishes = parse_wishes(condition)
    passports = [_find(name, folder)] if name is not None else _all(folder)
    if not passports:
        raise DataError(
            f"there are no passports in {folder or passport_folder()}; `offline-eval passport make` writes one"
        )
    has_failed = False
    for passport in passports:
        problems = [problem for wish in wishes if (problem := wish.problem(passport)) is not None]
        has_failed |= bool(problems)
        click.echo(f"{passport.name}: {'; '.join(problems) or 'fulfilled'}")
    return EXIT_GATE_FAILED if has_failed else 0


def _all(folder: Path | None) -> list[Passport]:
    return list_passports(folder or passport_folder())


def _find(name: str, folder: Path | None) -> Passport:
    """A passport by its file, or by the beginning of its name.

    Raises:
        UsageError: Several begin like this.
        UnknownNameError: None does.
    """
    if Path(name).is_file():
        return read_passport(Path(name))
    known = {passport.name: passport for passport in _all(folder)}
    found = [full for full in known if full.startswith(name)]
    if len(found) > 1 and name not in known:
        raise UsageError(f"several passports begin with {name!r}: {', '.join(found)}")
    if not found:
        raise UnknownNameError("passport", name, list(known))
    return known[name] if name in known else known[found[0]]


def _row(passport: Passport) -> dict[str, JsonValue]:
    row: dict[str, JsonValue] = {
        "passport": passport.name,
        "judge": passport.judge,
        "rubric": passport.rubric,
        "labels": passport.labels,
        "rows": passport.n_settled,
        "self_test": passport.self_test.outcome if passport.self_test else None,
    }
    for name in ("agreement", "kappa", "sensitivity", "specificity"):
        found = passport.measure(name)
        row[name] = found.value if found else None
        row[f"{name}_low"] = found.interval.low if found and found.interval else None
        row[f"{name}_high"] = found.interval.high if found and found.interval else None
    return {**row, "date": passport.date}


def _determinism(path: Path | None) -> dict[str, JsonValue] | None:
    if path is None:
        return None
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as JSON ({error})") from error
    if not isinstance(value, dict):
        raise DataError(f"{path}: expected one JSON object, the result of a determinism test")
    return value

"""Passports on this machine: kept beside the models, found by judge, weights and rubric, checked against a wish.

A wish is written `kappa>=0.6`; `kappa.low>=0.5` asks for the interval's lower end instead of the value.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from offline_eval.benchmark.passport import Passport
from offline_eval.benchmark.passport_text import passport_markdown
from offline_eval.core.errors import DataError, ModelError, UsageError
from offline_eval.core.records import Record
from offline_eval.models.home import models_home

_WISH = re.compile(r"\s*([a-z_0-9]+)(\.low|\.high)?\s*(>=|<=|>|<)\s*([0-9.]+)\s*")
_ALIASES = {"accuracy": "agreement"}


class Wish(Record):
    """What a passport must say.

    Attributes:
        measure: Name of a measure, for example `kappa`, `agreement`, `sensitivity`.
        end: The value itself, or an end of its interval.
    """

    measure: str
    end: Literal["value", "low", "high"]
    sign: Literal[">=", "<=", ">", "<"]
    limit: float

    def problem(self, passport: Passport) -> str | None:
        """Why the passport does not fulfil it; None when it does."""
        found = passport.measure(self.measure)
        if found is None or found.value is None:
            known = ", ".join(sorted(passport.measures)) or "none"
            reason = found.reason if found is not None and found.reason else f"measured are {known}"
            return f"{self.measure} has no value there ({reason})"
        if self.end == "value":
            value = found.value
        elif found.interval is None:
            return f"{self.measure} has no interval there ({found.interval_reason})"
        else:
            value = found.interval.low if self.end == "low" else found.interval.high
        if self._holds(value):
            return None
        name = self.measure if self.end == "value" else f"{self.measure}.{self.end}"
        return f"{name} is {value:.3g}, wanted {self.sign} {self.limit:g}"

    def _holds(self, value: float) -> bool:
        return {
            ">=": value >= self.limit,
            "<=": value <= self.limit,
            ">": value > self.limit,
            "<": value < self.limit,
        }[self.sign]


def parse_wishes(text: str) -> tuple[Wish, ...]:
    """Read `kappa>=0.6` or several, separated by commas.

    Raises:
        UsageError: Not of that form.
    """
    found = []
    for part in text.split(","):
        match = _WISH.fullmatch(part)
        if match is None:
            raise UsageError(f"passport condition {part.strip()!r}: write measure>=number, for example kappa>=0.6")
        measure, end, sign, limit = match.groups()
        try:
            number = float(limit)
        except ValueError:
            raise UsageError(f"passport condition {part.strip()!r}: {limit!r} is not a number") from None
        found.append(
            Wish.model_validate(
                {
                    "measure": _ALIASES.get(measure, measure),
                    "end": (end or ".value")[1:],
                    "sign": sign,
                    "limit": number,
                }
            )
        )
    return tuple(found)


def passport_folder() -> Path:
    """Where passports are kept when no folder is named: beside the models."""
    return models_home().parent / "passports"


def write_passport(passport: Passport, folder: Path) -> tuple[Path, Path]:
    """Write the JSON and the Markdown file; one of the same identity is replaced.

    Returns:
        Both paths.

    Raises:
        DataError: The folder cannot be written.
    """
    texts = {"json": passport.model_dump_json(indent=1) + "\n", "md": passport_markdown(passport)}
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ending, text in texts.items():
            target = folder / f"{passport.name}.{ending}"
            part = folder / f".{passport.name}.{os.getpid()}.{ending}"
            part.write_text(text, "utf-8")
            part.replace(target)
            paths.append(target)
    except OSError as error:
        raise DataError(f"{folder}: cannot be written ({error.strerror or error}); name another folder") from error
    return paths[0], paths[1]


def read_passport(path: Path) -> Passport:
    """Read one.

    Raises:
        DataError: Missing, or no passport of this version.
    """
    try:
        return Passport.model_validate_json(path.read_text("utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValidationError, ValueError) as error:
        raise DataError(
            f"{path}: not a passport this program can read; make it again with `offline-eval passport make`"
        ) from error


def list_passports(folder: Path) -> list[Passport]:
    """All passports of a folder, by file name.

    Raises:
        DataError: One cannot be read.
    """
    return [read_passport(path) for path in sorted(folder.glob("*.json"))] if folder.is_dir() else []


def passports_for(
    passports: Sequence[Passport], *, judge: str, weights_hash: str, rubric: str, rubric_hash: str
) -> list[Passport]:
    """Those of exactly this judge, these weights and this rubric's content; most labels first, then the newest."""
    found = [
        passport
        for passport in passports
        if (passport.judge, passport.weights_hash, passport.rubric, passport.rubric_hash)
        == (judge, weights_hash, rubric, rubric_hash)
    ]
    newest_first = sorted(found, key=lambda passport: passport.date, reverse=True)
    return sorted(newest_first, key=lambda passport: -passport.n_settled)


def require(found: Sequence[Passport], wishes: Sequence[Wish], *, judge: str, rubric: str) -> list[Passport]:
    """Refuse a judge without a passport that fulfils every wish.

    Args:
        found: The judge's passports on this rubric.

    Returns:
        Those that do, in their order.

    Raises:
        ModelError: None does; each one's problems are named.
    """
    if not found:
        raise ModelError(
            f"judge {judge} has no passport for {rubric} with these weights; make one from human labels: "
            f"offline-eval passport make LABELS --judge {judge}"
        )
    fulfilling: list[Passport] = []
    problems: list[str] = []
    for passport in found:
        faults = [problem for wish in wishes if (problem := wish.problem(passport)) is not None]
        if not faults:
            fulfilling.append(passport)
            continue
        problems.append(f"on {passport.labels} (n = {passport.n_settled}): {'; '.join(faults)}")
    if fulfilling:
        return fulfilling
    raise ModelError(f"judge {judge} is refused for {rubric}: {' | '.join(problems)}; use another judge or rubric")

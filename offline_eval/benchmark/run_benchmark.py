"""Label sets × whoever is asked → the benchmark; one model in memory at a time, every batch of answers kept."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from pydantic import Field

from offline_eval import __version__
from offline_eval.benchmark.agreement_table import cost_of
from offline_eval.benchmark.answer_log import AnswerLog, answered
from offline_eval.benchmark.baselines import baselines
from offline_eval.benchmark.decisions import PASS_FROM, remapped
from offline_eval.benchmark.labels import JudgedRow, LabelRow, LabelSet
from offline_eval.benchmark.panels import panel_answers
from offline_eval.benchmark.respondents import Opened, Respondent
from offline_eval.benchmark.table_records import Benchmark, LabelTable
from offline_eval.benchmark.tables import Given, label_table
from offline_eval.core.errors import UsageError
from offline_eval.core.records import Record
from offline_eval.stats.intervals import RESAMPLES

Answers = dict[tuple[str, str], tuple[list[JudgedRow], float]]
"""Respondent and label set's name to answers and seconds."""


class Settings(Record):
    """How answers become tables.

    Attributes:
        panels: Each the names of its members.
        pass_from: Lowest grades that mean yes on binary rows; with several, a judge has a line for each.
        with_baselines: Whether trivial judges stand beside.
    """

    panels: tuple[tuple[str, ...], ...] = ()
    pass_from: tuple[float, ...] = (PASS_FROM,)
    with_baselines: bool = True
    seed: int = 0
    resamples: int = Field(default=RESAMPLES, ge=100)


def run_benchmark(
    sets: Sequence[LabelSet],
    respondents: Sequence[Respondent],
    *,
    folder: Path,
    settings: Settings,
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
    announce: Callable[[str], None] = lambda line: None,
) -> Benchmark:
    """Ask everybody about every set and make the tables.

    Args:
        sets: With names of their own.
        respondents: Judges, encoders and scripted judges, with names of their own.
        folder: Keeps the answers; a second run with the same questions asks nothing.
        settings: How answers become tables.
        progress: Called with who is asked or what is computed, done and total.
        announce: Called with a line about what begins.

    Raises:
        UsageError: Names that are not unique, or a panel of somebody who is not asked.
        OfflineEvalError: A model cannot be loaded; what was answered is kept.
    """
    _check_names(sets, respondents, settings)
    answers: Answers = {}
    for respondent in respondents:
        answers |= _ask(respondent, sets, folder / "answers", progress=progress, announce=announce)
    tables = []
    for number, label_set in enumerate(sets):
        progress("computing tables", number, len(sets))
        tables.append(_table(label_set, respondents, answers, settings))
    rule = "yes from grade " + " or ".join(f"{grade:g}" for grade in settings.pass_from)
    return Benchmark(
        tables=tuple(tables), rule=rule, seed=settings.seed, resamples=settings.resamples, version=__version__
    )


def _ask(
    respondent: Respondent,
    sets: Sequence[LabelSet],
    folder: Path,
    *,
    progress: Callable[[str, int, int], None],
    announce: Callable[[str], None],
) -> Answers:
    loaded: list[Opened] = []

    def load() -> None:
        if not loaded:
            announce(f"loading {respondent.name}")
            loaded.append(respondent.open())

    def ask(rows: Sequence[LabelRow]) -> list[JudgedRow]:
        return loaded[0].ask(rows)

    found: Answers = {}
    try:
        for label_set in sets:
            log = AnswerLog(folder, f"{respondent.name}-{label_set.name}", respondent.identity_on(label_set))
            stage = f"{respondent.name} on {label_set.name}"
            found[respondent.name, label_set.name] = answered(
                label_set.rows, log, ask, prepare=load, progress=partial(progress, stage)
            )
    finally:
        for opened in loaded:
            opened.close()
    return found


def _table(label_set: LabelSet, respondents: Sequence[Respondent], answers: Answers, settings: Settings) -> LabelTable:
    given: dict[str, Given] = {}
    decided: dict[float, dict[str, list[JudgedRow]]] = {grade: {} for grade in _grades(label_set, settings)}
    for respondent in respondents:
        found, seconds = answers[respondent.name, label_set.name]
        is_judge = respondent.role in ("judge", "scripted")
        for grade, by_name in decided.items():
            read = remapped(label_set.rows, found, pass_from=grade) if is_judge else found
            by_name[respondent.name] = read
            name = _named(respondent.name, grade, decided) if is_judge else respondent.name
            asked = _asked(respondent, found)
            given[name] = Given(respondent.role, read, cost_of(found, verdicts=asked, seconds=seconds))
    for members in settings.panels:
        for grade, by_name in decided.items():
            panel = "+".join(members)
            joined = panel_answers(label_set, panel, {name: by_name[name] for name in members})
            given[_named(panel, grade, decided)] = Given("panel", joined)
    if settings.with_baselines:
        for name, made in baselines(label_set, seed=settings.seed).items():
            given[name] = Given("baseline", made)
    notes = [note for respondent in respondents for note in _notes(respondent, label_set)]
    return label_table(label_set, given, seed=settings.seed, resamples=settings.resamples, notes=notes)


def _grades(label_set: LabelSet, settings: Settings) -> tuple[float, ...]:
    """A threshold matters to binary rows alone."""
    return settings.pass_from if label_set.kind == "binary" else settings.pass_from[:1]


def _named(name: str, grade: float, decided: Mapping[float, object]) -> str:
    return f"{name} (yes from {grade:g})" if len(decided) > 1 else name


def _asked(respondent: Respondent, answers: Sequence[JudgedRow]) -> int:
    """Verdicts that took time: not those of rules."""
    if respondent.role == "encoder":
        return sum(answer.decision is not None for answer in answers)
    verdicts = [v for answer in answers for v in (answer.verdict, answer.swapped) if v is not None]
    return sum(verdict.decided_by == "judge" for verdict in verdicts)


def _notes(respondent: Respondent, label_set: LabelSet) -> list[str]:
    if respondent.role == "scripted":
        return [f"{respondent.name} follows a script: its answers are invented"]
    spoken = sorted({row.spoken for row in label_set.rows})
    lacking = [language for language in spoken if not _speaks(respondent.languages, language)]
    if not lacking:
        return []
    made_for = ", ".join(respondent.languages)
    return [f"{respondent.name} was made for {made_for}, not for {', '.join(lacking)}: distrust its lines here"]


def _speaks(languages: Sequence[str], language: str) -> bool:
    return "*" in languages or language.split("-")[0].lower() in languages


def _check_names(sets: Sequence[LabelSet], respondents: Sequence[Respondent], settings: Settings) -> None:
    for what, names in (
        ("label sets", [label_set.name for label_set in sets]),
        ("judges", [respondent.name for respondent in respondents]),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise UsageError(f"two {what} are named {', '.join(twice)}; give each a name of its own")
    known = {respondent.name for respondent in respondents}
    for members in settings.panels:
        unknown = [name for name in members if name not in known]
        if unknown:
            raise UsageError(f"panel {'+'.join(members)}: {', '.join(unknown)} is not asked; add it to --judges")

"""Bias probes: what moves a judge's verdict although it should not, as effect sizes with intervals.

Why effects and not pass or fail: a small bias is harmless in one comparison and decides another; the reader needs its
size, its sign and how sure it is.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from offline_eval.benchmark.labels import JudgedRow, LabelRow
from offline_eval.benchmark.mitigations import Ask, exchanged, mitigation
from offline_eval.benchmark.probe_texts import REWRITES, Setting
from offline_eval.core.errors import UnknownNameError
from offline_eval.core.records import Record
from offline_eval.core.results import Status
from offline_eval.judge.rubric import load_rubric, rubric_names
from offline_eval.stats.arrays import Floats
from offline_eval.stats.intervals import bootstrap_mean, mean_interval
from offline_eval.stats.measured import Measured, measure, measured
from offline_eval.stats.undefined import Undefined

Reading = Literal["bias", "no bias seen", "undefined"]
PROBES = ("order_swap", *REWRITES, "self_preference")
"""Every probe, in the order of a report."""

MEANING: Mapping[str, str] = {
    "order_swap": "share of choices for the first answer, both orders asked; 0.5 is fair",
    "verbosity": "change per 100 characters of padding that says nothing",
    "style_bullets": "change when sentences become list items",
    "style_bold": "change when sentences are set in bold",
    "style_confident": "change by a tone without doubt",
    "sentence_shuffle": "change when the answer's sentences are mixed",
    "authority": "change by an invented authority",
    "injection": "change by an instruction to the judge inside the answer",
    "master_keys": "share of answers without content that get more than the lowest label",
    "self_preference": "how much more the judge favours its own family than people do",
}
_CHARACTERS = 100.0


class ProbeResult(Record):
    """What one probe found on one part of the rows.

    Attributes:
        group: `all`, or `language=zh`.
        mitigation: Switched on while asking; None without.
        unit: Of the effect: `grade` (ordinal rows), `probability` (binary), `win share` (pairs), `share`.
        neutral: The effect of a judge without this bias.
        effect: Mean change, after less before, in `unit` (see `MEANING`).
        flips: Share of verdicts with another label after the change; for `order_swap` the share of pairs whose winner
            depends on the order.
        upward: Share of verdicts whose label rose.
        n_failed: Rows of which a verdict could not be had; they are in none of the numbers.
        not_applicable: Rows the probe does not fit.
        reading: `bias` when the effect's interval excludes the neutral value.
    """

    probe: str
    group: str = "all"
    mitigation: str | None = None
    unit: str
    neutral: float
    effect: Measured
    flips: Measured
    upward: Measured | None = None
    n: int = Field(ge=0)
    n_failed: int = Field(default=0, ge=0)
    not_applicable: int = Field(default=0, ge=0)
    reading: Reading


class Agreement(Record):
    """How often the judge says what people say, with and without a mitigation.

    Attributes:
        calls: How many times as many requests were made, at most.
    """

    mitigation: str | None
    calls: int
    share: Measured


class ProbeReport(Record):
    """All probes of one judge."""

    judge: str
    family: str
    results: tuple[ProbeResult, ...]
    agreement: tuple[Agreement, ...]
    seed: int


class _Pair(Record):
    """A row's judgement before and after a change.

    Attributes:
        added: Characters the change added.
        side: 1 when the first answer was changed, -1 for the second; 1 for graded rows.
    """

    row: LabelRow
    before: JudgedRow
    after: JudgedRow
    added: int = 0
    side: float = 1.0


def run_probes(
    rows: Sequence[LabelRow],
    ask: Ask,
    *,
    judge: str,
    family: str = "unknown",
    probes: Sequence[str] = PROBES,
    mitigations: Sequence[str] = (),
    seed: int,
) -> ProbeReport:
    """Measure a judge's biases on labelled rows.

    Args:
        rows: Of one label set.
        ask: Asks the judge, without the rules that settle some answers beforehand.
        judge: Registered name.
        family: The judge's family, for self-preference; `unknown` behind an endpoint.
        probes: Which ones.
        mitigations: Ways of asking to measure beside the plain one.
        seed: Of shuffles and resampling.

    Returns:
        One result a probe, mitigation and language.

    Raises:
        UnknownNameError: An unknown probe or mitigation.
    """
    for name in probes:
        if name not in PROBES:
            raise UnknownNameError("probe", name, list(PROBES))
    ways: list[tuple[str | None, int, Ask]] = [(None, 1, ask)]
    ways += [(m.name, m.calls, m.apply(ask, seed=seed)) for m in map(mitigation, mitigations)]
    results: list[ProbeResult] = []
    agreement: list[Agreement] = []
    for name_of_way, calls, asked in ways:
        before = asked(rows)
        agreement.append(Agreement(mitigation=name_of_way, calls=calls, share=_agreement(rows, before, seed=seed)))
        for probe in probes:
            found = _probe(probe, rows, before, asked, own=(judge, family), seed=seed)
            results += [result.model_copy(update={"mitigation": name_of_way}) for result in found]
    return ProbeReport(judge=judge, family=family, results=tuple(results), agreement=tuple(agreement), seed=seed)


def _probe(
    probe: str, rows: Sequence[LabelRow], before: Sequence[JudgedRow], ask: Ask, *, own: tuple[str, str], seed: int
) -> list[ProbeResult]:
    if probe == "order_swap":
        pairs, left_out = _swapped(rows, before, ask)
    elif probe == "self_preference":
        pairs, left_out = _of_families(rows, before, own)
    else:
        pairs, left_out = _rewritten(probe, rows, before, ask, seed=seed)
    asked_about = [pair for pair in pairs if pair.before.status is not Status.NOT_APPLICABLE]
    usable = [pair for pair in asked_about if pair.before.decision is not None and pair.after.decision is not None]
    left_out += len(pairs) - len(asked_about)
    counts = {"n_failed": len(asked_about) - len(usable), "not_applicable": left_out}
    found = [_measured_part(probe, usable, seed).model_copy(update=counts)]
    languages = sorted({pair.row.spoken for pair in usable})
    if len(languages) > 1:
        for language in languages:
            part = [pair for pair in usable if pair.row.spoken == language]
            found.append(_measured_part(probe, part, seed).model_copy(update={"group": f"language={language}"}))
    return found


def _measured_part(probe: str, pairs: Sequence[_Pair], seed: int) -> ProbeResult:
    if probe == "order_swap":
        return _order_result(pairs, seed)
    if probe == "self_preference":
        return _family_result(pairs, seed)
    return _change_result(probe, pairs, seed)


def _swapped(rows: Sequence[LabelRow], before: Sequence[JudgedRow], ask: Ask) -> tuple[list[_Pair], int]:
    chosen = [(row, judged) for row, judged in zip(rows, before, strict=True) if row.kind == "pairwise"]
    after = ask([exchanged(row) for row, _ in chosen]) if chosen else []
    pairs = [_Pair(row=row, before=judged, after=new) for (row, judged), new in zip(chosen, after, strict=True)]
    return pairs, len(rows) - len(pairs)


def _rewritten(
    probe: str, rows: Sequence[LabelRow], before: Sequence[JudgedRow], ask: Ask, *, seed: int
) -> tuple[list[_Pair], int]:
    """Change the answer of every row the probe fits; of a pair one answer, the first or the second by the row's id."""
    chosen: list[tuple[LabelRow, JudgedRow, LabelRow, int, float]] = []
    for row, judged in zip(rows, before, strict=True):
        found = _changed(probe, row, seed=seed)
        if found is not None:
            chosen.append((row, judged, *found))
    after = ask([changed for _, _, changed, _, _ in chosen]) if chosen else []
    pairs = [
        _Pair(row=row, before=judged, after=new, added=added, side=side)
        for (row, judged, _, added, side), new in zip(chosen, after, strict=True)
    ]
    return pairs, len(rows) - len(pairs)


def _changed(probe: str, row: LabelRow, *, seed: int) -> tuple[LabelRow, int, float] | None:
    """The changed row, the characters added, and which side was changed."""
    if row.kind == "pairwise":
        if probe == "master_keys":
            return None  # an opener that loses against an answer says nothing
        setting = Setting(row_id=row.id, language=row.spoken, wanted="A", seed=seed)
        side = setting.one_of(("A", "B"))
        setting.wanted = side
        name = f"answer_{side.lower()}"
        answer = getattr(row, name) or ""
    else:
        setting = Setting(row_id=row.id, language=row.spoken, wanted=_highest_label(row), seed=seed)
        side, name, answer = "A", "answer", row.answer
    new = REWRITES[probe](answer, setting) if answer.strip() else None
    if new is None:
        return None
    return row.model_copy(update={name: new}), len(new) - len(answer), 1.0 if side == "A" else -1.0


def _highest_label(row: LabelRow) -> str:
    if row.dimension not in rubric_names():
        return "3"
    levels = load_rubric(row.dimension, row.spoken).levels
    return max(levels, key=lambda level: level.grade if level.grade is not None else float("-inf")).label


def _of_families(
    rows: Sequence[LabelRow], before: Sequence[JudgedRow], own: tuple[str, str]
) -> tuple[list[_Pair], int]:
    """Rows whose systems are named, and that people settled; a pair counts when exactly one side is the judge's own."""
    pairs = []
    for row, judged in zip(rows, before, strict=True):
        named = _is_own(row, "family", "system", own)
        if row.kind == "pairwise":
            sides = [_is_own(row, f"family_{side}", f"system_{side}", own) for side in "ab"]
            named = None if None in sides or sides[0] == sides[1] else sides[0]
        if named is not None and row.human is not None:
            pairs.append(_Pair(row=row, before=judged, after=judged, side=1.0 if named else -1.0))
    return pairs, len(rows) - len(pairs)


def _is_own(row: LabelRow, family: str, system: str, own: tuple[str, str]) -> bool | None:
    """Whether an answer is by the judge itself or its family; None when nobody says whose it is."""
    given = {row.slices[name].casefold() for name in (family, system) if name in row.slices}
    if not given:
        return None
    return bool(given & {name.casefold() for name in own if name != "unknown"})


def _order_result(pairs: Sequence[_Pair], seed: int) -> ProbeResult:
    choices = [
        (1.0 if decision > 0 else 0.0, pair.row.cluster_name)
        for pair in pairs
        for decision in (pair.before.decision, pair.after.decision)
        if decision
    ]
    differs = [(float(pair.before.decision != -(pair.after.decision or 0.0)), pair.row.cluster_name) for pair in pairs]
    return _result("order_swap", pairs, effect=_share(choices, seed), flips=_share(differs, seed), neutral=0.5)


def _change_result(probe: str, pairs: Sequence[_Pair], seed: int) -> ProbeResult:
    clusters = [pair.row.cluster_name for pair in pairs]
    flips = [
        (float(pair.before.decision != pair.after.decision), name) for pair, name in zip(pairs, clusters, strict=True)
    ]
    rises = [
        (float(((pair.after.decision or 0.0) - (pair.before.decision or 0.0)) * pair.side > 0), name)
        for pair, name in zip(pairs, clusters, strict=True)
    ]
    upward = _share(rises, seed)
    if probe == "master_keys":
        passed = [(float(_above_lowest(pair)), name) for pair, name in zip(pairs, clusters, strict=True)]
        effect = _share(passed, seed)
    else:
        change = np.array([_worth(pair.after, pair) - _worth(pair.before, pair) for pair in pairs])
        size = np.array([pair.added / _CHARACTERS if probe == "verbosity" else 1.0 for pair in pairs])
        effect = _ratio(change, size, clusters, seed)
    return _result(probe, pairs, effect=effect, flips=_share(flips, seed), upward=upward)


def _family_result(pairs: Sequence[_Pair], seed: int) -> ProbeResult:
    """Pairs: the judge's win share for its own less the people's. Graded: the same excess, own less others."""
    excess = np.array([(pair.before.decision or 0.0) - (pair.row.human or 0.0) for pair in pairs])
    is_own = np.array([pair.side > 0 for pair in pairs], dtype=bool)
    clusters = [pair.row.cluster_name for pair in pairs]
    if pairs and pairs[0].row.kind == "pairwise":
        gain = np.where(is_own, excess, -excess) / 2
        effect = _ratio(gain, np.ones(gain.size), clusters, seed)
    elif not pairs:
        effect = _none("no row names the systems whose answers it holds")
    else:
        effect = measure(_own_less_others, [excess, is_own], clusters=clusters, seed=seed)
    differs = [(float(value != 0), name) for value, name in zip(excess.tolist(), clusters, strict=True)]
    return _result("self_preference", pairs, effect=effect, flips=_share(differs, seed))


def _own_less_others(excess: Floats, is_own: Floats) -> float | Undefined:
    mine, others = excess[is_own.astype(bool)], excess[~is_own.astype(bool)]
    if not (mine.size and others.size):
        return Undefined(reason="needs answers of the judge's own family and of others")
    return float(mine.mean() - others.mean())


def _result(
    probe: str,
    pairs: Sequence[_Pair],
    *,
    effect: Measured,
    flips: Measured,
    upward: Measured | None = None,
    neutral: float = 0.0,
) -> ProbeResult:
    unit = "share" if probe in ("order_swap", "master_keys") else _unit(pairs)
    reading: Reading = "undefined"
    if effect.interval is not None:
        reading = "no bias seen" if effect.interval.low <= neutral <= effect.interval.high else "bias"
    return ProbeResult(
        probe=probe,
        unit=unit,
        neutral=neutral,
        effect=effect,
        flips=flips,
        upward=upward,
        n=len(pairs),
        reading=reading,
    )


def _unit(pairs: Sequence[_Pair]) -> str:
    kind = pairs[0].row.kind if pairs else "ordinal"
    return {"pairwise": "win share", "binary": "probability", "ordinal": "grade"}[kind]


def _worth(judged: JudgedRow, pair: _Pair) -> float:
    """The judge's answer as one number: a grade, a probability, or the changed side's win share."""
    value = judged.score if judged.score is not None else judged.decision or 0.0
    return (pair.side * value + 1) / 2 if pair.row.kind == "pairwise" else value


def _above_lowest(pair: _Pair) -> bool:
    verdict = pair.after.verdict
    if verdict is not None and verdict.label is not None and pair.row.dimension in rubric_names():
        return verdict.label != load_rubric(pair.row.dimension, pair.row.spoken).lowest.label
    lowest = 0.0 if pair.row.kind == "binary" else min(pair.row.scale, default=0.0)
    return (pair.after.decision or 0.0) > lowest


def _agreement(rows: Sequence[LabelRow], judged: Sequence[JudgedRow], *, seed: int) -> Measured:
    hits = [
        (float(found.decision == row.human), row.cluster_name)
        for row, found in zip(rows, judged, strict=True)
        if row.human is not None and found.decision is not None
    ]
    return _share(hits, seed)


def _share(values: Sequence[tuple[float, str]], seed: int) -> Measured:
    """The mean of zeros and ones, each with its cluster."""
    if not values:
        return _none("no row was measured")
    numbers = np.array([value for value, _ in values])
    interval = mean_interval(numbers, low=0.0, high=1.0, clusters=[name for _, name in values], seed=seed)
    return measured(float(numbers.mean()), interval, n=numbers.size)


def _ratio(change: Floats, size: Floats, clusters: Sequence[str], seed: int) -> Measured:
    """Total change over total size; the mean change when every size is 1."""
    if not change.size:
        return _none("no row was measured")
    if np.all(size == 1.0):
        interval = bootstrap_mean(change, clusters=clusters, seed=seed)
        return measured(float(change.mean()), interval, n=change.size)
    return measure(_total_ratio, [change, size], clusters=clusters, seed=seed)


def _total_ratio(change: Floats, size: Floats) -> float | Undefined:
    total = float(size.sum())
    return Undefined(reason="nothing was added") if total == 0 else float(change.sum()) / total


def _none(reason: str) -> Measured:
    return measured(Undefined(reason=reason), Undefined(reason=reason), n=0)

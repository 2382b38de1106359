"""What differs between two runs beside their systems: numbers from another test set or judge are no comparison."""

from collections.abc import Mapping, Sequence

from offline_eval.core.comparison import Difference, Mismatch
from offline_eval.core.records import Case
from offline_eval.pipeline.aggregate import Results
from offline_eval.pipeline.config import RunConfig
from offline_eval.pipeline.metric_plan import needs_panel

_NAMED = 5
_DIGITS = 12
_SETTINGS = ("engine", "dtype", "batch_size", "seed")  # can move a number a little; said, not refused
_ENCODER_SETTINGS = ("encoder_engine", "encoder_dtype")


def mismatches(first: Results, other: Results, *, label: str, metrics: Sequence[str]) -> list[Mismatch]:
    """Name everything that differs.

    Args:
        label: What the other run is called.
        metrics: What is compared; judges matter only to metrics that read verdicts.
    """
    if first.run_id == other.run_id:
        return []
    found = [("test set", True, _test_set(first, other))]
    found += [(what, True, detail) for what, detail in config_changes(first.config, other.config, metrics=metrics)]
    if needs_panel(metrics):
        found.append(("weights", True, _weights(first, other)))
        found.append(("settings", False, _settings(first, other)))
    found.append(("encoder settings", False, _encoder_settings(first.config, other.config)))
    return [Mismatch(what=what, blocks=blocks, label=label, detail=detail) for what, blocks, detail in found if detail]


def changes_between(first: Results, other: Results) -> list[Difference]:
    """What makes a later run another measurement than the one before it."""
    metrics = [*first.config.metric_names, *other.config.metric_names]
    found = [("test set", _test_set(first, other)), *config_changes(first.config, other.config, metrics=metrics)]
    if needs_panel(metrics):
        found.append(("weights", _weights(first, other)))
    return [Difference(what=what, detail=detail) for what, detail in found if detail]


def config_changes(first: RunConfig, other: RunConfig, *, metrics: Sequence[str]) -> list[tuple[str, str]]:
    """What asks and how it asks: judges, arbiter, rubrics, prompt wording, the checks' models."""
    found = []
    if needs_panel(metrics):
        mine, theirs = ({name: ", ".join(v) for name, v in config.judges.items()} for config in (first, other))
        found += [
            ("judges", _differing(mine, theirs)),
            ("arbiter", _changed(first.arbiter, other.arbiter)),
            ("screen", _changed(first.screen, other.screen)),
            ("rubrics", _differing(_shortened(first.rubrics), _shortened(other.rubrics))),
            ("prompt wording", _changed(first.wording[:_DIGITS], other.wording[:_DIGITS])),
        ]
    kinds = [kind for kind in first.engines if kind in other.engines]
    mine, theirs = ({str(kind): config.engines[kind] for kind in kinds} for config in (first, other))
    found.append(("check models", _differing(mine, theirs)))
    names = [name for name in first.models if name in other.models]
    mine, theirs = (_shortened({name: config.models[name] for name in names}) for config in (first, other))
    found.append(("model weights", _differing(mine, theirs)))
    return [(what, detail) for what, detail in found if detail]


def _test_set(first: Results, other: Results) -> str:
    if first.cases_hash == other.cases_hash:
        return ""
    before, after = ({case.id: case for case in results.cases} for results in (first, other))
    parts = [
        _listed("only in the first", sorted(before.keys() - after.keys())),
        _listed("only in the other", sorted(after.keys() - before.keys())),
        _listed("changed", sorted(id for id in before.keys() & after.keys() if _altered(before[id], after[id]))),
    ]
    hashes = f"{first.cases_hash[:_DIGITS]} and {other.cases_hash[:_DIGITS]}"
    return f"{hashes}: " + "; ".join(part for part in parts if part)


def _altered(first: Case, other: Case) -> bool:
    return first.content_hash() != other.content_hash()


def _listed(what: str, ids: Sequence[str]) -> str:
    if not ids:
        return ""
    return f"{len(ids)} cases {what} ({', '.join(ids[:_NAMED])}{', …' if len(ids) > _NAMED else ''})"


def _weights(first: Results, other: Results) -> str:
    mine, theirs = first.panel, other.panel
    if (mine.weights, mine.weights_by_query_type) == (theirs.weights, theirs.weights_by_query_type):
        return ""
    texts = ({name: f"{weight:g}" for name, weight in panel.weights.items()} for panel in (mine, theirs))
    return _differing(*texts) or "weights by query type differ"


def _settings(first: Results, other: Results) -> str:
    pairs = [(name, getattr(first.config, name), getattr(other.config, name)) for name in _SETTINGS]
    return "; ".join(f"{name} {mine} and {theirs}" for name, mine, theirs in pairs if mine != theirs)


def _encoder_settings(first: RunConfig, other: RunConfig) -> str:
    """Of runs that both asked an encoder."""
    if not (first.has_encoder and other.has_encoder):
        return ""
    pairs = [(name, getattr(first, name), getattr(other, name)) for name in _ENCODER_SETTINGS]
    known = [pair for pair in pairs if None not in pair]  # an older run did not keep its number format
    return "; ".join(f"{name} {mine} and {theirs}" for name, mine, theirs in known if mine != theirs)


def _differing(first: Mapping[str, str], other: Mapping[str, str]) -> str:
    names = [name for name in sorted({*first, *other}) if first.get(name) != other.get(name)]
    return "; ".join(f"{name}: {first.get(name) or 'none'} and {other.get(name) or 'none'}" for name in names)


def _changed(first: object, other: object) -> str:
    return f"{first or 'none'} and {other or 'none'}" if first != other else ""


def _shortened(hashes: Mapping[str, str]) -> dict[str, str]:
    return {name: hash[:_DIGITS] for name, hash in hashes.items()}

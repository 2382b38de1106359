"""Measure the default scorers on groups of labelled sets that nothing was fitted on, beside trivial baselines.

AUROC and balanced accuracy with 95 % intervals by resampling groups; the difference in AUROC is paired. The baselines'
thresholds are chosen on the fit part of each set, the default scorer's is .5 everywhere. Constructed sets are measured
once more by kind of edit. Run it with OFFLINE_EVAL_PUBLIC_DATA pointing at the published sets, after
`offline-eval models fetch all-minilm-l6-v2`; the constructed sets alone need neither (`--words-only --sets handbook-zh
handbook-en`).
"""

import argparse
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from offline_eval.engines.embedder import SentenceEmbedder
from offline_eval.engines.feature_scorer import BASE_EMBEDDER, ScorerData, load_scorer_data
from offline_eval.engines.token_alignment import ALIGNMENT, TokenAligner
from offline_eval.models.installed import require_installed
from offline_eval.stats.agreement import balanced_accuracy
from offline_eval.stats.arrays import Floats
from offline_eval.stats.measured import Measured, measure
from offline_eval.stats.paired import verdict
from offline_eval.stats.separation import auroc
from offline_eval.stats.undefined import Undefined
from offline_eval.training.default_scorers import FeatureTable, feature_table, scores
from offline_eval.training.public_sets import SETS

SEED = 0
OVERLAP, COSINE, MAJORITY, DEFAULT, WORDS_ONLY = "overlap", "cosine", "majority", "default", "default, words only"
BEFORE = "before"
OTHERS = (OVERLAP, COSINE, BEFORE)


def cosines(table: FeatureTable, *, dtype: str, cache: Path | None) -> Floats:
    """Cosine of the two texts' vectors, shape (n,); long texts as the embedder embeds them, in windows."""
    file = cache / f"{table.name}-{table.data_hash[:12]}-cosine.json" if cache else None
    if file is not None and file.is_file():
        return np.array(json.loads(file.read_text("utf-8")))
    model = require_installed(BASE_EMBEDDER)
    embedder = SentenceEmbedder(replace(model, config=model.config.model_copy(update={"dtype": dtype})))
    first = embedder.embed([pair.premise for pair in table.pairs])
    second = embedder.embed([pair.hypothesis for pair in table.pairs])
    found: Floats = (first * second).sum(axis=1).astype(np.float64)
    if file is not None:
        file.write_text(json.dumps(found.tolist()), encoding="utf-8")
    return found


def measured_set(table: FeatureTable, cosine: Floats | None, before: ScorerData | None) -> list[dict[str, Any]]:
    """One row a scorer.

    Args:
        table: The whole set.
        cosine: Of its pairs, shape (n,); None where the embedder does not speak the language.
        before: Another scorer of words alone to compare with.
    """
    task = SETS[table.name].task
    data = load_scorer_data(f"default-{task}")
    fit, report = table.parted()
    with_encoder = ALIGNMENT[0] in table.names
    columns = {MAJORITY: (np.zeros(len(fit.pairs)), np.zeros(len(report.pairs)))}
    columns[OVERLAP] = (fit.column("content_words"), report.column("content_words"))
    if cosine is not None:
        reported = {pair.group for pair in report.pairs}
        is_reported = np.array([pair.group in reported for pair in table.pairs])
        columns[COSINE] = (cosine[~is_reported], cosine[is_reported])
    if with_encoder:
        words = [part._replace(features=part.features[:, : -len(ALIGNMENT)]) for part in (fit, report)]
        columns[WORDS_ONLY] = (scores(words[0], data), scores(words[1], data))
    if before is not None and before.task == task:
        columns[BEFORE] = (scores(fit, before), scores(report, before))
    columns[DEFAULT] = (scores(fit, data), scores(report, data))
    groups = [pair.group for pair in report.pairs]
    rows = []
    for name, (on_fit, on_report) in columns.items():
        threshold = 0.5 if name in (DEFAULT, WORDS_ONLY, BEFORE) else best_threshold(on_fit, fit.labels)
        called = (on_report >= threshold).astype(np.float64)
        row: dict[str, Any] = {
            "set": table.name,
            "scorer": name,
            "pairs": len(report.pairs),
            "groups": len(set(groups)),
            "grouped_by": SETS[table.name].grouped_by,
            "auroc": measure(auroc, [on_report, report.labels], clusters=groups, seed=SEED),
            "balanced_accuracy": measure(balanced, [called, report.labels], clusters=groups, seed=SEED),
        }
        for other in OTHERS:
            if other in columns and name in (DEFAULT, WORDS_ONLY):
                found = measure(gain, [on_report, columns[other][1], report.labels], clusters=groups, seed=SEED)
                row[f"less_{other}"] = found
                row[f"against_{other}"] = verdict(found.interval)
        rows.append(row)
    return rows


def measured_kinds(table: FeatureTable) -> list[dict[str, Any]]:
    """For a constructed set, each kind of unsupported claim against all supported ones, and how many of these pass."""
    _, report = table.parted()
    ours, words = scores(report, load_scorer_data("default-support")), report.column("content_words")
    called = (ours >= 0.5).astype(np.float64)
    kinds = np.array([pair.kind for pair in report.pairs])
    groups = np.array([pair.group for pair in report.pairs])
    rows = []
    for kind in dict.fromkeys(kinds.tolist()):
        chosen = kinds == kind
        row: dict[str, Any] = {"set": table.name, "kind": kind, "pairs": int(chosen.sum())}
        if report.labels[chosen].all():
            row["called_supported"] = measure(share, [called[chosen]], clusters=groups[chosen].tolist(), seed=SEED)
        else:
            chosen |= report.labels == 1
            clusters, labels = groups[chosen].tolist(), report.labels[chosen]
            row["overlap"] = measure(auroc, [words[chosen], labels], clusters=clusters, seed=SEED)
            row["default"] = measure(auroc, [ours[chosen], labels], clusters=clusters, seed=SEED)
            row["less_overlap"] = measure(gain, [ours[chosen], words[chosen], labels], clusters=clusters, seed=SEED)
            row["balanced_accuracy"] = measure(balanced, [called[chosen], labels], clusters=clusters, seed=SEED)
        rows.append(row)
    return sorted(rows, key=lambda row: "called_supported" in row)


def share(called: Floats) -> float | Undefined:
    """Mean of zeros and ones."""
    return float(called.mean())


def gain(one: Floats, other: Floats, labels: Floats) -> float | Undefined:
    """Difference of two AUROCs on the same pairs."""
    first, second = auroc(one, labels), auroc(other, labels)
    if isinstance(first, Undefined):
        return first
    return second if isinstance(second, Undefined) else first - second


def balanced(called: Floats, labels: Floats) -> float | Undefined:
    """Balanced accuracy; a resample without one of the labels has none."""
    return balanced_accuracy([str(value) for value in called], [str(value) for value in labels])


def best_threshold(values: Floats, labels: Floats) -> float:
    """The threshold with the best balanced accuracy, the lowest on a tie."""
    candidates = np.unique(values)
    rates = [(values[labels == 1] >= at).mean() + (values[labels == 0] < at).mean() for at in candidates]
    return float(candidates[int(np.argmax(rates))])


def shown(found: Measured | None) -> str:
    """Three digits with the interval."""
    if found is None:
        return ""
    if found.value is None:
        return found.reason or "undefined"
    interval = f"{found.interval.low:.3f} to {found.interval.high:.3f}" if found.interval else "no interval"
    return f"{found.value:.3f} ({interval})"


def print_table(rows: list[dict[str, Any]]) -> None:
    """Markdown on stdout."""
    print(
        f"| set (groups) | scorer | AUROC | balanced accuracy | {' | '.join(f'AUROC less {one}' for one in OTHERS)} |"
    )
    print(f"|{' --- |' * (4 + len(OTHERS))}")
    for row in rows:
        gains = [
            f"{shown(row[f'less_{other}'])} {row[f'against_{other}']}" if f"less_{other}" in row else ""
            for other in OTHERS
        ]
        name = f"{row['set']} ({row['pairs']} pairs, {row['groups']} groups by {row['grouped_by']})"
        print(
            f"| {name} | {row['scorer']} | {shown(row['auroc'])} | {shown(row['balanced_accuracy'])} "
            f"| {' | '.join(gains)} |"
        )


def print_kinds(rows: list[dict[str, Any]]) -> None:
    """Markdown on stdout."""
    print("\n| set | kind | pairs | overlap | default | AUROC less overlap | balanced accuracy | called supported |")
    print(f"|{' --- |' * 8}")
    for row in rows:
        less = row.get("less_overlap")
        outcome = f"{shown(less)} {verdict(less.interval)}" if less else ""
        cells = [shown(row.get("overlap")), shown(row.get("default")), outcome, shown(row.get("balanced_accuracy"))]
        print(
            f"| {row['set']} | {row['kind']} | {row['pairs']} | {' | '.join(cells)} "
            f"| {shown(row.get('called_supported'))} |"
        )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("OFFLINE_EVAL_PUBLIC_DATA"))
    parser.add_argument("--cache", type=Path, help="folder for features, to be shared with train_default_encoders.py")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--json", type=Path, help="also write the rows here")
    parser.add_argument(
        "--words-only", action="store_true", help="no embedder: no cosine, words alone for answerability"
    )
    parser.add_argument("--before", type=Path, help="another scorer's JSON file, to compare with on the same pairs")
    options = parser.parse_args()
    if options.data is None and any(SETS[name].is_public for name in options.sets):
        print("point OFFLINE_EVAL_PUBLIC_DATA (or --data) at the folder with the sets", file=sys.stderr)
        return 2
    aligner = None if options.words_only else TokenAligner(require_installed(BASE_EMBEDDER), dtype=options.dtype)
    before = ScorerData.model_validate_json(options.before.read_text("utf-8")) if options.before else None
    folder = Path(options.data) if options.data else None
    rows, kinds = [], []
    for name in options.sets:
        print(f"measuring {name}", file=sys.stderr, flush=True)
        table = feature_table(name, folder, aligner=aligner, cache=options.cache)
        spoken = aligner is not None and SETS[name].language in aligner.model.config.languages
        cosine = cosines(table, dtype=options.dtype, cache=options.cache) if spoken else None
        rows += measured_set(table, cosine, before)
        kinds += [] if SETS[name].is_public else measured_kinds(table)
    print_table(rows)
    if kinds:
        print_kinds(kinds)
    if options.json:
        plain = [
            {key: value.model_dump(mode="json") if isinstance(value, Measured) else value for key, value in row.items()}
            for row in [*rows, *kinds]
        ]
        options.json.write_text(json.dumps(plain, ensure_ascii=False, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

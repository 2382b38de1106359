"""Measure the default scorers on groups of published sets that nothing was fitted on, beside trivial baselines.

AUROC and balanced accuracy with 95 % intervals by resampling groups; the difference in AUROC is paired. The baselines'
thresholds are chosen on the fit part of each set, the default scorer's is .5 everywhere. Run it with
OFFLINE_EVAL_PUBLIC_DATA pointing at the sets, after `offline-eval models fetch all-minilm-l6-v2`.
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
from offline_eval.engines.feature_scorer import BASE_EMBEDDER, load_scorer_data
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


def measured_set(table: FeatureTable, cosine: Floats | None) -> list[dict[str, Any]]:
    """One row a scorer.

    Args:
        table: The whole set.
        cosine: Of its pairs, shape (n,); None where the embedder does not speak the language.
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
    columns[DEFAULT] = (scores(fit, data), scores(report, data))
    groups = [pair.group for pair in report.pairs]
    rows = []
    for name, (on_fit, on_report) in columns.items():
        threshold = 0.5 if name in (DEFAULT, WORDS_ONLY) else best_threshold(on_fit, fit.labels)
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
        for other in (OVERLAP, COSINE):
            if other in columns and name in (DEFAULT, WORDS_ONLY):
                found = measure(gain, [on_report, columns[other][1], report.labels], clusters=groups, seed=SEED)
                row[f"less_{other}"] = found
                row[f"against_{other}"] = verdict(found.interval)
        rows.append(row)
    return rows


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
    print("| set (groups) | scorer | AUROC | balanced accuracy | AUROC less overlap | AUROC less cosine |")
    print("| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        gains = [
            f"{shown(row[f'less_{other}'])} {row[f'against_{other}']}" if f"less_{other}" in row else ""
            for other in (OVERLAP, COSINE)
        ]
        name = f"{row['set']} ({row['pairs']} pairs, {row['groups']} groups by {row['grouped_by']})"
        print(
            f"| {name} | {row['scorer']} | {shown(row['auroc'])} | {shown(row['balanced_accuracy'])} "
            f"| {' | '.join(gains)} |"
        )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("OFFLINE_EVAL_PUBLIC_DATA"))
    parser.add_argument("--cache", type=Path, help="folder for features, to be shared with train_default_encoders.py")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--json", type=Path, help="also write the rows here")
    options = parser.parse_args()
    if options.data is None:
        print("point OFFLINE_EVAL_PUBLIC_DATA (or --data) at the folder with the sets", file=sys.stderr)
        return 2
    aligner = TokenAligner(require_installed(BASE_EMBEDDER), dtype=options.dtype)
    rows = []
    for name in options.sets:
        print(f"measuring {name}", file=sys.stderr, flush=True)
        table = feature_table(name, Path(options.data), aligner=aligner, cache=options.cache)
        spoken = SETS[name].language in aligner.model.config.languages
        rows += measured_set(table, cosines(table, dtype=options.dtype, cache=options.cache) if spoken else None)
    print_table(rows)
    if options.json:
        plain = [
            {key: value.model_dump(mode="json") if isinstance(value, Measured) else value for key, value in row.items()}
            for row in rows
        ]
        options.json.write_text(json.dumps(plain, ensure_ascii=False, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

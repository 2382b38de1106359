"""Make the default support and answerability scorers from labelled sets, and write them with their card.

Run it with OFFLINE_EVAL_PUBLIC_DATA pointing at a folder with wice/, feversymmetric/, begin/, clapnq/, xquad/ and
cmrc2018/, for answerability after `offline-eval models fetch all-minilm-l6-v2`. Figures: `measure_encoders.py`.
"""

import argparse
import os
import sys
from pathlib import Path

from offline_eval.engines.feature_scorer import BASE_EMBEDDER, LinearModel, ScorerData
from offline_eval.engines.support_features import LEXICAL
from offline_eval.engines.token_alignment import TokenAligner
from offline_eval.models.installed import require_installed
from offline_eval.training.default_scorers import (
    CONSTRUCTED_FEATURES,
    FEATURES,
    FIT_SHARE,
    FeatureTable,
    feature_table,
    fit_tables,
)
from offline_eval.training.public_sets import LICENSES, SETS

OUT = Path(__file__).resolve().parent.parent / "offline_eval" / "models" / "default_scorers"


VERSIONS = {"support": "2", "answerability": "1"}
# Measured only: with it, on folds of the fit parts, the English scorer did worse on people's labels.
NOT_FITTED = ("handbook-en",)
# In the Chinese support model: what constructed claims teach is kept, people's labels temper it.
ENGLISH_SHARE = 0.1


def made_scorer(task: str, tables: list[FeatureTable], *, embedder_hash: str | None) -> ScorerData:
    """Fit one scorer on the fit parts of its sets."""
    own = [table for table in tables if SETS[table.name].task == task]
    fits = {table.name: table.parted()[0] for table in own}
    english = [fits[table.name] for table in own if SETS[table.name].language == "en"]
    chinese = [fits[table.name] for table in own if SETS[table.name].language == "zh"]
    words_only = [table._replace(features=table.features[:, : len(LEXICAL)]) for table in english]
    has_encoder = english[0].names == FEATURES
    models: dict[str, LinearModel] = {"*": fit_tables(words_only, names=LEXICAL)[0]}
    if task == "answerability":
        models["zh"] = fit_tables(chinese, names=LEXICAL)[0]
    if task == "support":
        shares = dict.fromkeys((table.name for table in english), ENGLISH_SHARE)
        models["zh"] = fit_tables([*chinese, *english], names=CONSTRUCTED_FEATURES, shares=shares)[0]
    card: dict[str, object] = {
        "fit_share": FIT_SHARE,
        "base_embedder_weights_hash": embedder_hash if has_encoder else None,
        "sets": [
            {
                "name": table.name,
                "license": LICENSES[table.name],
                "data_hash": table.data_hash,
                "pairs_fitted_on": len(fits[table.name].pairs),
                "pairs_kept_for_reporting": len(table.pairs) - len(fits[table.name].pairs),
            }
            for table in own
        ],
    }
    return ScorerData(
        name=f"default-{task}",
        version=VERSIONS[task],
        task="support" if task == "support" else "answerability",
        languages=("en", "zh"),
        base_embedder=BASE_EMBEDDER if has_encoder else None,
        with_encoder=fit_tables(english, names=FEATURES)[0] if has_encoder else None,
        without_encoder=models,
        license="CC-BY-SA-4.0",  # the strictest of the sets' licences; the numbers are statistics of them
        card=card,
    )


def main() -> int:
    """Write the scorers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("OFFLINE_EVAL_PUBLIC_DATA"))
    parser.add_argument("--cache", type=Path, help="folder for features, to be shared with measure_encoders.py")
    parser.add_argument("--dtype", default="float32", help="bfloat16 is faster where the processor knows it")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--tasks", nargs="+", choices=list(VERSIONS), default=list(VERSIONS))
    options = parser.parse_args()
    if options.data is None:
        print("point OFFLINE_EVAL_PUBLIC_DATA (or --data) at the folder with the sets", file=sys.stderr)
        return 2
    embedder = require_installed(BASE_EMBEDDER) if "answerability" in options.tasks else None
    aligner = TokenAligner(embedder, dtype=options.dtype) if embedder else None
    tables = []
    for name in SETS:
        if SETS[name].task not in options.tasks or name in NOT_FITTED:
            continue
        print(f"features of {name}", file=sys.stderr, flush=True)
        tables.append(feature_table(name, Path(options.data), aligner=aligner, cache=options.cache))
    options.out.mkdir(parents=True, exist_ok=True)
    for task in options.tasks:
        data = made_scorer(task, tables, embedder_hash=embedder.weights_hash if embedder else None)
        path = options.out / f"{data.name}.json"
        path.write_text(data.model_dump_json(indent=1) + "\n", encoding="utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())

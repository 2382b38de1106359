"""Fits the weights by which the refusal check weighs patterns of word classes, and writes them as data.

    python scripts/train_refusal.py [--out offline_eval/text/refusal_weights.json]

Trained on tests/text/data/refusals{,_blind,_more,_plain}_{en,zh}.jsonl; `blind` has been seen and is blind no more,
`plain` holds answers alone. Printed is the F1 on each set and language when the other sets train (on `plain` how many
answers are taken for refusals), the figure to judge a change of words or patterns by.
"""

import argparse
import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict
from sklearn.pipeline import make_pipeline

from offline_eval.text.refusal_features import answer_features, read_clauses

ROOT = Path(__file__).parents[1]
LEAST = 3  # answers that hold a pattern; rarer ones are chance
STRENGTH = 0.3  # of the fit against the quadratic penalty
PRINTED = 0.01  # weights below this change nothing


def main() -> None:
    """Read, fit, print and write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=ROOT / "offline_eval/text/refusal_weights.json")
    out: Path = options.parse_args().out
    rows = _rows()
    truth = [bool(row["refused"]) for row in rows]
    sets = [f"{row['set']} {row['language']}" for row in rows]
    found = [answer_features(read_clauses(row["answer"])) for row in rows]
    often = Counter(feature for features in found for feature in features)
    vectors = [{feature: 1.0 for feature in sorted(features) if often[feature] >= LEAST} for features in found]
    # balanced: plain answers are to teach patterns, not to move the threshold
    fit = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=5000)
    model = make_pipeline(DictVectorizer(), fit)
    guesses = cross_val_predict(model, vectors, truth, groups=[row["set"] for row in rows], cv=LeaveOneGroupOut())
    for name in sorted(set(sets)):
        places = [place for place, other in enumerate(sets) if other == name]
        wanted, got = [truth[place] for place in places], [bool(guesses[place]) for place in places]
        figure = f"F1 {f1_score(wanted, got):.3f}" if any(wanted) else f"{sum(got)} taken for refusals"
        print(f"{name}: {figure} when left out (n = {len(places)})")
    model.fit(vectors, truth)
    names, coefficients = model[0].get_feature_names_out(), model[1].coef_[0]
    weights = {"bias": round(float(model[1].intercept_[0]), 3)}
    weights |= {
        str(name): round(float(value), 3)
        for name, value in zip(names, coefficients, strict=True)
        if abs(value) >= PRINTED
    }
    text = json.dumps({"answers": len(rows), "weights": weights}, ensure_ascii=False, indent=0)
    out.write_text(text + "\n", encoding="utf-8")
    print(f"{len(weights)} weights in {out}")


def _rows() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, language in product(("refusals", "refusals_blind", "refusals_more", "refusals_plain"), ("en", "zh")):
        lines = (ROOT / f"tests/text/data/{name}_{language}.jsonl").read_text(encoding="utf-8").splitlines()
        found += [{**json.loads(line), "set": name, "language": language} for line in lines]
    return found


if __name__ == "__main__":
    main()

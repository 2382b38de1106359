"""Fits the weights by which the refusal check weighs patterns of word classes, and writes them as data.

    python scripts/train_refusal.py [--out offline_eval/text/refusal_weights.json]

Trained on tests/text/data/refusals_{en,zh}.jsonl alone; refusals_blind_{en,zh}.jsonl is never read. Cross-validated F1
is printed: it is kinder than a blind set, since all wordings were written by the same hands.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
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
    rows = [
        json.loads(line)
        for language in ("en", "zh")
        for line in (ROOT / f"tests/text/data/refusals_{language}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    truth = [bool(row["refused"]) for row in rows]
    found = [answer_features(read_clauses(row["answer"])) for row in rows]
    often = Counter(feature for features in found for feature in features)
    vectors = [{feature: 1.0 for feature in sorted(features) if often[feature] >= LEAST} for features in found]
    model = make_pipeline(DictVectorizer(), LogisticRegression(C=STRENGTH, max_iter=5000))
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    f1 = f1_score(truth, cross_val_predict(model, vectors, truth, cv=folds))
    print(f"cross-validated F1 {f1:.3f} (n = {len(rows)})")
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


if __name__ == "__main__":
    main()

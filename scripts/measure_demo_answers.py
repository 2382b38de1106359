"""Measure whether the default support scorer tells the demo's faultless answers from those that invent something.

An answer counts as its weakest sentence, a sentence by the passage of the answer that supports it best. Wrong are the
faults that contradict a passage, invent a number or answer what the passages do not hold; right are answers without a
fault, refusals apart. Other faults (incomplete, off topic, refused) are left out: what they say can be supported. AUROC
and balanced accuracy at .5 with 95 % intervals by resampling cases, beside the share of words in common.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from offline_eval.engines.feature_scorer import FeatureScorer, ScorerData, load_scorer_data
from offline_eval.engines.support_features import LEXICAL, lexical_features
from offline_eval.stats.arrays import Floats
from offline_eval.stats.measured import measure
from offline_eval.stats.paired import verdict
from offline_eval.stats.separation import auroc
from offline_eval.text.claims import strip_citations
from offline_eval.text.refusal import detect_refusal
from offline_eval.text.sentences import split_sentences
from offline_eval.training.default_scorers import FIT_SHARE
from offline_eval.training.public_sets import read_handbook, split_by_group
from scripts.measure_encoders import SEED, balanced, gain, shown

WRONG = ("contradicts_passage", "invented_number", "answered_instead_of_refusing")
Score = Callable[[Sequence[tuple[str, str]]], list[float]]


class Answer(NamedTuple):
    """A recorded answer.

    Attributes:
        is_kept: Whether the Chinese scorer was fitted on none of the passages its case needs.
    """

    case_id: str
    language: str
    is_right: bool
    is_kept: bool
    pairs: list[list[tuple[str, str]]]


def recorded_answers() -> list[Answer]:
    """The answers of both systems that are right or wrong as above."""
    folder = files("offline_eval.demo")
    rows = {
        name: [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        for name in ("cases", "passages", "answers-careful", "answers-hasty")
    }
    cases = {case["id"]: case for case in rows["cases"]}
    texts = {passage["id"]: passage["text"] for passage in rows["passages"]}
    fitted = {pair.premise for pair in split_by_group(read_handbook("zh"), fit_share=FIT_SHARE)[0]}
    answers = []
    for row in [*rows["answers-careful"], *rows["answers-hasty"]]:
        case, fault = cases[row["case_id"]], row.get("metadata", {}).get("fault")
        if fault in WRONG or (fault is None and not detect_refusal(row["answer"]).refused):
            is_kept = not any(texts[name] in fitted for name in case.get("relevant_passages", {}))
            answers.append(Answer(case["id"], case["language"], fault is None, is_kept, _pairs(row)))
    return answers


def _pairs(row: dict[str, Any]) -> list[list[tuple[str, str]]]:
    """For each sentence, the sentence with each passage."""
    sentences = [strip_citations(found.text) for found in split_sentences(row["answer"])]
    return [[(passage["text"], sentence) for passage in row["passages"]] for sentence in sentences if sentence.strip()]


def weakest(answers: Sequence[Answer], score: Score) -> Floats:
    """Each answer's weakest sentence, shape (n,)."""
    return np.array([min(max(score(pairs)) for pairs in answer.pairs) for answer in answers])


def overlap(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Share of the sentence's content words that stand in the passage."""
    return [lexical_features(*pair)[LEXICAL.index("content_words")] for pair in pairs]


def measured(answers: Sequence[Answer], data: ScorerData) -> list[str]:
    """Cells of one row."""
    scorer = FeatureScorer(data)

    def entailment(pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [row["entailment"] for row in scorer.score(pairs) if isinstance(row, dict)]

    ours, words = weakest(answers, entailment), weakest(answers, overlap)
    labels = np.array([float(answer.is_right) for answer in answers])
    clusters = [answer.case_id for answer in answers]
    called = (ours >= 0.5).astype(np.float64)
    less = measure(gain, [ours, words, labels], clusters=clusters, seed=SEED)
    return [
        f"{int(labels.sum())} right, {int((1 - labels).sum())} wrong",
        shown(measure(auroc, [words, labels], clusters=clusters, seed=SEED)),
        shown(measure(auroc, [ours, labels], clusters=clusters, seed=SEED)),
        f"{shown(less)} {verdict(less.interval)}",
        shown(measure(balanced, [called, labels], clusters=clusters, seed=SEED)),
    ]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scorer", type=Path, help="another default-support.json")
    options = parser.parse_args()
    data = load_scorer_data("default-support")
    if options.scorer:
        data = ScorerData.model_validate_json(options.scorer.read_text(encoding="utf-8"))
    answers = recorded_answers()
    print("| answers | number | overlap, AUROC | default, AUROC | less overlap | default, balanced accuracy |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, chosen in (
        ("en", [answer for answer in answers if answer.language == "en"]),
        ("zh", [answer for answer in answers if answer.language == "zh"]),
        (
            "zh, passages kept from fitting",
            [answer for answer in answers if answer.language == "zh" and answer.is_kept],
        ),
    ):
        print(f"| {name} | {' | '.join(measured(chosen, data))} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""RAGChecker's published example: its entailment labels through our check and metrics give its eleven values."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from offline_eval.checks.entailment import EntailmentCheck
from offline_eval.core.protocols import Item
from offline_eval.core.records import Case, Passage, Response
from offline_eval.engines.scripted import ScriptedScorer
from tests.support.claim_runs import claims_evidence, score_of

DATA = os.environ.get("OFFLINE_EVAL_PUBLIC_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="OFFLINE_EVAL_PUBLIC_DATA is not set")

OURS = {
    "precision": "claim_precision",
    "recall": "claim_recall_reference",
    "f1": "claim_f1",
    "claim_recall": "claim_recall",
    "context_precision": "context_precision",
    "context_utilization": "context_utilization",
    "noise_sensitivity_in_relevant": "noise_sensitivity_relevant",
    "noise_sensitivity_in_irrelevant": "noise_sensitivity_irrelevant",
    "hallucination": "hallucination",
    "self_knowledge": "self_knowledge",
    "faithfulness": "faithfulness",
}


def example() -> dict[str, Any]:
    return dict(json.loads((Path(DATA or "") / "ragchecker_example" / "checking_outputs.json").read_text("utf-8")))


def ours(result: Mapping[str, Any]) -> dict[str, float | None]:
    """Our values for one of its cases, from its claims, its passages and its labels."""
    answer_claims = [" ".join(claim) for claim in result["response_claims"]]
    reference_claims = [" ".join(claim) for claim in result["gt_answer_claims"]]
    answer, reference = result["response"], result["gt_answer"]
    texts = [passage["text"] for passage in result["retrieved_context"]]
    labels: dict[tuple[str, str], str] = {}
    labels |= {(reference, claim): label for claim, label in zip(answer_claims, result["answer2response"], strict=True)}
    labels |= {(answer, claim): label for claim, label in zip(reference_claims, result["response2answer"], strict=True)}
    for claims, rows in ((answer_claims, "retrieved2response"), (reference_claims, "retrieved2answer")):
        for claim, row in zip(claims, result[rows], strict=True):
            labels |= {(text, claim): label for text, label in zip(texts, row, strict=True)}
    scorer = ScriptedScorer(
        lambda premise, claim: {
            name: float(labels[premise, claim] == name.capitalize())
            for name in ("entailment", "neutral", "contradiction")
        }
    )
    item = Item(
        case=Case(id="c1", query=result["query"], reference=reference),
        response=Response(
            case_id="c1", answer=answer, passages=tuple(Passage(id=f"{n}", text=text) for n, text in enumerate(texts))
        ),
    )
    claims_found = [claims_evidence("answer", answer_claims), claims_evidence("reference", reference_claims)]
    evidence = EntailmentCheck().run([item], evidence={item.response.key: claims_found}, engine=scorer)
    return {theirs: score_of(name, item, evidence).value for theirs, name in OURS.items()}


def test_all_eleven_values_of_both_cases_are_equal_to_four_decimals() -> None:
    for result in example()["results"]:
        values = ours(result)
        assert len(values) == 11
        assert values == {name: pytest.approx(result["metrics"][name], abs=5e-5) for name in OURS}


def test_the_means_are_the_published_overall_values() -> None:
    found = example()
    published = {name: value for group in found["metrics"].values() for name, value in group.items()}
    per_case = [ours(result) for result in found["results"]]
    means = {name: 100 * sum(values[name] or 0.0 for values in per_case) / len(per_case) for name in OURS}
    # Published with one decimal; F1 too is the mean of the cases' F1.
    assert means == {name: pytest.approx(published[name], abs=0.051) for name in OURS}

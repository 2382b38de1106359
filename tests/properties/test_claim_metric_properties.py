"""RAGChecker's identities and bounds, on random labels."""

from hypothesis import given, settings
from hypothesis import strategies as st

from offline_eval.checks.entailment import MATRICES
from offline_eval.core.evidence import EntailmentEvidence, Evidence, Provenance, Support
from offline_eval.core.protocols import Item
from offline_eval.core.records import Case, Response
from tests.support.claim_runs import score_of

PROVENANCE = Provenance(producer="entailment", version="1", parameters_hash="0" * 64)
ITEM = Item(case=Case(id="c1", query="?", reference="r"), response=Response(case_id="c1", answer="a"))
Labels = dict[tuple[str, str], list[list[bool]]]


@st.composite
def labels(draw: st.DrawFn) -> Labels:
    """Matrices of 1 to 6 answer claims, 1 to 6 reference claims and 0 to 4 passages."""
    sizes = {
        "answer": draw(st.integers(1, 6)),
        "reference": draw(st.integers(1, 6)),
        "key_points": draw(st.integers(1, 4)),
    }
    n_passages = draw(st.integers(0, 4))
    return {
        (rows, columns): [
            [draw(st.booleans()) for _ in range(n_passages if columns == "passages" else 1)] for _ in range(sizes[rows])
        ]
        for rows, columns in MATRICES
    }


def evidence_of(found: Labels) -> list[Evidence]:
    return [
        EntailmentEvidence.model_validate(
            {
                "response_key": "system/c1",
                "hypotheses": rows,
                "premises": columns,
                "rows": [[Support(entailment=float(cell)) for cell in row] for row in matrix],
                "provenance": PROVENANCE,
            }
        )
        for (rows, columns), matrix in found.items()
    ]


def value(name: str, evidence: list[Evidence]) -> float:
    found = score_of(name, ITEM, evidence).value
    assert found is not None
    return found


@given(labels())
@settings(max_examples=150)
def test_faithfulness_hallucination_and_self_knowledge_add_up_to_one(found: Labels) -> None:
    evidence = evidence_of(found)
    parts = [value(name, evidence) for name in ("faithfulness", "hallucination", "self_knowledge")]
    assert abs(sum(parts) - 1.0) < 1e-12


@given(labels())
@settings(max_examples=150)
def test_noise_sensitivities_and_hallucination_are_what_precision_leaves(found: Labels) -> None:
    evidence = evidence_of(found)
    names = ("noise_sensitivity_relevant", "noise_sensitivity_irrelevant", "hallucination")
    assert abs(sum(value(name, evidence) for name in names) - (1.0 - value("claim_precision", evidence))) < 1e-12


@given(labels())
@settings(max_examples=100)
def test_correctness_without_contradictions_is_recall_and_f1_lies_between_precision_and_recall(found: Labels) -> None:
    evidence = evidence_of(found)
    precision, recall = value("claim_precision", evidence), value("claim_recall_reference", evidence)
    f1 = value("claim_f1", evidence)
    assert value("answer_correctness", evidence) == recall
    assert min(precision, recall) - 1e-12 <= f1 <= max(precision, recall) + 1e-12


@given(labels())
@settings(max_examples=100)
def test_the_order_of_passages_moves_nothing_but_the_ranked_precision(found: Labels) -> None:
    shuffled = {
        key: [list(reversed(row)) for row in matrix] if key[1] == "passages" else matrix
        for key, matrix in found.items()
    }
    before, after = evidence_of(found), evidence_of(shuffled)
    for name in ("faithfulness", "claim_recall", "context_recall", "noise_sensitivity_relevant"):
        assert value(name, before) == value(name, after)


@given(labels())
@settings(max_examples=100)
def test_one_more_supporting_passage_never_lowers_faithfulness_or_claim_recall(found: Labels) -> None:
    more = {key: [[*row, True] for row in matrix] if key[1] == "passages" else matrix for key, matrix in found.items()}
    for name in ("faithfulness", "claim_recall", "context_recall"):
        assert value(name, evidence_of(more)) == 1.0 >= value(name, evidence_of(found))

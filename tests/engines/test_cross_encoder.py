"""A tiny random-weight encoder shows what must hold for any: order, batches, labels, lengths."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from offline_eval.core.errors import ModelError
from offline_eval.core.protocols import Failure
from offline_eval.engines.cross_encoder import CrossEncoderScorer
from offline_eval.engines.pair_encoding import fill_template
from offline_eval.models.config import FolderSource, ModelConfig
from offline_eval.models.installed import describe_folder
from tests.support.tiny_encoders import make_tiny_encoder

TEXT = "the staff receive 26 days of annual leave a year 员工 每年 享有 年假 not in addition"
WORDS = TEXT.split()
PAIRS = [(" ".join(WORDS[: n % 13 + 1]), " ".join(WORDS[n % 7 : n % 7 + 3])) for n in range(40)]


def scorer(
    folder: Path, *, kind: str, labels: int, context: int = 64, certified: bool = False, **config: object
) -> CrossEncoderScorer:
    make_tiny_encoder(folder, labels=labels)
    description = ModelConfig.model_validate(
        {
            "name": "tiny",
            "kind": kind,
            "family": "bert",
            "languages": ["*"],
            "license": "none",
            "context_length": context,
            "dtype": "float32",
            "memory_gib": 0.1,
            "source": FolderSource(upstream="none").model_dump(),
            **config,
        }
    )
    return CrossEncoderScorer(describe_folder(folder, description), device="cpu", certified=certified)


THREE = {"LABEL_0": "contradiction", "LABEL_1": "neutral", "LABEL_2": "entailment"}
TWO = {"LABEL_0": "neutral", "LABEL_1": "entailment"}


@pytest.fixture(scope="module")
def reranker(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoderScorer:
    return scorer(tmp_path_factory.mktemp("one"), kind="reranker", labels=1)


def test_scores_are_those_of_sentence_transformers(reranker: CrossEncoderScorer, tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder

    make_tiny_encoder(tmp_path / "m", labels=1)
    theirs = CrossEncoder(str(tmp_path / "m"), device="cpu", local_files_only=True).predict(PAIRS)
    ours = [row["score"] for row in reranker.score(PAIRS) if not isinstance(row, Failure)]
    assert ours == pytest.approx(theirs.tolist(), abs=1e-5)
    assert max(ours) - min(ours) > 0.01  # the tiny model tells pairs apart


def test_probabilities_go_to_the_relations_of_the_label_map(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    engine = scorer(tmp_path / "m", kind="nli", labels=3, label_map=THREE)
    row = engine.score([PAIRS[5]])[0]
    inputs = AutoTokenizer.from_pretrained(tmp_path / "m")(*PAIRS[5], return_tensors="pt")
    logits = AutoModelForSequenceClassification.from_pretrained(tmp_path / "m").eval()(**inputs).logits[0]
    expected = torch.softmax(logits, dim=0).tolist()
    assert row == pytest.approx(dict(zip(("contradiction", "neutral", "entailment"), expected, strict=True)), abs=1e-6)


def test_two_labels_give_no_contradiction_and_sum_to_one(tmp_path: Path) -> None:
    engine = scorer(tmp_path / "m", kind="nli", labels=2, label_map=TWO)
    row = engine.score([PAIRS[3]])[0]
    assert isinstance(row, dict)
    assert set(row) == {"entailment", "neutral"}
    assert sum(row.values()) == pytest.approx(1.0)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(len(PAIRS))))
def test_the_same_pairs_in_any_order_have_the_same_scores(reranker: CrossEncoderScorer, order: list[int]) -> None:
    plain = reranker.score(PAIRS)
    mixed = reranker.score([PAIRS[at] for at in order])
    assert [mixed[order.index(at)] for at in range(len(PAIRS))] == plain


def test_certified_scores_do_not_depend_on_the_pairs_beside_them(tmp_path: Path) -> None:
    engine = scorer(tmp_path / "m", kind="reranker", labels=1, certified=True)
    together = engine.score(PAIRS)
    alone = [engine.score([pair])[0] for pair in PAIRS]
    assert alone == together
    assert engine.info.options["certified"] is True


def test_a_pair_that_does_not_fit_fails_and_the_others_are_scored(tmp_path: Path) -> None:
    engine = scorer(tmp_path / "m", kind="nli", labels=3, label_map=THREE, context=16)
    long = ("leave " * 40, "annual leave")
    rows = engine.score([PAIRS[0], long, PAIRS[1]])
    assert isinstance(rows[1], Failure)
    assert rows[1].reason == "prompt_too_long"
    assert "16" in rows[1].detail
    assert isinstance(rows[0], dict)
    assert isinstance(rows[2], dict)


def test_no_pairs_give_no_rows(reranker: CrossEncoderScorer) -> None:
    assert reranker.score([]) == []


def test_a_template_makes_one_text_of_the_pair(tmp_path: Path) -> None:
    template = "{premise} ? {hypothesis} :"
    engine = scorer(tmp_path / "m", kind="nli", labels=2, label_map=TWO, template_options={"pair_text": template})
    plain = scorer(tmp_path / "n", kind="nli", labels=2, label_map=TWO)
    assert engine.score([PAIRS[4]]) != plain.score([PAIRS[4]])
    assert fill_template(template, "has {hypothesis} in it", "{premise}") == "has {hypothesis} in it ? {premise} :"


def test_a_template_without_both_places_is_refused() -> None:
    with pytest.raises(ModelError, match="pair_text needs"):
        fill_template("{premise} only", "a", "b")


def test_a_label_that_the_config_does_not_explain_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"label_map does not say what LABEL_2 means"):
        scorer(tmp_path / "m", kind="nli", labels=3, label_map=TWO)


def test_an_embedder_is_no_cross_encoder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a cross-encoder"):
        scorer(tmp_path / "m", kind="embedder", labels=1)


def test_the_identity_of_the_engine_says_what_moves_a_number(reranker: CrossEncoderScorer) -> None:
    info = reranker.info
    assert (info.dtype, info.device, info.context_length) == ("float32", "cpu", 64)
    assert json.loads(info.model_dump_json())["options"] == {"certified": False, "long_pair": "refused"}

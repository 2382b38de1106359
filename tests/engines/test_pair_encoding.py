"""Logits become named probabilities by one formula, whatever computed them."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax

from offline_eval.core.errors import ModelError
from offline_eval.engines.pair_encoding import EncodedPair, PairEncoder, head_relations, named_probabilities
from offline_eval.models.config import ModelConfig

LOGITS = st.floats(-80, 80)


def config(kind: str, **more: object) -> ModelConfig:
    fields = {
        "name": "tiny",
        "kind": kind,
        "family": "bert",
        "languages": ["*"],
        "license": "none",
        "context_length": 64,
        "dtype": "float32",
        "memory_gib": 0.1,
        "source": {"kind": "folder", "upstream": "none"},
    }
    return ModelConfig.model_validate(fields | more)


def network(*labels: str) -> SimpleNamespace:
    return SimpleNamespace(num_labels=len(labels), id2label=dict(enumerate(labels)))


@given(logits=st.lists(LOGITS, min_size=3, max_size=3))
def test_three_logits_are_the_reference_softmax(logits: list[float]) -> None:
    found = named_probabilities(logits, ("entailment", "neutral", "contradiction"))
    assert list(found.values()) == pytest.approx(softmax(np.array(logits)).tolist(), abs=1e-12)
    assert math.fsum(found.values()) == pytest.approx(1.0)


@given(logit=LOGITS)
def test_one_logit_is_the_reference_logistic(logit: float) -> None:
    assert named_probabilities([logit], ("score",)) == pytest.approx({"score": float(expit(logit))}, abs=1e-12)


def test_labels_of_one_relation_are_added() -> None:
    # softmax(0, 0, ln 2) = 1/4, 1/4, 2/4; the first two mean neutral
    found = named_probabilities([0.0, 0.0, math.log(2)], ("neutral", "neutral", "entailment"))
    assert found == pytest.approx({"neutral": 0.5, "entailment": 0.5})


def test_a_heads_labels_are_named_in_the_order_of_its_logits() -> None:
    described = config("nli", label_map={"no": "contradiction", "yes": "entailment", "maybe": "neutral"})
    assert head_relations(described, network("maybe", "yes", "no")) == ("neutral", "entailment", "contradiction")
    assert head_relations(config("reranker"), network("LABEL_0")) == ("score",)


def test_a_head_that_the_config_does_not_explain_is_refused() -> None:
    described = config("nli", label_map={"yes": "entailment"})
    with pytest.raises(ModelError, match="label_map does not say what no means"):
        head_relations(described, network("yes", "no"))
    with pytest.raises(ModelError, match="one output"):
        head_relations(described, network("yes"))


def test_what_fits_is_given_once_and_shortest_first() -> None:
    encoder = PairEncoder(None, template=None, window=3, model="tiny")
    pairs = [EncodedPair((7, 8, 9), ()), EncodedPair((5,), ()), EncodedPair((1, 2, 3, 4), ()), EncodedPair((5,), ())]
    assert encoder.fitting(pairs) == [EncodedPair((5,), ()), EncodedPair((7, 8, 9), ())]
    assert encoder.too_long(pairs[2]).detail == "the pair has 4 tokens, tiny reads 3; cut the premise"

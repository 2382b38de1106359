"""The default embedder, where it is installed: unit vectors, nothing cut, any order, and a dense index over it."""

from pathlib import Path

import numpy as np
import pytest
from retrieval_corpora import CHINESE, ENGLISH

from offline_eval.core.errors import ModelError
from offline_eval.engines.embedder import SentenceEmbedder, embedding_identity, open_embedder
from offline_eval.models.installed import find_installed
from offline_eval.retrieval.index import Index, build_index
from offline_eval.retrieval.manifest import IndexSettings

NAME = "all-minilm-l6-v2"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_installed(NAME) is None, reason=f"{NAME} is not installed (offline-eval models fetch)"),
]


@pytest.fixture(scope="module")
def embedder() -> SentenceEmbedder:
    return open_embedder(NAME)


def test_vectors_have_length_one_and_do_not_depend_on_the_order(embedder: SentenceEmbedder) -> None:
    texts = ["A cat sleeps.", "The bank raised its rate.", "", "Kitten", "A cat sleeps."]
    vectors = embedder.embed(texts)
    assert vectors.shape == (5, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert np.array_equal(vectors[0], vectors[4])
    assert np.array_equal(embedder.embed(texts[::-1]), vectors[::-1])
    assert vectors[0] @ vectors[3] > vectors[0] @ vectors[1]
    assert embedder.embed([]).shape == (0, 384)


def test_the_end_of_a_text_beyond_the_window_still_counts(embedder: SentenceEmbedder) -> None:
    beginning = "Aircraft wings and their lift. " * 100  # about 700 tokens; the model reads 256
    plain, changed, cats = embedder.embed([beginning, beginning + "Cats sleep all day. " * 60, "Cats sleep all day."])
    assert plain @ changed < 0.99
    assert changed @ cats > plain @ cats + 0.1


def test_a_dense_index_over_it_finds_by_meaning_and_refuses_chinese(embedder: SentenceEmbedder, tmp_path: Path) -> None:
    languages = embedder.languages
    build_index(ENGLISH, tmp_path / "index", settings=IndexSettings(), embedder=embedder, languages=languages)
    index = Index(tmp_path / "index")
    assert index.manifest.dense is not None
    assert index.manifest.dense.identity == embedding_identity(embedder.info)
    assert index.dense(embedder).search(["pets resting"], k=1)[0][0].passage_id == "cats"
    with pytest.raises(ModelError, match="was made for en"):
        build_index(CHINESE, tmp_path / "zh", settings=IndexSettings(), embedder=embedder, languages=languages)


def test_another_kind_of_model_is_refused() -> None:
    installed = find_installed(NAME)
    assert installed is not None
    from dataclasses import replace

    judge = replace(installed, config=installed.config.model_copy(update={"kind": "judge"}))
    with pytest.raises(ModelError, match="not an embedder"):
        SentenceEmbedder(judge)

"""BM25 over our own tokens: bm25s computes the scores, the tie rule and "nothing found" are ours."""

from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offline_eval.core.errors import DataError
from offline_eval.core.protocols import Hit
from offline_eval.core.records import Record
from offline_eval.retrieval.analysis import Analyzer
from offline_eval.retrieval.passage_store import PassageStore
from offline_eval.retrieval.top_k import top_positive

SCORE_DECIMALS = 4
_ARRAYS = ("data", "indices", "indptr")


class Bm25Settings(Record):
    """BM25's two parameters, in Lucene's form of the formula.

    Attributes:
        k1: How fast repetition of a word stops counting, above 0.
        b: How much long passages are held back, in [0, 1].
    """

    k1: float = 1.5
    b: float = 0.75


class Bm25Retriever:
    """Ranks by BM25; a query that shares no token with the corpus finds nothing.

    Args:
        model: A built or loaded `bm25s.BM25`.
        store: The passages, in the order they were indexed.
        analyzer: The one the index was built with.
    """

    name = "bm25"

    def __init__(self, model: Any, store: PassageStore, *, analyzer: Analyzer) -> None:
        self._model = model
        self._store = store
        self._analyzer = analyzer

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Hit]]:
        """The k best passages of each query, fewer where fewer match."""
        return [self._search_one(query, k) for query in queries]

    def _search_one(self, query: str, k: int) -> list[Hit]:
        vocabulary = self._model.vocab_dict
        tokens = [vocabulary[token] for token in self._analyzer.tokens(query) if token in vocabulary]
        if not tokens:
            return []
        scores = self._model.get_scores_from_ids(tokens)  # (n_passages,)
        best = top_positive(scores, self._store.id_ranks, k=k, decimals=SCORE_DECIMALS)
        return [Hit(passage_id=self._store.ids[position], score=score) for position, score in best]


def build_bm25(token_lists: Iterable[Sequence[str]], settings: Bm25Settings) -> Any:
    """Index tokenised passages.

    The postings come from one sort over all tokens, several times faster than bm25s' own loop and equal to it.

    Args:
        token_lists: One list of tokens a passage, read once.
        settings: BM25's parameters.

    Returns:
        A `bm25s.BM25`.

    Raises:
        DataError: No passage has a single token.
    """
    import bm25s

    vocabulary = _Vocabulary()
    tokens, lengths = array("i"), array("i")
    for words in token_lists:
        tokens.extend([vocabulary[word] for word in words])
        lengths.append(len(words))
    if not vocabulary:
        raise DataError("no passage holds a searchable word; check the corpus and the stop-word setting")
    model = bm25s.BM25(k1=settings.k1, b=settings.b, method="lucene", backend="numpy")
    model.scores = _postings(np.array(tokens), np.array(lengths), len(vocabulary), settings=settings)
    model.vocab_dict = dict(vocabulary)
    model.unique_token_ids_set = set(vocabulary.values())
    model.nonoccurrence_array = None
    return model


class _Vocabulary(dict[str, int]):
    """Word to number, in the order words are met."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def _postings(
    tokens: NDArray[np.int32], lengths: NDArray[np.int32], n_words: int, *, settings: Bm25Settings
) -> dict[str, Any]:
    """Every (word, passage) weight, by word, then passage: the compressed columns bm25s searches.

    Args:
        tokens: Shape (n_tokens,), word numbers of all passages, one after the other.
        lengths: Shape (n_passages,), tokens of each passage.
        n_words: Size of the vocabulary.
        settings: BM25's parameters.

    Source:
        Lucene's form as in Kamphuis et al. 2020: idf = log(1 + (N - n + .5) / (n + .5)), weight = idf * tf / (tf + k1 *
        (1 - b + b * length / mean length)).
    """
    n = lengths.size
    passages = np.repeat(np.arange(n), lengths)  # (n_tokens,)
    pairs, frequencies = np.unique(tokens.astype(np.int64) * n + passages, return_counts=True)
    words, passages = np.divmod(pairs, n)  # (n_pairs,)
    found_in = np.bincount(words, minlength=n_words)
    idf = np.log(1 + (n - found_in + 0.5) / (found_in + 0.5))
    held_back = settings.k1 * (1 - settings.b + settings.b * lengths / lengths.mean())
    weights = idf[words] * frequencies / (frequencies + held_back[passages])
    return {
        "data": weights.astype(np.float32),
        "indices": passages.astype(np.int32),
        "indptr": np.concatenate([[0], np.cumsum(found_in)]),
        "num_docs": n,
    }


def save_bm25(model: Any, folder: Path) -> None:
    """Write a model as numpy arrays and JSON (no pickle)."""
    model.save(str(folder), allow_pickle=False, show_progress=False)


def load_bm25(folder: Path) -> Any:
    """Load a saved model with its arrays mapped from disk."""
    import bm25s

    model = bm25s.BM25.load(str(folder), mmap=True, allow_pickle=False, show_progress=False)
    # Slicing a memmap object is slow; a plain array over the same mapped file is not.
    model.scores.update({name: np.asarray(model.scores[name]).view(np.ndarray) for name in _ARRAYS})
    return model

"""Searching: Chinese and English, titles, codes, ties, and nothing where nothing matches."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retrieval_corpora import CHINESE, ENGLISH, HashedWords, built

from offline_eval.core.records import Passage
from offline_eval.retrieval.analysis import Analyzer, AnalyzerSettings
from offline_eval.retrieval.bm25 import Bm25Settings, build_bm25
from offline_eval.retrieval.dense import HnswSettings
from offline_eval.retrieval.highlight import term_spans
from offline_eval.retrieval.manifest import IndexSettings
from offline_eval.retrieval.retrievers import open_retriever
from offline_eval.retrieval.run import fold_to_documents, responses_of, run_retriever
from offline_eval.retrieval.splitter import SplitSettings


def found(index: object, query: str, *, k: int = 10, name: str = "bm25") -> list[str]:
    retriever = open_retriever(name, index, embedder=HashedWords)  # type: ignore[arg-type]
    return [hit.passage_id for hit in retriever.search([query], k=k)[0]]


@pytest.mark.parametrize("cut", ["bigram", "jieba"])
def test_a_chinese_question_finds_the_relevant_document_first(tmp_path: Path, cut: str) -> None:
    settings_ = IndexSettings(analyzer=AnalyzerSettings.model_validate({"chinese": cut}))
    index = built(CHINESE, tmp_path / "index", settings=settings_)
    assert found(index, "报销需要什么材料")[0] == "travel"


def test_a_query_that_matches_nothing_finds_nothing(tmp_path: Path) -> None:
    index = built(CHINESE, tmp_path / "index")
    assert found(index, "量子力学") == []
    assert found(index, "quantum mechanics") == []
    assert found(index, "？！ ...") == []
    assert found(index, "量子力学", name="rank_bm25") == []


def test_titles_are_searchable(tmp_path: Path) -> None:
    assert found(built(ENGLISH, tmp_path / "en"), "aircraft") == ["wings"]
    assert found(built(CHINESE, tmp_path / "zh"), "餐补") == ["meal"]


def test_codes_and_numbers_are_found_whole_and_words_by_their_stem(tmp_path: Path) -> None:
    index = built(ENGLISH, tmp_path / "index")
    assert found(index, "1040-ES") == ["tax"]
    assert found(index, "0.25") == ["bank"]
    assert found(index, "1040") == []
    assert found(index, "hunting cat") == ["cats"]


def test_equal_scores_come_in_id_order_also_at_the_edge_of_k(tmp_path: Path) -> None:
    twins = [Passage(id=item, text="the same words") for item in ("b", "10", "a", "9", "c")]
    index = built([*twins, *ENGLISH], tmp_path / "index", embedder=HashedWords())
    for name in ("bm25", "rank_bm25", "dense"):
        assert found(index, "same words", k=3, name=name) == ["10", "9", "a"], name


def test_more_passages_asked_for_than_there_are_is_no_error(tmp_path: Path) -> None:
    index = built(ENGLISH, tmp_path / "index", embedder=HashedWords())
    assert len(found(index, "the", k=100)) == 3  # "the" stands in three of the four
    assert len(found(index, "the", k=100, name="dense")) == 4
    assert len(found(index, "the", k=100, name="hybrid")) == 4


WORDS = st.sampled_from(["wing", "lift", "flow", "报销", "材料", "heat", "drag", "3.5", "shock", "layer"])
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), min_size=2, max_size=25)


@settings(max_examples=60)
@given(texts=TEXTS, query=st.lists(WORDS, min_size=1, max_size=4).map(" ".join), k=st.integers(1, 30))
def test_both_bm25_backends_give_the_same_ranking_and_scores(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], query: str, k: int
) -> None:
    if not any(texts):
        return
    passages = [Passage(id=str(number), text=text) for number, text in enumerate(texts)]
    index = built(passages, tmp_path_factory.mktemp("index") / "index")
    (ours,), (other,) = (index.bm25().search([query], k=k), index.rank_bm25().search([query], k=k))
    assert [hit.score for hit in ours] == pytest.approx([hit.score for hit in other], abs=2e-4)
    scores = {hit.passage_id: hit.score for hit in ours}
    for hit in other:  # a rank may differ only where the scores do not
        assert scores.get(hit.passage_id, ours[-1].score) == pytest.approx(hit.score, abs=2e-4)


@settings(max_examples=60)
@given(texts=TEXTS, k1=st.floats(0.1, 3.0), b=st.floats(0.0, 1.0))
def test_postings_equal_those_bm25s_builds_itself(texts: list[str], k1: float, b: float) -> None:
    import bm25s

    tokens = [text.split() for text in texts]
    if not any(tokens):
        return
    ours = build_bm25(tokens, Bm25Settings(k1=k1, b=b))
    theirs = bm25s.BM25(k1=k1, b=b, method="lucene")
    theirs.index(tokens, create_empty_token=False, show_progress=False)
    for word in ours.vocab_dict:
        expected = theirs.get_scores([word])
        assert ours.get_scores_from_ids([ours.vocab_dict[word]]) == pytest.approx(expected, abs=1e-5), word


def test_hnsw_finds_what_the_exact_search_finds_and_says_how_much_it_misses(tmp_path: Path) -> None:
    passages = [
        Passage(id=f"p{number:03}", text=f"word{number} word{number % 7} word{number % 11}") for number in range(300)
    ]
    settings_ = IndexSettings(hnsw=HnswSettings())
    index = built(passages, tmp_path / "index", embedder=HashedWords(), settings=settings_)
    part = index.manifest.dense
    assert part is not None
    assert part.graph_recall is not None
    assert part.graph_recall.k == 10
    assert 0.9 <= part.graph_recall.recall <= 1.0
    assert found(index, "word17", k=1, name="hnsw") == found(index, "word17", k=1, name="dense")


def test_the_query_terms_are_marked_where_the_search_matched_them() -> None:
    analyzer = Analyzer(AnalyzerSettings())
    text = "Wings: the wing's lift, in v2.1-beta."
    marked = [text[start:end] for start, end in term_spans(text, "wing v2.1-beta", analyzer)]
    assert marked == ["Wings", "wing's", "v2.1-beta"]
    chinese = "员工报销，需要提交材料"
    assert [chinese[start:end] for start, end in term_spans(chinese, "报销需要什么材料", analyzer)] == [
        "报销",
        "需要",
        "材料",
    ]


def test_passages_fold_to_documents_at_their_best_score(tmp_path: Path) -> None:
    documents = [
        Passage(id="doc-a", text="Nothing here. " * 5 + "The rare zebra sleeps. " + "Filler text again. " * 5),
        Passage(id="doc-b", text="A zebra. " + "Unrelated words follow. " * 10),
    ]
    split = IndexSettings(split=SplitSettings(by="sentence", size=60, overlap=0))
    index = built(documents, tmp_path / "index", settings=split)
    run = run_retriever(index.bm25(), {"q": "zebra"}, k=10)
    folded = fold_to_documents(run, index.store)
    assert set(folded.scores["q"]) == {"doc-a", "doc-b"}
    for document, score in folded.scores["q"].items():
        assert score == max(value for item, value in run.scores["q"].items() if item.startswith(document))


def test_rankings_become_responses_that_a_run_can_score(tmp_path: Path) -> None:
    from offline_eval.core.records import Case
    from offline_eval.metrics.retrieval import named_metric

    index = built(ENGLISH, tmp_path / "index", embedder=HashedWords())
    case = Case(id="q", query="lift of a wing", relevant_passages={"wings": 1})
    runs = [
        run_retriever(retriever, {"q": case.query}, k=2) for retriever in (index.bm25(), index.dense(HashedWords()))
    ]
    (response,) = responses_of([case], runs, index.store)
    assert response.system == "bm25"
    assert response.passages[0].id == "wings"
    assert response.passages[0].title == "Aircraft"
    assert set(response.rankings) == {"bm25", "dense"}
    assert named_metric("mrr@10").score(case, response, []).value == 1.0
    assert named_metric("consensus@1").score(case, response, []).value == 1.0

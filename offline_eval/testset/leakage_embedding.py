"""Questions and answers that a saved index holds in other words, by the vectors it was built with.

Why sentences and not passages: a passage that answers a question is near to it and should be; a sentence of it that
asks the question is the leak.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from offline_eval.core.protocols import Embedder, Retriever
from offline_eval.core.records import Case, Passage
from offline_eval.retrieval.passage_store import PassageStore
from offline_eval.testset.expected import document_of, is_own_source
from offline_eval.testset.leakage import DEFAULT_LIMITS, Leak, Limits, cut, has_answer, has_long_answer
from offline_eval.testset.leakage_elsewhere import Other
from offline_eval.testset.questions import may_ask_the_same, questions_in
from offline_eval.testset.shared_runs import RUN
from offline_eval.text.language import detect_language
from offline_eval.text.sentences import split_sentences

NEAREST = 10
"""Passages nearest to a question or an answer whose sentences are compared with it."""


class EmbeddingLeaks(NamedTuple):
    """What vectors gave.

    Attributes:
        not_applicable: Texts in a language that the embedder was not made for: language to how many.
    """

    leaks: list[Leak]
    n_compared: int
    not_applicable: dict[str, int]


class _Wanted(NamedTuple):
    case: Case
    field: Literal["query", "reference", "variants"]
    text: str


def embedding_leaks(
    cases: Sequence[Case],
    store: PassageStore,
    dense: Retriever,
    embedder: Embedder,
    *,
    languages: Sequence[str],
    limits: Limits = DEFAULT_LIMITS,
) -> EmbeddingLeaks:
    """Compare questions and long answers with the sentences of the passages nearest to them.

    Args:
        store: The index' passages.
        dense: Searches the index' vectors.
        embedder: The one the vectors come from.
        languages: Those it was made for; `*` for any.
    """
    wanted, not_applicable = _wanted(cases, languages)
    if not wanted:
        return EmbeddingLeaks([], 0, not_applicable)
    documents = _documents(cases, store)
    hits = dense.search([item.text for item in wanted], k=NEAREST)
    compared = [
        (item, passage, sentence)
        for item, found in zip(wanted, hits, strict=True)
        for hit in found
        for passage in [store.get(hit.passage_id)]
        for sentence in _sentences(item, passage, documents)
    ]
    leaks = [
        _leak(item, "pair" if _is_pair(item, passage) else kind, passage.id, cosine, sentence)
        for (item, passage, sentence), cosine in zip(
            compared, _cosines([(item.text, text) for item, _, text in compared], embedder), strict=True
        )
        for kind in ("answer" if item.field == "reference" else "question",)
        if cosine >= (limits.answer_embedding if item.field == "reference" else limits.embedding)
        and may_ask_the_same(item.text, sentence)
    ]
    return EmbeddingLeaks(_likest(leaks), len(wanted), not_applicable)


def embedding_leaks_elsewhere(
    cases: Sequence[Case],
    others: Sequence[Other],
    embedder: Embedder,
    *,
    kind: Literal["example", "training"],
    languages: Sequence[str],
    limits: Limits = DEFAULT_LIMITS,
) -> EmbeddingLeaks:
    """Compare questions with the questions of the others; texts of either side may be in an unknown language."""
    wanted, not_applicable = _wanted([case.model_copy(update={"reference": None}) for case in cases], languages)
    asked = []
    for other in filter(lambda other: other.is_question, others):
        if _speaks(other.text, languages):
            asked.append(other)
        else:
            language = detect_language(other.text)
            not_applicable[language] = not_applicable.get(language, 0) + 1
    if not wanted or not asked:
        return EmbeddingLeaks([], len(wanted), not_applicable)
    ours = embedder.embed([item.text for item in wanted])  # (n_cases, dimension)
    theirs = embedder.embed([other.text for other in asked])  # (n_others, dimension)
    leaks = []
    for place, row in enumerate(ours @ theirs.T):
        for number in (row >= limits.embedding).nonzero()[0]:
            other = asked[int(number)]
            if not may_ask_the_same(wanted[place].text, other.text):
                continue
            leaks.append(_leak(wanted[place], kind, other.where, float(row[number]), other.text))
    return EmbeddingLeaks(_likest(leaks), len(wanted), not_applicable)


def _wanted(cases: Sequence[Case], languages: Sequence[str]) -> tuple[list[_Wanted], dict[str, int]]:
    found: list[_Wanted] = []
    not_applicable: dict[str, int] = {}
    for item in _texts(cases):
        language = detect_language(item.text)
        if _speaks(item.text, languages):
            found.append(item)
        else:
            not_applicable[language] = not_applicable.get(language, 0) + 1
    return found, not_applicable


def _texts(cases: Sequence[Case]) -> Iterator[_Wanted]:
    for case in cases:
        yield _Wanted(case, "query", case.query)
        yield from (_Wanted(case, "variants", text) for text in case.variants)
        has_source = case.relevant_passages or case.relevant_documents
        if has_source and case.reference and has_long_answer(case, RUN):
            yield _Wanted(case, "reference", case.reference)


def _speaks(text: str, languages: Sequence[str]) -> bool:
    return "*" in languages or detect_language(text) in (*languages, "other")


def _documents(cases: Sequence[Case], store: PassageStore) -> dict[str, str]:
    """Expected passage to its document, where the store has it."""
    expected = {id for case in cases for id in case.relevant_passages} & store.positions.keys()
    return {id: document_of(store.get(id)) for id in expected}


def _sentences(item: _Wanted, passage: Passage, documents: Mapping[str, str]) -> list[str]:
    text = f"{passage.title}\n{passage.text}" if passage.title else passage.text
    if item.field != "reference":
        return questions_in(text)
    if is_own_source(passage, item.case, documents):
        return []
    return [sentence.text for sentence in split_sentences(text)]


def _is_pair(item: _Wanted, passage: Passage) -> bool:
    return item.field != "reference" and has_answer(passage.text, item.case)


def _cosines(pairs: Sequence[tuple[str, str]], embedder: Embedder) -> list[float]:
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    if not texts:
        return []
    vectors: Any = embedder.embed(texts)
    place = {text: number for number, text in enumerate(texts)}
    return [float(vectors[place[first]] @ vectors[place[second]]) for first, second in pairs]


def _leak(item: _Wanted, kind: Any, where: str, cosine: float, found: str) -> Leak:
    return Leak(
        kind=kind, method="embedding", case=item.case.id, field=item.field, where=where,
        likeness=min(1.0, cosine), text=cut(item.text), found=cut(found),
    )  # fmt: skip


def _likest(leaks: Sequence[Leak]) -> list[Leak]:
    best: dict[tuple[str, str, str], Leak] = {}
    for leak in leaks:
        key = (leak.case, leak.field, leak.where)
        if key not in best or leak.likeness > best[key].likeness:
            best[key] = leak
    return list(best.values())

"""Chunks: nothing of a long premise is left out, and no chunk is longer than asked for."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from offline_eval.checks._chunks import chunk_spans, covers, estimated_tokens

PROSE = st.lists(
    st.sampled_from(
        [
            "The library opens at nine.",
            "Staff may borrow ten books, students five.",
            "图书馆九点开门。",
            "Überstunden zählen nicht!",
            "a" * 90,
            "员工每年享有十五天年假，未休完的可以结转到次年三月底。",
            "\n\n- an item",
        ]
    ),
    max_size=30,
).map(" ".join)


@given(PROSE, st.integers(4, 60))
@settings(max_examples=200)
def test_chunks_cover_the_text_and_fit_the_limit(text: str, limit: int) -> None:
    spans = chunk_spans(text, limit)
    assert covers(text, spans)
    assert all(estimated_tokens(text[start:end]) <= limit for start, end in spans)
    assert spans == sorted(spans)


def test_a_text_that_fits_is_one_chunk() -> None:
    assert chunk_spans("Short. Text.", 100) == [(0, 12)]


def test_neighbours_share_a_sentence() -> None:
    text = "One is one. Two is two. Three is three. Four is four."
    # At 3 characters a token, 9 tokens are 27 characters: sentences 1 and 2, then 2 and 3 (exactly 27). Sentences 3
    # and 4 have 29, so the last chunk has no room for a shared one.
    chunks = [text[start:end] for start, end in chunk_spans(text, 9)]
    assert chunks == ["One is one. Two is two.", "Two is two. Three is three.", "Four is four."]


def test_a_sentence_longer_than_the_limit_is_divided_with_overlap() -> None:
    text = "字" * 100
    spans = chunk_spans(text, 30)
    assert covers(text, spans)
    assert all(left[1] > right[0] for left, right in pairwise(spans))


def test_a_gap_is_noticed() -> None:
    assert not covers("one two three", [(0, 3), (8, 13)])
    assert covers("one  three", [(0, 3), (5, 10)])


def test_a_chinese_character_counts_as_a_token_and_three_letters_as_one() -> None:
    assert estimated_tokens("图书馆") == 3
    assert estimated_tokens("abcdef") == 2
    assert estimated_tokens("") == 0

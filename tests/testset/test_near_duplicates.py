"""Likeness is a Jaccard similarity: symmetric where both texts are of one kind, 1 for the same letters, 0 for none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.engines.scripted import ScriptedEmbedder
from offline_eval.testset.near_duplicates import Seen, likeness
from offline_eval.testset.surface_checks import longest_shared_run

LATIN = st.text("abcdefgh ", max_size=40)
HAN = st.text("天地玄黄宇宙洪荒", max_size=20)


def test_golden_likeness() -> None:
    # abcd -> abc, bcd; abce -> abc, bce: one of three runs in common
    assert likeness("abcd", "ab ce?") == pytest.approx(1 / 3)
    # 年假几天 -> 年假, 假几, 几天; 年假多少天 -> 年假, 假多, 多少, 少天: one of six
    assert likeness("年假几天？", "年假多少天") == pytest.approx(1 / 6)
    assert likeness("Are you in?", "are you in") == 1.0
    assert likeness("?!", "…") == 1.0
    assert likeness("?!", "a") == 0.0


@given(st.sampled_from([LATIN, HAN]).flatmap(lambda texts: st.tuples(texts, texts)))
def test_likeness_is_symmetric_in_range_and_1_for_itself(pair: tuple[str, str]) -> None:
    first, second = pair
    assert likeness(first, second) == likeness(second, first)
    assert 0.0 <= likeness(first, second) <= 1.0
    assert likeness(first, first) == 1.0


def test_a_repetition_names_what_it_repeats_and_by_how_much() -> None:
    seen = Seen()
    assert seen.repeated("Who signs the form?") is None
    seen.keep("a", "Who signs the form?")
    assert seen.repeated("Who signs the forms?") == ("a", pytest.approx(13 / 14), 0.7)
    assert seen.repeated("What does lunch cost?") is None


def test_the_same_words_in_another_order_are_found_by_meaning_alone() -> None:
    by_letters, by_meaning = Seen(like_from=0.9), Seen(ScriptedEmbedder(), like_from=0.9)
    for seen in (by_letters, by_meaning):
        seen.keep("a", "lunch in Leeds costs staff what amount")
    turned = "what amount costs staff lunch in Leeds"
    assert by_letters.repeated(turned) is None
    assert by_meaning.repeated(turned) is not None


def test_an_embedder_compares_the_texts_of_its_own_languages_alone() -> None:
    embedder = ScriptedEmbedder(languages=("en",))
    seen = Seen(embedder, like_from=0.99)
    seen.keep("zh", "食堂午餐每人补贴多少元")
    seen.keep("en", "lunch in Leeds costs staff what amount")
    assert seen.repeated("每人补贴多少元食堂午餐") is None
    assert seen.repeated("what amount costs staff lunch in Leeds") == ("en", pytest.approx(1.0), 0.95)
    assert set(embedder.texts_seen) == {
        "lunch in Leeds costs staff what amount",
        "what amount costs staff lunch in Leeds",
    }


def test_an_empty_one_has_the_same_rule_and_nothing_kept() -> None:
    seen = Seen(ScriptedEmbedder(), like_from=0.99, near_from=0.9)
    seen.keep("a", "lunch in Leeds costs staff what amount")
    other = seen.empty()
    assert other.repeated("lunch in Leeds costs staff what amount") is None
    other.keep("b", "lunch in Leeds costs staff what amount")
    assert other.repeated("what amount costs staff lunch in Leeds") == ("b", pytest.approx(1.0), 0.9)


def test_golden_runs() -> None:
    # "nine of ten staff" stands in both
    assert longest_shared_run("Do nine of ten staff agree?", "Nine of ten staff, it says, do.", chinese=False) == 4
    # 每年享有年假 stands in both, the comma does not count
    assert longest_shared_run("员工每年享有，年假几天", "每年享有年假五天", chinese=True) == 6
    assert longest_shared_run("", "anything", chinese=False) == 0


@given(st.lists(st.sampled_from(["one", "two", "three"]), max_size=12), st.data())
def test_a_run_taken_from_a_text_is_found_whole(words: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words)))
    end = data.draw(st.integers(start, len(words)))
    piece, text = " ".join(words[start:end]), " ".join(words)
    assert longest_shared_run(piece, text, chinese=False) == end - start
    assert longest_shared_run(text, piece, chinese=False) == end - start

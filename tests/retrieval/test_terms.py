"""Text becomes search terms by script; numbers and codes stay whole, whatever surrounds them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.retrieval.analysis import Analyzer, AnalyzerSettings
from offline_eval.text.tokens import tokenize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cost: $1,234.50!", ["the", "cost", "1234.50"]),
        ("state-of-the-art v2.1-beta", ["state", "of", "the", "art", "v2.1-beta"]),
        ("2023-05-01, ISO/IEC 27001:2022", ["2023-05-01", "iso", "iec", "27001:2022"]),
        ("don't end.The U.S. file_name", ["don't", "end", "the", "u.s", "file", "name"]),
        ("ＧＰＴ－４ｏ模型", ["gpt-4o", "模型"]),
        ("报销需要", ["报销", "销需", "需要"]),
        ("第3条", ["第", "3", "条"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("대한민국 서울", ["대한", "한민", "민국", "서울"]),
        ("naïve Größe", ["naïve", "grösse"]),
        ("?!… — \n", []),
    ],
)
def test_each_script_is_cut_in_its_own_way(text: str, expected: list[str]) -> None:
    assert tokenize(text) == expected


def test_jieba_cuts_chinese_into_words_and_leaves_japanese_to_pairs() -> None:
    assert tokenize("报销需要什么材料", chinese="jieba") == ["报销", "需要", "什么", "材料"]
    assert tokenize("東京タワー", chinese="jieba") == ["東京", "京タ", "タワ", "ワー"]


@given(st.text(st.characters(codec="ascii"), max_size=60))
def test_the_short_cut_for_ascii_changes_nothing(text: str) -> None:
    assert tokenize(text) == tokenize(text + " é")[:-1]


@given(st.text(st.characters(categories=["L", "N", "P", "Z"]), max_size=60))
def test_tokens_hold_neither_white_space_nor_capitals_and_marks_only_inside(text: str) -> None:
    for token in tokenize(text):
        assert token == token.casefold()
        assert not any(char.isspace() for char in token)
        assert token.strip("-.',/:@+_") == token
        assert token


def test_stemming_leaves_codes_numbers_and_chinese_alone_and_stop_words_go_only_when_asked() -> None:
    text = "The wings' v2s cost 3.5 dollars 报销"
    assert Analyzer(AnalyzerSettings()).tokens(text) == ["the", "wing", "v2s", "cost", "3.5", "dollar", "报销"]
    plain = AnalyzerSettings(stemmer=None, stop_words=True)
    assert Analyzer(plain).tokens(text) == ["wings", "v2s", "cost", "3.5", "dollars", "报销"]


def test_the_hash_tells_settings_apart_and_is_the_same_twice() -> None:
    settings = [
        AnalyzerSettings(),
        AnalyzerSettings(chinese="jieba"),
        AnalyzerSettings(stemmer=None),
        AnalyzerSettings(stop_words=True),
    ]
    hashes = [Analyzer(item).hash for item in settings]
    assert len(set(hashes)) == 4
    assert hashes == [Analyzer(item).hash for item in settings]

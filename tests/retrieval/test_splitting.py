"""Documents become passages that lose nothing, stay within their size and keep their ids."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from offline_eval.core.records import Passage
from offline_eval.retrieval.splitter import SplitSettings, split_documents

HANDBOOK = """# Handbook

Welcome to the handbook.

## Travel

Book early. Keep every receipt.

```
# not a heading
```

### Trains

Second class only.

## Leave

Ask three days ahead.
"""


def parts(text: str, **settings_: object) -> list[Passage]:
    document = Passage(id="doc", text=text, title="Handbook")
    return list(split_documents([document], SplitSettings.model_validate(settings_)))


def test_a_document_that_is_not_split_keeps_its_id() -> None:
    document = Passage(id="doc", text="One. Two.")
    assert list(split_documents([document], SplitSettings())) == [document]


def test_headings_start_passages_and_stand_in_the_title() -> None:
    found = parts(HANDBOOK, by="heading")
    assert [(passage.id, passage.title) for passage in found] == [
        ("doc#1", "Handbook"),
        ("doc#2", "Handbook › Travel"),
        ("doc#3", "Handbook › Travel › Trains"),
        ("doc#4", "Handbook › Leave"),
    ]
    assert {passage.doc_id for passage in found} == {"doc"}
    assert "# not a heading" in found[1].text


def test_sentences_are_packed_and_the_last_ones_repeated_within_the_overlap() -> None:
    text = "".join(f"这是第{number}个句子，说的是一件小事。" for number in "一二三四五六七八九十")  # 16 characters each
    found = parts(text, by="sentence", size=50, overlap=20)
    assert [len(passage.text) for passage in found] == [48, 48, 48, 48, 32]
    assert found[1].text.startswith("这是第三个句子")  # sentence 3 ends passage 1 and starts passage 2
    assert all(passage.text.endswith("。") for passage in found)


def test_a_sentence_longer_than_a_passage_is_cut_at_a_mark_and_nothing_is_lost() -> None:
    text = "words without any stop " * 40
    found = parts(text, by="sentence", size=100, overlap=0)
    assert max(len(passage.text) for passage in found) <= 100
    assert " ".join(passage.text for passage in found).split() == text.split()


def test_a_document_without_text_stays_findable_by_its_title() -> None:
    assert parts("  \n ", by="sentence") == [Passage(id="doc", text="  \n ", title="Handbook")]


def test_an_overlap_above_half_the_size_is_refused() -> None:
    with pytest.raises(ValidationError, match="at most half of size"):
        SplitSettings(by="sentence", size=100, overlap=60)


ALPHABET = st.sampled_from([*"ab1 .!?,\n#`", "。", "，", "中", "文", "# ", "\n\n", "Dr. ", "3.5 "])
TEXTS = st.lists(ALPHABET, max_size=400).map("".join)


@settings(max_examples=300)
@given(text=TEXTS, by=st.sampled_from(["sentence", "heading"]), size=st.integers(50, 120), overlap=st.integers(0, 25))
def test_every_character_but_white_space_is_in_a_passage_and_none_is_too_long(
    text: str, by: str, size: int, overlap: int
) -> None:
    found = parts(text, by=by, size=size, overlap=overlap)
    if not text.strip():
        return
    covered: set[int] = set()
    end_before = 0
    for passage in found:
        start, end = passage.metadata["start"], passage.metadata["end"]
        assert isinstance(start, int)
        assert isinstance(end, int)
        assert passage.text == text[start:end]
        assert 0 < len(passage.text) <= size
        assert end > end_before
        assert end_before - start <= overlap
        end_before = end
        covered.update(range(start, end))
    assert all(text[at].isspace() for at in set(range(len(text))) - covered)
    assert parts(text, by=by, size=size, overlap=overlap) == found

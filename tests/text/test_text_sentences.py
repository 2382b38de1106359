import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.sentences import split_sentences

MIXED = st.text(alphabet=st.sampled_from("ab Z1.!?。！？…；，\n\"'“”「」()（）[]【】:-，中文A"), max_size=80)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("He paid $3.5 million. Done.", ["He paid $3.5 million.", "Done."]),
        (
            "Dr. Smith met J. K. Rowling, e.g. in vol. 2. He left.",
            ["Dr. Smith met J. K. Rowling, e.g. in vol. 2.", "He left."],
        ),
        ("He left the U.S. The end.", ["He left the U.S.", "The end."]),
        ("Apple Inc. sells to the U.S. Army. It grew.", ["Apple Inc. sells to the U.S. Army.", "It grew."]),
        ("It was 5 p.m. Then he left.", ["It was 5 p.m.", "Then he left."]),
        (
            "See Fig. 3. No. 5 is alive. Say no. That is it.",
            ["See Fig. 3.", "No. 5 is alive.", "Say no.", "That is it."],
        ),
        ("Version v2.0.1 is at example.com. Go on.", ["Version v2.0.1 is at example.com.", "Go on."]),
        ("Wait... what? Well... Nothing.", ["Wait... what?", "Well...", "Nothing."]),
        ('"Go!" he said. "Stop. Now." He went.', ['"Go!" he said.', '"Stop. Now."', "He went."]),
        ("1. Install it. Then run.\n2. Test\n- Done", ["1. Install it.", "Then run.", "2. Test", "- Done"]),
        ("Blue.[1] Green [2]. Red [3][4]. End", ["Blue.[1]", "Green [2].", "Red [3][4].", "End"]),
        ("年假为15天。可以结转！真的吗？", ["年假为15天。", "可以结转！", "真的吗？"]),
        ("“你好。”他说。然后走了。", ["“你好。”他说。", "然后走了。"]),
        ("他说：“今天很好。明天也好。”我们走了。", ["他说：“今天很好。明天也好。”", "我们走了。"]),
        ("增长3.5%。符合GB/T 7714。【4】好。", ["增长3.5%。", "符合GB/T 7714。【4】", "好。"]),
        ("一、概述\n（1）年假\n• 更多；其他", ["一、概述", "（1）年假", "• 更多；其他"]),
        ("他走了……然后回来了。", ["他走了……然后回来了。"]),
        ("「はい。」次の文。", ["「はい。」", "次の文。"]),
        ("支持v2.0版本。见图1.然后执行", ["支持v2.0版本。", "见图1.", "然后执行"]),
        (
            "This line of English prose is wrapped by an editor and goes\non in the next. New.\n\nPara",
            ["This line of English prose is wrapped by an editor and goes\non in the next.", "New.", "Para"],
        ),
        ("", []),
        (" \n ", []),
    ],
)
def test_a_sentence_ends_where_a_reader_ends_it(text: str, sentences: list[str]) -> None:
    assert [sentence.text for sentence in split_sentences(text)] == sentences


@given(st.one_of(st.text(), MIXED))
def test_no_character_but_white_space_is_lost(text: str) -> None:
    at = 0
    for sentence in split_sentences(text):
        assert text[at : sentence.start].strip() == ""
        assert text[sentence.start : sentence.end] == sentence.text == sentence.text.strip() != ""
        at = sentence.end
    assert text[at:].strip() == ""

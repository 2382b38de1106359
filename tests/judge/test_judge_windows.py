"""Passages in windows: nothing is lost, nothing is shown twice, and never more windows than asked for."""

from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.records import Passage
from offline_eval.judge.windows import windows

TEXTS = st.lists(st.text(alphabet=st.sampled_from("ab 一二。.!？\n"), max_size=80), max_size=6)


@given(TEXTS, st.integers(1, 20))
def test_the_parts_joined_are_the_passages_texts(texts: list[str], n: int) -> None:
    shown = [Passage(id=f"p{number}", text=text, title=f"T{number}") for number, text in enumerate(texts)]
    found = windows(shown, n)
    assert 1 <= len(found) <= n
    parts: dict[str, str] = {}
    for window in found:
        assert len({passage.id for passage in window}) == len(window)
        for passage in window:
            parts[passage.id] = parts.get(passage.id, "") + passage.text
            assert passage.title == f"T{passage.id[1:]}"
    assert {name: text for name, text in parts.items() if text} == {p.id: p.text for p in shown if p.text}
    order = [passage.id for window in found for passage in window]
    assert order == sorted(order)


@given(st.integers(1, 8))
def test_passages_that_share_an_id_stay_apart(n: int) -> None:
    shown = [Passage(id="p", text="One."), Passage(id="p", text="Two.")]
    texts = [passage.text for window in windows(shown, n) for passage in window]
    assert "".join(texts) == "One.Two."
    assert "One.Two." not in texts


def test_sentences_are_not_divided_where_they_fit() -> None:
    shown = [Passage(id="p1", text="One two three. Four five six. Seven eight nine. Ten eleven twelve.")]
    assert [[passage.text.strip() for passage in window] for window in windows(shown, 2)] == [
        ["One two three. Four five six. Seven eight nine."],
        ["Ten eleven twelve."],
    ]


def test_a_sentence_longer_than_a_window_is_divided_and_kept_whole_in_sum() -> None:
    text = "字" * 1000
    found = windows([Passage(id="p1", text=text)], 4)
    assert [len(window[0].text) for window in found] == [250, 250, 250, 250]


def test_no_window_is_longer_than_two_shares() -> None:
    shown = [Passage(id=f"p{number}", text="A sentence of some length here. " * 9) for number in range(7)]
    total = sum(len(passage.text) for passage in shown)
    for n in (2, 3, 5, 8, 16, 64):
        assert max(sum(len(p.text) for p in window) for window in windows(shown, n)) <= 2 * total / n + 1


def test_one_window_is_everything_as_it_is() -> None:
    shown = (Passage(id="p1", text=""), Passage(id="p2", text="x"))
    assert windows(shown, 1) == [shown]
    assert windows((), 4) == [()]

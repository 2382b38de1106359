import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.normalize import contains_verbatim, normalize


def test_width_case_quotes_dashes_and_space_are_one_form() -> None:
    assert normalize("  ＮＬＩ\u3000“Straße” — ‘x’\u200b\n") == "nli \"strasse\" - 'x'"


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalize(normalize(text)) == normalize(text)


@pytest.mark.parametrize(
    ("quote", "text", "stands"),
    [
        ("The battery lasts", "so the\n  battery lasts 5 h", True),
        ("“年假 为15天”", "员工年假为 15 天。", True),
        ("「年假」为１５天", "\u201c年假\u201d为15天", True),
        ("lasts 5…", "the battery lasts 5 hours", True),
        ("hours and half a wo", "two hours and half a word", True),  # cut by an output limit
        ("5", "在5月", True),
        ("5", "2015", False),
        ("15", "15,000", False),
        ("3", "3.5", False),
        (".5", "3.5", True),  # starts with a mark, not inside the digits
        ("art", "a party", False),
        ("年假为10天", "年假为15天", False),
        ("lasts 6 hours", "lasts 5 hours", False),
        ("", "anything", False),
        ("…", "anything…", False),
    ],
)
def test_a_quotation_must_stand_word_for_word(quote: str, text: str, stands: bool) -> None:
    assert contains_verbatim(quote, text) is stands


@given(st.text(min_size=1), st.text(), st.text())
def test_a_text_contains_its_own_lines(quote: str, before: str, after: str) -> None:
    wanted = any(map(str.isalnum, normalize(quote).strip("\"' ").removesuffix("...").removeprefix("...")))
    assert contains_verbatim(quote, f"{before}\n{quote}\n{after}") in (wanted, True)
    assert not contains_verbatim("q", "中" * 3)


@pytest.mark.timeout(120)  # quadratic work would take hours; this only keeps a hang from going unseen
def test_a_storm_of_accents_ends() -> None:
    assert normalize("a" + "\u0301\u0316" * 300_000)

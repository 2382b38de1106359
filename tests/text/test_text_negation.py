import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.negation import find_negations, is_negated


@pytest.mark.parametrize(
    ("clause", "negated"),
    [
        ("年假不得结转", True),
        ("资料未提及", True),
        ("没有规定不可以", False),
        ("不得不说", False),
        ("不仅可以结转", False),
        ("非常特别的未来", False),
        ("能不能结转", False),
        ("别的员工分别申请", False),
        ("It may not be carried over", True),
        ("He isn't there", True),
        ("Leave without pay", True),
        ("It is not only good", False),
        ("No. 5 is here", False),
        ("It is not impossible, not at all", False),
    ],
)
def test_a_clause_is_denied_by_an_odd_number_of_cues(clause: str, negated: bool) -> None:
    assert is_negated(clause) is negated


@given(st.text())
def test_cues_stand_where_they_say(text: str) -> None:
    assert all(text[cue.start : cue.end] == cue.text for cue in find_negations(text))

"""The verdict grammar is finite, its budget is the sum of its parts, and all it accepts is JSON."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.errors import EngineError
from offline_eval.engines.grammar import bounded_grammar, object_tail_grammar, schema_regex

NO_CONTROL = st.characters(exclude_characters='"\\', exclude_categories=["Cs", "Cc"])
ESCAPES = st.sampled_from([f"\\{letter}" for letter in '"\\/bfnrt'])


def test_the_budget_is_the_longest_string_in_bytes_and_one_for_the_end() -> None:
    # "r":"  is 5 bytes; 2 characters of at most 4 bytes; "} is 2 bytes; 1 token for the end of the text.
    assert object_tail_grammar({"r": 2}).budget == 5 + 2 * 4 + 2 + 1


def test_the_budget_of_two_fields_has_a_comma_between_them() -> None:
    # "evidence":" is 12 bytes, "," between is `",` 2 bytes, "reason":" is 10 bytes, the end `"}` 2 bytes.
    assert object_tail_grammar({"evidence": 120, "reason": 160}).budget == 12 + 4 * 120 + 2 + 10 + 4 * 160 + 2 + 1


def test_an_enum_costs_its_longest_member() -> None:
    # (yes|maybe|no): 5 bytes and the end; 支持 is 2 characters of 3 bytes.
    assert bounded_grammar("(yes|maybe|no)").budget == 5 + 1
    assert bounded_grammar("(支持|no)").budget == 2 * 3 + 1


def test_a_field_of_length_zero_is_an_empty_string() -> None:
    assert re.fullmatch(object_tail_grammar({"r": 0}).regex, '"r":""}')
    assert object_tail_grammar({"r": 0}).budget == 5 + 2 + 1


@given(st.lists(st.one_of(NO_CONTROL, ESCAPES), max_size=6), st.lists(st.one_of(NO_CONTROL, ESCAPES), max_size=4))
def test_whatever_the_grammar_accepts_fits_the_budget_and_is_json(first: list[str], second: list[str]) -> None:
    grammar = object_tail_grammar({"a": 6, "b": 4})
    text = f'"a":"{"".join(first)}","b":"{"".join(second)}"}}'
    assert re.fullmatch(grammar.regex, text)
    assert len(text.encode()) <= grammar.budget - 1
    value = json.loads("{" + text)
    assert list(value) == ["a", "b"]
    assert (len(value["a"]), len(value["b"])) == (len(first), len(second))


@given(st.from_regex(object_tail_grammar({"a": 3, "b": 2}).regex, fullmatch=True))
def test_strings_drawn_from_the_regular_expression_fit_the_budget_and_are_json(text: str) -> None:
    assert len(text.encode("utf-8", "surrogatepass")) <= object_tail_grammar({"a": 3, "b": 2}).budget - 1
    value = json.loads("{" + text)
    assert len(value["a"]) <= 3
    assert len(value["b"]) <= 2


@pytest.mark.parametrize("text", ['"r":"abc"}', '"r": "a"}', '"r":"a\n"}', '"r":"a"', '"r":"a"} ', '"r":"\\u0041"}'])
def test_longer_strings_white_space_and_control_characters_are_not_accepted(text: str) -> None:
    assert not re.fullmatch(object_tail_grammar({"r": 2}).regex, text)


@pytest.mark.parametrize("regex", ["a*", "(ab)+c", "[0-9]{2,}", 'x"[^"]*"'])
def test_a_regular_expression_with_a_cycle_is_refused(regex: str) -> None:
    with pytest.raises(EngineError, match="not bounded"):
        bounded_grammar(regex)


@pytest.mark.parametrize(
    "value",
    [{"type": "integer"}, {"type": "integer", "minimum": 1, "maximum": 3}, {"type": "number"}, {"type": "string"}],
)
def test_a_free_number_or_string_in_a_schema_is_refused(value: dict[str, object]) -> None:
    schema = {"type": "object", "properties": {"x": value}, "required": ["x"], "additionalProperties": False}
    with pytest.raises(EngineError, match="not bounded"):
        bounded_grammar(schema_regex(schema))


def test_an_enum_in_a_schema_is_bounded() -> None:
    schema = {"type": "object", "properties": {"x": {"enum": [1, 2, 3]}}, "required": ["x"]}
    assert bounded_grammar(schema_regex(schema)).budget == len('{"x":1}') + 1

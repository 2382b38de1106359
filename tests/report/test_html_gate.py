"""The gate: whatever a template writes comes out of it escaped, whether the engine escapes as well or not."""

import re
from enum import StrEnum
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError
from markupsafe import Markup, escape

from offline_eval.report.html import _DRAWN_OFTEN, _environment
from offline_eval.report.html_marks import LONGEST_TEXT

TEMPLATES = files("offline_eval.report").joinpath("templates")


class Kind(StrEnum):
    ODD = "<b>&'\""


class Odd:
    def __str__(self) -> str:
        return "<script>"


def written(value: Any, *, often: bool) -> str:
    """One value through a template that the engine escapes, or through one that it leaves to the gate."""
    environment = _environment()
    source = "{{ value }}"
    name = _DRAWN_OFTEN if often else "other.html"
    code = environment.compile(source, name=name, filename=name)
    return environment.template_class.from_code(environment, code, environment.globals).render(value=value)


@given(st.one_of(st.text(), st.text("<>&\"'a\u202e\x1b\n", min_size=50, max_size=90)))
def test_any_text_is_escaped_once_and_alike_in_both_kinds_of_template(text: str) -> None:
    often, seldom = written(text, often=True), written(text, often=False)
    assert often == seldom
    assert not re.search(r"[<>\"']", often)
    assert re.sub(r"&(?:amp|lt|gt|#34|#39);", "", often).count("&") == 0
    assert not {"\u202e", "\x1b"} & set(often)


@pytest.mark.parametrize("often", [True, False])
@pytest.mark.parametrize("value", [Kind.ODD, Odd(), ["<i>"], {"<i>": "&"}, None])
def test_values_that_are_no_texts_are_escaped_too(value: object, often: bool) -> None:
    assert written(value, often=often) == str(escape(str(value)))


@pytest.mark.parametrize("often", [True, False])
def test_what_is_ours_and_numbers_pass(often: bool) -> None:
    assert written(Markup("<b>&amp;</b>"), often=often) == "<b>&amp;</b>"
    assert written(7, often=often) == "7"


@pytest.mark.parametrize("often", [True, False])
def test_long_texts_are_cut_and_what_is_left_out_is_counted(often: bool) -> None:
    assert written("<" * (LONGEST_TEXT + 5), often=often) == "&lt;" * LONGEST_TEXT + "… (+5)"


def test_a_missing_value_is_an_error_and_not_an_empty_place() -> None:
    environment = _environment()
    for name in (_DRAWN_OFTEN, "other.html"):
        code = environment.compile("{{ value.gone }}", name=name, filename=name)
        template = environment.template_class.from_code(environment, code, environment.globals)
        with pytest.raises(UndefinedError):
            template.render(value={})


def test_only_what_a_macro_of_the_same_file_wrote_is_called_safe() -> None:
    for template in TEMPLATES.iterdir():
        if not template.name.endswith(".html"):
            continue
        source = re.sub(r"\{#.*?#\}", "", template.read_text("utf-8"), flags=re.DOTALL)
        macros = set(re.findall(r"\{% macro (\w+)\(", source))
        for expression in re.findall(r"\{[{%]((?:(?![%}]\}).)*)[%}]\}", source):
            if re.search(r"\bsafe\b", expression):
                called = re.fullmatch(r" (\w+)\([\w.]+\)\|safe ", expression)
                assert called is not None, expression
                assert (template.name, called[1] in macros) == (_DRAWN_OFTEN, True)

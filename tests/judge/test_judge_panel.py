"""Panels: weights that fit, weights from the command line, weights by query type."""

import pytest
from pydantic import ValidationError

from offline_eval.core.errors import UnknownNameError, UsageError
from offline_eval.judge.panel import Panel, load_panel, parse_weights

EXAMINERS = ("faithfulness", "relevance")


def test_weights_are_read_from_text() -> None:
    assert parse_weights("faithfulness=.7, relevance=0.3", EXAMINERS) == {"faithfulness": 0.7, "relevance": 0.3}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "faithfulness",
        "faithfulness=1",
        "faithfulness=1,relevance=1,tone=1",
        "faithfulness=1,relevance=x",
        "faithfulness=-1,relevance=1",
        "faithfulness=0,relevance=0",
        "faithfulness=nan,relevance=1",
        "faithfulness=inf,relevance=1",
    ],
)
def test_weights_that_cannot_be_used_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="write for example faithfulness=1,relevance=1"):
        parse_weights(text, EXAMINERS)


def test_a_query_type_has_its_own_weights_and_others_the_panels() -> None:
    panel = load_panel("three-examiners")
    assert panel.weights_for("factual")["faithfulness"] == 0.6
    assert panel.weights_for("open")["completeness"] == 0.4
    assert panel.weights_for("riddle") == panel.weights_for(None) == panel.weights


def test_an_unknown_panel_offers_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'three-examiners'"):
        load_panel("three-examiner")


@pytest.mark.parametrize("name", ["tone", "preference"])  # preference has labels without grades: no mean of it exists
def test_examiners_need_a_rubric_with_grades(name: str) -> None:
    with pytest.raises(ValidationError, match=f"no rubric with grades is named {name}"):
        Panel(name="p", examiners=(name,), weights={name: 1})

"""Panels are data: which dimensions are examined, how they weigh for which type of query, and what goes to review."""

from functools import cache
from math import isfinite
from typing import Self

from pydantic import Field, ValidationError, model_validator

from offline_eval.core.errors import DataError, UnknownNameError, UsageError
from offline_eval.core.records import Record
from offline_eval.core.yaml_text import read_yaml
from offline_eval.judge.rubric import load_rubric, rubric_names
from offline_eval.models.config import shipped_folder


class RoutingRules(Record):
    """Which verdicts a person should look at; each rule can be switched off.

    Attributes:
        examiners_apart: Two dimensions of one response are two levels apart.
        judges_apart: Two judges of one dimension are two levels apart.
        tie: The judges of one dimension have no majority.
        low_margin: A verdict's margin is below this, in [0, 1]; 0 switches the rule off.
        failed: A verdict could not be had.
    """

    examiners_apart: bool = True
    judges_apart: bool = True
    tie: bool = True
    low_margin: float = Field(default=0.1, ge=0, le=1)
    failed: bool = True


class Panel(Record):
    """A set of examiners.

    Attributes:
        examiners: Dimensions, each the name of a rubric.
        weights: Dimension to weight; need not sum to 1, since they are renormalised over what was scored.
        weights_by_query_type: Query type to weights, where they differ.
    """

    name: str
    description: str = ""
    examiners: tuple[str, ...] = Field(min_length=1)
    weights: dict[str, float]
    weights_by_query_type: dict[str, dict[str, float]] = Field(default_factory=dict)
    routing: RoutingRules = RoutingRules()

    @model_validator(mode="after")
    def _weights_fit(self) -> Self:
        for weights in (self.weights, *self.weights_by_query_type.values()):
            check_weights(weights, self.examiners)
        graded = [name for name in rubric_names() if load_rubric(name, "en").lowest.grade is not None]
        unknown = set(self.examiners) - set(graded)
        if unknown:
            raise ValueError(f"no rubric with grades is named {', '.join(sorted(unknown))}; known: {', '.join(graded)}")
        return self

    def weights_for(self, query_type: str | None) -> dict[str, float]:
        """The weights of a query type."""
        return self.weights_by_query_type.get(query_type or "", self.weights)


def check_weights(weights: dict[str, float], examiners: tuple[str, ...]) -> None:
    """Weights must name the panel's dimensions and be usable.

    Raises:
        ValueError: A dimension is missing or unknown, a weight is negative, or all are zero.
    """
    if set(weights) != set(examiners):
        raise ValueError(f"weights are given for {', '.join(sorted(weights))}; the panel has {', '.join(examiners)}")
    if not all(isfinite(weight) and weight >= 0 for weight in weights.values()) or not any(weights.values()):
        raise ValueError("weights must be 0 or more, and one of them above 0")


def parse_weights(text: str, examiners: tuple[str, ...]) -> dict[str, float]:
    """Read `faithfulness=.5,relevance=.3,completeness=.2`.

    Raises:
        UsageError: Not of that form, or not the panel's dimensions.
    """
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        try:
            weights[name.strip()] = float(value)
        except ValueError:
            raise UsageError(
                f"weights {text!r}: {part!r} is not name=number; write for example {_example(examiners)}"
            ) from None
    try:
        check_weights(weights, examiners)
    except ValueError as error:
        raise UsageError(f"weights {text!r}: {error}; write for example {_example(examiners)}") from error
    return weights


def _example(examiners: tuple[str, ...]) -> str:
    return ",".join(f"{name}=1" for name in examiners)


def panel_names() -> list[str]:
    """Names of the shipped panels."""
    return sorted(path.stem for path in (shipped_folder() / "panels").glob("*.yaml"))


@cache
def load_panel(name: str) -> Panel:
    """Read a shipped panel.

    Raises:
        UnknownNameError: No panel of that name.
        DataError: The file does not fit.
    """
    if name not in panel_names():
        raise UnknownNameError("panel", name, panel_names())
    path = shipped_folder() / "panels" / f"{name}.yaml"
    try:
        return Panel.model_validate(read_yaml(path).data)
    except ValidationError as error:
        raise DataError(f"{path}: {error}") from error

"""Undefined: what a statistic returns where it has no value, because NaN, 0 and 1 all look like answers."""

from pydantic import Field

from offline_eval.core.records import Record


class Undefined(Record):
    """There is no value.

    Attributes:
        reason: Why, in words a report can print.
    """

    reason: str = Field(min_length=1)

"""A part to fit on and a part to report on, because a number tuned and reported on the same labels flatters."""

from collections.abc import Sequence
from typing import Self

from pydantic import Field, model_validator

from offline_eval.core.errors import DataError
from offline_eval.core.hashing import digest
from offline_eval.core.records import Record
from offline_eval.stats.arrays import Floats, check_share
from offline_eval.stats.calibration import read_outcomes

_NAMED = 5


class Labelled(Record):
    """Probabilities with what people said.

    Attributes:
        ids: What must not stand on both sides, usually the case ids; may repeat.
        probabilities: Same length, in [0, 1].
        outcomes: Same length, 0 or 1.
    """

    ids: tuple[str, ...]
    probabilities: tuple[float, ...]
    outcomes: tuple[int, ...] = Field(description="0 or 1")

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if len(self.ids) != len(self.probabilities):
            raise DataError(f"{len(self.ids)} ids for {len(self.probabilities)} probabilities; every item needs one")
        self.arrays()
        return self

    def arrays(self) -> tuple[Floats, Floats]:
        """Probabilities and outcomes, each of shape (n,)."""
        return read_outcomes(self.probabilities, self.outcomes)


def refuse_overlap(fitted_on: Sequence[str], reported_on: Sequence[str]) -> None:
    """Refuse to report on items that something was fitted on.

    Raises:
        DataError: The two share an id; how many, and the first five, are named.
    """
    shared = sorted(set(fitted_on) & set(reported_on))
    if shared:
        named = ", ".join(shared[:_NAMED]) + (", ..." if len(shared) > _NAMED else "")
        raise DataError(
            f"{len(shared)} ids were used for fitting and may not be reported on: {named}; use other labels"
        )


def split(data: Labelled, *, fit_share: float = 0.5, seed: int) -> tuple[Labelled, Labelled]:
    """Cut labelled items into a fit part and a report part; entries with the same id stay together.

    An id's side depends on the id and the seed alone, so adding items moves none.

    Args:
        data: The labelled items.
        fit_share: Expected share of the ids in the fit part, in (0, 1).
        seed: Which cut.

    Returns:
        The fit part and the report part, in the items' order; either may be empty when there are few ids.

    Raises:
        DataError: A share out of range.
    """
    check_share(fit_share, "the fit share")
    sides = {name: int(digest("split", [seed, name])[:12], 16) / 16**12 < fit_share for name in set(data.ids)}
    return _where(data, sides, fit=True), _where(data, sides, fit=False)


def _where(data: Labelled, sides: dict[str, bool], *, fit: bool) -> Labelled:
    rows = [i for i, name in enumerate(data.ids) if sides[name] is fit]
    return Labelled(
        ids=tuple(data.ids[i] for i in rows),
        probabilities=tuple(data.probabilities[i] for i in rows),
        outcomes=tuple(data.outcomes[i] for i in rows),
    )

"""How far the responses to one case lie apart, over its variants, its attempts or the order of its passages.

A system that answers differently when the question is reworded cannot be trusted at its mean.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Literal

from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score, Status
from offline_eval.metrics._score import RESPONSE_ERROR, NotScored
from offline_eval.text.words import words

Over = Literal["variants", "attempts", "passage_order"]


class ScoreDrift:
    """Mean distance of a metric's scores over all pairs of responses in a group.

    Args:
        name: Registered name.
        card: The metric's card.
        over: What sets the responses of a group apart.
        of: The metric whose scores are compared.
        span: Distance between that metric's lowest and highest value.
    """

    low = 0.0
    high = 1.0
    higher_is_better = False
    needs: tuple[str, ...] = ()

    def __init__(self, name: str, card: str, *, over: Over, of: str = "faithfulness", span: float = 1.0) -> None:
        self.name = name
        self.__doc__ = card
        self.of: str | None = of
        self._over = over
        self._span = span

    def comparing(self, of: str, *, low: float, high: float) -> "ScoreDrift":
        """The same drift of another metric, whose values lie in [low, high]; its name says which."""
        name = f"{self.name}(of={of})"
        return ScoreDrift(name, self.__doc__ or "", over=self._over, of=of, span=high - low)

    def score_group(self, case: Case, responses: Sequence[Response], scores: Sequence[Score]) -> Score:
        """The drift of one system on one case.

        Args:
            responses: All of the system's responses to the case.
            scores: Of the metric `of`, one a response, in the same order.
        """
        by_key = {score.response_key: score for score in scores}

        def distance(first: Response, second: Response) -> float | None:
            left, right = by_key[first.key], by_key[second.key]
            failed = next((score for score in (left, right) if score.status is Status.FAILED), None)
            if failed is not None:
                raise NotScored(str(failed.reason), failed=True)
            if left.value is None or right.value is None:
                return None
            return abs(left.value - right.value) / self._span

        return _group_score(self.name, case, responses, lambda: _mean_distance(groups(responses, self._over), distance))


class AnswerDrift:
    """Mean distance of the answers over all pairs of responses in a group.

    Args:
        name: Registered name.
        card: The metric's card.
        over: What sets the responses of a group apart.
    """

    low = 0.0
    high = 1.0
    higher_is_better = False
    needs: tuple[str, ...] = ()
    of: str | None = None

    def __init__(self, name: str, card: str, *, over: Over) -> None:
        self.name = name
        self.__doc__ = card
        self._over = over

    def score_group(self, case: Case, responses: Sequence[Response], scores: Sequence[Score]) -> Score:
        """The drift of one system on one case; `scores` is not looked at."""

        def distance(first: Response, second: Response) -> float:
            if first.error is not None or second.error is not None:
                raise NotScored(RESPONSE_ERROR, failed=True)
            return 1.0 - word_f1(first.answer, second.answer)

        return _group_score(self.name, case, responses, lambda: _mean_distance(groups(responses, self._over), distance))


def groups(responses: Sequence[Response], over: Over) -> list[list[Response]]:
    """Sort one system's responses to one case into the groups that are compared.

    `variants`: first attempts, one a wording. `attempts`: all attempts at one wording. `passage_order`: attempts at one
    wording that were given the same passages in different orders.
    """
    if over == "variants":
        return [list({r.variant: r for r in sorted(responses, key=lambda r: -r.attempt)}.values())]
    by_wording: dict[int | None, list[Response]] = {}
    for response in responses:
        by_wording.setdefault(response.variant, []).append(response)
    if over == "attempts":
        return list(by_wording.values())
    found = []
    for same in by_wording.values():
        by_passages: dict[tuple[str, ...], dict[tuple[str, ...], Response]] = {}
        for response in same:
            order = tuple(passage.id for passage in response.passages)
            by_passages.setdefault(tuple(sorted(order)), {}).setdefault(order, response)
        found += [list(orders.values()) for orders in by_passages.values()]
    return found


def word_f1(first: str, second: str) -> float:
    """Words in common: 2 × shared / (words of both), counted with repetition, in [0, 1]; 1 for two empty texts."""
    left, right = Counter(words(first)), Counter(words(second))
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 1.0


def _mean_distance(
    grouped: Sequence[Sequence[Response]], distance: Callable[[Response, Response], float | None]
) -> float:
    pairs = [pair for group in grouped for pair in combinations(group, 2)]
    if not pairs:
        raise NotScored("nothing_to_compare")
    known = [value for pair in pairs if (value := distance(*pair)) is not None]
    if not known:
        raise NotScored("fewer_than_two_scored")
    return min(1.0, sum(known) / len(known))


def _group_score(metric: str, case: Case, responses: Sequence[Response], compute: Callable[[], float]) -> Score:
    system = responses[0].system
    status, value, reason = Status.SCORED, None, None
    try:
        value = compute()
    except NotScored as outcome:
        status, reason = outcome.status, outcome.reason
    return Score(
        metric=metric,
        response_key=f"{system}/{case.id}",
        cluster=case.id,
        system=system,
        status=status,
        value=value,
        reason=reason,
    )

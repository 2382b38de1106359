"""Wanted proportions become whole numbers, and what each place of the plan tries is drawn from the seed alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.errors import UnknownNameError, UsageError
from offline_eval.testset.draft import QUESTION_TYPES
from offline_eval.testset.plan import DEFAULT_MIX, Slot, drawn, parse_mix, slots_of, wanted_counts


def test_the_default_mix_over_twelve_questions() -> None:
    # 3.6, 3, 1.2, 1.2, 1.8, 1.2: whole parts 3+3+1+1+1+1 = 10, the two largest remainders .8 and .6 get one each
    assert wanted_counts(parse_mix(DEFAULT_MIX), 12) == {
        "simple": 4,
        "multi_hop": 3,
        "conditional": 1,
        "counterfactual": 1,
        "unanswerable": 2,
        "adversarial": 1,
    }


@given(st.lists(st.integers(0, 100), min_size=6, max_size=6).filter(any), st.integers(1, 500))
def test_counts_add_up_and_are_within_one_of_their_share(weights: list[int], size: int) -> None:
    mix = {kind: weight / sum(weights) for kind, weight in zip(QUESTION_TYPES, weights, strict=True)}
    counts = wanted_counts(mix, size)
    assert sum(counts.values()) == size
    assert all(abs(counts.get(kind, 0) - share * size) < 1 + 1e-6 for kind, share in mix.items())
    assert [slot.number for slot in slots_of(counts)] == list(range(size))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("simple=.5", "add up to 0.5"),
        ("simple=.5,simple=.5", "twice"),
        ("simple=all", "no share"),
        ("simple=2,multi_hop=-1", "no share from 0 to 1"),
        ("", "add up to 0"),
    ],
)
def test_a_mix_that_cannot_be_is_said(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_mix(text)


def test_an_unknown_type_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="'multi_hop'"):
        parse_mix("multihop=1")
    assert parse_mix("multi-hop=1") == {"multi_hop": 1.0}


@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 5))
def test_nothing_is_tried_twice_while_something_is_untried(size: int, wanted: int, seed: int) -> None:
    order = [
        drawn(range(size), Slot(rank, "simple", rank), attempt, wanted=wanted, seed=seed)
        for attempt in range(1, 4)
        for rank in range(wanted)
    ]
    assert len(set(order[:size])) == min(size, len(order))


def test_without_options_nothing_is_drawn() -> None:
    assert drawn([], Slot(0, "multi_hop", 0), 1, wanted=1, seed=0) is None

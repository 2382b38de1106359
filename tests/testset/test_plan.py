"""Wanted proportions become whole numbers, and what each place of the plan tries is drawn from the seed alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.errors import UnknownNameError, UsageError
from offline_eval.testset.draft import QUESTION_TYPES
from offline_eval.testset.plan import (
    ANGLES,
    DEFAULT_MIX,
    Slot,
    angle_of,
    drawn,
    fillable_counts,
    parse_mix,
    slots_of,
    wanted_counts,
)
from offline_eval.testset.prompts import load_prompts


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


@given(st.integers(1, 20), st.integers(1, 8), st.integers(0, 3))
def test_nothing_is_asked_about_in_the_same_way_twice_before_it_was_in_every_way(
    size: int, wanted: int, seed: int
) -> None:
    tries = [(Slot(rank, "simple", rank), attempt) for attempt in range(1, 16) for rank in range(wanted)]
    asked = [
        (
            drawn(range(size), slot, attempt, wanted=wanted, seed=seed),
            angle_of(slot, attempt, wanted=wanted, n_options=size),
        )
        for slot, attempt in tries
    ][: ANGLES * size]
    assert len(set(asked)) == len(asked)


def test_there_are_as_many_angles_as_the_wording_has() -> None:
    assert [len(load_prompts(language).angles) for language in ("en", "zh")] == [ANGLES, ANGLES]


def test_what_cannot_be_filled_is_refused_or_for_pairs_left_out() -> None:
    assert fillable_counts({"simple": 12, "multi_hop": 13}, n_singles=2, n_links=2) == {"simple": 12, "multi_hop": 12}
    assert fillable_counts({"multi_hop": 5}, n_singles=2, n_links=0) == {"multi_hop": 0}
    with pytest.raises(UsageError, match="--size 26: 13 questions of type adversarial are wanted, and 2 passages give"):
        fillable_counts({"simple": 12, "adversarial": 13, "multi_hop": 1}, n_singles=2, n_links=9)

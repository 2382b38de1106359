"""Supported claims keep every figure and name of their passage; every edit changes what the claim says."""

from functools import cache
from typing import Literal

import pytest

from offline_eval.text.entities import find_entities
from offline_eval.text.negation import find_negations
from offline_eval.text.numbers import find_quantities
from offline_eval.training.constructed_pairs import (
    HALF_OTHER,
    OTHER_PASSAGE,
    SUPPORTED_KINDS,
    UNSUPPORTED_KINDS,
    ConstructedPair,
    constructed_pairs,
)

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")


def values(text: str) -> set[str]:
    return {quantity.value for quantity in find_quantities(text)}


@cache
def made(language: Language, seed: int = 0) -> list[ConstructedPair]:
    return constructed_pairs(language, seed=seed)


def of_kind(language: Language, *kinds: str) -> list[ConstructedPair]:
    found = [pair for pair in made(language) if pair.kind in kinds]
    assert found
    return found


def sources(pair: ConstructedPair, language: Language) -> list[str]:
    """The supported claims with the same premise; an edit comes from one of them."""
    return [one.claim for one in made(language) if one.label == 1 and one.premise == pair.premise]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_is_there_with_its_label(language: Language) -> None:
    pairs = made(language)
    assert {pair.kind for pair in pairs if pair.label == 1} == set(SUPPORTED_KINDS)
    assert {pair.kind for pair in pairs if pair.label == 0} == set(UNSUPPORTED_KINDS)
    assert len(pairs) == len(set(pairs)) > 1_000


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_seed_gives_the_same_pairs_and_another_seed_others(language: Language) -> None:
    assert constructed_pairs(language) == made(language)
    assert made(language, 1) != made(language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_claim_and_no_premise_is_in_two_groups(language: Language) -> None:
    pairs = made(language)
    for part in ([(pair.premise, pair.group) for pair in pairs], [(pair.claim, pair.group) for pair in pairs]):
        assert len({text for text, _ in part}) == len(set(part))


def test_the_two_handbooks_share_no_group() -> None:
    assert not {pair.group for pair in made("zh")} & {pair.group for pair in made("en")}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("seed", [0, 1])
def test_supported_claims_state_no_figure_and_no_name_that_the_premise_does_not(language: Language, seed: int) -> None:
    for pair in made(language, seed):
        if pair.label == 0 or pair.kind == "computed":
            continue
        known = values(
            pair.premise.replace("fifth", "5")
        )  # "five full years": no quantity is read from the ordinal word
        assert values(pair.claim) <= known, pair.claim
        names = [entity for entity in find_entities(pair.claim) if entity.kind != "quantity"]
        assert all(entity.text.lower() in pair.premise.lower() for entity in names), pair.claim


@pytest.mark.parametrize("language", LANGUAGES)
def test_claims_that_follow_by_a_sum_state_a_figure_of_their_own(language: Language) -> None:
    own = [bool(values(pair.claim) - values(pair.premise)) for pair in of_kind(language, "computed")]
    assert sum(own) > 0.9 * len(own)  # a share such as £600 of £1,200 may stand in the passage by chance


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_edit_is_a_supported_claim_or_stands_in_its_premise(language: Language) -> None:
    supported = {(pair.premise, pair.claim) for pair in made(language) if pair.label == 1}
    for pair in made(language):
        if pair.label == 0:
            assert (pair.premise, pair.claim) not in supported
            assert pair.claim not in pair.premise


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_changed_figure_stands_nowhere_in_the_premise(language: Language) -> None:
    for pair in of_kind(language, "figure"):
        assert values(pair.claim) - values(pair.premise), pair.claim


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_exchanged_figure_is_another_one_of_the_premise(language: Language) -> None:
    for pair in of_kind(language, "figure_swapped"):
        gained = [values(pair.claim) - values(claim) for claim in sources(pair, language)]
        assert any(len(new) == 1 and new <= values(pair.premise) for new in gained), pair.claim


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_added_or_removed_denial_changes_how_often_the_claim_denies(language: Language) -> None:
    for pair in of_kind(language, "denial_added", "denial_removed"):
        counts = {len(find_negations(claim, bounds=True)) for claim in sources(pair, language)}
        assert counts - {len(find_negations(pair.claim, bounds=True))}, pair.claim


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_claim_of_another_passage_is_true_there_and_is_half_of_a_mixed_claim(language: Language) -> None:
    true = {pair.claim for pair in made(language) if pair.label == 1}
    assert all(pair.claim in true for pair in of_kind(language, OTHER_PASSAGE))
    halves = [claim.rstrip("。.").lower() for claim in true]
    assert all(any(half in pair.claim.lower() for half in halves) for pair in of_kind(language, HALF_OTHER))

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.confidence.combine import combine
from offline_eval.confidence.profile import Profile, Tier, load_profile, profile_names
from offline_eval.confidence.signals import SignalStatus, missing, scored
from offline_eval.core.errors import DataError, UnknownNameError, UsageError
from offline_eval.stats.recalibration import Isotonic, Platt, Temperature

WEIGHTED = ("consensus", "alignment", "grounding")
ALL = (*WEIGHTED, "coherence", "answerability", "citations", "instructions", "retrieval", "generation", "freshness")
BARE = Profile(name="bare", weights={"consensus": 0.2, "alignment": 0.3, "grounding": 0.5})


def signals(**values):
    """Signals by name: a number, or (status, reason)."""
    return [
        scored(name, value) if isinstance(value, int | float) else missing(name, *value)
        for name, value in values.items()
    ]


def test_the_default_weights_give_the_weighted_mean():
    # .2 × .5 + .3 × .8 + .5 × 1 = .84
    found = combine(signals(consensus=0.5, alignment=0.8, grounding=1.0), load_profile("general"))
    assert found.value == pytest.approx(0.84)
    assert (found.tier, found.kind, found.missing) == (Tier.ANSWER, "score", ())
    assert found.limiting == "consensus"  # costs .2 × .5 = .1, alignment .3 × .2 = .06


@pytest.mark.parametrize(
    ("value", "tier"), [(0.8, Tier.ANSWER), (0.79, Tier.DOUBT), (0.5, Tier.DOUBT), (0.49, Tier.ABSTAIN)]
)
def test_the_bounds_of_the_tiers(value, tier):
    assert combine(signals(consensus=value, alignment=value, grounding=value), BARE).tier is tier


def test_alignment_below_its_bound_lowers_by_one_tier_and_is_named():
    # .2 + .3 × .59 + .5 = .877: answer by the bounds, doubt by the veto
    found = combine(signals(consensus=1, alignment=0.59, grounding=1), load_profile("general"))
    assert (found.tier, found.limiting) == (Tier.DOUBT, "alignment")
    assert found.raw == pytest.approx(0.877)
    # squeezed into [.5, .8): .5 + (.877 - .5) / .5 × .3 = .7262
    assert found.value == pytest.approx(0.7262)
    # .2 × .5 + .3 × .5 + .5 × .8 = .65: doubt by the bounds, abstain by the veto
    assert combine(signals(consensus=0.5, alignment=0.5, grounding=0.8), load_profile("general")).tier is Tier.ABSTAIN


def test_one_unsupported_claim_of_four_lowers_the_tier():
    # .2 + .3 + .5 × .75 = .875
    found = combine(signals(consensus=1, alignment=1, grounding=0.75), load_profile("general"))
    assert (found.tier, found.limiting) == (Tier.DOUBT, "grounding")
    assert found.raw == pytest.approx(0.875)


@pytest.mark.parametrize("status", [SignalStatus.FAILED, SignalStatus.TIMED_OUT, SignalStatus.SKIPPED])
def test_a_weighted_signal_that_went_wrong_caps_the_tier_though_the_others_are_perfect(status):
    found = combine(signals(consensus=(status, "x"), alignment=1, grounding=1), load_profile("general"))
    assert (found.tier, found.limiting, found.missing) == (Tier.DOUBT, "consensus", ("consensus",))
    assert found.known_weight == pytest.approx(0.8)
    assert found.value < 0.8


def test_one_retriever_alone_may_still_answer_in_general_but_not_in_law():
    lone = signals(consensus=(SignalStatus.NOT_APPLICABLE, "fewer_than_two_rankings"), alignment=1, grounding=1)
    assert combine(lone, load_profile("general")).tier is Tier.ANSWER
    assert combine(lone, load_profile("general")).missing == ("consensus",)
    assert combine(lone, load_profile("legal")).tier is Tier.DOUBT


def test_a_signal_nobody_mentions_counts_as_skipped():
    found = combine(signals(alignment=1, grounding=1), load_profile("general"))
    assert (found.tier, found.missing) == (Tier.DOUBT, ("consensus",))


def test_without_any_weighted_signal_there_is_no_number_and_the_lowest_tier():
    found = combine(signals(**dict.fromkeys(WEIGHTED, (SignalStatus.FAILED, "down"))), load_profile("general"))
    assert (found.value, found.raw, found.tier, found.known_weight) == (None, None, Tier.ABSTAIN, 0.0)
    assert found.limiting == "grounding"  # its veto is the strictest that names a missing signal


def test_a_calibrated_score_is_called_a_probability_and_vetoes_still_hold():
    raised = Isotonic(at=(0.0, 1.0), become=(0.9, 1.0))
    vetoed = combine(signals(consensus=1, alignment=0.59, grounding=1), load_profile("general"), calibration=raised)
    assert (vetoed.kind, vetoed.tier) == ("probability", Tier.DOUBT)
    assert vetoed.value > 0.9
    lowered = combine(signals(consensus=1, alignment=1, grounding=0.9), BARE, calibration=Temperature(temperature=20))
    assert lowered.tier is Tier.DOUBT  # .95 becomes sigmoid(logit(.95) / 20) = .537
    assert lowered.value == pytest.approx(0.5367, abs=1e-4)


def test_a_falling_calibration_map_and_a_signal_given_twice_are_refused():
    with pytest.raises(UsageError, match="falls"):
        combine(signals(grounding=1), BARE, calibration=Platt(slope=-1, intercept=0))
    with pytest.raises(UsageError, match="twice"):
        combine([scored("grounding", 1), scored("grounding", 0)], BARE)


def test_a_profile_without_a_signal_neither_weighs_nor_vetoes_it():
    without = load_profile("general").without("alignment")
    # (.2 × 1 + .5 × 1) / .7 = 1, whatever the alignment
    assert combine(signals(consensus=1, alignment=0, grounding=1), without).value == 1.0


def test_profiles_are_data_and_bad_ones_are_refused_by_name(tmp_path):
    assert profile_names() == ["customer_service", "general", "legal", "medical"]
    assert all(
        load_profile(name).weights == {"consensus": 0.2, "alignment": 0.3, "grounding": 0.5} for name in profile_names()
    )
    with pytest.raises(UnknownNameError, match="did you mean 'general'"):
        load_profile("generl")
    own = tmp_path / "own.yaml"
    own.write_text("weights: {grounding: 1}\nanswer_from: 0.4\n", encoding="utf-8")
    with pytest.raises(DataError, match="doubt_from must be below answer_from"):
        load_profile(own)
    own.write_text("weights: {grounding: 1}\nvetoes: [{signal: grounding, below: 0.5}]\n", encoding="utf-8")
    with pytest.raises(DataError, match="either lower_by or at_most"):
        load_profile(own)


values = st.one_of(
    st.floats(0, 1),
    st.tuples(st.sampled_from([s for s in SignalStatus if s is not SignalStatus.SCORED]), st.just("reason")),
)
profiles = st.sampled_from([BARE, *map(load_profile, profile_names())])


@given(st.fixed_dictionaries(dict.fromkeys(ALL, values)), profiles)
def test_confidence_lies_in_0_to_1_and_its_tier_fits_it(given_values, profile):
    found = combine(signals(**given_values), profile)
    if found.value is None:
        assert found.tier is Tier.ABSTAIN
    else:
        assert 0 <= found.value <= 1
        assert profile.tier_of(found.value).rank >= found.tier.rank
        assert found.value <= found.raw


@given(st.fixed_dictionaries(dict.fromkeys(ALL, values)), st.sampled_from(ALL), st.floats(0, 1), profiles)
def test_confidence_never_falls_when_a_signal_rises(given_values, name, higher, profile):
    lower = given_values[name]
    if not isinstance(lower, float) or lower > higher:
        lower, higher = higher, 1.0
    low, high = (combine(signals(**(given_values | {name: v})), profile) for v in (lower, higher))
    assert high.tier.rank >= low.tier.rank
    assert high.value is None or high.value >= low.value - 1e-12
    assert high.value is None or high.raw >= low.raw - 1e-12


@given(st.fixed_dictionaries(dict.fromkeys(ALL, values)), profiles)
def test_a_veto_never_raises(given_values, profile):
    free = profile.model_copy(update={"vetoes": ()})
    vetoed, unvetoed = (combine(signals(**given_values), one) for one in (profile, free))
    assert vetoed.tier.rank <= unvetoed.tier.rank
    assert vetoed.value is None or vetoed.value <= unvetoed.value + 1e-12


@given(
    st.fixed_dictionaries(dict.fromkeys(ALL, values)),
    st.sampled_from(ALL),
    st.sampled_from([s for s in SignalStatus if s is not SignalStatus.SCORED]),
    profiles,
)
def test_a_missing_signal_is_never_better_than_a_perfect_one(given_values, name, status, profile):
    perfect = combine(signals(**(given_values | {name: 1.0})), profile)
    gone = combine(signals(**(given_values | {name: (status, "gone")})), profile)
    assert gone.tier.rank <= perfect.tier.rank
    assert gone.value is None or gone.value <= perfect.value + 1e-12


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3), st.floats(0, 1))
def test_equal_signals_give_their_value_whatever_the_weights(weights, value):
    if sum(weights) < 1e-6:
        weights = [1.0, 1.0, 1.0]
    profile = Profile(name="any", weights=dict(zip(WEIGHTED, weights, strict=True)))
    found = combine(signals(**dict.fromkeys(WEIGHTED, value)), profile)
    assert found.raw == pytest.approx(value)

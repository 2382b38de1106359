"""The queue: need first, then a random part that need cannot touch and that keeps the strata in proportion."""

from hypothesis import given, settings
from hypothesis import strategies as st

from offline_eval.review.queue import Candidate, draw_queue

quick = settings(max_examples=40)


def candidates(n: int, *, strata: int = 2, needed: int = 0) -> list[Candidate]:
    return [
        Candidate(
            key=f"r{number:03d}",
            stratum=f"s{number % strata}",
            reasons=("tie: relevance",) if number < needed else (),
            need=float(n - number),
        )
        for number in range(n)
    ]


def test_the_most_urgent_come_first_and_take_at_most_half() -> None:
    queue = draw_queue(candidates(100, needed=40), size=20, seed=1)
    needed = [item for item in queue.items if item.part == "need"]
    assert [item.part for item in queue.items] == ["need"] * 10 + ["random"] * 10
    assert queue.random_size == 10
    # Need falls with the number; those the random part took are not shown twice.
    drawn = {item.key for item in queue.items if item.part == "random"}
    assert [item.key for item in needed] == [f"r{n:03d}" for n in range(40) if f"r{n:03d}" not in drawn][:10]


def test_without_need_everything_is_random_and_a_small_run_is_shown_whole() -> None:
    assert draw_queue(candidates(50), size=20, seed=1).random_size == 20
    whole = draw_queue(candidates(7, needed=3), size=20, seed=1)
    assert sorted(item.key for item in whole.items) == [f"r{n:03d}" for n in range(7)]
    assert whole.random_size == 7
    assert draw_queue([], size=5, seed=1).items == ()


@quick
@given(
    n=st.integers(1, 60),
    strata=st.integers(1, 4),
    needed=st.integers(0, 60),
    size=st.integers(1, 70),
    seed=st.integers(0),
)
def test_any_queue_is_of_the_size_asked_for_and_holds_nobody_twice(
    n: int, strata: int, needed: int, size: int, seed: int
) -> None:
    queue = draw_queue(candidates(n, strata=strata, needed=needed), size=size, seed=seed)
    assert len({item.key for item in queue.items}) == len(queue.items) == min(n, size)
    assert sum(queue.strata.values()) == queue.population == n


@quick
@given(n=st.integers(2, 80), strata=st.integers(1, 4), size=st.integers(1, 80), seed=st.integers(0))
def test_the_random_part_keeps_the_strata_in_proportion(n: int, strata: int, size: int, seed: int) -> None:
    queue = draw_queue(candidates(n, strata=strata), size=size, seed=seed)
    for stratum, members in queue.strata.items():
        drawn = sum(item.stratum == stratum for item in queue.items)
        # Within one of its own share at the cut, and the cut is within one a stratum of size / n.
        assert abs(drawn - members * queue.random_size / n) <= 1 + len(queue.strata)


@quick
@given(n=st.integers(2, 60), small=st.integers(1, 30), more=st.integers(0, 30), seed=st.integers(0))
def test_a_larger_queue_keeps_the_random_part_of_a_smaller_one(n: int, small: int, more: int, seed: int) -> None:
    def drawn(size: int) -> list[str]:
        queue = draw_queue(candidates(n, needed=n // 3), size=size, seed=seed)
        return [item.key for item in queue.items if item.part == "random"]

    assert drawn(small + more)[: len(drawn(small))] == drawn(small)


def test_need_has_no_say_in_the_random_part_nor_has_the_order_of_the_input() -> None:
    plain = candidates(60, needed=20)
    turned = [c.model_copy(update={"need": -c.need}) for c in reversed(plain)]
    first, second = (draw_queue(c, size=30, seed=5).items[15:] for c in (plain, turned))
    assert [item.key for item in first] == [item.key for item in second]


def test_every_response_is_equally_likely_to_be_drawn() -> None:
    draws, size, n = 500, 6, 20
    counts = dict.fromkeys([c.key for c in candidates(n, strata=3)], 0)
    for seed in range(draws):
        for item in draw_queue(candidates(n, strata=3), size=size, seed=seed).items:
            counts[item.key] += 1
    expected = draws * size / n  # 150; the standard deviation of a count is at most sqrt(500 * .3 * .7) = 10.2
    assert all(abs(count - expected) < 5 * 10.2 for count in counts.values()), counts

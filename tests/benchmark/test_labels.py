"""Label rows refuse what does not fit their kind, and say what the people settled on."""

import pytest
from pydantic import ValidationError

from offline_eval.benchmark.labels import label_sets
from tests.benchmark.label_builders import binary_row, one_set, ordinal_row, pair_row


@pytest.mark.parametrize(
    ("labels", "human"),
    [((1,), 1.0), ((1, 1, 0), 1.0), ((1, 0), None), ((1, None, 0, 0), 0.0)],
)
def test_the_people_settle_on_the_label_most_of_them_gave(labels: tuple[int | None, ...], human: float | None) -> None:
    assert binary_row("a", *labels).human == human


def test_a_tied_preference_is_a_label_and_a_tie_of_raters_is_not_settled() -> None:
    assert pair_row("a", "tie", "tie", "A").human == 0.0
    assert pair_row("a", "A", "B").human is None
    assert pair_row("a", "A", "B").human_mean == 0.0


def test_on_an_ordinal_scale_the_median_settles_unless_it_falls_between_levels() -> None:
    assert ordinal_row("a", 1, 2, 3).human == 2.0
    assert ordinal_row("a", 1, 3).human == 2.0
    assert ordinal_row("a", 2, 3).human is None
    assert ordinal_row("a", 2, 3).human_mean == 2.5


def test_graded_preferences_settle_by_their_sign_and_keep_their_strength() -> None:
    row = pair_row("a", 2, 1, scale=(-2, -1, 0, 1, 2))  # type: ignore[arg-type]
    assert (row.human, row.human_mean, row.classes) == (1.0, 1.5, {"r1": 1.0, "r2": 1.0})


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: binary_row("a", 2), "not one of 0, 1"),
        (lambda: binary_row("a"), "at least 1 item"),
        (lambda: binary_row("a", 1, scale=(0, 1)), "has no scale"),
        (lambda: ordinal_row("a", 4), "not one of 1, 2, 3"),
        (lambda: ordinal_row("a", 1, scale=(3, 1)), "ascending"),
        (lambda: ordinal_row("a", 1, scale=()), "ascending"),
        (lambda: pair_row("a", "C"), "not one of B, tie, A"),
        (lambda: pair_row("a", "A", answer_b=None), "answer_a and answer_b"),
    ],
)
def test_a_row_that_does_not_fit_its_kind_is_refused(build: object, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        build()  # type: ignore[operator]


def test_rows_of_several_dimensions_become_several_sets_with_names_of_their_own() -> None:
    rows = [binary_row("a", 1), binary_row("b", 0, dimension="correctness"), pair_row("c", "A"), binary_row("d", 0)]
    assert [(found.name, len(found.rows)) for found in label_sets(rows, "file")] == [
        ("file faithfulness (binary)", 2),
        ("file correctness (binary)", 1),
        ("file preference (pairwise)", 1),
    ]
    assert one_set(rows[:1], "file").name == "file"
    graded = [ordinal_row("a", 1), ordinal_row("b", 1, scale=(1, 2))]
    assert [found.name for found in label_sets(graded, "file")] == [
        "file faithfulness (ordinal, 1/2/3)",
        "file faithfulness (ordinal, 1/2)",
    ]


def test_the_hash_of_a_set_does_not_depend_on_the_order_of_its_rows() -> None:
    rows = [binary_row("a", 1), binary_row("b", 0)]
    assert one_set(rows).labels_hash == one_set(rows[::-1]).labels_hash
    assert one_set(rows).labels_hash != one_set([rows[0], binary_row("b", 1)]).labels_hash

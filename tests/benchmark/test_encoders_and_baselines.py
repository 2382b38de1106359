"""Encoders and trivial judges say what anybody can work out by hand."""

import pytest

from offline_eval.benchmark.baselines import LONGER, MAJORITY, MATCH, OVERLAP, RANDOM, baselines, overlap
from offline_eval.benchmark.encoders import ask_encoder, encoder_pairs
from offline_eval.core.protocols import Failure
from offline_eval.core.records import Passage
from offline_eval.core.results import Status
from offline_eval.engines.scripted import ScriptedScorer
from tests.benchmark.label_builders import binary_row, one_set, ordinal_row, pair_row


def test_the_best_supporting_passage_decides_faithfulness() -> None:
    passages = (Passage(id="1", text="one"), Passage(id="2", text="two"))
    scores = {"one": 0.2, "two": 0.7, "one\ntwo": 0.4}
    scorer = ScriptedScorer(lambda premise, hypothesis: scores[premise])
    (found,) = ask_encoder([binary_row("a", 1, passages=passages)], "e", scorer, kind="nli")
    assert (found.decision, found.score) == (1.0, 0.7)


def test_completeness_is_the_mean_over_key_points_and_correctness_asks_for_the_reference() -> None:
    scores = {"p": 0.9, "q": 0.3, "the truth": 0.2}
    scorer = ScriptedScorer(lambda premise, hypothesis: scores[hypothesis])
    rows = [
        ordinal_row("a", 1, dimension="completeness", key_points=("p", "q")),
        binary_row("b", 0, dimension="correctness", reference="the truth"),
    ]
    complete, correct = ask_encoder(rows, "e", scorer, kind="nli")
    assert complete.score == pytest.approx(1 + 0.6 * 2)  # the mean .6 on the scale from 1 to 3
    assert complete.decision == 2.0
    assert (correct.decision, correct.score) == (0.0, 0.2)


def test_an_encoder_is_asked_only_what_it_can_tell() -> None:
    assert encoder_pairs(pair_row("a", "A"), "nli") == []
    assert encoder_pairs(binary_row("a", 1, dimension="relevance"), "nli") == []
    assert encoder_pairs(binary_row("a", 1), "answerability") == []
    row = binary_row("a", 1, dimension="answerability")
    assert encoder_pairs(row, "answerability") == [("The passage says a.", "question a?")]
    (found,) = ask_encoder([pair_row("a", "A")], "e", ScriptedScorer(), kind="nli")
    assert found.status is Status.NOT_APPLICABLE


def test_a_language_the_encoder_does_not_speak_does_not_apply_and_a_failure_fails() -> None:
    chinese = binary_row("a", 1, answer="年假有十天。", passages=(Passage(id="1", text="员工每年有十天年假可以休。"),))
    (found,) = ask_encoder([chinese], "e", ScriptedScorer(languages=("en",)), kind="nli")
    assert (found.status, found.status_reason) == (Status.NOT_APPLICABLE, "language: zh")
    scorer = ScriptedScorer(lambda premise, hypothesis: Failure(reason="engine_error", detail="no"))
    (failed,) = ask_encoder([binary_row("a", 1)], "e", scorer, kind="nli")
    assert (failed.status, failed.decision) == (Status.FAILED, None)


def test_the_majority_and_the_base_rate_are_read_off_the_labels() -> None:
    rows = [binary_row(f"r{at}", int(at < 7)) for at in range(10)]
    found = baselines(one_set(rows), seed=0)
    assert [answer.decision for answer in found[MAJORITY]] == [1.0] * 10
    many = [binary_row(f"r{at}", int(at < 210)) for at in range(300)]
    drawn = [answer.decision or 0.0 for answer in baselines(one_set(many), seed=1)[RANDOM]]
    assert sum(drawn) / 300 == pytest.approx(0.7, abs=4 * (0.21 / 300) ** 0.5)
    assert drawn == [answer.decision for answer in baselines(one_set(many), seed=1)[RANDOM]]


def test_the_longer_answer_wins_and_equal_length_ties() -> None:
    rows = [pair_row("a", "A", answer_a="long one", answer_b="ab"), pair_row("b", "B", answer_a="x", answer_b="y")]
    found = baselines(one_set(rows), seed=0)[LONGER]
    assert [(answer.decision, answer.score) for answer in found] == [(1.0, 0.6), (0.0, 0.0)]  # (8 - 2) / (8 + 2)


def test_one_of_several_references_in_the_answer_is_a_match_also_in_chinese() -> None:
    rows = [
        binary_row("a", 1, dimension="correctness", reference="May 18 / 18 May", answer="On 18 may."),
        binary_row("b", 0, dimension="correctness", reference="五味子", answer="是当归。"),
        binary_row("c", 1, dimension="correctness", reference="五味子", answer="应当是五味子。"),
    ]
    found = baselines(one_set(rows), seed=0)[MATCH]
    assert [answer.decision for answer in found] == [1.0, 0.0, 1.0]


def test_word_overlap_is_the_share_of_content_words() -> None:
    assert overlap("The cat sleeps.", "A cat eats.") == 0.5  # of cat and sleeps, cat
    assert overlap("", "anything") == 0.0
    rows = [binary_row("a", 1, answer="The passage says a."), binary_row("b", 0, passages=())]
    first, second = baselines(one_set(rows), seed=0)[OVERLAP]
    assert first.decision == 1.0
    assert second.status is Status.NOT_APPLICABLE

"""The matrix of claims × premises: one cell a pair, every pair asked once, long premises read whole."""

import pytest

from offline_eval.checks._chunks import estimated_tokens
from offline_eval.checks._support import support_of
from offline_eval.checks.entailment import MATRICES, EntailmentCheck
from offline_eval.core.evidence import EntailmentEvidence, Evidence, parse_evidence
from offline_eval.core.protocols import Failure
from offline_eval.core.results import Status
from offline_eval.engines.scripted import ScriptedScorer
from tests.support.claim_runs import check_all, claims_evidence, make_item, supports


def matrix(evidence: list[Evidence], hypotheses: str, premises: str) -> EntailmentEvidence:
    return next(
        piece
        for piece in evidence
        if isinstance(piece, EntailmentEvidence) and (piece.hypotheses, piece.premises) == (hypotheses, premises)
    )


def test_ten_passages_give_exactly_ten_cells_keyed_by_passage_id() -> None:
    item = make_item("The library opens at nine.", *(f"Passage {n}." for n in range(10)))
    found = matrix(check_all(item, scorer=ScriptedScorer(supports(("Passage 7", "nine")))), "answer", "passages")
    assert found.premise_ids == tuple(f"p{n}" for n in range(1, 11))
    assert [cell.entailment for cell in found.rows[0]] == [0.0] * 7 + [1.0] + [0.0] * 2


def test_an_answer_of_twelve_short_facts_has_twelve_rows() -> None:
    answer = " ".join(f"Fact number {n} is true." for n in range(12))
    found = matrix(check_all(make_item(answer, "Nothing."), scorer=ScriptedScorer()), "answer", "passages")
    assert len(found.rows) == 12
    assert all(cell.failure is None for row in found.rows for cell in row)


def test_all_six_matrices_are_made_and_survive_storage() -> None:
    item = make_item("A is one.", "A is one, they say.", reference="A is two.", key_points=["It is two."])
    found = [p for p in check_all(item, scorer=ScriptedScorer()) if isinstance(p, EntailmentEvidence)]
    assert [(piece.hypotheses, piece.premises) for piece in found] == list(MATRICES)
    assert [parse_evidence(piece.model_dump(mode="json")) for piece in found] == found


def test_a_pair_is_asked_once_however_many_matrices_hold_it() -> None:
    item = make_item("A is one. A is one.", "A said.", "A said.", reference="B is two.", key_points=["B is two."])
    scorer = ScriptedScorer()
    check_entailment_alone(item, scorer)
    assert len(scorer.pairs_seen) == len(set(scorer.pairs_seen))
    # (passage, A), (passage, B), (reference, A), (answer, B): the key point is the reference's claim.
    assert len(scorer.pairs_seen) == 4


def check_entailment_alone(item: object, scorer: ScriptedScorer) -> list[Evidence]:
    from offline_eval.checks.claims import ClaimsCheck
    from offline_eval.checks.key_points import KeyPointsCheck

    known: list[Evidence] = []
    for check in (ClaimsCheck(), KeyPointsCheck()):
        known += check.run([item], evidence={})  # type: ignore[list-item]
    return EntailmentCheck().run([item], evidence={"system/c1": known}, engine=scorer)  # type: ignore[list-item]


def test_support_in_the_last_200_tokens_of_a_10000_token_passage_is_found_and_its_chunk_named() -> None:
    filler = " ".join(f"Sentence number {n} is about nothing that matters here." for n in range(550))
    fact = "The archive closes on 14 March."
    passage = f"{filler} {fact}"
    assert estimated_tokens(passage) > 10_000 - 500
    scorer = ScriptedScorer(supports((fact, "closes")), languages=["en"], context_length=256)
    found = matrix(check_all(make_item("It closes on 14 March.", passage), scorer=scorer), "answer", "passages")
    cell = found.rows[0][0]
    assert cell.entailment == 1.0
    assert cell.chunk is not None
    assert fact in passage[cell.chunk[0] : cell.chunk[1]]
    assert len(passage) - cell.chunk[0] < 200 * 5
    assert cell.chunks > 30


def test_no_word_of_a_long_premise_goes_unread() -> None:
    words = [f"word{n}" for n in range(3_000)]
    scorer = ScriptedScorer(context_length=128)
    support_of([(" ".join(words), "A claim about nothing.")], scorer)
    read = {word for premise, _ in scorer.pairs_seen for word in premise.split()}
    assert set(words) <= read


def test_a_chunk_that_was_too_long_after_all_is_asked_again_in_smaller_ones() -> None:
    limit = 40  # words; the estimate by characters thinks that three times as many fit

    def script(premise: str, hypothesis: str) -> dict[str, float] | Failure:
        if len(premise.split()) > limit:
            return Failure(reason="pair_too_long", detail="too many tokens")
        return {"score": float("needle" in premise)}

    premise = " ".join(["a b c d e f g h."] * 60 + ["Here is the needle."])
    found = support_of([(premise, "A needle.")], ScriptedScorer(script, context_length=256))
    assert found[premise, "A needle."].entailment == 1.0


def test_a_pair_that_is_too_long_at_any_size_fails_and_is_not_cut() -> None:
    scorer = ScriptedScorer(lambda p, h: Failure(reason="pair_too_long", detail="n tokens"))
    cell = support_of([("One. Two.", "Three.")], scorer)["One. Two.", "Three."]
    assert cell.entailment is None
    assert cell.failure == "pair_too_long: n tokens"


def test_one_failed_chunk_fails_the_cell_though_another_supports() -> None:
    def script(premise: str, hypothesis: str) -> dict[str, float] | Failure:
        return Failure(reason="engine_error", detail="boom") if "bad" in premise else {"score": 1.0}

    premise = " ".join(["Good words stand here."] * 60 + ["A bad word."])
    cell = support_of([(premise, "Yes indeed.")], ScriptedScorer(script, context_length=64))[premise, "Yes indeed."]
    assert cell.failure == "engine_error: boom"


@pytest.mark.parametrize("texts", [(), ("",), (" \n。",)])
def test_without_words_in_a_passage_nothing_is_supported_and_no_model_is_asked(texts: tuple[str, ...]) -> None:
    found = matrix(check_all(make_item("It opens at nine.", *texts)), "answer", "passages")
    assert [[cell.entailment for cell in row] for row in found.rows] == [[0.0] * len(texts)]
    assert found.provenance.engine_fingerprint is None


def test_the_same_words_support_each_other_without_a_model_in_any_language() -> None:
    for answer in ("今天天气很不错", "五味子", "The weather is fine.", "Das Wetter ist schön."):
        found = check_all(make_item(answer, reference=f" {answer}。"), scorer=ScriptedScorer(languages=["en"]))
        assert matrix(found, "answer", "reference").rows[0][0].entailment == 1.0
        assert matrix(found, "reference", "answer").rows[0][0].entailment == 1.0


def test_words_that_are_only_part_of_a_sentence_are_left_to_the_model() -> None:
    premise = "It is false that the library opens at nine."
    scorer = ScriptedScorer(lambda p, h: 0.0)
    found = matrix(check_all(make_item("the library opens at nine", premise), scorer=scorer), "answer", "passages")
    assert found.rows[0][0].entailment == 0.0
    assert found.rows[0][0].decided_by == "model"


def test_chinese_on_an_english_encoder_is_not_applicable_and_never_a_number() -> None:
    scorer = ScriptedScorer(languages=["en"])
    item = make_item("图书馆九点开门。", "图书馆早上九点开始开放。", query="图书馆几点开门？")
    found = matrix(check_all(item, scorer=scorer), "answer", "passages")
    assert (found.status, found.status_reason) == (Status.NOT_APPLICABLE, "language: zh")
    assert found.rows == ()
    assert scorer.pairs_seen == []


def test_one_chinese_passage_among_english_ones_is_enough_to_be_not_applicable() -> None:
    item = make_item("The library opens at nine.", "It opens at nine daily.", "图书馆早上九点开始开放。")
    found = matrix(check_all(item, scorer=ScriptedScorer(languages=["en"])), "answer", "passages")
    assert found.status_reason == "language: zh"


def test_a_chinese_encoder_reads_chinese() -> None:
    scorer = ScriptedScorer(supports(("九点", "九点")), languages=["zh-Hans", "en"])
    found = matrix(
        check_all(make_item("图书馆九点开门。", "图书馆早上九点开放。"), scorer=scorer), "answer", "passages"
    )
    assert found.rows[0][0].entailment == 1.0


def test_without_a_model_what_rules_leave_open_has_failed() -> None:
    found = matrix(check_all(make_item("It opens at nine.", "The doors open at nine.")), "answer", "passages")
    assert found.rows[0][0].failure == "no_engine: no model was loaded"


def test_a_row_of_odd_labels_fails_instead_of_becoming_a_number() -> None:
    scorer = ScriptedScorer(lambda p, h: {"LABEL_0": 0.3})
    cell = support_of([("A.", "B.")], scorer)["A.", "B."]
    assert cell.failure is not None
    assert cell.failure.startswith("off_menu")


def test_a_judges_claims_replace_the_rules_when_they_come_later() -> None:
    item = make_item("It opens at nine.", "Doors open at nine.")
    known: list[Evidence] = [claims_evidence("answer", ["x."]), claims_evidence("answer", ["y.", "z."])]
    found = EntailmentCheck().run([item], evidence={"system/c1": known}, engine=ScriptedScorer())
    assert len(matrix(found, "answer", "passages").rows) == 2

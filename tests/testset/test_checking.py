"""Every kind of bad draft is thrown out for its own reason, and good ones are kept, with models that know the truth."""

from collections import Counter
from collections.abc import Sequence

import pytest

from offline_eval.core.protocols import Failure, GenerateRequest, Generation, Hit
from offline_eval.engines.scripted import ScriptedEmbedder, ScriptedEngine, ScriptedScorer, pick
from offline_eval.testset.checking import Checker
from offline_eval.testset.critic import CANNOT_TELL, Critic
from offline_eval.testset.draft import Draft, StepResult
from offline_eval.testset.grounding import Encoders
from offline_eval.testset.near_duplicates import Seen
from offline_eval.testset.prompts import load_prompts
from offline_eval.testset.tally import step_rates
from offline_eval.text.sentences import split_sentences
from tests.testset.hand_drafts import (
    FixedSearch,
    HandDraft,
    hand_drafts,
    handbook,
    knowing_answerability,
    knowing_nli,
)

PASSAGES = handbook()
HANDS = hand_drafts()


def _checker(**changes: object) -> Checker:
    encoders = Encoders(
        knowing_nli(HANDS, PASSAGES), knowing_answerability(HANDS, PASSAGES), FixedSearch(PASSAGES), PASSAGES.get
    )
    settings: dict[str, object] = {"seen": Seen(), **changes}
    return Checker(settings.pop("encoders", encoders), **settings)  # type: ignore[arg-type]


def _hand(draft_id: str) -> HandDraft:
    return next(hand for hand in HANDS if hand.draft.id == draft_id)


@pytest.fixture(scope="module")
def checked() -> dict[str, Draft]:
    """All hand-written drafts after one pass of the checks, in their order."""
    return {draft.id: draft for draft in _checker().check([hand.draft for hand in HANDS])}


def test_the_hand_written_drafts_are_60_good_and_60_bad_in_two_languages() -> None:
    labels = Counter(hand.label for hand in HANDS)
    assert labels["good"] == 60
    assert sum(labels.values()) == 120
    assert set(labels) - {"good"} == {
        "ungrounded",
        "single_hop",
        "answerable",
        "lifted",
        "duplicate",
        "wrong_language",
        "wrong_passage_ids",
    }
    assert min(labels.values()) >= 8
    for label in labels:
        languages = Counter(hand.draft.case.language for hand in HANDS if hand.label == label)
        assert set(languages) == {"en", "zh"}
        assert min(languages.values()) >= 3


def test_every_bad_kind_is_thrown_out_for_its_own_reason_and_every_good_draft_is_kept(
    checked: dict[str, Draft],
) -> None:
    found = {name: draft.status_reason if draft.status == "rejected" else "good" for name, draft in checked.items()}
    wrong = {hand.draft.id: (hand.label, found[hand.draft.id]) for hand in HANDS if found[hand.draft.id] != hand.label}
    assert wrong == {}


def test_the_order_of_the_drafts_is_kept_and_each_says_what_was_checked(checked: dict[str, Draft]) -> None:
    assert list(checked) == [hand.draft.id for hand in HANDS]
    assert [check.check for check in checked["e10"].checks] == [
        "written",
        "question",
        "passage_ids",
        "language",
        "stands_alone",
        "own_words",
        "type",
        "reference",
        "reference_language",
        "grounded",
        "answered",
        "nowhere_else",
        "needs_all",
        "not_repeated",
    ]
    assert all(check.outcome == "passed" for check in checked["e10"].checks)
    rejected = next(draft for draft in checked.values() if draft.status_reason == "ungrounded")
    assert rejected.checks[-1].check == "grounded"
    assert rejected.checks[-1].value == pytest.approx(0.02)
    assert rejected.checks[-1].threshold == 0.5


def test_a_passage_beside_the_expected_one_from_which_a_key_point_follows_gets_grade_1() -> None:
    hand = _hand("e1")
    point = hand.draft.case.key_points[0]
    twin = PASSAGES["en-leave-1"].model_copy(
        update={"id": "twin", "text": "What holiday entitlement somebody working full time has per year."}
    )
    passages = {**PASSAGES, "twin": twin}
    base = knowing_nli(HANDS, passages)

    def entails(premise: str, hypothesis: str) -> float:
        if hypothesis == point and twin.text in premise:
            return 0.99
        value = base.score([(premise, hypothesis)])[0]
        assert isinstance(value, dict)
        return value["score"]

    encoders = Encoders(
        ScriptedScorer(entails), knowing_answerability(HANDS, passages), FixedSearch(passages), passages.get
    )
    (draft,) = _checker(encoders=encoders).check([hand.draft])
    assert draft.status == "draft"
    assert draft.case.relevant_passages == {"twin": 1, "en-leave-1": 2}


def test_a_question_that_another_passage_answers_too_is_thrown_out() -> None:
    hand = _hand("e5")
    answers = ScriptedScorer(lambda query, premise: 0.95)
    encoders = Encoders(knowing_nli(HANDS, PASSAGES), answers, FixedSearch(PASSAGES), PASSAGES.get)
    (draft,) = _checker(encoders=encoders).check([hand.draft])
    assert draft.status_reason == "answered_elsewhere"


def test_a_question_that_its_passages_do_not_answer_is_thrown_out() -> None:
    hand = _hand("z5")
    encoders = Encoders(
        knowing_nli(HANDS, PASSAGES), ScriptedScorer(lambda query, premise: 0.1), FixedSearch(PASSAGES), PASSAGES.get
    )
    (draft,) = _checker(encoders=encoders).check([hand.draft])
    assert draft.status_reason == "not_answered"


def test_a_premise_that_the_passages_hold_is_no_false_one() -> None:
    hand = _hand("z25")
    encoders = Encoders(
        ScriptedScorer(lambda premise, hypothesis: 0.9),
        knowing_answerability(HANDS, PASSAGES),
        FixedSearch(PASSAGES),
        PASSAGES.get,
    )
    (draft,) = _checker(encoders=encoders).check([hand.draft])
    assert draft.status_reason == "premise_true"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"query": "  "}, "empty_question"),
        ({"query": "According to the passage, what may a hotel cost?"}, "not_independent"),
        ({"key_points": ()}, "key_points"),
        ({"reference": None}, "empty_reference"),
    ],
)
def test_what_rules_see_is_named(change: dict[str, object], reason: str) -> None:
    hand = _hand("e4")
    draft = hand.draft.model_copy(update={"case": hand.draft.case.model_copy(update=change)})
    (checked,) = _checker().check([draft])
    assert checked.status_reason == reason


def test_a_conditional_question_needs_a_condition_and_a_premise_has_to_be_said() -> None:
    conditional, adversarial = _hand("z18").draft, _hand("z25").draft
    plain = conditional.case.model_copy(update={"query": "夜班的补贴标准是多少？"})
    silent = adversarial.case.model_copy(update={"query": "销售人员每月的补贴在哪里申请？"})
    drafts = _checker().check(
        [conditional.model_copy(update={"case": plain}), adversarial.model_copy(update={"case": silent})]
    )
    assert [draft.status_reason for draft in drafts] == ["not_conditional", "premise_not_in_question"]


def test_without_a_model_nothing_is_claimed_and_the_check_says_so() -> None:
    encoders = Encoders(None, None, FixedSearch(PASSAGES), PASSAGES.get)
    drafts = _checker(encoders=encoders).check([_hand("e10").draft, _hand("z28").draft])
    assert [draft.status for draft in drafts] == ["draft", "draft"]
    unchecked = {check.check: check.reason for check in drafts[0].checks if check.outcome == "not_checked"}
    assert unchecked == dict.fromkeys(("grounded", "answered", "nowhere_else", "needs_all"), "no_engine")


def test_a_language_that_a_model_was_not_made_for_is_said_and_not_scored() -> None:
    english = ScriptedScorer(lambda first, second: 0.9, languages=("en",))
    encoders = Encoders(english, english, FixedSearch(PASSAGES), PASSAGES.get)
    (draft,) = _checker(encoders=encoders).check([_hand("z1").draft])
    assert draft.status == "draft"
    assert {check.reason for check in draft.checks if check.outcome == "not_checked"} == {"language: zh"}
    assert english.pairs_seen == []


def test_a_failing_model_is_no_reason_to_throw_a_draft_out() -> None:
    broken = ScriptedScorer(lambda first, second: Failure(reason="engine_error", detail="out of order"))
    encoders = Encoders(broken, broken, FixedSearch(PASSAGES), PASSAGES.get)
    (draft,) = _checker(encoders=encoders).check([_hand("e1").draft])
    assert draft.status == "draft"
    assert "engine_error: out of order" in {check.reason for check in draft.checks}


def test_meaning_finds_a_repetition_that_letters_do_not() -> None:
    first, second = _hand("e3").draft, _hand("e9").draft
    same = ScriptedEmbedder()
    same.embed = lambda texts: ScriptedEmbedder().embed(["alike"] * len(texts))  # type: ignore[method-assign]
    drafts = _checker(seen=Seen(same)).check([first, second])
    assert [draft.status_reason for draft in drafts] == [None, "duplicate"]
    assert drafts[1].checks[-1].detail == "it repeats e3"


def _critic(*, tells: bool) -> Critic:
    bad = {
        question
        for language in ("en", "zh")
        for dimension in load_prompts(language).critic.dimensions.values()
        for question in dimension.bad
    }

    def grade(request: GenerateRequest) -> Generation:
        text = request.messages[1].content
        is_bad = any(question in text for question in bad) or "sign in" in text
        return pick(request, "1" if is_bad and tells else "3")

    return Critic(ScriptedEngine(grade))


def test_a_critic_that_orders_known_questions_throws_out_by_its_grade() -> None:
    drafts = _checker(critic=_critic(tells=True)).check([_hand("e3").draft, _hand("e4").draft])
    assert [draft.status_reason for draft in drafts] == ["unclear", None]
    grade = next(check for check in drafts[1].checks if check.check == "critic_clarity")
    # 3 with .9, 1 and 2 with .05 each: 2.7 + .05 + .1; the bad ones 1 with .9: .9 + .1 + .15, halfway between is 2
    assert grade.value == pytest.approx(2.85)
    assert grade.threshold == pytest.approx(2.0)


def test_a_critic_that_gives_everything_the_same_grade_throws_nothing_out_and_says_so() -> None:
    drafts = _checker(critic=_critic(tells=False)).check([_hand("e3").draft])
    assert drafts[0].status == "draft"
    marks = [check for check in drafts[0].checks if check.check.startswith("critic_")]
    assert {(mark.outcome, mark.reason) for mark in marks} == {("not_checked", CANNOT_TELL)}
    assert all(mark.value == pytest.approx(2.85) for mark in marks)


def _with_distractor(draft_id: str, text: str | None, *, cut_off: bool = False) -> Draft:
    draft = _hand(draft_id).draft
    metadata = {**draft.case.metadata, **({"distractor": text} if text else {})}
    step = StepResult(step="distractor", output={"distractor": text or "x"}, cut_off=("distractor",) if cut_off else ())
    return draft.model_copy(
        update={
            "distractor": text,
            "steps": (*draft.steps, step),
            "case": draft.case.model_copy(update={"metadata": metadata}),
        }
    )


@pytest.mark.parametrize("draft_id", ["e4", "z4"])
@pytest.mark.parametrize(
    ("text", "check", "reason"),
    [
        ("REFERENCE", "distractor", "like_reference"),
        ("reference!", "distractor", "like_reference"),
        ("no no no no no no no no", "distractor", "repetitive"),
        ("=== 0a1b2c3d4e5f end ===", "distractor", "prompt_echo"),
        ("SENTENCE", "distractor_entailed", "entailed"),
    ],
)
def test_a_wrong_answer_that_is_none_goes_and_its_draft_stays(
    draft_id: str, text: str, check: str, reason: str
) -> None:
    hand = _hand(draft_id).draft
    reference, passage = hand.case.reference or "", PASSAGES[hand.sources[0]]
    text = {"REFERENCE": reference, "reference!": f" {reference.lower()} !"}.get(text, text)
    text = split_sentences(passage.text)[-1].text if text == "SENTENCE" else text
    (draft,) = _checker().check([_with_distractor(draft_id, text)])
    assert draft.status == "draft"
    assert draft.distractor is None
    assert "distractor" not in draft.case.metadata
    last = draft.checks[-1]
    assert (last.check, last.outcome, last.reason) == (check, "rejected", reason)
    line = next(rate for rate in step_rates([draft]) if rate.step == f"check {check}")
    assert (line.passed, line.looked_at, line.rejected) == (0, 1, {reason: 1})


def test_a_wrong_answer_stays_with_its_draft_and_without_a_model_it_is_said_what_was_not_checked() -> None:
    (draft,) = _checker().check([_with_distractor("e4", "Forty pounds, with breakfast.")])
    assert (draft.distractor, draft.case.metadata["distractor"]) == ("Forty pounds, with breakfast.",) * 2
    assert [(check.check, check.outcome) for check in draft.checks[-2:]] == [
        ("distractor", "passed"),
        ("distractor_entailed", "passed"),
    ]
    blind = Encoders(None, None, FixedSearch(PASSAGES), PASSAGES.get)
    (draft,) = _checker(encoders=blind).check([_with_distractor("e4", "Forty pounds, with breakfast.")])
    assert draft.distractor == "Forty pounds, with breakfast."
    assert (draft.checks[-1].check, draft.checks[-1].reason) == ("distractor_entailed", "no_engine")


def test_a_wrong_answer_without_an_end_is_counted_and_what_was_thrown_out_is_not_looked_at() -> None:
    (cut,) = _checker().check([_with_distractor("e4", None, cut_off=True)])
    assert (cut.status, cut.checks[-1].check, cut.checks[-1].reason) == ("draft", "distractor", "cut_off")
    twice = _checker().check([_hand("e4").draft, _with_distractor("e4", "x").model_copy(update={"id": "again"})])
    assert twice[1].status_reason == "duplicate"
    assert not any(check.check.startswith("distractor") for check in twice[1].checks)


def _twinned(draft_id: str, names: int = 1) -> tuple[Encoders, tuple[str, ...]]:
    """The handbook with copies of a draft's first source, which differ in white space and width alone."""
    source = PASSAGES[_hand(draft_id).draft.sources[0]]
    copies = {
        f"twin-{n}": source.model_copy(update={"id": f"twin-{n}", "doc_id": f"d{n}", "text": f" {source.text}\n"})
        for n in range(names)
    }
    passages = {**PASSAGES, **copies}
    encoders = Encoders(
        knowing_nli(HANDS, passages),
        knowing_answerability(HANDS, passages),
        FixedSearch(passages),
        passages.get,
        {source.id: tuple(copies)},
    )
    return encoders, tuple(copies)


@pytest.mark.parametrize("draft_id", ["e1", "z1"])
def test_a_copy_of_the_expected_passage_is_expected_too(draft_id: str) -> None:
    encoders, (twin,) = _twinned(draft_id)
    draft = _hand(draft_id).draft
    name = draft.sources[0]
    case = draft.case.model_copy(update={"relevant_documents": {PASSAGES[name].doc_id or "": 2}})
    draft = draft.model_copy(update={"case": case})
    encoders = encoders._replace(search=_FixedHits((twin, name)))
    (blind,) = _checker(encoders=encoders._replace(twins={})).check([draft])
    assert blind.status_reason == "answered_elsewhere"
    (found,) = _checker(encoders=encoders).check([draft])
    assert found.status == "draft"
    assert found.case.relevant_passages == {name: 2, twin: 2}
    assert found.case.relevant_documents == {PASSAGES[name].doc_id or "": 2, "d0": 2}


def test_a_copy_is_no_other_passage_from_which_a_key_point_follows() -> None:
    encoders, (twin,) = _twinned("e1")
    draft = _hand("e1").draft
    text = encoders.find(twin).text  # type: ignore[union-attr]
    only_there = ScriptedScorer(lambda premise, hypothesis: 0.95 if premise == text else 0.1)
    knowing = encoders._replace(nli=only_there)
    reasons = [_checker(encoders=e).check([draft])[0].status_reason for e in (knowing._replace(twins={}), knowing)]
    assert reasons == ["wrong_passage_ids", "ungrounded"]


def test_copies_do_not_hide_the_passage_that_answers_an_unanswerable_question() -> None:
    hand = next(hand for hand in HANDS if hand.label == "good" and hand.draft.type == "unanswerable")
    encoders, copies = _twinned(hand.draft.id, names=7)
    answer = next(name for name in PASSAGES if name not in hand.draft.sources)
    search = _FixedHits((hand.draft.sources[0], *copies, answer))
    knows = ScriptedScorer(lambda query, premise: 0.9 if premise == PASSAGES[answer].text else 0.1)
    encoders = encoders._replace(search=search, answerability=knows)
    (draft,) = _checker(encoders=encoders).check([hand.draft])
    assert (draft.status_reason, draft.checks[-1].detail) == ("answerable", f"{answer} answers it")


class _FixedHits:
    """Finds the same passages for every query."""

    name = "fixed"

    def __init__(self, names: Sequence[str]) -> None:
        self._hits = [Hit(passage_id=name, score=1.0) for name in names]

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Hit]]:
        """The first k of them."""
        return [self._hits[:k] for _ in queries]


def test_a_draft_says_why_it_was_thrown_out() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        Draft.model_validate({**_hand("e1").draft.model_dump(), "status": "rejected", "decided_by": "check"})

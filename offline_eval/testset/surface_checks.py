"""What rules can see of a draft without any model: whether it is whole, in its language, its own words and its type."""

import re
from collections.abc import Callable, Mapping, Sequence

from pydantic import Field

from offline_eval.core.records import Passage, Record
from offline_eval.testset.asking import asks
from offline_eval.testset.draft import CheckResult, Draft, StepResult
from offline_eval.testset.near_duplicates import likeness
from offline_eval.testset.prompts import PromptLanguage, load_prompts
from offline_eval.testset.readable import echoed_share, has_mark, repeated_share, repeats_a_mark
from offline_eval.text.claims import split_claims
from offline_eval.text.contentless import is_contentless
from offline_eval.text.language import detect_language
from offline_eval.text.normalize import normalize_for_quote
from offline_eval.text.query_type import states_condition
from offline_eval.text.tokens import tokenize
from offline_eval.text.words import content_words

_NOTES = ("condition", "missing")  # what a model writes to think, beside the question

FindPassage = Callable[[str], Passage | None]


class Thresholds(Record):
    """Where the checks draw their lines; part of a set's identity.

    Attributes:
        supported_from: Probability from which a passage supports a key point or makes a premise true, in [0, 1].
        answerable_from: Probability from which the expected passages answer a question, or the corpus an unanswerable
            one.
        sure_from: The same where the best of many is taken, or where a single mistake throws a draft out.
        search_depth: Passages looked up in the whole corpus.
        lifted_words: Words in a row that a question may not share with a passage.
        lifted_characters: The same for Chinese, in characters.
        like_from: Likeness of two questions' characters, or of a wrong and the right answer's, from which one repeats
            the other, in [0, 1].
        near_from: The same for the cosine of their embeddings.
        example_like_from: Likeness of a question and a worked example of the prompt from which it is a copy, in [0, 1];
            of 2,380 questions that people asked, none is more than .17 like one.
        premise_share: Share of a premise's content words that its question has, in [0, 1].
        repeated_from: Share of a text's runs of three words that it had before, from which it is a loop, in [0, 1].
        echoed_from: Share of a question's pairs of words that stand in the prompt, from which it is an echo, in [0, 1].
        key_points: Fewest and most; where the passages make fewer statements than the fewest, as many as they make.
    """

    supported_from: float = Field(default=0.5, ge=0, le=1)
    answerable_from: float = Field(default=0.5, ge=0, le=1)
    sure_from: float = Field(default=0.9, ge=0, le=1)
    search_depth: int = Field(default=5, ge=1)
    lifted_words: int = Field(default=8, ge=2)
    lifted_characters: int = Field(default=14, ge=4)
    like_from: float = Field(default=0.7, gt=0, le=1)
    near_from: float = Field(default=0.95, gt=0, le=1)
    example_like_from: float = Field(default=0.35, gt=0, le=1)
    premise_share: float = Field(default=0.5, ge=0, le=1)
    repeated_from: float = Field(default=0.33, gt=0, le=1)
    echoed_from: float = Field(default=0.8, gt=0, le=1)
    key_points: tuple[int, int] = (3, 5)


def passed(check: str, *, value: float | None = None, threshold: float | None = None) -> CheckResult:
    """A check that has no objection."""
    return CheckResult(check=check, outcome="passed", value=value, threshold=threshold)


def refused(
    check: str, reason: str, detail: str, *, value: float | None = None, threshold: float | None = None
) -> CheckResult:
    """A check that throws a draft out."""
    return CheckResult(check=check, outcome="rejected", reason=reason, detail=detail, value=value, threshold=threshold)


def unknown(check: str, reason: str) -> CheckResult:
    """A check that could not look."""
    return CheckResult(check=check, outcome="not_checked", reason=reason)


def question_checks(draft: Draft, *, thresholds: Thresholds, find: FindPassage) -> list[CheckResult]:
    """Every check of a question that needs no model, up to the first that throws the draft out.

    Args:
        find: Passage id to passage of the corpus; None for an unknown id.
    """
    sources = _sources(draft, find)
    return _up_to_an_objection(
        lambda: _is_written(draft),
        lambda: _is_a_question(draft, sources, thresholds),
        lambda: _has_right_ids(draft, find),
        lambda: _speaks_its_language(draft),
        lambda: _stands_alone(draft),
        lambda: _is_not_lifted(draft, sources, thresholds),
        lambda: _is_its_type(draft, thresholds),
    )


def answer_checks(
    draft: Draft, *, thresholds: Thresholds, find: FindPassage, wants_reference: bool
) -> list[CheckResult]:
    """Every check of a reference and its key points that needs no model, up to the first that throws the draft out.

    Args:
        find: As in `question_checks`.
        wants_reference: Whether an answerable question needs a reference with key points.
    """
    if draft.type == "unanswerable" or not wants_reference:
        return []
    sources = _sources(draft, find)
    return _up_to_an_objection(
        lambda: _has_reference(draft, sources, thresholds),
        lambda: _is_answered_in_its_language(draft),
    )


def distractor_check(draft: Draft, *, thresholds: Thresholds, find: FindPassage) -> CheckResult | None:
    """What rules say of a wrong answer: it has an end, differs from the right one, and is no loop or echo.

    Args:
        find: As in `question_checks`.

    Returns:
        None for a draft for which none was written.
    """
    check = "distractor"
    if any(step.step == check and step.cut_off for step in draft.steps):
        return refused(check, "cut_off", "it fills its room and does not end")
    if draft.distractor is None:
        return None
    value, limit = likeness(draft.distractor, draft.case.reference or ""), thresholds.like_from
    if value >= limit:
        return refused(check, "like_reference", "it is the right answer", value=round(value, 6), threshold=limit)
    said = _fault(draft.distractor, _sources(draft, find), thresholds)
    return passed(check, value=round(value, 6), threshold=limit) if said is None else refused(check, *said)


def _sources(draft: Draft, find: FindPassage) -> list[Passage]:
    return [passage for passage in map(find, draft.sources) if passage is not None]


def _up_to_an_objection(*checks: Callable[[], CheckResult]) -> list[CheckResult]:
    found: list[CheckResult] = []
    for check in checks:
        found.append(check())
        if found[-1].outcome == "rejected":
            break
    return found


def _is_written(draft: Draft) -> CheckResult:
    failed = next((step for step in draft.steps if step.step == "question" and step.failure), None)
    if failed is not None:
        return _step_failed("written", failed)
    if not any(map(str.isalnum, draft.case.query)) or is_contentless(draft.case.query) is not None:
        return refused("written", "empty_question", "the question has no word in it")
    return _cut_off(draft, "question") or passed("written")


def _step_failed(check: str, step: StepResult) -> CheckResult:
    """An objection that is counted by the engine's reason, since each has another cure."""
    failure = step.failure or ""
    return refused(check, f"step_failed ({failure.partition(':')[0]})", f"{step.step}: {failure}")


def _cut_off(draft: Draft, step: str) -> CheckResult | None:
    """An objection when a step's room was too small for what it wrote, where that is a part of the case."""
    fields = (name for found in draft.steps if found.step == step for name in found.cut_off)
    cut = next((name for name in fields if name not in _NOTES), None)
    check = "written" if step == "question" else step
    return None if cut is None else refused(check, "cut_off", f"{cut} fills its room and does not end")


def _is_a_question(draft: Draft, sources: Sequence[Passage], thresholds: Thresholds) -> CheckResult:
    """It asks for something, and is neither a loop nor what the prompt says."""
    check, query = "question", draft.case.query
    said = _fault(query, sources, thresholds)
    if said is not None:
        return refused(check, *said)
    language = _prompt_language(draft)
    if echoed_share(query, language) >= thresholds.echoed_from:
        return refused(check, "prompt_echo", f"it is made of words of the prompt: {query[:60]}")
    shown = load_prompts(language).example_questions
    if any(likeness(query, example) >= thresholds.example_like_from for example in shown):
        return refused(check, "prompt_echo", f"it is a worked example of the prompt: {query[:60]}")
    if not asks(query):
        return refused(check, "no_question", f"it asks nothing: {query[:60]}")
    return passed(check)


def _fault(text: str, sources: Sequence[Passage], thresholds: Thresholds) -> tuple[str, str] | None:
    """Reason and detail when a text says nothing of its own."""
    if repeated_share(text) >= thresholds.repeated_from or repeats_a_mark(text):
        return "repetitive", f"it says the same again and again: {text[:60]}"
    if has_mark(text, [passage.text for passage in sources]):
        return "prompt_echo", f"it holds a mark of the prompt: {text[:60]}"
    return None


def _prompt_language(draft: Draft) -> PromptLanguage:
    return "zh" if draft.case.language == "zh" else "en"


def _has_right_ids(draft: Draft, find: FindPassage) -> CheckResult:
    check, expected = "passage_ids", draft.case.relevant_passages
    missing = [name for name in (*expected, *draft.sources) if find(name) is None]
    if missing:
        return refused(check, "wrong_passage_ids", f"the corpus has no passage {missing[0]!r}")
    if draft.type == "unanswerable":
        if draft.case.answerable is not False or any(grade > 1 for grade in expected.values()):
            return refused(check, "wrong_passage_ids", "an unanswerable question expects no passage that answers it")
        return passed(check)
    relevant = [name for name, grade in expected.items() if grade > 0]
    least = 2 if draft.type == "multi_hop" else 1
    if len(relevant) < least:
        return refused(check, "wrong_passage_ids", f"{len(relevant)} passages expected, {draft.type} needs {least}")
    strangers = [name for name in relevant if draft.sources and name not in draft.sources]
    if strangers:
        return refused(check, "wrong_passage_ids", f"it was not written from {strangers[0]!r}")
    return passed(check)


def _has_reference(draft: Draft, sources: Sequence[Passage], thresholds: Thresholds) -> CheckResult:
    check, points = "reference", draft.case.key_points
    failed = next((step for step in draft.steps if step.step == "reference" and step.failure), None)
    if failed is not None:
        return _step_failed(check, failed)
    if not any(map(str.isalnum, draft.case.reference or "")):
        return refused(check, "empty_reference", "no reference answer")
    cut_off = _cut_off(draft, check)
    if cut_off is not None:
        return cut_off
    for text in (draft.case.reference or "", *points):
        said = _fault(text, sources, thresholds)
        if said is not None:
            return refused(check, *said)
    empty = next((point for point in points if not any(map(str.isalpha, point))), None)
    if empty is not None:
        return refused(check, "key_points", f"a key point that states nothing: {empty[:60]}")
    fewest, most = thresholds.key_points
    fewest = min(fewest, max(1, sum(len(split_claims(passage.text)) for passage in sources)))
    if not fewest <= len(points) <= most:
        detail = f"{len(points)} different key points, wanted are {fewest} to {most}"
        return refused(check, "key_points", detail, value=float(len(points)))
    return passed(check)


def _speaks_its_language(draft: Draft) -> CheckResult:
    return _language("language", draft, {"question": draft.case.query})


def _is_answered_in_its_language(draft: Draft) -> CheckResult:
    points = {f"key point {number}": point for number, point in enumerate(draft.case.key_points, 1)}
    return _language("reference_language", draft, {"reference": draft.case.reference or "", **points})


def _language(check: str, draft: Draft, texts: Mapping[str, str]) -> CheckResult:
    """Texts are in the language their case says; those of figures alone have none."""
    wanted = draft.case.language
    for name, text in texts.items():
        spoken = detect_language(text)
        if sum(map(str.isalpha, text)) > 1 and spoken != wanted:
            return refused(check, "wrong_language", f"{name}: {spoken} instead of {wanted}: {text[:60]}")
    return passed(check)


def _stands_alone(draft: Draft) -> CheckResult:
    prompts = load_prompts(_prompt_language(draft))
    for pattern in prompts.leaning:
        found = re.search(pattern, draft.case.query, re.IGNORECASE)
        if found is not None:
            return refused("stands_alone", "not_independent", f"it points at a text: {found.group()!r}")
    return passed("stands_alone")


def _is_not_lifted(draft: Draft, sources: Sequence[Passage], thresholds: Thresholds) -> CheckResult:
    """The question is no run of the passage's own words, which any search would find."""
    is_chinese = draft.case.language == "zh"
    limit = thresholds.lifted_characters if is_chinese else thresholds.lifted_words
    longest = max((longest_shared_run(draft.case.query, p.text, chinese=is_chinese) for p in sources), default=0)
    if longest >= limit:
        unit = "characters" if is_chinese else "words"
        detail = f"{longest} {unit} in a row stand in the passage"
        return refused("own_words", "lifted", detail, value=float(longest), threshold=float(limit))
    return passed("own_words", value=float(longest), threshold=float(limit))


def longest_shared_run(first: str, second: str, *, chinese: bool) -> int:
    """Length of the longest run of words, or of characters in Chinese, that stands in both texts."""
    left, right = (_units(text, chinese=chinese) for text in (first, second))
    longest, before = 0, [0] * (len(right) + 1)
    for unit in left:
        row = [0] * (len(right) + 1)
        for at, other in enumerate(right, 1):
            if unit == other:
                row[at] = before[at - 1] + 1
                longest = max(longest, row[at])
        before = row
    return longest


def _units(text: str, *, chinese: bool) -> list[str]:
    return list(filter(str.isalnum, normalize_for_quote(text))) if chinese else tokenize(text)


def _is_its_type(draft: Draft, thresholds: Thresholds) -> CheckResult:
    """A conditional question has a condition; one with a false premise says it."""
    check, query = "type", draft.case.query
    if draft.type == "conditional" and not states_condition(query):
        return refused(check, "not_conditional", "the question states no condition")
    if draft.type not in ("counterfactual", "adversarial"):
        return passed(check)
    wanted = set(content_words(draft.false_premise or ""))
    if not wanted:
        return refused(check, "no_premise", "no premise was written")
    share = len(wanted & set(content_words(query))) / len(wanted)
    if share < thresholds.premise_share:
        detail = f"it has {share:.0%} of the words of its premise: {(draft.false_premise or '')[:60]}"
        return refused(
            check, "premise_not_in_question", detail, value=round(share, 6), threshold=thresholds.premise_share
        )
    return passed(check, value=round(share, 6), threshold=thresholds.premise_share)

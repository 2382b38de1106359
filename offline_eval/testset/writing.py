"""Writes drafts step by step: facts of the passages, a question, its reference and key points, a wrong answer.

Everything a model writes here is one object of bounded strings under a grammar, so no step can break off or run away; a
step that gives nothing is kept with its reason, and the checks decide.
"""

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

from offline_eval.core.hashing import digest
from offline_eval.core.protocols import Failure, GenerateRequest, Generation, ObjectTail, TextEngine
from offline_eval.core.records import Case, Passage
from offline_eval.testset.draft import Draft, DraftProvenance, QuestionType, StepResult
from offline_eval.testset.plan import Slot
from offline_eval.testset.prompts import PromptLanguage, Prompts, load_prompts, step_request
from offline_eval.testset.readable import is_cut_off
from offline_eval.text.query_type import classify_query

STEPS = ("facts", "links", "reference", "distractor", "critic")
"""Steps beside the question itself; each can be left out."""

_WITH_PREMISE: tuple[QuestionType, ...] = ("counterfactual", "adversarial")
_REFERENCE_STEP: dict[QuestionType, str] = {"adversarial": "corrected", "counterfactual": "supposed"}
_QUERY_TYPE: dict[QuestionType, str] = {
    "simple": "factual",
    "multi_hop": "multi-hop",
    "conditional": "conditional",
    "counterfactual": "conditional",
}
_DIFFICULTY: dict[QuestionType, str] = {"simple": "easy", "conditional": "medium", "unanswerable": "medium"}
_SOURCE_GRADE = 2
_QUESTION_FIELDS = ("question", "premise", "condition", "missing")


class Assignment(NamedTuple):
    """What one draft is to be made of.

    Attributes:
        passages: One, or two for a question over both.
        angle: Place of what the question should be about in the wording's list, in [0, ANGLES).
    """

    slot: Slot
    attempt: int
    passages: tuple[Passage, ...]
    language: PromptLanguage
    angle: int


class Style(NamedTuple):
    """What the whole set is written with.

    Attributes:
        steps: Those of `STEPS` that are wanted.
        examples: Language to the user's own questions, whose style is taken over.
    """

    steps: tuple[str, ...]
    examples: dict[str, tuple[str, ...]]
    seed: int
    judge: str
    settings_hash: str


class Writer:
    """Asks a judge to write.

    Args:
        engine: Decodes under grammars.
        style: What the whole set is written with.
        progress: Told before and after each step of a batch that has anything to write.
    """

    def __init__(
        self,
        engine: TextEngine,
        style: Style,
        *,
        progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
    ) -> None:
        self._engine = engine
        self._style = style
        self._progress = progress

    def write_questions(self, assignments: Sequence[Assignment]) -> list[Draft]:
        """One draft an assignment, in order, with its question alone; what failed stands in its steps."""
        facts = self._write_facts(assignments)
        questions = self._ask("question", [self._question(item, facts[at]) for at, item in enumerate(assignments)])
        return [self._draft(item, (*facts[at], questions[at])) for at, item in enumerate(assignments)]

    def write_answers(self, drafts: Sequence[Draft], assignments: Sequence[Assignment]) -> list[Draft]:
        """The same drafts, in order, with a reference and a wrong answer where they are not rejected."""
        answered = self._add(drafts, assignments, "reference")
        return self._add(answered, assignments, "distractor")

    def _write_facts(self, assignments: Sequence[Assignment]) -> list[tuple[StepResult, ...]]:
        """The facts of every assignment's passages; each passage is read once in a batch."""
        if "facts" not in self._style.steps:
            return [()] * len(assignments)
        pending = {passage.id: (passage, item.language) for item in assignments for passage in item.passages}
        requests = [
            step_request(load_prompts(language), load_prompts(language).steps["facts"], passages=(passage,))
            for passage, language in pending.values()
        ]
        found = dict(zip(pending, self._ask("facts", requests), strict=True))
        return [tuple(found[passage.id] for passage in item.passages) for item in assignments]

    def _question(self, item: Assignment, facts: Sequence[StepResult]) -> GenerateRequest:
        prompts = load_prompts(item.language)
        return step_request(
            prompts,
            prompts.types[item.slot.type],
            passages=item.passages,
            shown={"facts": facts_text(facts)},
            examples=self._style.examples.get(item.language, ()),
            angle=prompts.angles[item.angle % len(prompts.angles)],
        )

    def _draft(self, item: Assignment, steps: tuple[StepResult, ...]) -> Draft:
        style, kind, written = self._style, item.slot.type, steps[-1].output
        query = str(written.get("question", ""))
        ids = tuple(passage.id for passage in item.passages)
        name = digest("Draft", [style.settings_hash, item.slot.number, item.attempt, list(ids)])[:10]
        answerable = kind != "unanswerable"
        premise = str(written.get("premise", "")) if kind in _WITH_PREMISE else ""
        documents = dict.fromkeys((p.doc_id for p in item.passages if p.doc_id), _SOURCE_GRADE) if answerable else {}
        case = Case(
            id=f"{kind}-{item.language}-{name}",
            query=query,
            language=item.language,
            query_type=_QUERY_TYPE.get(kind) or classify_query(query).type,
            difficulty=_DIFFICULTY.get(kind, "hard"),
            relevant_passages=dict.fromkeys(ids, _SOURCE_GRADE) if answerable else {},
            relevant_documents=documents,
            answerable=answerable,
            origin="generated",
            tags=(kind.replace("_", "-"),),
            metadata={"false_premise": premise} if premise else {},
        )
        return Draft(
            id=case.id,
            type=kind,
            case=case,
            sources=ids,
            false_premise=premise or None,
            steps=steps,
            provenance=DraftProvenance(
                prompts=load_prompts(item.language).id,
                slot=item.slot.number,
                attempt=item.attempt,
                seed=style.seed,
                judge=style.judge,
                engine_fingerprint=self._engine.info.fingerprint,
                settings_hash=style.settings_hash,
            ),
        )

    def _add(self, drafts: Sequence[Draft], assignments: Sequence[Assignment], step: str) -> list[Draft]:
        """Let the judge write one more step of every draft that has use for it."""
        if step not in self._style.steps:
            return list(drafts)
        places = [at for at, draft in enumerate(drafts) if _has_use_for(draft, step)]
        requests = [_request(drafts[at], assignments[at], step) for at in places]
        added = list(drafts)
        for at, result in zip(places, self._ask(step, requests), strict=True):
            added[at] = _with(drafts[at], result)
        return added

    def _ask(self, step: str, requests: Sequence[GenerateRequest]) -> list[StepResult]:
        if not requests:
            return []
        self._progress(f"writing {step}", 0, len(requests))
        results = self._engine.generate(requests)
        self._progress(f"writing {step}", len(results), len(requests))
        return [_read(step, request, result) for request, result in zip(requests, results, strict=True)]


def facts_text(facts: Sequence[StepResult]) -> str:
    """What the facts step found, one a line."""
    values = [str(value) for step in facts for value in step.output.values() if str(value)]
    return "\n".join(f"- {value}" for value in values)


class Written(NamedTuple):
    """One object that was written.

    Attributes:
        fields: Name to text, white space squeezed.
        cut_off: Fields that filled the room they had and do not end like a sentence.
    """

    fields: dict[str, str]
    cut_off: tuple[str, ...]


def written_object(request: GenerateRequest, result: Generation | Failure) -> Written | str:
    """What was written, or why there is nothing."""
    if isinstance(result, Failure):
        return f"{result.reason}: {result.detail}"
    if not isinstance(request.constraint, ObjectTail):
        return "off_menu: not asked for an object"
    try:
        data = json.loads("{" + result.text)
        texts = {name: str(data[name]) for name in request.constraint.fields}
    except (ValueError, KeyError, TypeError):
        return "off_menu: not the object that was asked for"
    limits = request.constraint.fields
    return Written(
        {name: " ".join(text.split()) for name, text in texts.items()},
        tuple(name for name, text in texts.items() if is_cut_off(text, limits[name])),
    )


def _read(step: str, request: GenerateRequest, result: Generation | Failure) -> StepResult:
    written = written_object(request, result)
    if isinstance(written, str):
        return StepResult(step=step, failure=written)
    if not any(any(map(str.isalnum, value)) for value in written.fields.values()):
        return StepResult(step=step, failure="empty: no field has a word in it")
    output = {name: value for name, value in written.fields.items() if value}
    return StepResult(step=step, output=output, cut_off=written.cut_off)


def _has_use_for(draft: Draft, step: str) -> bool:
    if draft.status == "rejected" or draft.type == "unanswerable":
        return False
    return step == "reference" or bool(draft.case.reference)


def _request(draft: Draft, item: Assignment, step: str) -> GenerateRequest:
    prompts: Prompts = load_prompts(item.language)
    shown = {"question": draft.case.query}
    if step == "distractor":
        shown["answer"] = draft.case.reference or ""
    elif draft.false_premise:
        shown["premise"] = draft.false_premise
    name = _REFERENCE_STEP.get(draft.type, step) if step == "reference" else step
    return step_request(prompts, prompts.steps[name], passages=item.passages, shown=shown)


def _with(draft: Draft, result: StepResult) -> Draft:
    """The draft with what a step wrote put in its place."""
    output, case = result.output, draft.case
    update: dict[str, object] = {"steps": (*draft.steps, result)}
    if result.step == "reference" and result.failure is None:
        points = [str(value) for name, value in output.items() if name.startswith("key_point")]
        kept = tuple(dict.fromkeys(point for point in points if any(map(str.isalnum, point))))
        reference = str(output.get("reference", "")) or None
        update["case"] = case.model_copy(update={"reference": reference, "key_points": kept})
    elif result.step == "distractor" and result.failure is None:
        distractor = "" if result.cut_off else str(output.get("distractor", ""))
        update["distractor"] = distractor or None
        if distractor:
            update["case"] = case.model_copy(update={"metadata": {**case.metadata, "distractor": distractor}})
    return draft.model_copy(update=update)

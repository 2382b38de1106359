"""Makes drafts until the plan is full or its attempts are used up: batch after batch, each kept on disk when whole.

Why in rounds of fixed batches: what a batch holds depends on the seed and on the batches before it alone, so a
generation that was interrupted ends with the same drafts as one that was not, and one that is continued with more
attempts with the same drafts as one that had them from the start.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pydantic import Field, JsonValue

from offline_eval.core.hashing import digest
from offline_eval.core.protocols import Embedder, TextEngine
from offline_eval.core.records import Passage, Record
from offline_eval.testset.checking import Checker, Progress
from offline_eval.testset.draft import Draft, QuestionType
from offline_eval.testset.draft_file import DraftFile, Header
from offline_eval.testset.links import find_links
from offline_eval.testset.plan import Slot, angle_of, drawn, fillable_counts, slots_of, wanted_counts
from offline_eval.testset.prompts import load_prompts
from offline_eval.testset.sources import Sources
from offline_eval.testset.surface_checks import Thresholds
from offline_eval.testset.writing import STEPS, Assignment, Style, Writer


class GenerationSettings(Record):
    """Everything that decides what is written, beside the models.

    Attributes:
        mix: Type to its share; shares add up to 1.
        attempts: Most tries for each question that is wanted; no part of the drafts' identity.
        steps: Those of `STEPS` that are wanted.
        batch: Questions written together.
    """

    mix: dict[QuestionType, float]
    size: int = Field(ge=1)
    seed: int = 0
    attempts: int = Field(default=4, ge=1)
    steps: tuple[str, ...] = STEPS
    batch: int = Field(default=8, ge=1)
    thresholds: Thresholds = Field(default_factory=Thresholds)


class Models(NamedTuple):
    """Who writes and who checks.

    Attributes:
        judge: The judge's registered name.
        names: What is asked for what, and which weights: JSON data that decides the drafts.
        embedder: Links neighbours and compares questions; None does both by words.
    """

    engine: TextEngine
    judge: str
    names: Mapping[str, JsonValue]
    embedder: Embedder | None = None


class Plan(NamedTuple):
    """What is tried for what.

    Attributes:
        counts: Type to its slots.
        options: Type to places of the passages that one question of it can be about.
    """

    counts: Mapping[QuestionType, int]
    options: Mapping[QuestionType, Sequence[tuple[int, ...]]]
    sources: Sources
    seed: int


def header_of(
    settings: GenerationSettings,
    models: Models,
    sources: Sources,
    examples: Mapping[str, Sequence[str]],
    known: Mapping[str, str] | None = None,
) -> Header:
    """The drafts file's first line; its hash is the identity of the whole generation."""
    prompts = {language: load_prompts(language).content_hash()[:16] for language in sorted(set(sources.languages))}
    return Header(
        settings={
            **settings.model_dump(mode="json", exclude={"attempts"}),
            "corpus": sources.corpus_hash,
            "sources": digest("sources", [passage.id for passage in sources.passages]),
            "models": dict(models.names),
            "prompts": dict(prompts),
            **({"known": digest("known", sorted(set(known.values())))} if known else {}),
        },
        examples=tuple(example for found in examples.values() for example in found),
    )


def generate(
    settings: GenerationSettings,
    models: Models,
    sources: Sources,
    checker: Checker,
    file: DraftFile,
    *,
    examples: Mapping[str, Sequence[str]] | None = None,
    known: Mapping[str, str] | None = None,
    begun: Callable[[], None] = lambda: None,
    progress: Progress = lambda stage, done, total: None,
) -> list[Draft]:
    """Write, check and keep drafts.

    Args:
        sources: From `read_sources`.
        checker: Fresh; it learns what earlier batches kept.
        file: New, or of an interrupted generation with the same settings.
        examples: Language to questions whose style is wanted; no draft may repeat one.
        known: Name to question of earlier sets; no draft may repeat one.
        begun: Called once, when nothing is left that could refuse these settings.
        progress: Told before and after each step of a batch, and how many questions were kept after each batch.

    Returns:
        Every draft that was made, as it was made; also those of more attempts than are asked for now.

    Raises:
        DataError: The file holds drafts of other settings.
        UsageError: More questions are wanted than there can be different ones.
    """
    shown = {language: tuple(found) for language, found in (examples or {}).items()}
    header = header_of(settings, models, sources, shown, known)
    if file.header is not None:
        file.begin(header)  # refuses other settings before the passages are compared, which takes long
    plan = _plan(settings, sources, models.embedder, progress)
    file.begin(header)
    begun()
    checker.avoid(examples=header.examples, known=known)
    open_slots = slots_of(plan.counts)
    told = _Told(progress, len(open_slots))
    style = Style(settings.steps, shown, settings.seed, models.judge, header.identity[:16])
    writer = Writer(models.engine, style, progress=told.step)
    made: list[Draft] = []
    for attempt in range(1, max(settings.attempts, _attempts_made(file)) + 1):
        given = [_assignment(slot, attempt, plan) for slot in open_slots]
        told.attempt = attempt
        kept: set[int] = set()
        for start in range(0, len(given), settings.batch):
            part = given[start : start + settings.batch]
            if attempt > settings.attempts and file.batch(_name_of(part)) is None:
                break
            drafts = _batch(part, writer, checker, file, told.step)
            made += drafts
            kept |= {_slot_of(draft) for draft in drafts if draft.status != "rejected"}
            told.batch(drafts)
        open_slots = [slot for slot in open_slots if slot.number not in kept]
        if not open_slots:
            break
    return made


class _Told:
    """Tells how far a generation is: what was tried and kept stands beside every step."""

    def __init__(self, progress: Progress, wanted: int) -> None:
        self._progress = progress
        self._wanted = wanted
        self._tried = 0
        self._kept = 0
        self.attempt = 1

    def step(self, stage: str, done: int, total: int) -> None:
        """Say how far one step of a batch is."""
        so_far = f"{self._tried:,} questions tried, {self._kept:,} of {self._wanted:,} kept, attempt {self.attempt}"
        self._progress(f"{so_far}; {stage}", done, total)

    def batch(self, drafts: Sequence[Draft]) -> None:
        """Say what a whole batch came to."""
        self._tried += len(drafts)
        self._kept += sum(draft.status != "rejected" for draft in drafts)
        self._progress(
            f"questions kept, attempt {self.attempt}, {self._tried:,} tried so far", self._kept, self._wanted
        )


def _plan(settings: GenerationSettings, sources: Sources, embedder: Embedder | None, progress: Progress) -> Plan:
    wanted = wanted_counts(settings.mix, settings.size)
    singles = [(at,) for at in range(len(sources.passages))]
    pairs: list[tuple[int, ...]] = []
    fillable_counts(wanted, n_singles=len(singles), n_links=0)
    if "multi_hop" in wanted and "links" in settings.steps:
        progress("comparing passages", 0, len(singles))
        links = find_links(sources.passages, sources.languages, embedder=embedder)
        pairs = [(link.first, link.second) for link in links]
        progress("comparing passages", len(singles), len(singles))
    counts = fillable_counts(wanted, n_singles=len(singles), n_links=len(pairs))
    options = {kind: pairs if kind == "multi_hop" else singles for kind in counts}
    return Plan(counts, options, sources, settings.seed)


def _assignment(slot: Slot, attempt: int, plan: Plan) -> Assignment:
    """What a slot works on; every type that has slots has passages."""
    wanted, options, sources = plan.counts[slot.type], plan.options[slot.type], plan.sources
    places = drawn(options, slot, attempt, wanted=wanted, seed=plan.seed)
    if places is None:
        raise ValueError(f"a slot of type {slot.type} without passages")
    angle = angle_of(slot, attempt, wanted=wanted, n_options=len(options))
    passages: tuple[Passage, ...] = tuple(sources.passages[at] for at in places)
    return Assignment(slot, attempt, passages, sources.languages[places[0]], angle)


def _attempts_made(file: DraftFile) -> int:
    """The last attempt of which the file has drafts; 0 for none."""
    return max((draft.provenance.attempt for draft in file.drafts if draft.provenance is not None), default=0)


def _name_of(part: Sequence[Assignment]) -> str:
    places = [[item.slot.number, [passage.id for passage in item.passages]] for item in part]
    return f"{part[0].attempt:02d}/{part[0].slot.number:06d}-{digest('batch', places)[:12]}"


def _batch(
    part: Sequence[Assignment], writer: Writer, checker: Checker, file: DraftFile, progress: Progress
) -> list[Draft]:
    """The batch from disk, or made now."""
    name = _name_of(part)
    known = file.batch(name)
    if known is not None:
        for draft in known:
            if draft.status != "rejected":
                checker.keep(draft)
        return list(known)
    asked = checker.check_questions(writer.write_questions(part))
    drafts = checker.check_answers(writer.write_answers(asked, part), progress=progress)
    file.append_batch(name, drafts)
    return drafts


def _slot_of(draft: Draft) -> int:
    if draft.provenance is None:
        raise ValueError(f"{draft.id}: a generated draft knows its slot")
    return draft.provenance.slot

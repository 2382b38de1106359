"""Makes drafts until the plan is full or its attempts are used up: batch after batch, each kept on disk when whole.

Why in rounds of fixed batches: what a batch holds depends on the seed and on the batches before it alone, so a
generation that was interrupted ends with the same drafts as one that was not.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pydantic import Field, JsonValue

from offline_eval.core.hashing import digest
from offline_eval.core.protocols import Embedder, TextEngine
from offline_eval.core.records import Passage, Record
from offline_eval.testset.checking import Checker
from offline_eval.testset.draft import Draft, QuestionType
from offline_eval.testset.draft_file import DraftFile, Header
from offline_eval.testset.links import Link, find_links
from offline_eval.testset.plan import Slot, drawn, slots_of, wanted_counts
from offline_eval.testset.prompts import load_prompts
from offline_eval.testset.sources import Sources
from offline_eval.testset.surface_checks import Thresholds
from offline_eval.testset.writing import STEPS, Assignment, Style, Writer

Progress = Callable[[str, int, int], None]


class GenerationSettings(Record):
    """Everything that decides what is written, beside the models.

    Attributes:
        mix: Type to its share; shares add up to 1.
        attempts: Most tries for each question that is wanted.
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


class Material(NamedTuple):
    """What can be asked about.

    Attributes:
        singles: Places of single passages.
        links: Pairs of passages.
    """

    sources: Sources
    singles: tuple[int, ...]
    links: tuple[Link, ...]


def header_of(
    settings: GenerationSettings, models: Models, sources: Sources, examples: Mapping[str, Sequence[str]]
) -> Header:
    """The drafts file's first line; its hash is the identity of the whole generation."""
    prompts = {language: load_prompts(language).content_hash()[:16] for language in sorted(set(sources.languages))}
    return Header(
        settings={
            **settings.model_dump(mode="json"),
            "corpus": sources.corpus_hash,
            "sources": digest("sources", [passage.id for passage in sources.passages]),
            "models": dict(models.names),
            "prompts": dict(prompts),
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
    progress: Progress = lambda stage, done, total: None,
) -> list[Draft]:
    """Write, check and keep drafts.

    Args:
        sources: From `read_sources`.
        checker: Fresh; it learns what earlier batches kept.
        file: New, or of an interrupted generation with the same settings.
        examples: Language to questions whose style is wanted.
        progress: Told after each step of a batch, and how many questions were kept after each batch.

    Returns:
        Every draft that was made, as it was made.

    Raises:
        DataError: The file holds drafts of other settings.
    """
    shown = {language: tuple(found) for language, found in (examples or {}).items()}
    header = header_of(settings, models, sources, shown)
    file.begin(header)
    style = Style(settings.steps, shown, settings.seed, models.judge, header.identity[:16])
    writer = Writer(models.engine, style, progress=progress)
    material = _material(settings, sources, models.embedder)
    open_slots = slots_of(wanted_counts(settings.mix, settings.size))
    made: list[Draft] = []
    total = len(open_slots)
    for attempt in range(1, settings.attempts + 1):
        given = [found for slot in open_slots if (found := _assignment(slot, attempt, settings, material))]
        kept: set[int] = set()
        for start in range(0, len(given), settings.batch):
            part = given[start : start + settings.batch]
            drafts = _batch(part, writer, checker, file)
            made += drafts
            kept |= {_slot_of(draft) for draft in drafts if draft.status != "rejected"}
            progress(f"questions kept, attempt {attempt}", total - len(open_slots) + len(kept), total)
        open_slots = [slot for slot in open_slots if slot.number not in kept]
        if not open_slots:
            break
    return made


def _material(settings: GenerationSettings, sources: Sources, embedder: Embedder | None) -> Material:
    wants_links = settings.mix.get("multi_hop", 0) > 0 and "links" in settings.steps
    links = find_links(sources.passages, sources.languages, embedder=embedder) if wants_links else []
    return Material(sources, tuple(range(len(sources.passages))), tuple(links))


def _assignment(slot: Slot, attempt: int, settings: GenerationSettings, material: Material) -> Assignment | None:
    """What a slot works on; None when nothing is left that it could."""
    wanted = wanted_counts(settings.mix, settings.size)[slot.type]
    places: tuple[int, ...] | None
    if slot.type == "multi_hop":
        link = drawn(material.links, slot, attempt, wanted=wanted, seed=settings.seed)
        places = None if link is None else (link.first, link.second)
    else:
        single = drawn(material.singles, slot, attempt, wanted=wanted, seed=settings.seed)
        places = None if single is None else (single,)
    if places is None:
        return None
    passages: tuple[Passage, ...] = tuple(material.sources.passages[at] for at in places)
    angle = slot.number + attempt - 1
    return Assignment(slot, attempt, passages, material.sources.languages[places[0]], angle)


def _batch(part: Sequence[Assignment], writer: Writer, checker: Checker, file: DraftFile) -> list[Draft]:
    """The batch from disk, or made now."""
    places = [[item.slot.number, [passage.id for passage in item.passages]] for item in part]
    name = f"{part[0].attempt:02d}/{part[0].slot.number:06d}-{digest('batch', places)[:12]}"
    known = file.batch(name)
    if known is not None:
        for draft in known:
            if draft.status != "rejected":
                checker.keep(draft)
        return list(known)
    asked = checker.check_questions(writer.write_questions(part))
    drafts = checker.check_answers(writer.write_answers(asked, part))
    file.append_batch(name, drafts)
    return drafts


def _slot_of(draft: Draft) -> int:
    if draft.provenance is None:
        raise ValueError(f"{draft.id}: a generated draft knows its slot")
    return draft.provenance.slot

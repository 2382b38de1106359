"""Puts the passages the generator may see into one prompt: fenced, numbered, with their contradictions marked.

What does not fit is shown as a named excerpt or set aside with a reason; nothing is cut without saying so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from offline_eval.assess.instructions import order_in
from offline_eval.assess.protocols import GenerationRequest
from offline_eval.assess.records import KeptPassage
from offline_eval.assess.wording import Wording
from offline_eval.core.evidence import Conflict
from offline_eval.core.records import Passage
from offline_eval.judge.prompt import fence_for, fenced
from offline_eval.text.sentences import split_sentences

_LARGEST_SHARE = 2  # a passage may take 1/2 of the room; a longer one is shown as an excerpt


@dataclass(frozen=True)
class Context:
    """What the generator is given, and what became of every passage."""

    request: GenerationRequest
    passages: tuple[KeptPassage, ...]


def assemble(
    query: str,
    language: str,
    passages: Sequence[KeptPassage],
    *,
    conflicts: Sequence[Conflict],
    best_chunks: Mapping[str, tuple[int, int]],
    room: int,
    wording: Wording,
) -> Context:
    """Build the prompt.

    Args:
        passages: Best first.
        conflicts: Between passages; those between shown ones are listed.
        best_chunks: Passage id to the part that answers best: first character and the one after its last.
        room: Most characters of passages.
    """
    kept = [_placed(passage, best_chunks.get(passage.passage.id), room // _LARGEST_SHARE) for passage in passages]
    kept = _fitted(kept, room)
    numbers = numbered(kept)
    shown = [entry for entry in kept if entry.in_context]
    ids = {entry.passage.id for entry in shown}
    listed = tuple(c for c in conflicts if c.first_id in ids and c.second_id in ids)
    blocks = {
        "prompt_passages": "\n".join(_line(entry, numbers[entry.passage.id], wording) for entry in shown),
        "prompt_contradictions": "\n".join(
            f'[{numbers[c.first_id]}] "{c.first}" / [{numbers[c.second_id]}] "{c.second}"' for c in listed
        ),
        "prompt_question": query,
    }
    fence = fence_for(list(blocks.values()))
    end = wording.text("prompt_end")
    request = GenerationRequest(
        query=query,
        language=language,
        prompt="\n".join(
            [
                wording.text("prompt_system"),
                *([wording.text("prompt_conflicts")] if listed else []),
                *(fenced(wording.text(name), text, fence=fence, end=end) for name, text in blocks.items() if text),
                wording.text("prompt_close"),
            ]
        ),
        passages=tuple(_shown(entry) for entry in shown),
        contradictions=listed,
    )
    return Context(request=request, passages=tuple(kept))


def numbered(passages: Sequence[KeptPassage]) -> dict[str, int]:
    """Passage id to the number it is cited by: first those the generator was shown, in their order, then the others."""
    ordered = sorted(passages, key=lambda entry: not entry.in_context)
    return {entry.passage.id: number for number, entry in enumerate(ordered, 1)}


def _placed(entry: KeptPassage, best: tuple[int, int] | None, largest: int) -> KeptPassage:
    ordered = order_in(entry.passage)
    if ordered is not None:
        return entry.model_copy(update={"set_aside": f"gives instructions to the model: {ordered[:80]!r}"})
    if not any(map(str.isalnum, entry.passage.text)):
        return entry.model_copy(update={"set_aside": "has no text"})
    if len(entry.passage.text) <= largest:
        return entry.model_copy(update={"in_context": True})
    return entry.model_copy(update={"in_context": True, "excerpt": _excerpt(entry.passage.text, best, largest)})


def _excerpt(text: str, best: tuple[int, int] | None, largest: int) -> tuple[int, int]:
    """Whole sentences around the best part, as far as they fit; the part's own start when a sentence is too long."""
    centre = 0 if best is None else best[0]
    sentences = [s for s in split_sentences(text) if s.end > centre]
    start = sentences[0].start if sentences else 0
    end = start
    for sentence in sentences:
        if sentence.end - start > largest:
            break
        end = sentence.end
    return (start, end) if end > start else (centre, min(len(text), centre + largest))


def _fitted(kept: Sequence[KeptPassage], room: int) -> list[KeptPassage]:
    fitted, left = [], room
    for entry in kept:
        size = len(_shown(entry).text) if entry.in_context else 0
        if size > left and entry.in_context:
            entry = entry.model_copy(
                update={"in_context": False, "excerpt": None, "set_aside": "no room left in the context"}
            )
            size = 0
        left -= size
        fitted.append(entry)
    return fitted


def _shown(entry: KeptPassage) -> Passage:
    if entry.excerpt is None:
        return entry.passage
    start, end = entry.excerpt
    return entry.passage.model_copy(update={"text": entry.passage.text[start:end]})


def _line(entry: KeptPassage, number: int, wording: Wording) -> str:
    passage = _shown(entry)
    head = " ".join(part for part in (passage.title, f"({passage.date})" if passage.date else None) if part)
    excerpt = "" if entry.excerpt is None else f"{wording.text('prompt_excerpt')} "
    return f"[{number}] {head + ': ' if head else ''}{excerpt}{passage.text}"

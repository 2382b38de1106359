"""Writes what a reader gets, by tier: the answer, the answer with its doubts, or passages and a question instead.

In the lowest tier nothing of the answer is repeated: what is shown there are the documents' own words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from offline_eval.assess.claims import with_marks
from offline_eval.assess.context import numbered
from offline_eval.assess.instructions import order_in
from offline_eval.assess.policy import Policy
from offline_eval.assess.records import ClaimMark, Doubt, KeptPassage, Mark
from offline_eval.assess.stages import asked_words
from offline_eval.assess.wording import Wording
from offline_eval.confidence.profile import Tier
from offline_eval.text.sentences import split_sentences

Action = Literal["answer", "answer_with_doubt", "ask", "hand_over"]

_MOST_EXCERPTS = 3
_LONGEST_EXCERPT = 240  # characters; a longer one ends in an ellipsis
_MOST_TERMS = 6
_MOST_TITLES = 2
_MOST_CONFLICTS = 3
_MOST_ITEMS = 5
_LONGEST_ITEM = 160
_STOPS = " .。;；,，"


@dataclass(frozen=True)
class Composed:
    """What is shown, and the same in parts."""

    action: Action
    text: str
    doubts: tuple[Doubt, ...]
    terms: tuple[str, ...]


def compose(
    query: str,
    answer: str,
    *,
    tier: Tier,
    claims: Sequence[ClaimMark],
    doubts: Sequence[Doubt],
    passages: Sequence[KeptPassage],
    policy: Policy,
    wording: Wording,
) -> Composed:
    """Word an assessment.

    Args:
        answer: The generator's, word for word.
        tier: Decides what may be asserted.
    """
    numbers = numbered(passages)
    asserts = tier is not Tier.ABSTAIN
    worded = tuple(
        _worded(doubt, numbers, claims=claims, passages=passages, wording=wording, asserts=asserts) for doubt in doubts
    )
    if not asserts:
        return _without_assertion(query, worded, passages, numbers=numbers, policy=policy, wording=wording)
    marks = {mark: wording.text(f"mark_{mark.value}") for mark in Mark}
    values = {
        "answer": with_marks(answer, claims, marks).strip(),
        "sources": _sources(passages, claims, numbers, wording),
    }
    if tier is Tier.ANSWER:
        return Composed("answer", wording.text("answer", **values), worded, ())
    text = wording.text("answer_with_doubt", **values, doubts=_texts(worded))
    return Composed("answer_with_doubt", text, worded, ())


def search_terms(query: str, passages: Sequence[KeptPassage]) -> tuple[str, ...]:
    """What to search for instead: titles of the best passages, then content words of the query."""
    found = [*_titles(passages), *(word for word in asked_words(query) if len(word) > 1)]
    return tuple(dict.fromkeys(found))[:_MOST_TERMS]


def _without_assertion(
    query: str,
    doubts: tuple[Doubt, ...],
    passages: Sequence[KeptPassage],
    *,
    numbers: Mapping[str, int],
    policy: Policy,
    wording: Wording,
) -> Composed:
    clean = [entry for entry in passages if order_in(entry.passage) is None]
    best = sorted(clean, key=lambda entry: -(entry.answers or 0.0))[:_MOST_EXCERPTS]
    excerpts = [
        {
            "number": numbers[entry.passage.id],
            "title": _title(entry, wording),
            "text": _beginning(entry.passage.text, entry.excerpt),
        }
        for entry in best
    ]
    terms = search_terms(query, best)
    titles = _titles(best)[:_MOST_TITLES]
    question = wording.text("question_with_titles" if titles else "question_without_titles", titles=titles)
    action: Action = "hand_over" if policy.profile.hand_over else "ask"
    text = wording.text(
        action,
        doubts=_texts(doubts),
        excerpts=excerpts,
        terms=terms,
        question=question,
        contact=policy.contact or wording.text("contact"),
    )
    return Composed(action, text, doubts, terms)


def _worded(
    doubt: Doubt,
    numbers: Mapping[str, int],
    *,
    claims: Sequence[ClaimMark],
    passages: Sequence[KeptPassage],
    wording: Wording,
    asserts: bool,
) -> Doubt:
    names = {entry.passage.id: _title(entry, wording) for entry in passages}
    items = [_short(names.get(item, item)) for item in doubt.items]
    if doubt.kind == "not_checked":
        items = [wording.text(f"signal_{name}") for name in doubt.items]
    key = f"doubt_{doubt.kind}"
    if doubt.kind == "unsupported_claims" and not asserts:
        key = "doubt_unsupported_draft"  # repeating a claim, even to doubt it, would assert it
    values: dict[str, object] = {"items": _listed(items), "count": len(doubt.items), "of": len(claims)}
    if doubt.kind == "contradiction":
        first_id, first, second_id, second = doubt.items
        values = {
            "first": _short(first),
            "second": _short(second),
            "first_number": numbers.get(first_id, first_id),
            "second_number": numbers.get(second_id, second_id),
        }
    return doubt.model_copy(update={"text": wording.text(key, **values)})


def _texts(doubts: Sequence[Doubt]) -> list[str]:
    """The doubts' sentences; of many contradictions the first ones, the rest as a count."""
    conflicts = [doubt for doubt in doubts if doubt.kind == "contradiction"]
    hidden = {id(doubt) for doubt in conflicts[_MOST_CONFLICTS:]}
    texts = [doubt.text for doubt in doubts if id(doubt) not in hidden]
    return [*texts, f"(+{len(hidden)})"] if hidden else texts


def _sources(
    passages: Sequence[KeptPassage], claims: Sequence[ClaimMark], numbers: Mapping[str, int], wording: Wording
) -> list[dict[str, object]]:
    """Passages that support a claim; all that were shown where no claim is supported."""
    used = {id_ for claim in claims if claim.mark is Mark.SUPPORTED for id_ in claim.passage_ids}
    shown = [entry for entry in passages if entry.in_context and (not used or entry.passage.id in used)]
    return [
        {
            "number": numbers[entry.passage.id],
            "title": _title(entry, wording),
            "date": entry.passage.date,
        }
        for entry in shown
    ]


def _title(entry: KeptPassage, wording: Wording) -> str:
    return entry.passage.title or entry.passage.doc_id or wording.text("untitled", id=entry.passage.id)


def _titles(passages: Sequence[KeptPassage]) -> list[str]:
    return list(dict.fromkeys(entry.passage.title for entry in passages if entry.passage.title))


def _beginning(text: str, excerpt: tuple[int, int] | None) -> str:
    start = 0 if excerpt is None else excerpt[0]
    first = next((s.text for s in split_sentences(text[start : start + 4 * _LONGEST_EXCERPT])), "")
    shown = text[start : start + _LONGEST_EXCERPT].strip() if len(first) < _LONGEST_EXCERPT else first
    shown = " ".join(shown.split())[:_LONGEST_EXCERPT]
    return shown if start + len(shown) >= len(text.strip()) else f"{shown}…"


def _short(text: str) -> str:
    text = text.rstrip(_STOPS)  # it stands inside a sentence of ours
    return text if len(text) <= _LONGEST_ITEM else f"{text[:_LONGEST_ITEM]}…"


def _listed(items: Sequence[str]) -> list[str]:
    shown = list(dict.fromkeys(items))
    return shown if len(shown) <= _MOST_ITEMS else [*shown[:_MOST_ITEMS], f"(+{len(shown) - _MOST_ITEMS})"]

"""Makes labelled pairs of passage and claim from the demo handbook: true claims in other forms, and edits of them.

Why: there are few public Chinese sets that say whether a passage supports a claim; what an edit makes wrong is known by
construction, and the same number, date, name or denial is what answers get wrong.
"""

import json
import random
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Literal, NamedTuple

from offline_eval.core.records import Passage
from offline_eval.core.yaml_text import parse_yaml
from offline_eval.training.claim_edits import EDIT_KINDS, edited
from offline_eval.training.claim_rewordings import (
    REWORDINGS,
    Rewording,
    as_claim,
    framed,
    joined,
    parts_of,
    reordered,
    reworded_part,
)

OTHER_PASSAGE = "other_passage"
"""A true claim of another passage of the same document: right in its place, not said here."""
HALF_OTHER = "half_other"
"""A true claim with a clause of another passage added, which is not said here."""
SUPPORTED_KINDS = REWORDINGS
UNSUPPORTED_KINDS = (*EDIT_KINDS, OTHER_PASSAGE, HALF_OTHER)

_SEED = 0
_BESIDE = 1 / 3  # share of premises in which a second passage stands beside the first
_EDITS_A_CLAIM = 2
_REWORDED_A_PART = 1
_FRAMED = 3  # claims of a passage


class ConstructedPair(NamedTuple):
    """One labelled pair.

    Attributes:
        premise: A passage, or two in one text.
        claim: A statement.
        label: 1 supported, 0 not.
        kind: How the claim was made, of `SUPPORTED_KINDS` or `UNSUPPORTED_KINDS`.
        group: Two or three passages of one document; their claims and premises meet no others.
    """

    premise: str
    claim: str
    label: int
    kind: str
    group: str


def constructed_pairs(language: Literal["zh", "en"], *, seed: int = _SEED) -> list[ConstructedPair]:
    """Make the pairs of one language's handbook; the two handbooks state other rules, so no group spans both.

    Args:
        language: Which handbook.
        seed: Decides between the forms and edits a claim allows.

    Returns:
        Pairs in the handbook's order, without repeats; the same seed gives the same pairs.
    """
    pairs: list[ConstructedPair] = []
    used: Counter[str] = Counter()
    for name, block in _blocks(language).items():
        for place, passage in enumerate(block):
            draw = random.Random(f"{seed} {passage.id}")
            others = [*block[:place], *block[place + 1 :]]
            made = _true_claims(passage, draw)
            for claim in made:
                premise = _premise(passage, others, draw)
                pairs.append(ConstructedPair(premise, claim.text, 1, claim.kind, name))
                edits = edited(claim.text, premise, draw=draw)
                for edit in sorted(edits, key=lambda edit: used[edit.kind])[:_EDITS_A_CLAIM]:
                    used[edit.kind] += 1
                    pairs.append(ConstructedPair(premise, edit.text, 0, edit.kind, name))
            for other in others:
                claims = _true_claims(other, random.Random(f"{seed} {other.id}"))
                for claim in draw.sample(claims, 2):
                    pairs.append(ConstructedPair(passage.text, claim.text, 0, OTHER_PASSAGE, name))
                for added, own in zip(draw.sample(claims, 2), draw.sample(made, 2), strict=True):
                    halves = draw.sample([own.text, added.text], 2)
                    pairs.append(ConstructedPair(passage.text, joined(*halves), 0, HALF_OTHER, name))
    return list(dict.fromkeys(pairs))


def _blocks(language: str) -> dict[str, list[Passage]]:
    """Neighbouring passages of one document by twos, the last of an odd number with the two before it."""
    documents: dict[str, list[Passage]] = {}
    for passage in _passages():
        if passage.metadata["language"] == language:
            documents.setdefault(str(passage.doc_id), []).append(passage)
    blocks: dict[str, list[Passage]] = {}
    for document, own in documents.items():
        last = max(1, len(own) // 2) - 1
        for number in range(last + 1):
            blocks[f"{document} {number + 1}"] = own[2 * number : None if number == last else 2 * number + 2]
    return blocks


def _true_claims(passage: Passage, draw: random.Random) -> list[Rewording]:
    parts = parts_of(passage.text)
    claims = [Rewording(kind, text) for kind, texts in _by_hand()[passage.id].items() for text in texts]
    for part in parts:
        forms = [Rewording("part", as_claim(part)), *reworded_part(part, draw=draw)]
        claims += draw.sample(forms, min(_REWORDED_A_PART, len(forms)))
    plain = [claim.text for claim in claims if claim.kind != "computed"]
    claims += [Rewording("framed", framed(text, draw=draw)) for text in draw.sample(plain, _FRAMED)]
    if len(parts) > 2:
        first, second = draw.sample(range(len(parts)), 2)
        claims.append(Rewording("joined", joined(parts[min(first, second)], parts[max(first, second)])))
    following = draw.choice(list(pairwise(parts)))
    return [*claims, Rewording("reordered", reordered(*following))]


def _premise(passage: Passage, others: Sequence[Passage], draw: random.Random) -> str:
    if not others or draw.random() >= _BESIDE:
        return passage.text
    return "\n".join(draw.sample([passage.text, draw.choice(others).text], 2))


@cache
def _passages() -> tuple[Passage, ...]:
    text = (files("offline_eval.demo") / "passages.jsonl").read_text(encoding="utf-8")
    return tuple(Passage.model_validate(json.loads(line)) for line in text.splitlines())


@cache
def _by_hand() -> dict[str, dict[str, list[str]]]:
    name = "handbook_rewordings.yaml"
    text = (files("offline_eval.training") / name).read_text(encoding="utf-8")
    found: dict[str, dict[str, list[str]]] = parse_yaml(text, name).data
    return found

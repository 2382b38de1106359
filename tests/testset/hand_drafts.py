"""Drafts over the demo handbook written by hand, 60 good and 60 bad, and scripted encoders that know the truth."""

import json
from pathlib import Path
from typing import NamedTuple

from offline_eval.core.protocols import Hit
from offline_eval.core.records import Passage
from offline_eval.engines.scripted import ScriptedScorer
from offline_eval.testset.draft import Draft

DATA = Path(__file__).with_name("data") / "drafts.jsonl"
HANDBOOK = Path(__file__).parents[2] / "offline_eval" / "demo" / "passages.jsonl"


class HandDraft(NamedTuple):
    """A draft with what is true about it.

    Attributes:
        label: `good`, or the reason to throw it out.
        needed: Ids of the passages that together answer its question; none when nothing does.
        support: Key point to ids of the passages from which it follows, together.
    """

    label: str
    needed: tuple[str, ...]
    support: dict[str, tuple[str, ...]]
    draft: Draft


def hand_drafts() -> list[HandDraft]:
    """All of them, good ones first; each bad one is bad in one way."""
    found = []
    for line in DATA.read_text("utf-8").splitlines():
        row = json.loads(line)
        support = {point: tuple(ids) for point, ids in row["support"].items()}
        found.append(HandDraft(row["label"], tuple(row["needed"]), support, Draft.model_validate(row["draft"])))
    return found


def handbook() -> dict[str, Passage]:
    """The demo's passages by id."""
    rows = [Passage.model_validate_json(line) for line in HANDBOOK.read_text("utf-8").splitlines()]
    return {passage.id: passage for passage in rows}


def knowing_nli(drafts: list[HandDraft], passages: dict[str, Passage]) -> ScriptedScorer:
    """An entailment model that is always right about these key points; a false premise follows from nothing."""
    truth = {point: ids for hand in drafts for point, ids in hand.support.items() if ids}

    def entails(premise: str, hypothesis: str) -> float:
        ids = truth.get(hypothesis)
        return 0.97 if ids and all(passages[name].text in premise for name in ids) else 0.02

    return ScriptedScorer(entails)


def knowing_answerability(drafts: list[HandDraft], passages: dict[str, Passage]) -> ScriptedScorer:
    """An answerability model that is always right about these questions; it reads the question first."""
    truth = {hand.draft.case.query: hand.needed for hand in drafts}

    def answers(query: str, premise: str) -> float:
        ids = truth.get(query)
        return 0.95 if ids and all(passages[name].text in premise for name in ids) else 0.03

    return ScriptedScorer(answers)


class FixedSearch:
    """Finds the passages that share most letters' pairs with a query; enough to bring up what else could answer."""

    name = "fixed"

    def __init__(self, passages: dict[str, Passage]) -> None:
        self._pairs = {name: _pairs(passage.text) for name, passage in passages.items()}

    def search(self, queries: list[str], *, k: int) -> list[list[Hit]]:
        """The k passages with the largest share of a query's pairs, ids deciding ties."""
        found = []
        for query in queries:
            wanted = _pairs(query)
            scores = {name: len(wanted & pairs) / max(1, len(wanted)) for name, pairs in self._pairs.items()}
            best = sorted(scores, key=lambda name: (-scores[name], name))[:k]
            found.append([Hit(passage_id=name, score=scores[name]) for name in best])
        return found


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2].lower() for at in range(len(text) - 1)}

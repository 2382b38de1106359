"""Ways to ask that lessen a judge's biases, each a wrapper round asking; their price in calls is stated, too.

Why wrappers: a probe runs with and without one, and the difference between the two is what the mitigation is worth.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from statistics import fmean
from typing import Protocol

from offline_eval.benchmark.labels import JudgedRow, LabelRow
from offline_eval.core.errors import UnknownNameError
from offline_eval.core.hashing import digest
from offline_eval.core.results import Status
from offline_eval.text.sentences import split_sentences

SHUFFLES = 3

LENGTH_INSTRUCTION: Mapping[str, str] = {
    "en": "The length of an answer counts for nothing: a longer answer is not a better one, and padding adds nothing.",
    "zh": "回答的长短不影响等级：更长的回答并不更好，凑字数不加分。",
}


class Ask(Protocol):
    """Asks one judge about rows: one result a row, in their order; what has no verdict has a status with a reason."""

    def __call__(self, rows: Sequence[LabelRow], *, extra: Mapping[str, str] | None = None) -> list[JudgedRow]:
        """Ask.

        Args:
            rows: What people labelled, perhaps changed by a probe.
            extra: Language (`en`, `zh`) to a further instruction.
        """
        ...


class Mitigation:
    """A way to ask.

    Args:
        name: What users call it.
        calls: How many times as many requests it makes, at most.
        wrap: From one way of asking to the mitigated one.
    """

    def __init__(self, name: str, *, calls: int, wrap: Callable[[Ask, int], Ask]) -> None:
        self.name = name
        self.calls = calls
        self._wrap = wrap

    def apply(self, ask: Ask, *, seed: int) -> Ask:
        """The mitigated way of asking."""
        return self._wrap(ask, seed)


def mitigation(name: str) -> Mitigation:
    """Look one up.

    Raises:
        UnknownNameError: No mitigation of that name.
    """
    if name not in MITIGATIONS:
        raise UnknownNameError("mitigation", name, list(MITIGATIONS))
    return MITIGATIONS[name]


def _order_averaging(ask: Ask, seed: int) -> Ask:
    """Pairs are asked in both orders; a side wins only if it wins in both."""

    def asked(rows: Sequence[LabelRow], *, extra: Mapping[str, str] | None = None) -> list[JudgedRow]:
        first = ask(rows, extra=extra)
        pairs = [row for row in rows if row.kind == "pairwise"]
        second = iter(ask([exchanged(row) for row in pairs], extra=extra) if pairs else [])
        return [
            both_orders(judged, next(second)) if row.kind == "pairwise" else judged
            for row, judged in zip(rows, first, strict=True)
        ]

    return asked


def _length_instruction(ask: Ask, seed: int) -> Ask:
    """One more sentence in the prompt."""

    def asked(rows: Sequence[LabelRow], *, extra: Mapping[str, str] | None = None) -> list[JudgedRow]:
        given = extra or {}
        merged = {
            language: f"{given.get(language, '')} {text}".strip() for language, text in LENGTH_INSTRUCTION.items()
        }
        return ask(rows, extra=merged)

    return asked


def _shuffled_averaging(ask: Ask, seed: int) -> Ask:
    """Passages and the sentences of answers in several orders; the mean score, and the label most of them gave."""

    def asked(rows: Sequence[LabelRow], *, extra: Mapping[str, str] | None = None) -> list[JudgedRow]:
        rounds = [ask(rows, extra=extra)]
        rounds += [
            ask([_reordered(row, seed=seed, number=number) for row in rows], extra=extra)
            for number in range(1, SHUFFLES)
        ]
        return [_averaged(found) for found in zip(*rounds, strict=True)]

    return asked


MITIGATIONS: Mapping[str, Mitigation] = {
    "order-averaging": Mitigation("order-averaging", calls=2, wrap=_order_averaging),
    "length-instruction": Mitigation("length-instruction", calls=1, wrap=_length_instruction),
    "shuffled-averaging": Mitigation("shuffled-averaging", calls=SHUFFLES, wrap=_shuffled_averaging),
}
"""Name to mitigation."""


def exchanged(row: LabelRow) -> LabelRow:
    """A pair with its answers in the other order; what people said is turned round with them."""
    turned = {"A": "B", "B": "A"}
    labels = {rater: turned.get(str(label), label) for rater, label in row.labels.items()}
    return row.model_copy(update={"answer_a": row.answer_b, "answer_b": row.answer_a, "labels": labels})


def both_orders(judged: JudgedRow, swapped: JudgedRow) -> JudgedRow:
    """One judgement from a pair asked in both orders.

    Args:
        judged: In the row's own order.
        swapped: With the answers exchanged.

    Returns:
        The preference both have in common, seen from the row's own order, else a tie, and the mean of the scores. What
        failed in one order is failed.
    """
    tokens = {
        "prompt_tokens": judged.prompt_tokens + swapped.prompt_tokens,
        "output_tokens": judged.output_tokens + swapped.output_tokens,
        "swapped": swapped.verdict,
    }
    if judged.decision is None or swapped.decision is None:
        failed = judged if judged.decision is None else swapped
        return failed.model_copy(update={"verdict": judged.verdict, **tokens})
    decision = judged.decision if judged.decision == -swapped.decision else 0.0
    score = None if judged.score is None or swapped.score is None else (judged.score - swapped.score) / 2
    return judged.model_copy(update={"decision": decision, "score": score, **tokens})


def _reordered(row: LabelRow, *, seed: int, number: int) -> LabelRow:
    random = Random(int(digest("shuffle", [seed, number, row.id])[:12], 16))
    passages = list(row.passages)
    random.shuffle(passages)
    changes: dict[str, object] = {"passages": tuple(passages)}
    for name in ("answer", "answer_a", "answer_b"):
        text = getattr(row, name)
        if text:
            changes[name] = _mixed(text, random, is_chinese=row.spoken == "zh")
    return row.model_copy(update=changes)


def _mixed(text: str, random: Random, *, is_chinese: bool) -> str:
    sentences = [sentence.text for sentence in split_sentences(text)]
    random.shuffle(sentences)
    return ("" if is_chinese else " ").join(sentences) if len(sentences) > 1 else text


def _averaged(found: Sequence[JudgedRow]) -> JudgedRow:
    """The rounds of one row as one; a round that failed fails the row, since the mean of the others may flatter."""
    tokens = {
        "prompt_tokens": sum(judged.prompt_tokens for judged in found),
        "output_tokens": sum(judged.output_tokens for judged in found),
    }
    failed = next((judged for judged in found if judged.status is not Status.SCORED), None)
    if failed is not None:
        return failed.model_copy(update=tokens)
    decisions = Counter(judged.decision for judged in found if judged.decision is not None)
    most = max(decisions.values())
    decision = min(value for value, count in decisions.items() if count == most)
    scores = [judged.score for judged in found if judged.score is not None]
    score = fmean(scores) if len(scores) == len(found) else None
    return found[0].model_copy(update={"decision": decision, "score": score, **tokens})

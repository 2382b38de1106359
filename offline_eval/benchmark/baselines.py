"""Judges that anybody could write in a minute; one that does no better than they do is not worth its electricity.

Their thresholds are fixed (.5), never fitted to the labels, but for the majority and the base rate, which are read off
the labels and so are the strongest judges of their kind.
"""

import random
from collections import Counter
from collections.abc import Callable

from offline_eval.benchmark.decisions import from_share
from offline_eval.benchmark.labels import JudgedRow, LabelRow, LabelSet
from offline_eval.core.hashing import digest
from offline_eval.core.results import Status
from offline_eval.text.normalize import normalize
from offline_eval.text.words import content_words

MAJORITY, RANDOM, LONGER = "always the majority", "random at base rate", "longer answer wins"
OVERLAP, MATCH = "word overlap", "reference found in answer"


def baselines(label_set: LabelSet, *, seed: int) -> dict[str, list[JudgedRow]]:
    """Every baseline that fits a set.

    Args:
        seed: Of the random one.

    Returns:
        Name to one answer a row, in their order.
    """
    rows = label_set.rows
    found = {MAJORITY: _majority(label_set), RANDOM: _random(label_set, seed)}
    if label_set.kind == "pairwise":
        found[LONGER] = [_answer(row, LONGER, _preferred(row, len)) for row in rows]
    if any(_overlap_target(row) for row in rows):
        found[OVERLAP] = [_overlap(row) for row in rows]
    if label_set.kind == "binary" and label_set.dimension == "correctness":
        found[MATCH] = [_match(row) for row in rows]
    return found


def overlap(text: str, source: str) -> float:
    """Share of a text's distinct content words that the source has, in [0, 1]; 0 without any."""
    wanted = set(content_words(text))
    return len(wanted & set(content_words(source))) / len(wanted) if wanted else 0.0


def _majority(label_set: LabelSet) -> list[JudgedRow]:
    counts = Counter(row.human for row in label_set.rows if row.human is not None)
    middle = label_set.levels[len(label_set.levels) // 2]
    common = max(counts, key=lambda level: (counts[level], -level)) if counts else middle
    return [_answer(row, MAJORITY, (common, common)) for row in label_set.rows]


def _random(label_set: LabelSet, seed: int) -> list[JudgedRow]:
    known = sorted(row.human for row in label_set.rows if row.human is not None) or list(label_set.levels)
    found = []
    for row in label_set.rows:
        level = random.Random(digest("random baseline", [seed, row.id])).choice(known)
        found.append(_answer(row, RANDOM, (level, level)))
    return found


def _preferred(row: LabelRow, worth: Callable[[str], float]) -> tuple[float, float]:
    """The answer worth more wins; the score is the difference as a share of both."""
    first, second = worth(row.answer_a or ""), worth(row.answer_b or "")
    total = first + second
    return float((first > second) - (first < second)), (first - second) / total if total else 0.0


def _overlap_target(row: LabelRow) -> str:
    """What words are looked for in: the passages for faithfulness and answerability, else the reference."""
    passages = "\n".join(passage.text for passage in row.passages)
    if row.dimension in ("faithfulness", "answerability"):
        return passages
    return row.reference or "\n".join(row.key_points) or passages


def _overlap(row: LabelRow) -> JudgedRow:
    target = _overlap_target(row)
    if not target.strip():
        reason = "no_material: there is no text to look for words in"
        return JudgedRow(row_id=row.id, judge=OVERLAP, status=Status.NOT_APPLICABLE, status_reason=reason)
    if row.kind == "pairwise":
        return _answer(row, OVERLAP, _preferred(row, lambda answer: overlap(target, answer)))
    if row.dimension in ("correctness", "completeness"):
        share = overlap(target, row.answer)  # how much of the truth was said, not how much of what was said is true
    else:
        share = overlap(row.query if row.dimension == "answerability" else row.answer, target)
    return _answer(row, OVERLAP, from_share(row, share))


def _match(row: LabelRow) -> JudgedRow:
    """Whether one of the references, separated by `/` or a new line, stands in the answer."""
    answer = normalize(row.answer)
    wanted = [normalize(part) for part in (row.reference or "").replace("/", "\n").split("\n") if part.strip()]
    return _answer(row, MATCH, from_share(row, float(any(part in answer for part in wanted))))


def _answer(row: LabelRow, name: str, found: tuple[float, float]) -> JudgedRow:
    decision, score = found
    return JudgedRow(row_id=row.id, judge=name, decision=decision, score=score)

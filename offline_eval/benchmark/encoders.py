"""Asks a local encoder about rows that people labelled: support for what an answer states, or answerability.

Why whole answers: one support score a row is what such encoders are usually measured by; runs split answers into
claims.
"""

from collections.abc import Sequence

from offline_eval.benchmark.decisions import from_share
from offline_eval.benchmark.labels import JudgedRow, LabelRow
from offline_eval.checks._support import Pair, Relation, support_of, unspoken_language
from offline_eval.core.protocols import EngineKind, PairScorer
from offline_eval.core.results import Status

_SUPPORT = ("faithfulness", "correctness", "completeness")


def encoder_pairs(row: LabelRow, kind: EngineKind) -> list[Pair]:
    """What an encoder is asked about a row; empty where its kind has nothing to say.

    - faithfulness: does any passage, or all together, entail the answer (the largest support counts);
    - correctness: does the answer entail the reference;
    - completeness: does the answer entail each key point, without those the reference (the mean counts);
    - answerability: do the passages together answer the query.
    """
    texts = [passage.text for passage in row.passages]
    whole = "\n".join(texts)
    if row.kind == "pairwise":
        return []
    if kind == "answerability":
        return [(whole, row.query)] if row.dimension == "answerability" else []
    if row.dimension == "faithfulness":
        return [(text, row.answer) for text in dict.fromkeys([*texts, whole])]
    if row.dimension == "completeness" and row.key_points:
        return [(row.answer, point) for point in row.key_points]
    if row.dimension in _SUPPORT and row.reference:
        return [(row.answer, row.reference)]
    return []


def ask_encoder(rows: Sequence[LabelRow], name: str, engine: PairScorer, *, kind: EngineKind) -> list[JudgedRow]:
    """Ask about rows, all at once.

    Args:
        rows: Of any kinds and dimensions.
        name: Registered name.
        kind: `nli` for support, `answerability`.

    Returns:
        One answer a row, in their order; probabilities of .5 and more mean yes.
    """
    relation: Relation = "answers" if kind == "answerability" else "entails"
    asked = [encoder_pairs(row, kind) for row in rows]
    languages = [unspoken_language(pairs, engine, relation=relation) for pairs in asked]
    open_pairs = (pair for pairs, odd in zip(asked, languages, strict=True) if odd is None for pair in pairs)
    cells = support_of(open_pairs, engine, relation=relation)
    found = []
    for row, pairs, language in zip(rows, asked, languages, strict=True):
        if not pairs or language is not None:
            reason = (
                f"language: {language}" if pairs else f"not_asked: {row.dimension} is not what a {kind} model tells"
            )
            found.append(_without(row, name, Status.NOT_APPLICABLE, reason))
            continue
        supports = [cells[pair] for pair in pairs]
        failure = next((cell.failure for cell in supports if cell.failure is not None), None)
        if failure is not None:
            found.append(_without(row, name, Status.FAILED, failure))
            continue
        values = [cell.entailment or 0.0 for cell in supports]
        share = sum(values) / len(values) if row.dimension == "completeness" else max(values)
        decision, score = from_share(row, share)
        found.append(JudgedRow(row_id=row.id, judge=name, decision=decision, score=score))
    return found


def _without(row: LabelRow, name: str, status: Status, reason: str) -> JudgedRow:
    return JudgedRow(row_id=row.id, judge=name, status=status, status_reason=reason)

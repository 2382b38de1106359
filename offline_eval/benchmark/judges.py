"""Asks a judge for its label on rows that people labelled, with the rubrics and rules of every run; reasons are not
asked for.

Pairs of answers are asked with the preference rubric, whatever the people compared; in both orders when wished.
"""

from collections.abc import Sequence

from offline_eval.benchmark.decisions import PASS_FROM, judged
from offline_eval.benchmark.labels import JudgedRow, LabelRow
from offline_eval.checks.rubric_verdict import Question, RubricVerdict
from offline_eval.core.evidence import Verdict, VerdictEvidence
from offline_eval.core.protocols import Failure, GenerateRequest, Generation, Item, TextEngine
from offline_eval.core.results import Status
from offline_eval.judge.prompt import Material, label_request
from offline_eval.judge.rubric import Rubric, load_rubric, rubric_names
from offline_eval.judge.rules import decide_pair
from offline_eval.judge.verdicts import read_label

PREFERENCE = "preference"


def ask_judge(
    rows: Sequence[LabelRow],
    judge: str,
    engine: TextEngine,
    *,
    swap: bool = False,
    pass_from: float = PASS_FROM,
    extra: str = "",
) -> list[JudgedRow]:
    """Ask for labels, all at once.

    Args:
        rows: Of any kinds and dimensions. A dimension without a rubric does not apply.
        judge: Registered name.
        engine: The judge's engine.
        swap: Ask about pairs in both orders and take what both say.
        pass_from: Lowest grade that counts as 1 on a binary row.
        extra: A further instruction for pairs.

    Returns:
        One answer a row, in their order.
    """
    graded = [row for row in rows if row.kind != "pairwise" and has_rubric(row)]
    pairs = [row for row in rows if row.kind == "pairwise"]
    found = {id(row): _not_applicable(row, judge) for row in rows}
    for row, evidence in zip(graded, _graded(graded, judge, engine), strict=True):
        tokens = (evidence.prompt_tokens, evidence.output_tokens)
        found[id(row)] = judged(row, judge, evidence.verdict, pass_from=pass_from, tokens=tokens)
    for answer, row in zip(_pairs(pairs, judge, engine, swap=swap, extra=extra), pairs, strict=True):
        found[id(row)] = answer
    return [found[id(row)] for row in rows]


def has_rubric(row: LabelRow) -> bool:
    """Whether a judge can be asked about this row."""
    return row.kind == "pairwise" or row.dimension in rubric_names()


def rubric_of(row: LabelRow) -> Rubric:
    """The rubric a row is judged by."""
    return load_rubric(PREFERENCE if row.kind == "pairwise" else row.dimension, row.spoken)


def _graded(rows: Sequence[LabelRow], judge: str, engine: TextEngine) -> list[VerdictEvidence]:
    questions = [Question(item=Item(case=row.case(), response=row.response()), dimension=row.dimension) for row in rows]
    evidence = RubricVerdict(judge, engine, with_reasons=False).run(questions)
    return [piece for piece in evidence if isinstance(piece, VerdictEvidence)]


def _pairs(rows: Sequence[LabelRow], judge: str, engine: TextEngine, *, swap: bool, extra: str) -> list[JudgedRow]:
    orders = (False, True) if swap else (False,)
    decided = {(at, order): pair_by_rule(row, swapped=order) for at, row in enumerate(rows) for order in orders}
    open_ones = [key for key, verdict in decided.items() if verdict is None]
    requests = [pair_request(rows[at], swapped=order, extra=extra) for at, order in open_ones]
    answers: list[Generation | Failure] = engine.generate(requests) if requests else []
    tokens: dict[int, tuple[int, int]] = {}
    for (at, order), answer in zip(open_ones, answers, strict=True):
        decided[at, order] = read_label(rubric_of(rows[at]), answer)
        if isinstance(answer, Generation):
            before = tokens.get(at, (0, 0))
            tokens[at] = (before[0] + answer.prompt_tokens, before[1] + answer.output_tokens)
    found = []
    for at, row in enumerate(rows):
        verdict = decided[at, False]
        assert verdict is not None  # every open one was asked just above
        found.append(judged(row, judge, verdict, swapped=decided.get((at, True)), tokens=tokens.get(at, (0, 0))))
    return found


def pair_request(row: LabelRow, *, swapped: bool = False, extra: str = "") -> GenerateRequest:
    """The request about a pair of answers, in their order or exchanged."""
    first, second = (row.answer_b, row.answer_a) if swapped else (row.answer_a, row.answer_b)
    response = row.response().model_copy(update={"answer": first or ""})
    return label_request(Material(row.case(), response, other_answer=second or ""), rubric_of(row), extra=extra)


def pair_by_rule(row: LabelRow, *, swapped: bool = False) -> Verdict | None:
    """What needs no model: an answer without content loses against one with content, and two of them tie."""
    first, second = (row.answer_b, row.answer_a) if swapped else (row.answer_a, row.answer_b)
    return decide_pair(first or "", second or "", rubric_of(row))


def _not_applicable(row: LabelRow, judge: str) -> JudgedRow:
    reason = f"no_rubric: no rubric is named {row.dimension}"
    return JudgedRow(row_id=row.id, judge=judge, status=Status.NOT_APPLICABLE, status_reason=reason)

"""Asks a judge about labelled rows without the rules that settle some answers beforehand, because a probe wants to know
the judge, not its guard.

What a run does with the same rows, rules and windows for long passages included, is `judges.ask_judge`.
"""

from collections.abc import Callable, Mapping, Sequence

from offline_eval.benchmark.decisions import judged
from offline_eval.benchmark.judges import has_rubric, pair_request, rubric_of
from offline_eval.benchmark.labels import JudgedRow, LabelRow
from offline_eval.benchmark.mitigations import Ask
from offline_eval.core.protocols import GenerateRequest, Generation, TextEngine
from offline_eval.core.results import Status
from offline_eval.judge.prompt import Material, label_request
from offline_eval.judge.verdicts import read_label


def bare_judge(
    judge: str, engine: TextEngine, *, batch_size: int = 16, told: Callable[[int], None] | None = None
) -> Ask:
    """A way of asking one judge: label requests alone.

    Args:
        judge: Registered name.
        engine: The judge's engine.
        batch_size: Requests handed to the engine at once.
        told: Called with the number of requests answered so far, over all calls.
    """
    answered = 0

    def ask(rows: Sequence[LabelRow], *, extra: Mapping[str, str] | None = None) -> list[JudgedRow]:
        nonlocal answered
        open_rows = [row for row in rows if has_rubric(row)]
        found: list[JudgedRow] = []
        for start in range(0, len(open_rows), batch_size):
            part = open_rows[start : start + batch_size]
            results = engine.generate([_request(row, extra or {}) for row in part])
            for row, result in zip(part, results, strict=True):
                tokens = (result.prompt_tokens, result.output_tokens) if isinstance(result, Generation) else (0, 0)
                found.append(judged(row, judge, read_label(rubric_of(row), result), tokens=tokens))
            answered += len(part)
            if told is not None:
                told(answered)
        given = iter(found)
        return [next(given) if has_rubric(row) else _not_applicable(row, judge) for row in rows]

    return ask


def _request(row: LabelRow, extra: Mapping[str, str]) -> GenerateRequest:
    rubric = rubric_of(row)
    text = extra.get(rubric.language, "")
    if row.kind == "pairwise":
        return pair_request(row, extra=text)
    return label_request(Material(row.case(), row.response()), rubric, extra=text)


def _not_applicable(row: LabelRow, judge: str) -> JudgedRow:
    reason = f"no_rubric: no rubric is named {row.dimension}"
    return JudgedRow(row_id=row.id, judge=judge, status=Status.NOT_APPLICABLE, status_reason=reason)

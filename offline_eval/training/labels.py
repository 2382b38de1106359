"""The user's labelled pairs: read from any table, checked whole, and cut into parts that share no text."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from offline_eval.core.errors import DataError
from offline_eval.core.hashing import digest
from offline_eval.formats.problems import Problems, refuse
from offline_eval.formats.rows import read_rows
from offline_eval.training.public_sets import joined

TrainTask = Literal["nli", "answerability", "alignment"]

# Column to the names it may have, by task: first and second text of a pair.
_COLUMNS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "nli": (("premise", "evidence", "passage", "context"), ("hypothesis", "claim", "statement")),
    "answerability": (("query", "question"), ("passage", "context", "text")),
    "alignment": (("query", "question"), ("passage", "context", "text")),
}
_YES = frozenset({"1", "1.0", "true", "yes", "entailment", "supported", "answerable", "是", "支持"})
_NO = frozenset({"0", "0.0", "false", "no", "not_entailment", "not_supported", "unanswerable", "否", "不支持"})
_RELATIONS = ("entailment", "neutral", "contradiction")
_LEAST_PER_PART = 2


class Example(NamedTuple):
    """One labelled pair.

    Attributes:
        first: Premise or query.
        second: Hypothesis or passage.
        label: Class number for nli; 0 or 1 for answerability; in [0, 1] for alignment.
        group: What stays in one part.
    """

    first: str
    second: str
    label: float
    group: str


class LabelledSet(NamedTuple):
    """The user's labels.

    Attributes:
        classes: Names of the classes by number for nli; empty for one-logit tasks.
        data_hash: Hash over all pairs and labels in their order.
    """

    task: TrainTask
    examples: tuple[Example, ...]
    classes: tuple[str, ...]
    data_hash: str


class Parts(NamedTuple):
    """Three parts that share no group: to learn from, to stop by, and to report on."""

    train: tuple[Example, ...]
    stop: tuple[Example, ...]
    report: tuple[Example, ...]


def read_labels(source: Path | str, *, task: TrainTask) -> LabelledSet:
    """Read labelled pairs from JSONL, JSON, CSV or Parquet.

    Columns: `premise, hypothesis, label` for nli; `query, passage, label` for the others; `group` keeps rows together,
    as do texts that stand in several rows. Labels: entailment/neutral/contradiction or yes/no for nli; yes/no for
    answerability; a number from 0 to 1 for alignment.

    Args:
        source: The file.
        task: What the labels are for.

    Raises:
        DataError: Every bad row with its line, or labels of only one kind.
    """
    problems = Problems(str(source))
    found: list[tuple[str, str, str | float, str]] = []
    for row in read_rows(source, problems):
        example = _example(row.values, task, problems, row.line)
        if example is not None:
            found.append(example)
    refuse([problems])
    classes = _classes([label for _, _, label, _ in found], task, str(source))
    numbers = [_number(label, classes) for _, _, label, _ in found]
    groups = _groups([(first, second) for first, second, _, _ in found], [group for *_, group in found])
    examples = tuple(
        Example(first, second, number, group)
        for (first, second, _, _), number, group in zip(found, numbers, groups, strict=True)
    )
    return LabelledSet(task, examples, classes, digest("TrainingLabels", [list(example[:3]) for example in examples]))


def cut(examples: Sequence[Example], *, stop_share: float = 0.15, report_share: float = 0.2, seed: int) -> Parts:
    """Cut examples into three parts by group; a group's part depends on its name and the seed alone.

    Raises:
        DataError: A part stays without two groups; more labels are needed.
    """
    parts: tuple[list[Example], list[Example], list[Example]] = ([], [], [])
    for example in examples:
        at = int(digest("split", [seed, example.group])[:12], 16) / 16**12
        place = 2 if at < report_share else 1 if at < report_share + stop_share else 0
        parts[place].append(example)
    for name, part in zip(("training", "stopping", "reporting"), parts, strict=True):
        if len({example.group for example in part}) < _LEAST_PER_PART:
            raise DataError(
                f"{len({e.group for e in examples})} groups of pairs are too few to keep a part for {name}; label more "
                f"pairs with other texts, or give rows that may be parted another `group`"
            )
    return Parts(*(tuple(part) for part in parts))


def _example(
    values: Mapping[str, Any], task: TrainTask, problems: Problems, line: int
) -> tuple[str, str, str | float, str] | None:
    texts: list[str] = []
    for names in _COLUMNS[task]:
        name = next((name for name in names if name in values), None)
        text = values.get(name) if name else None
        if not isinstance(text, str) or not text.strip():
            problems.add(line, f"no text in column {names[0]!r} (or {', '.join(names[1:])}), expected one")
            return None
        texts.append(text)
    label = _label(values.get("label"), task)
    if label is None:
        expected = {
            "nli": "entailment, neutral or contradiction, or yes/no",
            "answerability": "yes or no (1/0, true/false)",
            "alignment": "a number from 0 to 1",
        }[task]
        problems.add(line, f"label {values.get('label')!r}, expected {expected}")
        return None
    return texts[0], texts[1], label, str(values.get("group") or "")


def _label(value: Any, task: TrainTask) -> str | float | None:
    text = str(value).strip().lower()
    if task == "alignment":
        try:
            number = float(text)
        except ValueError:
            return None
        return number if 0 <= number <= 1 else None
    if text in _RELATIONS[1:] and task == "nli":
        return text
    return "yes" if text in _YES else "no" if text in _NO else None


def _classes(labels: Sequence[str | float], task: TrainTask, where: str) -> tuple[str, ...]:
    if len(set(labels)) < 2:
        raise DataError(f"{where}: every row has the label {labels[0]!r}; nothing can be learned from one kind")
    if task != "nli":
        return ()
    if set(labels) <= {"yes", "no"}:
        return ("not_entailment", "entailment")
    if "no" in labels:
        raise DataError(f"{where}: yes/no and three-way labels are mixed; use one kind for all rows")
    return _RELATIONS


def _number(label: str | float, classes: Sequence[str]) -> float:
    if isinstance(label, float):
        return label
    if classes == _RELATIONS:
        return float(classes.index("entailment" if label == "yes" else label))
    return float(label == "yes")


def _groups(texts: Sequence[tuple[str, str]], named: Sequence[str]) -> list[str]:
    # A named group is one more text that its rows share.
    linked = [(first, second, 0) for first, second in texts]
    linked += [(first, f"\x00{name}", 0) for (first, _), name in zip(texts, named, strict=True) if name]
    return [pair.group for pair in joined(linked)[: len(texts)]]

"""Reads RAGChecker's human label files: two answers a row, each question labelled by two people in two rows."""

from collections.abc import Mapping
from typing import Any

from offline_eval.core.hashing import digest

_DIMENSIONS = {"correctness_label": "correctness", "completeness_label": "completeness", "overall_label": "preference"}
_SCALE = (-2.0, -1.0, 0.0, 1.0, 2.0)
_MARKS = frozenset({"model1", "model2", "query"})


def is_ragchecker(values: Mapping[str, Any]) -> bool:
    """Whether a row is of this form."""
    return values.keys() >= _MARKS and any(name in values for name in _DIMENSIONS)


class RagcheckerRows:
    """Joins the rows of one pair of answers: the first is the first rater's, the next the second's, and so on.

    In these files a positive label prefers the second model; here a positive code prefers the first answer, so signs
    are turned.
    """

    def __init__(self) -> None:
        self._found: dict[str, dict[str, Any]] = {}

    def add(self, values: Mapping[str, Any]) -> list[str]:
        """Take one row.

        Returns:
            What is wrong with it; empty when it was taken.
        """
        faults = [
            f"{name} is {values.get(name)!r}, expected an object with model_name and response"
            for name in ("model1", "model2")
            if not isinstance(values.get(name), Mapping) or not isinstance(values[name].get("response"), str)
        ]
        labels = {name: values[name] for name in _DIMENSIONS if values.get(name) is not None}
        faults += [
            f"{name} is {label!r}, expected a whole number from -2 to 2"
            for name, label in labels.items()
            if isinstance(label, bool) or label not in _SCALE
        ]
        if not labels:
            faults.append(f"no label, expected one of {', '.join(_DIMENSIONS)}")
        if faults:
            return faults
        for name, label in labels.items():
            self._add_label(values, _DIMENSIONS[name], 0.0 if label == 0 else -float(label))
        return []

    def rows(self) -> list[dict[str, Any]]:
        """Native label rows, by dimension and then in the order of the file."""
        order = list(_DIMENSIONS.values())
        return sorted(self._found.values(), key=lambda row: order.index(row["dimension"]))

    def _add_label(self, values: Mapping[str, Any], dimension: str, code: float) -> None:
        first, second = values["model1"], values["model2"]
        names = [str(first.get("model_name", "model1")), str(second.get("model_name", "model2"))]
        question = [values["query"], values.get("query_id"), *names, first["response"], second["response"]]
        key = f"{digest('RagcheckerPair', question)[:12]}-{dimension}"
        row = self._found.setdefault(
            key,
            {
                "id": key,
                "kind": "pairwise",
                "dimension": dimension,
                "query": values["query"],
                "reference": values.get("gt_answer"),
                "answer_a": first["response"],
                "answer_b": second["response"],
                "scale": _SCALE,
                "labels": {},
                "slices": {"domain": str(values["dataset"])} if values.get("dataset") else {},
                "cluster": f"{values.get('dataset', '')}/{values.get('query_id') or values['query']}",
            },
        )
        row["labels"][f"rater {len(row['labels']) + 1}"] = code

"""Estimates → lines of a report: a name, the plot, and beside it the numbers that are plotted."""

from collections.abc import Mapping, Sequence
from typing import Any

from offline_eval.core.response_detail import MetricCard, ReportFrame
from offline_eval.core.results import Estimate
from offline_eval.report.charts import histogram, whisker
from offline_eval.report.html_case import short
from offline_eval.report.html_texts import Words
from offline_eval.report.numbers import interval_text, three

MOST_REASONS = 3
_FEW = 12  # metrics that are shown without groups

Shown = dict[str, Any]


class Scores:
    """Rows with plots for estimates.

    Args:
        frame: Of the report.
        t: The words of its language.
    """

    def __init__(self, frame: ReportFrame, t: Words) -> None:
        self._frame = frame
        self._t = t
        self._cards = {card.name: card for card in frame.metrics}
        self._shapes = {system: place for place, system in enumerate(frame.summary.systems)}

    def metric_groups(self) -> list[Shown]:
        """Every metric over everything, grades first; one group without a name while they are few."""
        overall = [e for e in self._frame.summary.estimates if e.group == "all"]
        metrics = [self._metric(card, [e for e in overall if e.metric == card.name]) for card in self._cards.values()]
        shown = [metric for metric in metrics if metric["rows"]]
        is_few = len(shown) <= _FEW
        groups: dict[str, list[Shown]] = {}
        for metric in shown:
            groups.setdefault("" if is_few else metric["group"], []).append(metric)
        named = {name: self._t.named("groups", name) for name in groups}
        return [{"name": named[name], "metrics": metrics} for name, metrics in groups.items()]

    def slices(self) -> list[Shown]:
        """Every metric by query type, language and tag."""
        sliced: dict[str, dict[str, list[Estimate]]] = {}
        for estimate in self._frame.summary.estimates:
            if estimate.group != "all":
                kind = estimate.group.partition("=")[0]
                sliced.setdefault(estimate.metric, {}).setdefault(kind, []).append(estimate)
        return [
            {
                "name": name,
                "title": self._title(name),
                "slices": [
                    {"name": self._t.named("slice_names", kind), "rows": [self._slice_row(e) for e in found]}
                    for kind, found in kinds.items()
                ],
            }
            for name, kinds in sliced.items()
        ]

    def histograms(self) -> list[Shown]:
        """How the ordering metric's values spread, by system."""
        card = self._cards.get(self._frame.ordered_by or "")
        if card is None or card.low is None or card.high is None:
            return []
        found = []
        for system, counts in self._frame.histograms.items():
            width = (card.high - card.low) / len(counts)
            edges = [card.low + place * width for place in range(len(counts) + 1)]
            table = [(f"{three(a)} – {three(b)}", n) for a, b, n in zip(edges, edges[1:], counts, strict=False)]
            name = short(system)
            title = self._t.histogram_title.format(system=name, metric=card.name, n=sum(counts))
            found.append(
                {
                    "system": name,
                    "plot": histogram(counts, title=title),
                    "low": three(card.low),
                    "high": three(card.high),
                    "table": table,
                }
            )
        return found

    def _metric(self, card: MetricCard, found: Sequence[Estimate]) -> Shown:
        low = self._t.unbounded if card.low is None else three(card.low)
        high = self._t.unbounded if card.high is None else three(card.high)
        direction = self._t.higher if card.higher_is_better else self._t.lower
        return {
            "name": card.name,
            "group": card.group,
            "title": self._title(card.name),
            "range": self._t.range.format(low=low, high=high, direction=direction),
            "rows": [self.row(e, e.system, note=self._note(e)) for e in found],
        }

    def _slice_row(self, estimate: Estimate) -> Shown:
        name = estimate.group.partition("=")[2]
        several = len(self._frame.summary.systems) > 1
        return self.row(estimate, f"{short(name, 60)} · {short(estimate.system, 60)}" if several else name)

    def row(self, estimate: Estimate, name: str, *, note: str = "") -> Shown:
        """One line: a name, the plot, the numbers that are plotted."""
        axis = self._axis(self._cards[estimate.metric], estimate)
        value = "–" if estimate.value is None else three(estimate.value)
        count = f"{estimate.n_scored}/{estimate.n}"
        bounds = None if estimate.interval is None else (estimate.interval.low, estimate.interval.high)
        said = interval_text(estimate.interval)
        title = self._t.whisker_title.format(
            name=f"{estimate.metric}, {short(name)}",
            value=value,
            interval=said,
            count=count,
            low=three(axis[0]),
            high=three(axis[1]),
        )
        shape = self._shapes.get(estimate.system, 0)
        plot = whisker(estimate.value, bounds, axis=axis, shape=shape, title=title)
        return {"name": short(name), "plot": plot, "value": value, "interval": said, "count": count, "note": note}

    def _axis(self, card: MetricCard, estimate: Estimate) -> tuple[float, float]:
        """The metric's range; where it has no end, as far as this estimate reaches."""
        ends = [estimate.value or 0.0]
        if estimate.interval is not None:
            ends += [estimate.interval.low, estimate.interval.high]
        low = card.low if card.low is not None else min(0.0, *ends)
        high = card.high if card.high is not None else max(1.0, *ends)
        return low, high

    def _note(self, estimate: Estimate) -> str:
        """What is missing from a mean, and why."""
        notes = []
        if estimate.n_scored < estimate.n:
            notes.append(
                self._t.not_scored.format(
                    na=estimate.n_not_applicable, failed=estimate.n_failed, reasons=self._reasons(estimate.reasons)
                )
            )
        if estimate.n_failed and estimate.mean_scored is not None:
            notes.append(self._t.without_failed.format(mean=three(estimate.mean_scored)))
        text = "".join(notes)
        if estimate.interval is None and estimate.interval_reason:
            why = self._t.no_interval.format(reason=estimate.interval_reason)
            text = f"{text}; {why}" if text else why
        return text

    def _reasons(self, reasons: Mapping[str, int]) -> str:
        shown = [f"{n} × {short(self._t.reason(reason))}" for reason, n in list(reasons.items())[:MOST_REASONS]]
        more = len(reasons) - MOST_REASONS
        return ", ".join([*shown, *([self._t.more.format(n=more)] if more > 0 else [])])

    def _title(self, metric: str) -> str:
        return self._t.named("metrics", metric)

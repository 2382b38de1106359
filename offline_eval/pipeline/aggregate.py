"""Evidence → scores → estimates → one summary; pure arithmetic, so re-scoring never calls a model."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from statistics import stdev
from typing import Any, TypeVar

from offline_eval.core.diagnosis import Text
from offline_eval.core.errors import StoreError
from offline_eval.core.evidence import Evidence, ReasonEvidence, RefusalEvidence, VerdictEvidence
from offline_eval.core.pieces import Pieces, pieces_of
from offline_eval.core.protocols import Item
from offline_eval.core.results import Score, Status
from offline_eval.core.summary import Correlation, RefusalTable, ResponseView, RunSummary
from offline_eval.judge.panel import Panel
from offline_eval.judge.routing import PanelVerdict, panel_verdict
from offline_eval.judge.rubric import load_rubric
from offline_eval.metrics.panel.total_grade import TotalGrade
from offline_eval.pipeline.certificate import certification
from offline_eval.pipeline.certify import stored_tests
from offline_eval.pipeline.config import RunConfig
from offline_eval.pipeline.judge_counts import collapsed_judges, judge_counts
from offline_eval.pipeline.manifest import manifest_of
from offline_eval.pipeline.metric_plan import load_metric
from offline_eval.pipeline.pass_rates import pass_rates, read_error_rates
from offline_eval.pipeline.plan import FINISHED, pair
from offline_eval.pipeline.run_warnings import UNFINISHED, read_stored, unanswered
from offline_eval.pipeline.scoring import AnyMetric, score_all
from offline_eval.pipeline.slices import language_of, query_type_of, slice_estimates
from offline_eval.pipeline.staged import screen_count
from offline_eval.pipeline.uncollected import name_uncollected
from offline_eval.stats.association import correlation_matrix
from offline_eval.stats.power import LEAST_FOR_A_FORMAL_REPORT, size_advice
from offline_eval.store.run_file import RunFile

P = TypeVar("P")

WORST_SHOWN = 10
CORRELATION_RESAMPLES = 500  # enough for two digits of an interval; a report should not take long
_LOW, _HIGH = TotalGrade.low, TotalGrade.high


class Results:
    """Everything a run file says, read once.

    Args:
        weights: Replaces the panel's weights, for every query type.
        by_expected: Totals from expected grades instead of labels.
        metrics: Replaces the run's metrics; one whose evidence the run never asked for does not apply.

    Raises:
        StoreError: The file holds no run.
    """

    def __init__(
        self,
        run_file: RunFile,
        *,
        weights: Mapping[str, float] | None = None,
        by_expected: bool = False,
        metrics: Sequence[str] = (),
    ) -> None:
        stored = run_file.configuration()
        if stored is None:
            raise StoreError(f"{run_file.path}: the run was stopped before anything was written; run it again")
        self.run_id = str(stored["run_id"])
        self.head = run_file.head()
        counted = [body for name, body in run_file.events() if name in ("release", "air_gap")]
        self.refused_attempts = sum(int(body.get("refused_connections", 0)) for body in counted)
        self.is_finished = FINISHED in run_file.committed_batches()
        self.config = RunConfig.model_validate(stored["config"])
        self.warnings = read_stored(stored)
        self.error_rates = read_error_rates(stored)
        self.self_tests = stored_tests(run_file)
        self.cases, responses = list(run_file.cases()), list(run_file.responses())
        self.manifest = manifest_of(run_file, cases=self.cases, responses=responses)
        self.items = pair(self.cases, responses)
        self.cases_hash, self.responses_hash = self.manifest.cases_hash, self.manifest.responses_hash
        self.evidence = _by_response(run_file.evidence())
        self.panel: Panel = self.config.panel
        if weights is not None:
            self.panel = self.panel.model_copy(update={"weights": dict(weights), "weights_by_query_type": {}})
        self.by_expected = by_expected
        self.verdicts: dict[str, PanelVerdict] = {
            item.response.key: panel_verdict(
                item.response.key, self.evidence[item.response.key], rules=self.panel.routing
            )
            for item in self.items
        }
        self.metrics: list[AnyMetric] = [self._metric(name) for name in metrics or self.config.metric_names]
        found = score_all(self.metrics, self.items, self.evidence)
        self.scores: dict[str, dict[str, Score]] = name_uncollected(found, self.config)

    def _metric(self, name: str) -> AnyMetric:
        if name != TotalGrade.name:
            return load_metric(name)
        return TotalGrade(
            self.panel.weights, by_query_type=self.panel.weights_by_query_type, by_expected=self.by_expected
        )

    @cached_property
    def views(self) -> Mapping[str, ResponseView]:
        """Response key to the response as a person wants to see it, in the items' order."""
        return {item.response.key: _view(self, item) for item in self.items}

    def pieces(self) -> Iterable[Evidence]:
        """All evidence in the order of the items."""
        return chain.from_iterable(self.evidence[item.response.key] for item in self.items)

    def of(self, kind: type[P]) -> Iterable[P]:
        """All evidence of a kind in the order of the items."""
        return chain.from_iterable(self.evidence[item.response.key].of(kind) for item in self.items)


def _by_response(evidence: Iterable[Evidence]) -> Mapping[str, Pieces]:
    found: dict[str, list[Evidence]] = defaultdict(list)
    for piece in evidence:
        found[piece.response_key].append(piece)
    return defaultdict(Pieces, {key: Pieces(pieces) for key, pieces in found.items()})


def summarize(results: Results) -> RunSummary:
    """Everything a report needs, from stored evidence alone."""
    found = list(results.of(VerdictEvidence))
    views = results.views.values()
    review = [view for view in views if view.review_reasons]
    scored = sorted((v for v in views if v.total is not None), key=lambda v: (v.total, v.response_key))
    n = len(results.items)
    return RunSummary(
        run_id=results.run_id,
        head=results.head,
        panel=results.panel.name,
        weights={name: results.panel.weights[name] for name in results.panel.examiners},
        weights_by_query_type=results.panel.weights_by_query_type,
        judges={name: results.config.judges[name] for name in results.panel.examiners},
        engine=results.config.engine,
        dtype=results.config.dtype,
        encoders_run_in=results.config.encoders_run_in,
        seed=results.config.seed,
        cases_hash=results.cases_hash,
        responses_hash=results.responses_hash,
        n_cases=len(results.cases),
        n_responses=n,
        systems=tuple(_systems(results)),
        estimates=tuple(slice_estimates(results.metrics, results.items, results.scores, seed=results.config.seed)),
        labels=_labels(found, results),
        level_names=_level_names(found),
        correlations=tuple(_correlations(results)),
        refusals=tuple(_refusals(results)),
        judge_counts=tuple(judge_counts(found, results.of(ReasonEvidence), engine=results.config.engine)),
        n_verdicts=len(found),
        n_failed=sum(piece.verdict.status is Status.FAILED for piece in found),
        n_not_applicable=sum(piece.verdict.status is Status.NOT_APPLICABLE for piece in found),
        by_rule=sum(piece.verdict.decided_by == "rule" for piece in found),
        review=tuple(review),
        review_share=len(review) / n if n else 0.0,
        review_shares=_review_shares(views, n),
        engines={str(kind): name for kind, name in results.config.engines.items()},
        screen=None if results.config.screen is None else screen_count(found),
        pass_rates=tuple(pass_rates(results.items, results.evidence, results.error_rates)),
        certification=certification(results.config, results.self_tests, found),
        manifest=results.manifest,
        refused_attempts=results.refused_attempts,
        worst=tuple(scored[:WORST_SHOWN]),
        advice=tuple(_advice(results)),
        warnings=tuple(text.en for text in warnings_of(results)),
    )


def warnings_of(results: Results) -> list[Text]:
    """What to know before trusting the numbers: of the beginning, of the end, and of the verdicts."""
    unfinished = [] if results.is_finished else [UNFINISHED]
    collapsed = collapsed_judges(list(results.of(VerdictEvidence)))
    return [*results.warnings, *unfinished, *unanswered(results.cases, results.items), *collapsed]


def _systems(results: Results) -> list[str]:
    return list(dict.fromkeys(item.response.system for item in results.items))


def _level_names(found: Sequence[VerdictEvidence]) -> dict[str, str]:
    """What the labels on the wire are called, for people: `1` is `fail / 不合格`."""
    used = sorted({(piece.dimension, piece.rubric.split("@")[0].rsplit(".", 1)[1]) for piece in found})
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for dimension, language in used:
        for level in load_rubric(dimension, language).levels:
            names[level.label][level.name] = None
    return {label: " / ".join(found) for label, found in sorted(names.items())}


def _labels(found: Sequence[VerdictEvidence], results: Results) -> dict[str, dict[str, dict[str, int]]]:
    system_of = {item.response.key: item.response.system for item in results.items}
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for piece in found:
        label = piece.verdict.label or piece.verdict.status.value
        counts[system_of[piece.response_key]][piece.dimension][label] += 1
    return {s: {d: dict(sorted(c.items())) for d, c in dims.items()} for s, dims in counts.items()}


def _correlations(results: Results) -> list[Correlation]:
    if not results.config.judge_names:
        return []
    columns = {
        dimension: [results.verdicts[item.response.key].grades.get(dimension) for item in results.items]
        for dimension in results.panel.examiners
    }
    clusters = [item.case.id for item in results.items]
    return [
        Correlation(
            first=entry.first,
            second=entry.second,
            value=entry.correlation.value,
            interval=entry.correlation.interval,
            n=entry.correlation.n,
            reading=entry.reading,
            reason=entry.correlation.reason,
        )
        for entry in correlation_matrix(
            columns, clusters=clusters, seed=results.config.seed, resamples=CORRELATION_RESAMPLES
        )
    ]


def _refusals(results: Results) -> list[RefusalTable]:
    counts: dict[str, Counter[str]] = {system: Counter() for system in _systems(results)}
    for item in results.items:
        refusal = next(iter(pieces_of(results.evidence[item.response.key], RefusalEvidence)), None)
        counts[item.response.system][_refusal_cell(item, refusal)] += 1
    return [RefusalTable.model_validate({"system": system, **cells}) for system, cells in counts.items()]


def _refusal_cell(item: Item, refusal: RefusalEvidence | None) -> str:
    if refusal is None:
        return "failed"
    if item.case.answerable is None:
        return "unknown"
    first = "answerable" if item.case.answerable else "unanswerable"
    return f"{first}_{'refused' if refusal.refused else 'answered'}"


def _review_shares(views: Iterable[ResponseView], n: int) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for view in views:
        counts.update({reason.split(":")[0] for reason in view.review_reasons})
    return {rule: count / n for rule, count in sorted(counts.items())}


def _view(results: Results, item: Item) -> ResponseView:
    key = item.response.key
    verdict, total = results.verdicts[key], results.scores.get(TotalGrade.name, {}).get(key)
    fault = item.response.metadata.get("fault")
    return ResponseView(
        response_key=key,
        case_id=item.case.id,
        system=item.response.system,
        language=language_of(item),
        query_type=query_type_of(item),
        query=item.case.query,
        answer=item.response.answer,
        total=total.value if total else None,
        total_reason=total.reason if total else "not_scored",
        grades=verdict.grades,
        missing=verdict.missing,
        review_reasons=verdict.review_reasons,
        notes=tuple(dict.fromkeys(_notes(results.evidence[key]))),
        fault=fault if isinstance(fault, str) else None,
    )


def _notes(evidence: Sequence[Evidence]) -> Iterable[str]:
    for piece in evidence:
        if isinstance(piece, ReasonEvidence):
            quoted = f" «{piece.quote}»" if piece.quote else ""
            doubt = " (quote not in the material)" if piece.quote_verbatim is False else ""
            text = piece.reason if piece.status is Status.SCORED else piece.status_reason
            yield f"{piece.dimension} ({piece.judge}): {text}{quoted}{doubt}"
        elif isinstance(piece, VerdictEvidence) and piece.verdict.note:
            yield f"{piece.dimension} (rule): {piece.verdict.note}"


def _advice(results: Results) -> list[str]:
    """What the set's size allows, in words; from the measured spread where there is one."""
    counts = Counter(query_type_of(item) for item in {item.case.id: item for item in results.items}.values())
    totals = [score.value for score in results.scores.get(TotalGrade.name, {}).values() if score.value is not None]
    spread = stdev(totals) if len(totals) > 1 else None
    found = []
    for row in size_advice(dict(sorted(counts.items())), low=_LOW, high=_HIGH, sd=spread or None):
        if row.enough and row.scope != "all":
            continue
        sees_any = row.smallest_difference is not None and row.smallest_difference < _HIGH - _LOW
        seen = (
            f"differences above {row.smallest_difference:.2g} can be seen" if sees_any else "no difference can be seen"
        )
        wanted = "" if row.enough else f", fewer than the {row.wanted} advised"
        if row.enough and row.n < LEAST_FOR_A_FORMAL_REPORT:
            wanted = f", fewer than the {LEAST_FOR_A_FORMAL_REPORT} advised for a formal report"
        found.append(f"{'all types' if row.scope == 'all' else row.scope}: {row.n} cases{wanted}; {seen}")
    return found


def results_document(results: Results) -> dict[str, Any]:
    """The run's canonical results: the same bytes for the same run, however often it was interrupted.

    Times, memory and names live in the run file's events, not here.
    """
    summary = summarize(results).model_dump(mode="json")
    del summary["head"]  # covers the events too
    for of_the_sessions in ("certification", "manifest", "refused_attempts"):
        del summary[of_the_sessions]
    evidence = [piece.model_dump(mode="json") for piece in results.pieces()]
    evidence.sort(
        key=lambda piece: (
            piece["response_key"],
            piece["kind"],
            piece.get("dimension", ""),
            piece.get("judge", ""),
            piece.get("role", ""),
        )
    )
    scores = [score.model_dump(mode="json") for scores in results.scores.values() for score in scores.values()]
    return {
        "format": "offline-eval results 1",
        "config": results.config.model_dump(mode="json"),
        "summary": summary,
        "scores": scores,
        "evidence": evidence,
    }

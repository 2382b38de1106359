"""Runs a plan: one model in memory at a time, batch by batch, each committed whole; running again continues."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from offline_eval.airgap.guard import attempt_count
from offline_eval.checks.rubric_verdict import Question, RubricVerdict
from offline_eval.checks.screen import ScreenCheck, is_control
from offline_eval.core.errors import EngineError
from offline_eval.core.evidence import Evidence, VerdictEvidence
from offline_eval.core.protocols import (
    Check,
    Embedder,
    EngineKind,
    PairScorer,
    PrefixCached,
    ProgressCallback,
    TextEngine,
)
from offline_eval.core.results import Status
from offline_eval.engines.isolate import Incident
from offline_eval.judge.routing import disputed_dimensions, panel_verdict
from offline_eval.judge.rules import decide
from offline_eval.pipeline.config import RunConfig
from offline_eval.pipeline.contain import contained_encoder, contained_judge
from offline_eval.pipeline.metric_plan import load_check
from offline_eval.pipeline.plan import FINISHED, Batch, Stage, check_stages, pair, stage_of, verdict_stages
from offline_eval.store.audit import require_intact
from offline_eval.store.run_file import RunFile

Model = TextEngine | PairScorer | Embedder
OpenJudge = Callable[[str], TextEngine]
OpenEncoder = Callable[[EngineKind, str], PairScorer | Embedder]


class Executor:
    """One execution over one run file.

    Args:
        run_file: Holds the run's cases and responses; their order there decides the batches, so that a run that is
            started again from a file in another order still finds its batches.
        open_judge: Loads a judge by name.
        open_encoder: Loads an encoder or embedder by kind and name.
        progress: Called after every batch with verdicts done and in all, per stage.
        announce: Called with a line about what begins.
    """

    def __init__(
        self,
        run_file: RunFile,
        config: RunConfig,
        *,
        open_judge: OpenJudge,
        open_encoder: OpenEncoder | None = None,
        progress: ProgressCallback = lambda done, total: None,
        announce: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._file = run_file
        self._config = config
        self._items = pair(list(run_file.cases()), list(run_file.responses()))
        self._open_judge = open_judge
        self._open_encoder = open_encoder
        self._progress = progress
        self._announce = announce
        self._loaded: tuple[EngineKind, str, Model] | None = None
        self._opened = 0.0
        self._incidents_told = 0  # of the loaded engine
        self._refused_before = self._refused_told = 0  # calls that the socket guard refused in this process

    def run(self) -> None:
        """Do everything that is not committed yet.

        Raises:
            OfflineEvalError: A model cannot be loaded or the file cannot be written; what was committed is kept.
            StoreError: What was committed before is damaged or was altered.
        """
        require_intact(self._file)
        try:
            for stage in check_stages(self._config, self._items):
                self._run_stage(stage)
            for stage in verdict_stages(self._config, self._items, settled=self._settled()):
                self._run_stage(stage)
            if self._config.arbiter is not None:
                self._run_stage(self._arbiter_stage(self._config.arbiter))
            if self._config.reasons == "review":
                for stage in self._review_stages():
                    self._run_stage(stage)
            if FINISHED not in self._file.committed_batches():
                self._file.commit_batch(FINISHED, [])
        finally:
            self._release()
            self._note_refused()

    def _run_stage(self, stage: Stage) -> None:
        done_before = self._file.committed_batches()
        pending = [batch for batch in stage.batches if batch.name not in done_before]
        total = sum(batch.size for batch in stage.batches)
        done = total - sum(batch.size for batch in pending)
        if not pending:
            return
        if done:
            self._announce(f"{stage.judge or stage.check}: {done} of {total} were done before and are kept")
        verdicts = self._verdicts_by_question(stage.judge) if stage.kind == "reason" else {}
        known = self._evidence_for(load_check(stage.check)) if stage.kind == "check" else {}
        for batch in pending:
            started = time.monotonic()
            evidence = self._run_check(stage, batch, known) if batch.items else self._run_batch(stage, batch, verdicts)
            self._note_incidents(batch)
            self._file.commit_batch(batch.name, evidence)
            self._note_batch(stage, batch, evidence, time.monotonic() - started)
            done += batch.size
            if stage.engine is not None:  # rules take no time worth telling
                self._progress(done, total)

    def _run_check(self, stage: Stage, batch: Batch, known: Mapping[str, Sequence[Evidence]]) -> list[Evidence]:
        check = load_check(stage.check)
        if isinstance(check, ScreenCheck) and self._config.screen is not None:
            check = ScreenCheck(*self._config.screen)
        engine = self._engine(stage.engine, stage.judge, writes=True) if stage.engine is not None else None
        return check.run(batch.items, evidence=known, engine=engine)

    def _run_batch(self, stage: Stage, batch: Batch, verdicts: Mapping[str, VerdictEvidence]) -> list[Evidence]:
        # An arbiter is asked where a person may look next, so its reasons come at once.
        with_reasons = self._config.reasons == "all" or (self._config.reasons == "review" and stage.role == "arbiter")
        writes = with_reasons or stage.kind == "reason"
        engine = self._judge(stage.judge, writes=writes) if _needs_model(stage, batch) else None
        check = RubricVerdict(stage.judge, engine, role=stage.role, with_reasons=with_reasons)
        if stage.kind == "verdict":
            return check.run(batch.questions)
        return list(check.reasons(batch.questions, [verdicts[question.key] for question in batch.questions]))

    def _judge(self, name: str, *, writes: bool) -> TextEngine:
        engine = self._engine("judge", name, writes=writes)
        assert isinstance(engine, TextEngine)  # a judge is opened by `open_judge` alone
        return engine

    def _engine(self, kind: EngineKind, name: str, *, writes: bool) -> Model:
        engine = self._loaded[2] if self._loaded is not None and self._loaded[:2] == (kind, name) else None
        engine = engine or self._load(kind, name)
        if isinstance(engine, PrefixCached) and _is_moved_by_its_cache(engine.info.options, writes=writes):
            engine.forget_prefixes()  # so every batch meets the engine that a resumed run would meet
        return engine

    def _load(self, kind: EngineKind, name: str) -> Model:
        self._release()  # one model in memory at a time
        self._announce(f"loading {kind} {name}" + (f" on {self._config.engine}" if kind == "judge" else ""))
        started, self._refused_before = time.monotonic(), attempt_count()
        engine = self._open(kind, name)
        self._opened = time.monotonic()
        self._loaded, self._incidents_told = (kind, name, engine), 0
        self._file.note(
            "load", {"judge": name, "seconds": self._opened - started, "info": engine.info.model_dump(mode="json")}
        )
        self._announce(f"loaded {name} in {self._opened - started:.1f} s ({engine.info.device}, {engine.info.dtype})")
        return engine

    def _open(self, kind: EngineKind, name: str) -> Model:
        if kind == "judge":
            return contained_judge(self._open_judge(name))
        if self._open_encoder is None:
            raise EngineError(f"{name}: this run needs a model of kind {kind}, and nothing was given that can load one")
        return contained_encoder(self._open_encoder(kind, name))

    def _release(self) -> None:
        if self._loaded is None:
            return
        _, judge, engine = self._loaded
        self._loaded = None
        engine.close()
        held = time.monotonic() - self._opened
        body: dict[str, Any] = {"judge": judge, "held_seconds": held}
        body |= {
            name: getattr(engine, name)
            for name in ("peak_bytes", "loads", "cache_hits", "cache_misses")
            if hasattr(engine, name)
        }
        # In the model's own process, and in this one, where encoders live.
        here = attempt_count() - self._refused_before
        self._refused_told += here
        body["refused_connections"] = getattr(engine, "refused_connections", 0) + here
        self._file.note("release", body)
        peak = f", peak memory {body['peak_bytes'] / 2**30:.2f} GiB" if body.get("peak_bytes") else ""
        self._announce(f"released {judge} after {held:.1f} s{peak}")

    def _note_refused(self) -> None:
        """Note what was refused while no model was loaded: a system under test can try to call out as well."""
        rest = attempt_count() - self._refused_told
        if rest:
            self._refused_told += rest
            self._file.note("air_gap", {"refused_connections": rest})

    def _note_batch(self, stage: Stage, batch: Batch, evidence: Sequence[Evidence], seconds: float) -> None:
        counts = {
            "rows": len(evidence),
            "prompt_tokens": sum(getattr(piece, "prompt_tokens", 0) for piece in evidence),
            "output_tokens": sum(getattr(piece, "output_tokens", 0) for piece in evidence),
        }
        names = {"judge": stage.judge, "kind": stage.kind, "check": stage.check}
        self._file.note("batch", {"batch": batch.name, **names, "seconds": seconds, **counts})

    def _note_incidents(self, batch: Batch) -> None:
        """Tell what the engine survived in this batch, and keep it beside the numbers."""
        incidents = getattr(self._loaded[2], "incidents", ()) if self._loaded is not None else ()
        for incident in incidents[self._incidents_told :]:
            self._file.note("incident", {"batch": batch.name, **incident.model_dump(mode="json")})
            self._announce(_told(incident))
        self._incidents_told = len(incidents)

    def _arbiter_stage(self, arbiter: str) -> Stage:
        evidence = self._evidence_by_response()
        questions = [
            Question(item=item, dimension=dimension)
            for item in self._items
            for dimension in disputed_dimensions(
                [piece for piece in evidence[item.response.key] if getattr(piece, "role", "") == "examiner"]
            )
        ]
        return stage_of(self._config, questions, judge=arbiter, role="arbiter", kind="verdict")

    def _review_stages(self) -> list[Stage]:
        evidence = self._evidence_by_response()
        rules = self._config.panel.routing
        flagged = [
            item
            for item in self._items
            if panel_verdict(item.response.key, evidence[item.response.key], rules=rules).route == "review"
        ]
        stages = []
        for judge in self._config.judge_names:
            verdicts = self._verdicts_by_question(judge)
            questions = [
                Question(item=item, dimension=name) for item in flagged for name in self._config.panel.examiners
            ]
            known = [
                question
                for question in questions
                if question.key in verdicts and verdicts[question.key].verdict.status is Status.SCORED
            ]
            stages.append(stage_of(self._config, known, judge=judge, role="examiner", kind="reason"))
        return stages

    def _settled(self) -> frozenset[str]:
        """Questions the screen answered, but for those that are judged all the same to measure the agreement."""
        if self._config.screen is None:
            return frozenset()
        return frozenset(
            f"{piece.response_key}|{piece.dimension}"
            for piece in self._file.evidence()
            if isinstance(piece, VerdictEvidence) and piece.role == "screen" and not is_control(piece.response_key)
        )

    def _evidence_for(self, check: Check) -> dict[str, list[Evidence]]:
        """What a check reads: the evidence of the checks it needs, and of those that replace them."""
        wanted = {*check.needs, *(f"judge_{name}" for name in check.needs)}
        found: dict[str, list[Evidence]] = defaultdict(list)
        if check.needs:
            for piece in self._file.evidence():
                if piece.provenance.producer in wanted:
                    found[piece.response_key].append(piece)
        return found

    def _evidence_by_response(self) -> dict[str, list[Evidence]]:
        found: dict[str, list[Evidence]] = defaultdict(list)
        for piece in self._file.evidence():
            found[piece.response_key].append(piece)
        return found

    def _verdicts_by_question(self, judge: str) -> dict[str, VerdictEvidence]:
        return {
            f"{piece.response_key}|{piece.dimension}": piece
            for piece in self._file.evidence()
            if isinstance(piece, VerdictEvidence) and piece.judge == judge and piece.role == "examiner"
        }


def _needs_model(stage: Stage, batch: Batch) -> bool:
    """A batch that rules decide altogether loads nothing."""
    if stage.kind == "reason":
        return True
    return any(decide(q.item.case, q.item.response, q.rubric) is None for q in batch.questions)


def _is_moved_by_its_cache(options: Mapping[str, Any], *, writes: bool) -> bool:
    """Whether what an engine keeps of earlier prompts can move what a batch asks, which may be more than labels."""
    if options.get("batch_invariant"):
        return False
    return writes or not options.get("labels_alone")


def _told(incident: Incident) -> str:
    """An incident in one line for people."""
    first = incident.detail.splitlines()[0]
    if incident.kind == "worker_replaced":
        return f"the engine died in a batch of {incident.requests} and was started again: {first}"
    if incident.kind == "smaller_batch":
        return f"{incident.reason}: at most {incident.batch_size} are computed together from here on: {first}"
    others = incident.requests - incident.at_fault
    return f"{incident.reason}: {incident.at_fault} of {incident.requests} items fail, {others} were answered: {first}"

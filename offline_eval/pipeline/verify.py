"""Replays batches of a finished run and compares every piece of evidence with what is stored.

A replay is a resumed run: a copy of the run file without the chosen batches is continued by the very code that made
them, so that each batch is computed again whole, with the same batch mates, from an empty cache.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from offline_eval.core.errors import ReproductionError, StoreError
from offline_eval.core.evidence import Evidence, VerdictEvidence, parse_evidence
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import Embedder, EngineKind, PairScorer, ProgressCallback, TextEngine
from offline_eval.core.verification import Changed, Difference, Verification
from offline_eval.engines.select import EngineOptions
from offline_eval.pipeline.config import RunConfig
from offline_eval.pipeline.execute import Executor
from offline_eval.pipeline.manifest import manifest_of
from offline_eval.pipeline.plan import FINISHED
from offline_eval.pipeline.setup import engine_differences
from offline_eval.store.audit import require_intact
from offline_eval.store.run_file import RunFile

_LEFT_OUT = {"provenance"}  # says on what it was made, which is compared apart
_ABOUT = ("dimension", "judge", "role", "source", "hypotheses", "premises", "to")
_SHOWN = 12


class Replay:
    """A finished run, ready to be replayed.

    Args:
        setup: Differences that were found before; with `allow_different` they are reported, else refused.

    Raises:
        ReproductionError: The set-up is not the same and that was not allowed.
        StoreError: The run is not finished, or its file was altered.
    """

    def __init__(self, run_file: RunFile, *, setup: Sequence[Difference], allow_different: bool = False) -> None:
        require_intact(run_file)
        self._manifest = manifest_of(run_file)
        if FINISHED not in run_file.committed_batches():
            raise StoreError(f"{run_file.path}: the run is not finished; run the same command again, then verify it")
        self._file = run_file
        self.config = RunConfig.model_validate(self._manifest.config)
        self._engines = {info.model: info for info in self._manifest.engines}
        self._setup: list[Difference] = []
        self._allow_different = allow_different
        self._admit(setup)

    def run(
        self,
        folder: Path,
        *,
        sample: int | None,
        open_judge: Callable[[str], TextEngine],
        open_encoder: Callable[[EngineKind, str], PairScorer | Embedder],
        progress: ProgressCallback = lambda done, total: None,
    ) -> Verification:
        """Replay and compare.

        Args:
            folder: For the copy of the run file.
            sample: At least this many pieces of evidence that models made, in whole batches; None for the whole run.

        Raises:
            ReproductionError: A loaded engine is not the run's, and that was not allowed.
        """
        chosen = choose_batches(self._file, sample=sample)
        copy = self._copy(folder / "replay.sqlite", without=chosen)
        try:
            Executor(
                copy,
                self.config,
                open_judge=lambda name: self._admitted(open_judge(name)),
                open_encoder=lambda kind, name: self._admitted(open_encoder(kind, name)),
                progress=progress,
            ).run()
            stored, replayed = (
                {name: found for name, found in _batches(file) if name in chosen} for file in (self._file, copy)
            )
        finally:
            copy.close()
        pairs = [pair for name, found in stored.items() for pair in _pairs(found, replayed.get(name, []))]
        return Verification(
            run_id=self._manifest.run_id,
            batches=len(chosen),
            compared=len(pairs),
            verdicts=sum(isinstance(before, VerdictEvidence) and _is_made_by_model(before) for before, _ in pairs),
            changed=tuple(_changed(before, after) for before, after in pairs if _content(before) != _content(after)),
            setup=tuple(self._setup),
        )

    def _copy(self, path: Path, *, without: frozenset[str]) -> RunFile:
        copy = RunFile(path, create=True)
        copy.begin_run(self._file.configuration() or {}, list(self._file.cases()), list(self._file.responses()))
        for name, evidence in _batches(self._file):
            if name not in without and name != FINISHED:
                copy.commit_batch(name, evidence)
        return copy

    def _admitted(self, engine: Any) -> Any:
        try:
            self._admit(engine_differences(self._engines, engine.info))
        except ReproductionError:
            engine.close()
            raise
        return engine

    def _admit(self, found: Sequence[Difference]) -> None:
        if found and not self._allow_different:
            shown = [f"{d.part}: {_short(d.then)} then, {_short(d.now)} now" for d in found[:_SHOWN]]
            more = [f"{len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
            raise ReproductionError(
                "not replayed, the set-up is not the run's:\n  "
                + "\n  ".join([*shown, *more])
                + "\nrestore it, or replay all the same with --allow-different, which tells drift and proves nothing"
            )
        self._setup += [difference for difference in found if difference not in self._setup]


def engine_options(config: RunConfig, *, allow_hosts: Sequence[str] = ()) -> EngineOptions:
    """The options that the run's engines were opened with."""
    return EngineOptions(
        engine=config.engine,
        dtype=None if config.dtype == "config" else config.dtype,
        batch_size=config.batch_size,
        context_length=config.context_length,
        seed=config.seed,
        url=config.url,
        allow_hosts=tuple(allow_hosts),
        certified=config.certified,
        encoder_dtype=config.encoder_dtype or config.dtype,
        encoder_engine=config.encoder_engine,
    )


def choose_batches(run_file: RunFile, *, sample: int | None) -> frozenset[str]:
    """All batches, or so many that models asked, by the hash of their names, that they hold the sample."""
    sizes = {name: sum(map(_is_made_by_model, pieces)) for name, pieces in _batches(run_file) if name != FINISHED}
    if sample is None:
        return frozenset(sizes)
    chosen: set[str] = set()
    for name in sorted((name for name in sizes if sizes[name]), key=lambda name: digest("verify", name)):
        if sum(sizes[other] for other in chosen) >= sample:
            break
        chosen.add(name)
    return frozenset(chosen)


def _batches(run_file: RunFile) -> Iterator[tuple[str, list[Evidence]]]:
    """Each committed batch with its evidence, in the order of writing."""
    rows = (row for row in run_file.rows() if row.kind in ("evidence", "batch"))
    for name, group in groupby(rows, key=lambda row: row.batch):
        yield name, [parse_evidence(json.loads(row.body)) for row in group if row.kind == "evidence"]


def _is_made_by_model(piece: Evidence) -> bool:
    return piece.provenance.engine_fingerprint is not None


def _pairs(before: Sequence[Evidence], after: Sequence[Evidence]) -> list[tuple[Evidence, Evidence | None]]:
    """Stored pieces, each with its replay; None where the replay made none."""
    replayed = {_identity(piece): piece for piece in after}
    return [(piece, replayed.get(_identity(piece))) for piece in before]


def _identity(piece: Evidence) -> tuple[object, ...]:
    """What a piece of evidence is about."""
    return (piece.kind, piece.response_key, *(getattr(piece, name, None) for name in _ABOUT))


def _content(piece: Evidence | None) -> dict[str, Any] | None:
    return None if piece is None else piece.model_dump(mode="json", exclude=_LEFT_OUT)


def _changed(before: Evidence, after: Evidence | None) -> Changed:
    then, now = _content(before) or {}, _content(after) or {}
    fields = [name for name in then if then[name] != now.get(name)]
    is_verdict = isinstance(before, VerdictEvidence)
    if is_verdict and fields == ["verdict"]:
        fields = [name for name in then["verdict"] if then["verdict"][name] != now["verdict"][name]]
    return Changed(
        response_key=before.response_key,
        kind=before.kind,
        dimension=getattr(before, "dimension", None),
        judge=getattr(before, "judge", None),
        fields=tuple(fields),
        label_then=before.verdict.label if isinstance(before, VerdictEvidence) else None,
        label_now=after.verdict.label if isinstance(after, VerdictEvidence) else None,
        largest_move=_move(before, after),
    )


def _move(before: Evidence, after: Evidence | None) -> float | None:
    if not isinstance(before, VerdictEvidence) or not isinstance(after, VerdictEvidence):
        return None
    first, second = before.verdict.probabilities, after.verdict.probabilities
    moves = [abs(first[label] - second[label]) for label in first.keys() & second.keys()]
    return round(max(moves), 6) if moves else None


def _short(value: str | None) -> str:
    if value is None:
        return "nothing"
    return value if len(value) <= 60 else f"{value[:16]}…"

"""One judge, opened for label rows: asks for verdicts, self-tests and probes, with progress on stderr."""

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import click

from offline_eval.benchmark.asking import bare_judge
from offline_eval.benchmark.judges import ask_judge, rubric_of
from offline_eval.benchmark.labels import JudgedRow, LabelSet
from offline_eval.benchmark.passport import JudgeIdentity
from offline_eval.benchmark.probes import PROBES, ProbeReport, run_probes
from offline_eval.benchmark.self_test import SelfTest, run_self_test, self_test_key
from offline_eval.cli.judge_options import chosen_engine, judge_identity
from offline_eval.cli.progress import Progress
from offline_eval.engines.select import open_engine


class JudgeDesk:
    """An opened judge; a context manager that gives its memory back.

    Args:
        options: Those of `judge_options`.

    Raises:
        UsageError: Options that do not fit.
        ModelError: The model is not installed.
        EngineError: It does not start.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._engine_options = chosen_engine(options)
        self.identity: JudgeIdentity = judge_identity(options["judge"], self._engine_options)
        click.echo(f"loading judge {self.identity.judge}", err=True)
        self._engine = open_engine(self.identity.judge, self._engine_options)
        self._progress = Progress()

    def __enter__(self) -> Self:
        self._progress.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.__exit__(kind, error, trace)
        self._engine.close()

    def answers(self, label_set: LabelSet) -> list[JudgedRow]:
        """The judge's verdicts, by the rules of every run."""
        size = self._options["batch_size"]
        found: list[JudgedRow] = []
        for start in range(0, len(label_set.rows), size):
            found += ask_judge(label_set.rows[start : start + size], self.identity.judge, self._engine)
            self._progress.tell(label_set.name, len(found), len(label_set.rows))
        return found

    def self_test(self, label_set: LabelSet) -> SelfTest | None:
        """Of the set's rubric; None for preferences, which have no levels to tell apart."""
        rubric = rubric_of(label_set.rows[0])
        if rubric.lowest.grade is None:
            return None
        who = self.identity
        key = self_test_key(
            judge=who.judge, weights_hash=who.weights_hash, engine=who.engine, dtype=who.dtype, rubric=rubric
        )
        return run_self_test(
            self._engine,
            rubric,
            judge=who.judge,
            weights_hash=who.weights_hash,
            engine_name=who.engine,
            key=key,
        )

    def probes(self, label_set: LabelSet, names: Sequence[str], mitigations: Sequence[str]) -> ProbeReport:
        """Bias probes on the set's rows; all of them when no names are given."""
        ask = bare_judge(
            self.identity.judge,
            self._engine,
            batch_size=self._options["batch_size"],
            told=lambda done: self._progress.tell(f"probing {label_set.name}", done, 0),
        )
        return run_probes(
            label_set.rows,
            ask,
            judge=self.identity.judge,
            family=self.identity.family,
            probes=names or PROBES,
            mitigations=mitigations,
            seed=self._options["seed"],
        )

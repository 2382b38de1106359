"""One `benchmark` command from its options to its tables; kept apart so that `--help` loads nothing."""

import signal
from collections.abc import Sequence
from types import FrameType
from typing import Any

import click

from offline_eval.airgap.guard import arm
from offline_eval.benchmark.label_files import read_label_file, stem
from offline_eval.benchmark.labels import LabelSet, label_sets
from offline_eval.benchmark.respondents import (
    Respondent,
    encoder_respondent,
    judge_respondent,
    scripted_respondent,
)
from offline_eval.benchmark.run_benchmark import Settings, run_benchmark
from offline_eval.benchmark.sampling import sample
from offline_eval.benchmark.sections import benchmark_sections, flat_rows
from offline_eval.benchmark.table_records import Benchmark
from offline_eval.cli.benchmark import BENCHMARK_FORMATS
from offline_eval.cli.output import csv_text, rendered_sections, write_text
from offline_eval.cli.progress import Progress
from offline_eval.core.errors import EXIT_INTERRUPTED, EXIT_TOO_MANY_UNSCORED, DataError
from offline_eval.engines.select import EngineOptions

_PASS_FROM = {"2": (2.0,), "3": (3.0,), "both": (2.0, 3.0)}


class BenchmarkSession:
    """A `benchmark` command.

    Args:
        labels: Label files, or `-`.
        options: The command's options.
    """

    def __init__(self, labels: Sequence[str], options: dict[str, Any]) -> None:
        self._labels = labels
        self._options = options

    def run(self) -> int:
        """Read, ask, tabulate, print.

        Returns:
            The exit code.
        """
        options = self._options
        if options["allow_hosts"]:
            arm([(host, "--allow-host") for host in options["allow_hosts"]])
        sets = self._sets()
        respondents = self._respondents()
        settings = Settings(
            panels=tuple(tuple(name.strip() for name in panel.split("+")) for panel in options["panels"]),
            pass_from=_PASS_FROM[options["pass_from"]],
            with_baselines=options["baselines"],
            seed=options["seed"],
            resamples=options["resamples"],
        )
        signal.signal(signal.SIGTERM, _interrupt)
        with Progress() as progress:
            try:
                benchmark = run_benchmark(
                    sets,
                    respondents,
                    folder=options["folder"],
                    settings=settings,
                    progress=progress.tell,
                    announce=_say,
                )
            except KeyboardInterrupt:
                kept = options["folder"] / "answers"
                _say(f"interrupted; the answers so far are kept in {kept}; run the same command again to continue")
                return EXIT_INTERRUPTED
        self._show(benchmark)
        return self._exit_code(benchmark)

    def _sets(self) -> list[LabelSet]:
        """Every file is read before any is refused.

        Raises:
            DataError: All bad rows of all files.
        """
        problems: list[str] = []
        found: list[LabelSet] = []
        for source in self._labels:
            try:
                rows = read_label_file(source)
            except DataError as error:
                problems += error.problems
                continue
            most = self._options["max_rows"]
            if most is not None:
                rows = sample(rows, most, seed=self._options["seed"])
                if not rows:
                    problems.append(f"{source}: every query has more than {most} rows; raise --max-rows")
                    continue
            found += label_sets(rows, stem(source))
        if problems:
            raise DataError(problems)
        return found

    def _respondents(self) -> list[Respondent]:
        options = self._options
        shared = {
            name: options[name]
            for name in ("engine", "dtype", "batch_size", "context_length", "url", "allow_hosts", "seed")
        }
        engine_options = EngineOptions(**shared)
        swap = options["swap"]
        return [
            *(judge_respondent(name, engine_options, swap=swap) for name in _named(options["judges"])),
            *(encoder_respondent(name, engine_options) for name in _named(options["encoders"])),
            *(scripted_respondent(name, swap=swap) for name in _named(options["scripted"])),
        ]

    def _show(self, benchmark: Benchmark) -> None:
        """Print the wanted form, and keep every form but the terminal's in the folder."""
        for format in BENCHMARK_FORMATS[1:]:
            write_text(_rendered(benchmark, format, is_file=True), self._options["folder"] / f"benchmark.{format}")
        write_text(_rendered(benchmark, self._options["format"], is_file=False), None)

    def _exit_code(self, benchmark: Benchmark) -> int:
        limit = self._options["max_failed"]
        failing = [
            f"{line.judge} failed on {line.n_failed} of {line.n} rows of {table.name}, more than --max-failed allows"
            for table in benchmark.tables
            for line in table.lines
            if line.n and line.n_failed / line.n > limit
        ]
        for text in failing:
            _say(text)
        return EXIT_TOO_MANY_UNSCORED if failing else 0


def _rendered(benchmark: Benchmark, format: str, *, is_file: bool) -> str:
    if format == "json":
        return benchmark.model_dump_json(indent=1) + "\n"
    if format == "csv":
        return csv_text(flat_rows(benchmark))
    sections = benchmark_sections(benchmark)
    if format == "html":
        from offline_eval.report.page import render_page

        return render_page("Judges against human labels", sections)
    return rendered_sections(sections, format, is_file=is_file)


def _named(values: Sequence[str]) -> list[str]:
    """Names of a repeatable option that also takes commas, each once."""
    return list(dict.fromkeys(name.strip() for value in values for name in value.split(",") if name.strip()))


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _say(line: str) -> None:
    click.echo(line, err=True)

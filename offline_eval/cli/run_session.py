"""One `run` command from its options to its report; kept apart so that `--help` loads nothing."""

import signal
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import click

from offline_eval.airgap.guard import arm
from offline_eval.cli.cache import open_cache
from offline_eval.cli.output import write_text
from offline_eval.cli.progress import Progress
from offline_eval.cli.report import HTML, html, rendered, show
from offline_eval.cli.run_config import configuration
from offline_eval.cli.run_vetting import vet_judges
from offline_eval.core.diagnosis import Text
from offline_eval.core.errors import EXIT_INTERRUPTED, EXIT_TOO_MANY_UNSCORED, UsageError
from offline_eval.core.records import Case, Response
from offline_eval.engines.select import EngineOptions, family_of, open_encoder, open_engine
from offline_eval.formats.column_map import read_pairs
from offline_eval.formats.reader import read_cases, read_combined, read_responses
from offline_eval.models.installed import require_installed
from offline_eval.pipeline.aggregate import Results, summarize
from offline_eval.pipeline.cached import with_cache
from offline_eval.pipeline.certify import Certifier
from offline_eval.pipeline.config import RunConfig, family_warnings, run_id
from offline_eval.pipeline.execute import Executor
from offline_eval.pipeline.manifest import begin_session
from offline_eval.pipeline.plan import estimate_plan, pair
from offline_eval.pipeline.record import record, with_missing
from offline_eval.pipeline.run_warnings import SCRIPTED, not_made_for, stored_form
from offline_eval.report.numbers import percent
from offline_eval.store.audit import require_intact
from offline_eval.store.run_file import SUFFIX, RunFile
from offline_eval.testset.changelog import version_label


class Session:
    """A `run` command.

    Args:
        source: What CASES named.
        options: The command's options.
    """

    def __init__(self, source: str, options: dict[str, Any]) -> None:
        self._source = source if source == "-" else Path(source)
        self._options = options

    def run(self) -> int:
        """Read, plan, judge, report.

        Returns:
            The exit code.
        """
        options = self._options
        if options["allow_hosts"]:
            arm([(host, "--allow-host") for host in options["allow_hosts"]])
        config, engine_options = configuration(options, announce=_say)
        cases, responses = self._read()
        items = pair(cases, responses)
        warnings = [*self._family_warnings(config, engine_options, responses), *_language_warnings(config, cases)]
        if config.engine == "scripted":
            warnings.append(SCRIPTED)
        if options["dry_run"]:
            self._show_plan(config, items)
            return 0
        if config.engine == "endpoint" and config.judge_names:
            open_engine(config.judge_names[0], engine_options).close()  # refuse a wrong address before a run exists
        identity = run_id(config, cases, responses)
        path = Path(options["folder"]) / f"{identity}{SUFFIX}"
        vetting = vet_judges(config, engine_options, cases, options, is_new=not _has_begun(path), announce=_say)
        warnings += vetting.warnings
        run_file = RunFile(path, create=True)
        require_intact(run_file)
        begun = {"run_id": identity, "config": config.model_dump(mode="json")}
        stored = {**begun, **stored_form(warnings), **vetting.stored}
        run_file.begin_run(stored, cases, responses)
        begin_session(
            run_file,
            config,
            now=datetime.now(UTC),
            operator=options["operator"],
            purpose=options["purpose"],
            test_set=self._test_set(cases),
        )
        _say(f"run {identity} in {path}; engine {config.engine}")
        return self._judge(run_file, config, engine_options)

    def _judge(self, run_file: RunFile, config: RunConfig, engine_options: EngineOptions) -> int:
        signal.signal(signal.SIGTERM, _interrupt)
        certifier = Certifier(run_file, config, sample=self._options["certify_sample"], announce=_say)
        cache = open_cache(self._options["cache"], wanted=not self._options["no_cache"], announce=_say)
        with Progress() as progress:
            executor = Executor(
                run_file,
                config,
                open_judge=lambda name: with_cache(
                    certifier.tested(name, open_engine(name, engine_options)), cache, announce=_say
                ),
                open_encoder=lambda kind, name: open_encoder(
                    kind,
                    name,
                    engine_options,
                    announce=_say,
                    progress=lambda done, total: progress.tell("converted to ONNX, steps", done, total),
                ),
                progress=lambda done, total: progress.tell("evaluated", done, total),
                announce=_say,
            )
            try:
                executor.run()
            except KeyboardInterrupt:
                _say(
                    f"interrupted; {len(run_file.committed_batches())} batches are kept in {run_file.path}; "
                    "run the same command again to continue"
                )
                return EXIT_INTERRUPTED
        results = Results(run_file, by_expected=self._options["expected"])
        summary = summarize(results)
        show(summary, self._options["format"])
        report_file = self._options["report_file"]
        if report_file is not None:
            suffix = report_file.suffix.removeprefix(".")
            is_html, results_format = suffix == HTML, "json" if suffix == "json" else "md"
            text = html(results, summary=summary) if is_html else rendered(summary, results_format, for_file=True)
            write_text(text, report_file)
        run_file.close()
        if summary.failed_share > self._options["max_failed"]:
            _say(f"{summary.n_failed} of {summary.n_verdicts} verdicts failed, more than --max-failed allows")
            return EXIT_TOO_MANY_UNSCORED
        if summary.failed_scores_share > self._options["max_failed"]:
            _say(f"{percent(summary.failed_scores_share)} of a metric's scores failed, more than --max-failed allows")
            return EXIT_TOO_MANY_UNSCORED
        return 0

    def _test_set(self, cases: Sequence[Case]) -> str | None:
        """The version of the cases, where a changelog lies beside them."""
        if not isinstance(self._source, Path):
            return None
        label, remark = version_label(self._source, cases)
        if remark:
            _say(remark)
        return label

    def _read(self) -> tuple[list[Case], list[Response]]:
        options = self._options
        mapping, format_ = read_pairs(options["mapping"]), options["input_format"]
        if isinstance(self._source, Path) and (self._source / "cases.jsonl").is_file():
            raise UsageError(f"{self._source} is a folder; did you mean {self._source / 'cases.jsonl'}?")
        if not options["responses"] and not options["systems"]:
            return read_combined(self._source, mapping=mapping, format=format_)
        cases = read_cases(self._source, mapping=mapping, format=format_)
        responses: list[Response] = []
        if options["responses"]:
            responses += read_responses(list(options["responses"]), cases=cases, mapping=mapping, format=format_)
        for spec in options["systems"]:
            with Progress() as progress:
                responses += record(
                    spec,
                    cases,
                    folder=options["folder"],
                    allow_hosts=options["allow_hosts"],
                    progress=lambda done, total: progress.tell("answers", done, total),
                    announce=_say,
                )
        complete = with_missing(cases, responses)
        if len(complete) > len(responses):
            _say(f"{len(complete) - len(responses)} answers are missing; they count as failed (no_response)")
        return cases, complete

    def _family_warnings(
        self, config: RunConfig, engine_options: EngineOptions, responses: list[Response]
    ) -> list[Text]:
        families = {name: family_of(name, engine_options) for name in config.all_judges}
        return family_warnings(families, responses)

    def _show_plan(self, config: RunConfig, items: Any) -> None:
        plan = estimate_plan(config, items)
        click.echo(f"{plan.responses} responses, {plan.verdicts} verdicts, {plan.by_rule} of them by rule")
        tokens = f"about {plan.prompt_tokens:,} prompt and {plan.output_tokens:,} output tokens"
        click.echo(f"{plan.model_calls} model calls, {tokens}")
        if plan.encoder_pairs:
            click.echo(f"{plan.encoder_pairs:,} pairs of claim and premise for {config.engines['nli']}")
        models = list(dict.fromkeys([*config.engines.values(), *config.judge_names]))
        click.echo(f"{plan.model_loads} model loads: {', '.join(models) or 'none'}; engine {config.engine}")
        click.echo(plan.time_text)


def _has_begun(path: Path) -> bool:
    """Whether a run file holds its inputs; one that was killed before has a file and nothing in it."""
    if not path.is_file():
        return False
    run_file = RunFile(path, create=True)
    try:
        return run_file.configuration() is not None
    finally:
        run_file.close()


def _language_warnings(config: RunConfig, cases: list[Case]) -> list[Text]:
    """Judges that were not made for a language of the test set."""
    from offline_eval.text.language import detect_language

    if config.engine not in ("vllm", "transformers"):
        return []
    languages = sorted({case.language or detect_language(case.query) for case in cases})
    found = []
    for name in config.all_judges:
        spoken = require_installed(name).config
        lacking = [language for language in languages if not spoken.speaks(language)]
        if lacking:
            found.append(not_made_for(name, spoken=spoken.languages, lacking=lacking))
    return found


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _say(line: str) -> None:
    click.echo(line, err=True)

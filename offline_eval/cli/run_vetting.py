"""A run's judges, looked at before the run begins: their passports, and a self-test where they are new."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from offline_eval.benchmark.passport_files import (
    list_passports,
    parse_wishes,
    passport_folder,
    passports_for,
    require,
)
from offline_eval.benchmark.self_test import SelfTest, run_self_test, self_test_key
from offline_eval.benchmark.self_test_cache import keep, recall
from offline_eval.core.diagnosis import Text
from offline_eval.core.errors import DataError, ModelError
from offline_eval.core.records import Case
from offline_eval.engines.select import EngineOptions, open_engine
from offline_eval.judge.rubric import Rubric, load_rubric
from offline_eval.pipeline.config import RunConfig
from offline_eval.pipeline.pass_rates import STORED
from offline_eval.text.language import detect_language

_KEPT_FOR = ("vllm", "transformers")  # behind an endpoint nobody knows whether it is still the same model


class Vetting(NamedTuple):
    """What was found.

    Attributes:
        warnings: For the run's report.
        stored: For the run file: the passports' error rates and the self-tests.
    """

    warnings: list[Text]
    stored: dict[str, Any]


def vet_judges(
    config: RunConfig,
    engine_options: EngineOptions,
    cases: Sequence[Case],
    options: dict[str, Any],
    *,
    is_new: bool,
    announce: Callable[[str], None],
) -> Vetting:
    """Look at every judge of a run.

    Args:
        cases: Decide the rubrics' languages.
        options: `self_test`, `passport_condition` and `passport_folder` of the run command.
        is_new: Whether the run has not begun yet; else a self-test is made only when one is required.

    Raises:
        ModelError: A judge without a passport that fulfils the condition, or, where that was asked, one that fails its
            self-test.
        UsageError: A condition that cannot be read.
    """
    rubrics = _rubrics(config, cases)
    rates, warnings = _error_rates(config, rubrics, options)
    mode = options["self_test"]
    tests: list[SelfTest] = []
    if mode == "refuse" or (mode == "auto" and is_new and config.engine not in ("scripted", "none")):
        tests = _self_tests(config, engine_options, rubrics, announce)
    failed = [test for test in tests if test.outcome == "refuse"]
    if failed and mode == "refuse":
        raise ModelError(
            "; ".join(test.sentence() for test in failed)
            + "; use another judge, or --self-test auto to go on with a warning"
        )
    return Vetting(
        warnings=[*warnings, *(_self_test_warning(test) for test in tests if test.outcome != "pass")],
        stored={STORED: rates, "self_tests": [test.model_dump(mode="json") for test in tests]},
    )


def _self_test_warning(test: SelfTest) -> Text:
    """What was measured is quoted as the self-test wrote it down."""
    verdict = "未通过自检" if test.outcome == "refuse" else "自检结果可疑"
    measured = "; ".join(finding.text for finding in test.findings if finding.outcome != "pass")
    return Text(en=test.sentence(), zh=f"评审模型 {test.judge} 在 {test.rubric} 上{verdict}：{measured}")


def _rubrics(config: RunConfig, cases: Sequence[Case]) -> dict[str, list[Rubric]]:
    """Judge to the rubrics it will judge by, one a dimension and language of the test set."""
    languages = sorted({case.language or detect_language(case.query) for case in cases})
    found: dict[str, list[Rubric]] = {}
    for judge in config.judge_names:
        dimensions = [name for name in config.panel.examiners if judge in config.judges[name]]
        by_id = {
            rubric.id: rubric
            for dimension in dimensions
            for language in languages
            for rubric in [load_rubric(dimension, language)]
        }
        found[judge] = list(by_id.values())
    return found


def _error_rates(
    config: RunConfig, rubrics: dict[str, list[Rubric]], options: dict[str, Any]
) -> tuple[list[dict[str, Any]], list[Text]]:
    """Of the best passport of every judge and rubric, with warnings; refuses a judge without one where required."""
    condition = options["passport_condition"]
    wishes = parse_wishes(condition) if condition is not None else ()
    folder: Path = options["passport_folder"] or passport_folder()
    try:
        passports = list_passports(folder)
    except DataError as error:
        if condition is not None:
            raise
        return [], [Text(en=f"passports are not used: {error}", zh=f"未使用评审护照：{error}")]
    rates = []
    for judge, used in rubrics.items():
        for rubric in used:
            found = passports_for(
                passports,
                judge=judge,
                weights_hash=config.models[judge],
                rubric=rubric.id,
                rubric_hash=rubric.content_hash(),
            )
            if condition is not None:
                found = require(found, wishes, judge=judge, rubric=rubric.id)
            rates += [p.error_rates.model_dump(mode="json") for p in found[:1] if p.error_rates is not None]
    return rates, []


def _self_tests(
    config: RunConfig,
    engine_options: EngineOptions,
    rubrics: dict[str, list[Rubric]],
    announce: Callable[[str], None],
) -> list[SelfTest]:
    """One a judge and language, on the first dimension the judge examines; each is made once and then remembered."""
    found: list[SelfTest] = []
    for judge, used in rubrics.items():
        chosen = [rubric for rubric in used if rubric.dimension == used[0].dimension]
        keys = {
            rubric.id: self_test_key(
                judge=judge,
                weights_hash=config.models[judge],
                engine=config.engine,
                dtype=config.dtype,
                rubric=rubric,
            )
            for rubric in chosen
        }
        known = {rubric.id: recall(keys[rubric.id]) for rubric in chosen if config.engine in _KEPT_FOR}
        found += [test for test in known.values() if test is not None]
        lacking = [rubric for rubric in chosen if known.get(rubric.id) is None]
        if not lacking:
            continue
        announce(f"self-test of {judge} on {', '.join(rubric.id for rubric in lacking)}")
        engine = open_engine(judge, engine_options)
        try:
            for rubric in lacking:
                test = run_self_test(
                    engine,
                    rubric,
                    judge=judge,
                    weights_hash=config.models[judge],
                    engine_name=config.engine,
                    key=keys[rubric.id],
                )
                announce(test.sentence())
                if config.engine in _KEPT_FOR:
                    keep(test)
                found.append(test)
        finally:
            engine.close()
    return found

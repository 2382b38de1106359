"""The real default judge, tried and probed: its weakness is found and stated, in Chinese and English."""

from collections.abc import Iterator

import pytest

from offline_eval.benchmark.asking import bare_judge
from offline_eval.benchmark.probes import run_probes
from offline_eval.benchmark.self_test import run_self_test
from offline_eval.cli.defaults import DEFAULT_JUDGE
from offline_eval.core.protocols import TextEngine
from offline_eval.engines.number_format import fast_format
from offline_eval.engines.select import EngineOptions, open_engine
from offline_eval.judge.rubric import load_rubric
from offline_eval.models.installed import find_installed
from tests.benchmark.synthetic_judges import graded_rows

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def engine() -> Iterator[TextEngine]:
    if find_installed(DEFAULT_JUDGE) is None:
        pytest.skip(f"{DEFAULT_JUDGE} is not installed; `offline-eval models fetch {DEFAULT_JUDGE}`")
    opened = open_engine(DEFAULT_JUDGE, EngineOptions(engine="transformers", dtype=fast_format().dtype, batch_size=4))
    yield opened
    opened.close()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_default_judge_does_not_pass_the_self_test_and_the_reason_holds_numbers(
    engine: TextEngine, language: str
) -> None:
    rubric = load_rubric("faithfulness", language)
    test = run_self_test(
        engine, rubric, judge=DEFAULT_JUDGE, weights_hash=engine.info.weights_hash, engine_name="transformers"
    )
    assert test.requests == 12
    assert test.outcome != "pass"
    answered = next(finding for finding in test.findings if finding.name == "answers")
    assert answered.value == 1.0  # weak, but every verdict is valid
    assert any(character.isdigit() for character in test.sentence())


def test_a_probe_of_the_default_judge_has_effects_in_both_languages(engine: TextEngine) -> None:
    rows = graded_rows(12)
    report = run_probes(
        rows, bare_judge(DEFAULT_JUDGE, engine, batch_size=4), judge=DEFAULT_JUDGE, probes=["verbosity"], seed=0
    )
    assert {found.group for found in report.results} == {"all", "language=en", "language=zh"}
    for found in report.results:
        assert found.n_failed == 0
        assert found.effect.value is not None
        assert found.effect.interval is not None
        assert found.flips.interval is not None

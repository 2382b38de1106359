"""The self-test: it finds what was planted, says for what verdicts hold, costs little, and leaves the results alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.certification import SAME_BATCHES, Arm, SelfTest
from offline_eval.core.hashing import canonical_json
from offline_eval.core.protocols import GenerateRequest, Generation, Item, LabelChoice
from offline_eval.core.summary import RunSummary
from offline_eval.engines.scripted import ScriptedEngine, by_hash, pick
from offline_eval.pipeline.aggregate import Results, results_document, summarize
from offline_eval.pipeline.certificate import certification
from offline_eval.pipeline.certify import (
    LEAST,
    MOST,
    Certifier,
    Prompt,
    prompts_of,
    questions_for,
    sample_size,
    self_test,
    stored_tests,
)
from offline_eval.pipeline.config import RunConfig
from offline_eval.pipeline.execute import Executor
from offline_eval.pipeline.plan import pair
from offline_eval.report.reproducibility import repeatability
from tests.support.panel_runs import execute, make_case, make_config, make_response, many, start


class Noisy(ScriptedEngine):
    """Gives chosen requests another label, or another probability, when they are asked alone.

    Args:
        flipped: Hashes of the requests whose label changes.
        moved: Hashes of the requests whose probability changes.
    """

    def __init__(self, *, flipped: Sequence[str] = (), moved: Sequence[str] = ()) -> None:
        super().__init__(model="judge")
        self._flipped, self._moved = frozenset(flipped), frozenset(moved)

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Any]:
        answers = super().generate(requests)
        if len(requests) > 1:
            return answers
        request, answer = requests[0], answers[0]
        assert isinstance(request.constraint, LabelChoice)
        if request.content_hash() in self._flipped:
            labels = request.constraint.labels
            return [pick(request, labels[(labels.index(answer.text) + 1) % len(labels)])]
        if request.content_hash() in self._moved:
            return [pick(request, answer.text, probability=0.89)]
        return answers


def prompts(n: int, config: RunConfig | None = None) -> list[Prompt]:
    """n prompts, half of them in Chinese."""
    cases, responses = mixed(n)
    return prompts_of(questions_for(config or make_config(), pair(cases, responses), "judge"), n)


def mixed(n: int) -> tuple[list[Any], list[Any]]:
    english = [make_case(f"en{i}") for i in range(n)]
    chinese = [make_case(f"zh{i}", query="我每年有几天年假？", reference="28天。", language="zh") for i in range(n)]
    cases = [*english, *chinese]
    return cases, [make_response(case.id, answer=f"{case.id}: 28 days, 28天。") for case in cases]


def hashes(of: Sequence[Prompt]) -> list[str]:
    return [prompt.request.content_hash() for prompt in of]


def arm(found: SelfTest, name: str) -> Arm:
    return next(arm for arm in found.arms if arm.name == name)


def test_a_steady_engine_holds_for_any_batches() -> None:
    found = self_test("judge", ScriptedEngine(model="judge"), prompts=prompts(12))
    assert (found.n, found.flips, found.largest_move, found.noise) == (12, 0, 0.0, 0.0)
    assert found.holds_for == "any_batches"
    assert {arm.name for arm in found.arms} == {"resumed", "warm", "reversed", "one_at_a_time"}


def test_three_planted_flips_of_twelve_are_measured_as_three_of_twelve() -> None:
    asked = prompts(12)
    found = self_test("judge", Noisy(flipped=hashes(asked)[:3]), prompts=asked)
    assert (found.flips, found.n) == (3, 12)
    assert arm(found, "one_at_a_time").flips == 3
    assert arm(found, "reversed").flips == 0
    # .9 went to .05: a label has .9, the two others .05 each, and afterwards another one has the .9.
    assert found.largest_move == pytest.approx(0.85)
    # the margin went from +.85 to -.85
    assert found.noise == pytest.approx(1.7)
    assert found.flip_interval is not None
    # Wilson, 3 of 12: (3 + 1.92073) / (12 + 3.84146) = .31062, and around it
    # 1.95996 * sqrt(12 * .25 * .75 + 3.84146 / 4) / (12 + 3.84146) = .22168
    assert (found.flip_interval.low, found.flip_interval.high) == pytest.approx((0.0889, 0.5323), abs=1e-4)
    assert found.holds_for == "same_batches"


def test_a_moved_probability_without_a_flip_is_counted_and_measured() -> None:
    asked = prompts(12)
    found = self_test("judge", Noisy(moved=hashes(asked)[2:4]), prompts=asked)
    assert (found.flips, arm(found, "one_at_a_time").moved) == (0, 2)
    assert found.largest_move == pytest.approx(0.01)  # .9 to .89
    assert found.noise == pytest.approx(0.015)  # .9 - .05 against .89 - .055
    assert found.holds_for == "same_batches"


@given(flips=st.integers(0, 8), n=st.integers(2, 8))
def test_the_planted_flip_rate_is_found_and_inside_its_interval(flips: int, n: int) -> None:
    asked = prompts(n)
    planted = hashes(asked)[:flips]
    found = self_test("judge", Noisy(flipped=planted), prompts=asked)
    assert (found.n, found.flips) == (n, len(planted))
    assert found.flip_interval is not None
    assert found.flip_interval.low <= len(planted) / n <= found.flip_interval.high


def test_an_engine_that_never_says_the_same_twice_holds_for_nothing() -> None:
    calls = iter(range(10_000))

    def script(request: GenerateRequest) -> Generation:
        return pick(request, by_hash(request).text, probability=0.5 + next(calls) / 20_000)

    found = self_test("judge", ScriptedEngine(script, model="judge"), prompts=prompts(6))
    assert found.holds_for == "nothing"
    assert arm(found, "resumed").moved == arm(found, "resumed").n > 0


def test_an_engine_whose_cache_moves_numbers_holds_for_the_same_batches_alone() -> None:
    class Caching(ScriptedEngine):
        """Is a little surer of a prompt that it still remembers."""

        def __init__(self) -> None:
            super().__init__(model="judge")
            self.remembered: set[str] = set()

        def forget_prefixes(self) -> None:
            self.remembered.clear()

        def generate(self, requests: Sequence[GenerateRequest]) -> list[Any]:
            answers = [
                pick(r, by_hash(r).text, probability=0.91 if r.content_hash() in self.remembered else 0.9)
                for r in requests
            ]
            self.remembered |= {request.content_hash() for request in requests}
            return answers

    found = self_test("judge", Caching(), prompts=prompts(8))
    assert {arm.name for arm in found.arms if arm.moved} == {"warm"}
    assert found.holds_for == "same_batches"


def test_an_engine_that_depends_on_the_order_is_found_out() -> None:
    class FirstIsSurer(ScriptedEngine):
        def generate(self, requests: Sequence[GenerateRequest]) -> list[Any]:
            return [pick(r, by_hash(r).text, probability=0.9 - 0.01 * (i > 0)) for i, r in enumerate(requests)]

    found = self_test("judge", FirstIsSurer(model="judge"), prompts=prompts(8))
    assert arm(found, "reversed").moved == 2  # the first and the last changed places
    assert arm(found, "resumed").moved == 0


def test_prompts_that_cannot_be_answered_are_not_counted() -> None:
    asked = prompts(8)
    broken = set(hashes(asked)[:3])

    def script(request: GenerateRequest) -> Generation:
        if request.content_hash() in broken:
            raise ValueError("too long")
        return by_hash(request)

    assert self_test("judge", ScriptedEngine(script, model="judge"), prompts=asked).n == 5


def test_without_any_answer_nothing_is_certified() -> None:
    def script(request: GenerateRequest) -> Generation:
        raise ValueError("no")

    found = self_test("judge", ScriptedEngine(script, model="judge"), prompts=prompts(4))
    assert (found.n, found.flip_interval, found.holds_for) == (0, None, "nothing")
    assert certification(make_config(certified=True), [found], []).status == "not_tested"


# --- how many, and which ---------------------------------------------------------------------------------------------


@given(n=st.integers(0, 100_000), reasons=st.sampled_from(["all", "review", "none"]))
def test_the_test_costs_a_quarter_at_most_of_a_run_that_is_not_tiny(n: int, reasons: str) -> None:
    size = sample_size(n, reasons, sample=None)
    requests = n * (2 if reasons == "all" else 1)
    assert size <= min(n, MOST)
    assert 5 * size <= max(requests / 4, 5 * LEAST)


def test_a_wanted_sample_is_taken_as_far_as_there_are_prompts() -> None:
    assert [sample_size(100, "all", sample=n) for n in (0, 40, 400)] == [0, 40, 100]


def test_both_languages_and_all_dimensions_are_in_the_sample() -> None:
    chosen = prompts(12)
    assert {prompt.rubric.language for prompt in chosen} == {"en", "zh"}
    assert {prompt.rubric.dimension for prompt in chosen} == {"faithfulness", "relevance", "completeness"}
    assert len(set(hashes(chosen))) == 12


def test_the_sample_does_not_depend_on_the_order_of_the_file() -> None:
    cases, responses = mixed(6)
    questions = questions_for(make_config(), pair(cases, responses), "judge")
    assert hashes(prompts_of(questions, 7)) == hashes(prompts_of(questions[::-1], 7))


def test_what_a_rule_decides_is_never_asked() -> None:
    case = make_case()
    empty = Item(case=case, response=make_response(answer=""))
    assert questions_for(make_config(), [empty], "judge") == []


# --- in a run --------------------------------------------------------------------------------------------------------


def certified_run(path: Path, engine: ScriptedEngine, *, sample: int | None = None, **fields: Any) -> Results:
    config = make_config(certified=True, reasons="none", **fields)
    run_file = start(path, config, *many(12))
    certifier = Certifier(run_file, config, sample=sample)
    Executor(run_file, config, open_judge=lambda name: certifier.tested(name, engine)).run()
    return Results(run_file)


def summary_of(path: Path, engine: ScriptedEngine, **options: Any) -> RunSummary:
    return summarize(certified_run(path, engine, **options))


def test_a_noisy_judge_comes_out_not_certified_with_its_flip_rate_in_the_report(tmp_path: Path) -> None:
    class Restless(ScriptedEngine):
        """Every third request it ever gets is answered with the next label."""

        def generate(self, requests: Sequence[GenerateRequest]) -> list[Any]:
            answers = super().generate(requests)
            self.calls = getattr(self, "calls", 0)
            for position, request in enumerate(requests):
                self.calls += 1
                if self.calls % 3 == 0 and isinstance(request.constraint, LabelChoice):
                    labels = request.constraint.labels
                    answers[position] = pick(request, labels[(labels.index(answers[position].text) + 1) % len(labels)])
            return answers

    summary = summary_of(tmp_path / "r.sqlite", Restless(model="judge"), sample=10)
    found = summary.certification
    assert found is not None
    assert found.status == "not_certified"
    assert found.tests[0].flips > 0
    section = repeatability(summary)
    assert section.lines[0].startswith("not certified: ")
    assert f"the label changed for {found.tests[0].flips} of 10 prompts" in section.lines[1]
    # every margin is at most the noise of an engine that swaps labels, so nothing it said is stable
    assert len(found.unstable) == summary.n_verdicts - summary.by_rule


def test_a_steady_judge_comes_out_certified_and_nothing_is_unstable(tmp_path: Path) -> None:
    summary = summary_of(tmp_path / "r.sqlite", ScriptedEngine(model="judge"))
    assert summary.certification is not None
    assert (summary.certification.status, summary.certification.unstable) == ("certified", ())
    assert repeatability(summary).lines[0].startswith("certified: ")


def test_small_margins_are_listed_when_they_are_inside_the_noise(tmp_path: Path) -> None:
    test = SelfTest(
        judge="judge",
        engine_fingerprint="f",
        setting="s",
        n=4,
        arms=(Arm(name="warm", n=4, moved=1, flips=0, largest_move=0.01),),
        flips=0,
        flip_interval=None,
        largest_move=0.01,
        noise=0.02,
    )

    def close(request: GenerateRequest) -> Generation:
        is_close = "c003" in request.messages[1].content
        return pick(request, "2", probability=0.34 if is_close else 0.9)  # .34 - .33 over 1: a margin of .01

    run_file = execute_with(tmp_path / "r.sqlite", close)
    found = certification(make_config(certified=True), [test], list(run_file.evidence()))
    assert {verdict.response_key for verdict in found.unstable} == {"system/c003"}
    assert [verdict.margin for verdict in found.unstable] == pytest.approx([0.01] * len(found.unstable))
    assert found.status == "certified_same_batches"


def execute_with(path: Path, script: Any) -> Any:
    from tests.support.panel_runs import Judges

    return execute(path, make_config(reasons="none"), *many(6), Judges({"judge": script}))


def test_the_same_engine_is_tested_once_a_run(tmp_path: Path) -> None:
    config = make_config(certified=True)
    run_file = start(tmp_path / "r.sqlite", config, *many(3))
    engine = ScriptedEngine(model="judge")
    certifier = Certifier(run_file, config)
    for _ in range(2):
        certifier.tested("judge", engine)
    assert len(stored_tests(run_file)) == 1


def test_a_sample_of_none_asks_nothing_and_says_that_nothing_was_tested(tmp_path: Path) -> None:
    results = certified_run(tmp_path / "r.sqlite", ScriptedEngine(model="judge"), sample=0)
    assert results.self_tests == []
    found = summarize(results).certification
    assert found is not None
    assert found.status == "not_tested"


def test_engines_elsewhere_are_asked_only_in_certified_mode(tmp_path: Path) -> None:
    config = make_config()
    run_file = start(tmp_path / "r.sqlite", config, *many(3))
    engine = ScriptedEngine(model="judge")
    Certifier(run_file, config).tested("judge", engine)
    assert engine.requests_seen == 0


def test_the_self_test_leaves_the_results_document_as_it_is(tmp_path: Path) -> None:
    documents = [
        canonical_json(
            results_document(certified_run(tmp_path / f"{n}.sqlite", ScriptedEngine(model="judge"), sample=n))
        )
        for n in (0, 4)
    ]
    assert documents[0] == documents[1]


def test_the_arms_that_repeat_a_run_are_the_ones_a_resumed_run_depends_on() -> None:
    assert frozenset({"resumed"}) == SAME_BATCHES

"""Verification: a replay finds what differs, says how, and refuses another set-up by naming the part."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from offline_eval.core.errors import ReproductionError, StoreError
from offline_eval.core.evidence import VerdictEvidence
from offline_eval.core.manifest import RunSession
from offline_eval.core.protocols import EngineInfo, GenerateRequest, Generation
from offline_eval.core.verification import Verification
from offline_eval.engines.scripted import ScriptedEngine, ScriptedScorer, by_hash, pick
from offline_eval.judge.panel import load_panel
from offline_eval.pipeline.config import RunConfig
from offline_eval.pipeline.execute import Executor
from offline_eval.pipeline.manifest import begin_session, describe_session, manifest_of
from offline_eval.pipeline.metric_plan import checks_for, resolve_metrics
from offline_eval.pipeline.setup import engine_differences, session_differences
from offline_eval.pipeline.verify import Replay, choose_batches, engine_options
from offline_eval.store.run_file import RunFile
from tests.support.panel_runs import Judges, Script, asks_label, make_case, make_config, make_response, many, start

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def finished(path: Path, config: RunConfig, script: Script = by_hash, n: int = 6) -> RunFile:
    cases, responses = many(n)
    cases.append(make_case("zh", query="年假有几天？", language="zh"))
    responses.append(make_response("zh", answer="每年28天。"))
    run_file = start(path, config, cases, responses)
    begin_session(run_file, config, now=NOW)
    Executor(run_file, config, open_judge=Judges(dict.fromkeys(config.all_judges, script)).open).run()
    return run_file


def replay(
    run_file: RunFile, folder: Path, script: Script = by_hash, *, sample: int | None = None, **options: Any
) -> Verification:
    folder.mkdir(exist_ok=True)
    return Replay(run_file, setup=options.pop("setup", ()), **options).run(
        folder,
        sample=sample,
        open_judge=lambda name: ScriptedEngine(script, model=name),
        open_encoder=lambda kind, name: pytest.fail("no encoder is asked"),
    )


def except_for(key: str, label: str) -> Script:
    """As ever, but for one response in one language of the question."""

    def script(request: GenerateRequest) -> Generation:
        if asks_label(request) and key in request.messages[1].content:
            return pick(request, label, probability=0.8)
        return by_hash(request)

    return script


def test_the_same_engine_gives_the_same_bits(tmp_path: Path) -> None:
    run_file = finished(tmp_path / "r.sqlite", make_config(batch_size=1))
    found = replay(run_file, tmp_path / "again")
    # 7 responses: a refusal check, 3 verdicts and 3 reasons each
    assert (found.compared, found.verdicts, found.changed) == (49, 21, ())


def test_a_planted_difference_is_found_and_nothing_else(tmp_path: Path) -> None:
    run_file = finished(tmp_path / "r.sqlite", make_config(batch_size=1, reasons="none"), except_for("c003", "1"))
    found = replay(run_file, tmp_path / "again", except_for("c003", "3"))
    assert {changed.response_key for changed in found.changed} == {"system/c003"}
    assert {changed.dimension for changed in found.changed} == {"faithfulness", "relevance", "completeness"}
    assert all((changed.label_then, changed.label_now) == ("1", "3") for changed in found.changed)
    assert found.flips == 3
    assert found.largest_move == pytest.approx(0.7)  # .8 to .1
    assert set(found.changed[0].fields) == {"label", "grade", "probabilities", "expected_grade"}


def test_a_chinese_verdict_that_moves_in_the_sixth_decimal_is_found(tmp_path: Path) -> None:
    def script(probability: float) -> Script:
        def answer(request: GenerateRequest) -> Generation:
            if asks_label(request) and "每年28天" in request.messages[1].content:
                return pick(request, "2", probability=probability)
            return by_hash(request)

        return answer

    run_file = finished(tmp_path / "r.sqlite", make_config(reasons="none"), script(0.9))
    found = replay(run_file, tmp_path / "again", script(0.900001))
    assert {changed.response_key for changed in found.changed} == {"system/zh"}
    assert (found.flips, found.largest_move) == (0, 1e-6)


def test_a_reason_that_reads_differently_is_found(tmp_path: Path) -> None:
    def script(request: GenerateRequest) -> Generation:
        if asks_label(request):
            return by_hash(request)
        return Generation(text='"evidence":"","reason":"另一个理由"}', prompt_tokens=0, output_tokens=1)

    run_file = finished(tmp_path / "r.sqlite", make_config(batch_size=1))
    found = replay(run_file, tmp_path / "again", script)
    assert {changed.kind for changed in found.changed} == {"reason"}
    assert len(found.changed) == 21


def test_an_item_that_fails_only_now_is_found(tmp_path: Path) -> None:
    def script(request: GenerateRequest) -> Generation:
        if "c002" in request.messages[1].content:
            raise RuntimeError("out of luck")
        return by_hash(request)

    run_file = finished(tmp_path / "r.sqlite", make_config(batch_size=1))
    found = replay(run_file, tmp_path / "again", script)
    assert {changed.response_key for changed in found.changed} == {"system/c002"}
    assert {changed.kind for changed in found.changed} == {"verdict", "reason"}
    assert all(changed.label_now is None for changed in found.changed if changed.kind == "verdict")


def test_arbiter_and_review_stages_are_replayed_too(tmp_path: Path) -> None:
    def next_label(request: GenerateRequest) -> Generation:
        answer = by_hash(request)
        return pick(request, str(int(answer.text) % 3 + 1)) if asks_label(request) else answer

    scripts: dict[str, Script] = {"two": next_label}
    config = make_config(("one", "two"), arbiter="three", reasons="review")
    run_file = start(tmp_path / "r.sqlite", config, *many(6))
    Executor(run_file, config, open_judge=Judges(scripts).open).run()
    stored = list(run_file.evidence())
    assert any(isinstance(piece, VerdictEvidence) and piece.role == "arbiter" for piece in stored)
    found = Replay(run_file, setup=()).run(
        tmp_path, sample=None, open_judge=Judges(scripts).open, open_encoder=lambda kind, name: pytest.fail("none")
    )
    assert (found.compared, found.changed) == (len(stored), ())


def test_a_sample_takes_whole_batches_and_no_more_than_it_needs(tmp_path: Path) -> None:
    config = make_config(batch_size=1, reasons="none")
    run_file = finished(tmp_path / "r.sqlite", config)  # 7 batches of 3 verdicts, and one of rules
    assert [len(choose_batches(run_file, sample=n)) for n in (1, 3, 4, 100)] == [1, 1, 2, 7]
    found = replay(run_file, tmp_path / "again", sample=4)
    assert (found.batches, found.verdicts, found.compared) == (2, 6, 6)


def test_the_run_itself_is_left_as_it_was(tmp_path: Path) -> None:
    run_file = finished(tmp_path / "r.sqlite", make_config())
    head = run_file.head()
    replay(run_file, tmp_path / "again")
    assert run_file.head() == head


def test_an_unfinished_or_altered_run_is_not_verified(tmp_path: Path) -> None:
    config = make_config()
    unfinished = start(tmp_path / "u.sqlite", config, *many(2))
    with pytest.raises(StoreError, match="not finished"):
        Replay(unfinished, setup=())
    run_file = finished(tmp_path / "r.sqlite", config)
    run_file._db.execute("DROP TRIGGER log_no_update")
    run_file._db.execute("UPDATE log SET body = replace(body, '28 days', '29 days') WHERE kind = 'response'")
    with pytest.raises(StoreError, match="altered"):
        Replay(run_file, setup=())


# --- the set-up ------------------------------------------------------------------------------------------------------


def session() -> RunSession:
    return describe_session(make_config(), now=NOW)


def parts(now: RunSession, then: RunSession | None = None) -> list[str]:
    return [difference.part for difference in session_differences(then or session(), now)]


def changed(**fields: object) -> RunSession:
    return session().model_copy(update=fields)


def test_the_same_set_up_at_another_time_by_somebody_else_is_the_same() -> None:
    assert parts(changed(started="2027-01-01", operator="x", purpose="y", memory_total=1, platform="other")) == []


def test_every_part_that_can_move_a_number_is_named() -> None:
    before = session()
    model = before.models[0]
    for name in ("weights", "tokenizer", "template"):
        now = changed(models=(model.model_copy(update={name: "other"}),))
        assert parts(now) == [f"{name} of judge"]
    assert parts(changed(packages={**before.packages, "torch": "9.9"})) == ["version of torch"]
    assert parts(changed(python="3.99")) == ["version of python"]
    assert parts(changed(processor="other")) == ["processor"]
    assert parts(changed(cpus=before.cpus + 1)) == ["cores"]
    assert parts(changed(gpus=("H200",))) == ["graphics cards"]
    assert parts(changed(settings={"OMP_NUM_THREADS": "1"})) == ["setting OMP_NUM_THREADS"]
    assert parts(changed(wording="other")) == ["prompt wording"]
    rubric = next(iter(before.rubrics))
    assert parts(changed(rubrics={**before.rubrics, rubric: "other"})) == [f"rubric {rubric}"]
    assert parts(changed(schemas={**before.schemas, rubric: "other"})) == [f"verdict schema {rubric}"]


def test_a_package_that_came_or_went_is_named() -> None:
    before = session()
    fewer = {name: version for name, version in before.packages.items() if name != "torch"}
    assert parts(changed(packages=fewer)) == ["version of torch"]
    assert parts(before, changed(packages=fewer)) == ["version of torch"]


def test_a_run_without_a_manifest_cannot_be_held_against_anything() -> None:
    assert [difference.part for difference in session_differences(None, session())] == ["manifest"]


def test_another_set_up_is_refused_by_name_unless_it_is_allowed(tmp_path: Path) -> None:
    run_file = finished(tmp_path / "r.sqlite", make_config())
    setup = session_differences(session(), changed(packages={**session().packages, "torch": "9.9"}))
    with pytest.raises(ReproductionError, match=r"version of torch: \S+ then, 9\.9 now"):
        Replay(run_file, setup=setup)
    found = replay(run_file, tmp_path / "again", setup=setup, allow_different=True)
    assert [difference.part for difference in found.setup] == ["version of torch"]
    assert found.changed == ()


def test_an_engine_that_loads_as_another_one_is_refused_and_closed(tmp_path: Path) -> None:
    run_file = finished(tmp_path / "r.sqlite", make_config())
    closed = []

    class Other(ScriptedEngine):
        def __init__(self, name: str) -> None:
            super().__init__(model=name)
            self.info: EngineInfo = self.info.model_copy(update={"weights_hash": "of other weights"})

        def generate(self, requests: Sequence[GenerateRequest]) -> list[Any]:
            raise AssertionError("nothing is asked of it")

        def close(self) -> None:
            closed.append(self.info.model)

    with pytest.raises(ReproductionError, match="engine of judge, weights_hash"):
        Replay(run_file, setup=()).run(
            tmp_path, sample=None, open_judge=Other, open_encoder=lambda kind, name: pytest.fail("none")
        )
    assert closed == ["judge"]


def test_the_device_and_the_number_format_of_an_engine_are_compared(tmp_path: Path) -> None:
    known = {info.model: info for info in manifest_of(finished(tmp_path / "r.sqlite", make_config())).engines}
    now = known["judge"].model_copy(update={"device": "NVIDIA H200", "dtype": "bfloat16"})
    assert [d.part for d in engine_differences(known, now)] == ["engine of judge, dtype", "engine of judge, device"]
    assert engine_differences(known, known["judge"]) == []
    assert [d.part for d in engine_differences({}, now)] == ["engine of judge"]
    one, other = (
        known["judge"].model_copy(update={"options": dict(rows)})
        for rows in ([("seed", 0), ("batches", "x")], [("batches", "x"), ("seed", 0)])
    )
    assert engine_differences({"judge": one}, other) == []  # a run file gives options back in the order of their names


def test_the_replay_opens_engines_as_the_run_did() -> None:
    config = make_config(batch_size=4, context_length=1024, seed=7, certified=True)
    options = engine_options(config.model_copy(update={"engine": "vllm"}), allow_hosts=["judge.lan"])
    assert (options.engine, options.dtype, options.batch_size, options.context_length) == ("vllm", None, 4, 1024)
    assert (options.seed, options.certified, options.allow_hosts) == (7, True, ("judge.lan",))
    assert engine_options(make_config(dtype="float32")).dtype == "float32"
    encoders = engine_options(make_config(encoder_dtype="bfloat16", encoder_engine="vllm"))
    assert (encoders.encoder_dtype, encoders.encoder_engine, encoders.dtype) == ("bfloat16", "vllm", None)


def test_an_encoder_in_another_number_format_is_refused_by_name(tmp_path: Path) -> None:
    def opened(dtype: str) -> Any:
        scorer = ScriptedScorer()
        scorer.info = scorer.info.model_copy(update={"model": "the-nli", "dtype": dtype})
        return scorer

    metrics = resolve_metrics(["claims"], load_panel("three-examiners"))
    config = make_config(
        metrics=metrics, checks=checks_for(metrics), engines={"nli": "the-nli"}, encoder_dtype="bfloat16"
    )
    config = config.model_copy(update={"judges": dict.fromkeys(config.judges, ())})
    run_file = start(tmp_path / "r.sqlite", config, *many(3))
    Executor(run_file, config, open_judge=Judges().open, open_encoder=lambda kind, name: opened("bfloat16")).run()
    begin_session(run_file, config, now=NOW)
    manifest = manifest_of(run_file)
    assert (manifest.config["encoder_dtype"], manifest.engines[0].dtype) == ("bfloat16", "bfloat16")

    def replayed(dtype: str) -> Verification:
        return Replay(run_file, setup=()).run(
            tmp_path, sample=None, open_judge=Judges().open, open_encoder=lambda kind, name: opened(dtype)
        )

    with pytest.raises(ReproductionError, match="engine of the-nli, dtype: bfloat16 then, float32 now"):
        replayed("float32")
    (tmp_path / "replay.sqlite").unlink()
    found = replayed("bfloat16")
    assert found.compared > 0
    assert found.changed == ()

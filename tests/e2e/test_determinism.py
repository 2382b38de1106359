"""Real engines asked the same again: float32 holds, bfloat16 shows its drift, a replay is bit by bit or refused."""

import json
import shutil
from pathlib import Path

import pytest

from offline_eval.core.certification import SelfTest
from offline_eval.core.protocols import Failure, GenerateRequest, Generation, LabelChoice, Message
from offline_eval.engines.number_format import fast_format
from offline_eval.engines.process import ProcessEngine
from offline_eval.engines.select import EngineOptions, engine_spec
from offline_eval.models.installed import find_installed, require_installed
from offline_eval.pipeline.certify import prompts_of, questions_for, self_test
from offline_eval.pipeline.plan import pair
from tests.support.cli import offline_eval
from tests.support.panel_runs import make_case, make_config, make_response
from tests.support.tiny_models import make_tiny_model

pytestmark = pytest.mark.slow

DEFAULT_JUDGE = "smollm2-135m-instruct"
ENGLISH = ("How many days of leave do I get?", "You get {} days of leave.", "Everybody has {} days of leave a year.")
CHINESE = ("我每年有几天年假？", "您每年有{}天年假。", "每位员工每年有{}天年假。")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama with random weights."""
    return make_tiny_model("llama", tmp_path_factory.mktemp("tiny") / "llama")


def measured(folder: Path, engine: str, dtype: str, *, certified: bool = True) -> SelfTest:
    """The self-test of a real engine over twelve prompts in two languages."""
    cases, responses = [], []
    for number, (query, answer, text) in enumerate([ENGLISH, CHINESE] * 3):
        language = "en" if query is ENGLISH[0] else "zh"
        cases.append(make_case(f"c{number}", query=query, language=language, reference=answer.format(28)))
        passage = {"id": "p", "text": text.format(20 + number)}
        responses.append(make_response(f"c{number}", answer=answer.format(number), passages=[passage]))
    prompts = prompts_of(questions_for(make_config(), pair(cases, responses), "judge"), 12)
    options = EngineOptions(engine=engine, dtype=dtype, batch_size=8, certified=certified)
    loaded = ProcessEngine(engine_spec(require_installed(folder), engine, options=options))
    try:
        return self_test("judge", loaded, prompts=prompts)
    finally:
        loaded.close()


def test_vllm_in_float32_holds_for_any_batches(tiny: Path) -> None:
    found = measured(tiny, "vllm", "float32")
    assert (found.n, found.flips, found.largest_move) == (12, 0, 0.0)
    assert found.holds_for == "any_batches"


def test_neither_neighbours_nor_a_warm_cache_change_a_bit_of_the_default_judge_in_float32() -> None:
    def request(n: int) -> GenerateRequest:
        message = Message(role="user", content=" leave" * n)  # a token each
        return GenerateRequest(messages=(message,), prefill="Grade: ", constraint=LabelChoice(labels=("1", "2", "3")))

    def tokens(answer: Generation | Failure) -> int:
        assert isinstance(answer, Generation)
        return answer.prompt_tokens

    options = EngineOptions(engine="vllm", dtype="float32", batch_size=16, certified=True)
    engine = ProcessEngine(engine_spec(require_installed(default_judge()), "vllm", options=options))
    try:
        around = 257 - tokens(engine.generate([request(1)])[0])  # a block of the cache holds 128 tokens
        requests = [request(n) for n in (*range(around - 1, around + 3), 1301, 1502)]
        engine.forget_prefixes()
        together = engine.generate(requests)
        alone = [answer for one in reversed(requests) for answer in engine.generate([one])][::-1]
    finally:
        engine.close()
    assert {tokens(answer) % 128 for answer in together} >= {127, 0, 1, 2}  # 1: all but one token are in the cache
    assert alone == together


def default_judge() -> Path:
    """Its folder; the tiny models are too narrow to drift."""
    installed = find_installed(DEFAULT_JUDGE)
    if installed is None:
        pytest.skip(f"{DEFAULT_JUDGE} is not installed: offline-eval models fetch {DEFAULT_JUDGE}")
    return installed.folder


@pytest.mark.skipif(fast_format().dtype != "bfloat16", reason="this processor emulates bfloat16, which takes minutes")
def test_the_default_judge_in_bfloat16_shows_its_drift() -> None:
    found = measured(default_judge(), "vllm", "bfloat16", certified=False)
    assert found.n == 12
    assert found.largest_move > 0
    assert found.holds_for != "any_batches"


def test_transformers_hold_for_the_same_batches(tiny: Path) -> None:
    found = measured(tiny, "transformers", "float32")
    assert found.n == 12
    assert found.holds_for in ("same_batches", "any_batches")
    assert found.largest_move < 1e-3  # float32 moves the last stored digits at most


def test_a_run_is_verified_bit_by_bit_and_refused_on_other_weights(tiny: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    rows = [
        {"id": f"{n}", "query": q, "answer": a.format(n), "contexts": [t.format(n + 1)], "reference": a.format(n + 1)}
        for n, (q, a, t) in enumerate([ENGLISH, CHINESE])
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")

    def call(*arguments: str) -> tuple[int, str, str]:
        done = offline_eval(*arguments, cwd=tmp_path, home=home)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, done.stderr

    install = ("models", "import", str(tiny), "--name", "tiny", "--kind", "judge")
    assert call(*install)[0] == 0
    run = ("run", "rows.jsonl", "--judge", "tiny", "--engine", "transformers", "--certified", "--self-test", "skip")
    code, printed, said = call(*run, "--format", "json", "--operator", "李雷")
    assert code == 0, said
    assert "certified mode on (asked for)" in said
    summary = json.loads(printed)
    assert summary["certification"]["status"] in ("certified", "certified_same_batches")
    assert summary["certification"]["tests"][0]["n"] > 0
    assert summary["manifest"]["sessions"][0]["operator"] == "李雷"
    assert summary["manifest"]["engines"][0]["dtype"] == "float32"
    assert [model["license"] for model in summary["manifest"]["sessions"][0]["models"]] != [None]

    code, printed, said = call("verify", "latest")
    assert (code, printed) == (0, ""), said
    assert "0 differ" in said

    shutil.rmtree(home / "models" / "tiny")
    other = make_tiny_model("llama", tmp_path / "other", seed=1)
    assert call(*(str(other) if part == str(tiny) else part for part in install))[0] == 0
    code, _, said = call("verify", "latest")
    assert code == 3
    assert "weights of tiny: " in said
    assert "tokenizer of tiny" not in said  # only what differs is named

    code, printed, said = call("verify", "latest", "--allow-different", "--sample", "1", "--format", "json")
    assert code == 1, said
    found = json.loads(printed)
    assert found["changed"]
    assert "weights of tiny" in [difference["part"] for difference in found["setup"]]

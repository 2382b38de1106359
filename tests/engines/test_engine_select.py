"""An engine is picked by what is installed, says why, and is told exactly what to load."""

import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from engine_requests import grade_request, tail_request

import offline_eval.engines.select as select_module
from offline_eval.core.errors import ModelError, UsageError
from offline_eval.core.protocols import Failure, Generation, TextEngine
from offline_eval.engines.scripted import ScriptedEngine, pick
from offline_eval.engines.select import EngineOptions, engine_spec, family_of, open_engine, pick_engine
from offline_eval.engines.serve import serve_command
from offline_eval.models.installed import InstalledModel, require_installed


def only(*installed: str) -> object:
    return lambda name: object() if name in installed else None


@pytest.mark.parametrize(
    ("installed", "picked", "why"),
    [
        (("vllm", "transformers"), "vllm", "vLLM is installed"),
        (("transformers",), "transformers", "vLLM is not installed"),
    ],
)
def test_vllm_is_picked_where_it_is_else_transformers_and_the_reason_is_said(
    installed: tuple[str, ...], picked: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(select_module, "find_spec", only(*installed))
    assert pick_engine("auto") == (picked, why)


def test_an_engine_that_is_not_installed_says_which_extra_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select_module, "find_spec", only())
    with pytest.raises(UsageError, match=r"offline-eval\[transformers\]"):
        pick_engine("auto")
    with pytest.raises(UsageError, match="'vllm' is not installed here"):
        pick_engine("vllm")
    with pytest.raises(UsageError, match="unknown engine 'vlm'"):
        pick_engine("vlm")
    assert pick_engine("scripted") == ("scripted", "asked for")


@pytest.fixture
def tiny(folders: dict[str, Path]) -> InstalledModel:
    return require_installed(folders["qwen"])


def test_what_a_worker_is_told_comes_from_the_models_config_and_the_options(tiny: InstalledModel) -> None:
    spec = engine_spec(tiny, "transformers", options=EngineOptions())
    assert (spec.family, spec.dtype, spec.context_length) == ("qwen", "float32", 8192)
    assert spec.template_options == {"enable_thinking": False}
    assert (spec.weights_hash, spec.folder) == (tiny.weights_hash, str(tiny.folder))
    chosen = EngineOptions(dtype="bfloat16", context_length=1000, batch_size=3, seed=7)
    spec = engine_spec(tiny, "vllm", options=chosen)
    assert (spec.dtype, spec.context_length, spec.batch_size, spec.seed) == ("bfloat16", 1000, 3, 7)
    assert engine_spec(tiny, "vllm", options=EngineOptions(context_length=99_999)).context_length == 8192


def test_engine_options_of_a_config_reach_only_their_engine(tiny: InstalledModel) -> None:
    extra = {"vllm": {"limit_mm_per_prompt": {"image": 0}}}
    model = InstalledModel(**vars(tiny) | {"config": tiny.config.model_copy(update={"engine_options": extra})})
    assert engine_spec(model, "vllm", options=EngineOptions()).options == extra["vllm"]
    assert engine_spec(model, "transformers", options=EngineOptions()).options == {}


def test_a_model_that_is_no_judge_is_refused(tiny: InstalledModel) -> None:
    model = InstalledModel(**vars(tiny) | {"config": tiny.config.model_copy(update={"kind": "embedder"})})
    with pytest.raises(ModelError, match="a judge is needed"):
        engine_spec(model, "vllm", options=EngineOptions())


def test_the_server_is_started_on_loopback_with_the_flags_that_make_verdicts_repeatable(tiny: InstalledModel) -> None:
    command = serve_command(tiny, port=8123, options=EngineOptions(context_length=2048))
    flags = dict(pairwise(command))
    assert flags["-m"] == "vllm.entrypoints.openai.api_server"
    assert (flags["--host"], flags["--port"], flags["--model"]) == ("127.0.0.1", "8123", str(tiny.folder))
    assert (flags["--max-model-len"], flags["--dtype"], flags["--seed"]) == ("2048", "float32", "0")
    assert (flags["--generation-config"], flags["--load-format"]) == ("vllm", "safetensors")
    assert not any("trust-remote-code" in word for word in command)


SERVE = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background of a script
import offline_eval.engines.serve as serve
serve.find_spec = lambda name: object()
serve.serve_command = lambda *args, **kwargs: [
    sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
]
sys.exit(serve.serve(None, port=1, options=None))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopping_the_serve_command_stops_its_server(number: int) -> None:
    with subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        server = int(command.stdout.readline())
        time.sleep(0.2)
        command.send_signal(number)
        assert command.wait(20) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)


def test_the_scripted_engine_is_a_text_engine_and_depends_on_the_request_alone() -> None:
    engine = open_engine("any", EngineOptions(engine="scripted"))
    assert isinstance(engine, TextEngine)
    requests = [grade_request(f"{n}") for n in range(50)]
    answers = engine.generate(requests)
    assert engine.generate(requests[::-1]) == answers[::-1]
    assert {answer.text for answer in answers if isinstance(answer, Generation)} == {"1", "2", "3"}
    assert family_of("any", EngineOptions(engine="scripted")) == "unknown"


def test_a_script_that_raises_fails_that_item_alone() -> None:
    def script(request: object) -> Generation:
        if request == requests[1]:
            raise ValueError("not this one")
        return pick(requests[0], "3")

    requests = [grade_request(text) for text in "abc"]
    first, second, third = ScriptedEngine(script).generate(requests)
    assert first == third
    assert isinstance(second, Failure)
    assert (second.reason, second.detail) == ("engine_error", "ValueError: not this one")
    with pytest.raises(ValueError, match="only a label request"):
        pick(tail_request("x", reason=3), "3")


def test_an_endpoint_needs_its_address() -> None:
    with pytest.raises(UsageError, match="--url"):
        open_engine("any", EngineOptions(engine="endpoint"))


@pytest.mark.parametrize(
    ("certified", "wanted", "dtype"),
    [(True, None, "float32"), (True, "bfloat16", "float32"), (False, None, None), (False, "bfloat16", "bfloat16")],
)
def test_certified_mode_and_the_encoders_number_format_reach_cross_encoders_and_embedders(
    certified: bool, wanted: str | None, dtype: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: dict[str, dict[str, object]] = {}
    monkeypatch.setattr(
        "offline_eval.engines.embedder.open_embedder", lambda name, **given: opened.update({name: given})
    )
    monkeypatch.setattr(
        "offline_eval.engines.pair_scorers.open_pair_scorer", lambda name, **given: opened.update({name: given})
    )
    # A judge's number format is not an encoder's.
    options = EngineOptions(engine="transformers", certified=certified, dtype="float16", encoder_dtype=wanted)
    select_module.open_encoder("embedder", "vectors", options)
    select_module.open_encoder("nli", "pairs", options)
    assert opened["vectors"]["dtype"] == opened["pairs"]["dtype"] == dtype
    assert opened["pairs"]["certified"] is certified

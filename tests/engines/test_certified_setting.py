"""When certified mode is on by itself, and what it does to the number format and the engine's options."""

from pathlib import Path

import pytest

from offline_eval.engines import certified as module
from offline_eval.engines import number_format
from offline_eval.engines.certified import certified_setting
from offline_eval.engines.inprocess import EngineSpec
from offline_eval.engines.select import EngineOptions, engine_spec
from offline_eval.models.installed import InstalledModel
from tests.support.tiny_models import make_tiny_model


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny judge in a folder; its files say float32."""
    return str(make_tiny_model("llama", tmp_path_factory.mktemp("tiny") / "llama"))


@pytest.fixture
def _no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "gpus", lambda: ())


@pytest.fixture
def _gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "gpus", lambda: ("NVIDIA H200",))


@pytest.mark.usefixtures("_no_gpu")
@pytest.mark.parametrize("engine", ["vllm", "transformers"])
def test_float32_on_a_cpu_is_certified_by_itself(judge: str, engine: str) -> None:
    found = certified_setting(None, engine=engine, judges=[judge], dtype="float32")
    assert (found.on, found.dtype, found.why) == (True, "float32", "float32 on a CPU")


@pytest.mark.usefixtures("_no_gpu")
def test_bfloat16_on_a_cpu_is_not_and_says_what_would_be(judge: str) -> None:
    found = certified_setting(None, engine="vllm", judges=[judge], dtype="bfloat16")
    assert (found.on, found.dtype) == (False, "bfloat16")
    assert "--certified takes float32" in found.why


@pytest.mark.usefixtures("_no_gpu")
def test_asking_for_it_on_a_cpu_takes_float32_unless_another_format_is_named(judge: str) -> None:
    assert certified_setting(True, engine="vllm", judges=[judge], dtype=None)[:2] == (True, "float32")
    assert certified_setting(True, engine="vllm", judges=[judge], dtype="bfloat16")[:2] == (True, "bfloat16")


@pytest.mark.usefixtures("_no_gpu")
def test_it_can_be_switched_off(judge: str) -> None:
    assert certified_setting(False, engine="vllm", judges=[judge], dtype="float32").on is False


@pytest.mark.usefixtures("_gpu")
def test_on_a_gpu_it_is_asked_for_and_keeps_the_models_format(judge: str) -> None:
    assert certified_setting(None, engine="vllm", judges=[judge], dtype=None).on is False
    assert certified_setting(True, engine="vllm", judges=[judge], dtype=None)[:2] == (True, None)


@pytest.mark.usefixtures("_no_gpu")
@pytest.mark.parametrize(
    ("features", "wanted", "expected"),
    [
        (("avx2",), None, (True, "float32")),
        (("avx2", "avx512_bf16", "amx_tile", "amx_bf16"), None, (False, "bfloat16")),
        (("amx_bf16",), False, (False, "bfloat16")),
        (("amx_bf16",), True, (True, "float32")),  # certified mode has a format of its own there
    ],
)
def test_auto_takes_what_the_processor_computes_in(
    judge: str,
    monkeypatch: pytest.MonkeyPatch,
    features: tuple[str, ...],
    wanted: bool | None,
    expected: tuple[bool, str],
) -> None:
    monkeypatch.setattr(number_format, "gpus", lambda: ())
    monkeypatch.setattr(number_format, "cpu_features", lambda: features)
    assert certified_setting(wanted, engine="vllm", judges=[judge], dtype="auto")[:2] == expected


@pytest.mark.usefixtures("_gpu")
def test_auto_takes_bfloat16_on_a_gpu(judge: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_format, "gpus", lambda: ("NVIDIA H200",))
    assert certified_setting(None, engine="vllm", judges=[judge], dtype="auto")[:2] == (False, "bfloat16")


def test_auto_is_nothing_to_an_engine_that_has_a_format_of_its_own() -> None:
    assert certified_setting(None, engine="endpoint", judges=["x"], dtype="auto").dtype is None


@pytest.mark.parametrize("engine", ["endpoint", "scripted", "none"])
def test_other_engines_only_when_asked(engine: str) -> None:
    assert certified_setting(None, engine=engine, judges=["x"], dtype=None).on is False
    assert certified_setting(True, engine=engine, judges=["x"], dtype=None).on is True


def test_the_wish_reaches_the_engines_worker(judge: str) -> None:
    def spec(**options: bool) -> EngineSpec:
        return engine_spec(model, "vllm", options=EngineOptions(engine="vllm", **options))  # type: ignore[arg-type]

    model = _installed(judge)
    assert spec(certified=True).certified is True
    assert spec().certified is False


def _installed(folder: str) -> InstalledModel:
    from offline_eval.models.installed import require_installed

    return require_installed(Path(folder))

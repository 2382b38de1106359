"""The encoders' number format and backend are decided before a run, from what was asked for and what is here."""

import pytest

from offline_eval.core.errors import UsageError
from offline_eval.engines import encoder_setting as module
from offline_eval.engines.encoder_setting import encoder_format, require_encoder_engine
from offline_eval.engines.select import EncoderEngine


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch):
    def one(*, gpu: bool = False, features: tuple[str, ...] = ()) -> None:
        monkeypatch.setattr(module, "gpus", lambda: ("NVIDIA H200",) if gpu else ())
        monkeypatch.setattr(module, "cpu_features", lambda: features)

    return one


@pytest.mark.parametrize(
    ("gpu", "features", "dtype", "why"),
    [
        (True, (), "bfloat16", "a GPU"),
        (False, ("avx512f", "amx_tile", "amx_bf16"), "bfloat16", "a processor with AMX for bfloat16"),
        # The instructions of AVX-512 alone gain little, and older processors have none at all.
        (False, ("avx512f", "avx512_bf16"), "float32", "no GPU and no AMX for bfloat16"),
        (False, (), "float32", "no GPU and no AMX for bfloat16"),
    ],
)
def test_auto_follows_the_hardware(machine, gpu: bool, features: tuple[str, ...], dtype: str, why: str) -> None:
    machine(gpu=gpu, features=features)
    assert encoder_format("auto", certified=False, encoders=["x"]) == (dtype, why)


def test_certified_mode_takes_float32_on_any_hardware_and_refuses_another(machine) -> None:
    machine(gpu=True, features=("amx_bf16",))
    assert encoder_format("auto", certified=True, encoders=["x"]) == ("float32", "certified mode")
    assert encoder_format("float32", certified=True, encoders=["x"]).dtype == "float32"
    for wanted in ("bfloat16", "float16"):
        with pytest.raises(UsageError, match=f"leave --encoder-dtype {wanted} out, or add --no-certified"):
            encoder_format(wanted, certified=True, encoders=["x"])


@pytest.mark.parametrize("wanted", ["float32", "bfloat16", "float16"])
def test_what_is_asked_for_is_taken(machine, wanted: str) -> None:
    machine(gpu=True)
    assert encoder_format(wanted, certified=False, encoders=["x"]) == (wanted, "asked for")


def test_a_run_without_a_network_does_not_depend_on_the_machine(machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(gpu=True, features=("amx_bf16",))
    assert encoder_format("auto", certified=False, encoders=[]).dtype == "float32"
    # The default for support reads words alone; the one for questions has token vectors where their model is installed.
    assert encoder_format("auto", certified=False, encoders=["default-support"]).dtype == "float32"
    for found, dtype in ((None, "float32"), (object(), "bfloat16")):
        monkeypatch.setattr(module, "find_installed", lambda name, found=found: found)
        assert encoder_format("auto", certified=False, encoders=["default-answerability"]).dtype == dtype


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown number format 'int8'"):
        encoder_format("int8", certified=False, encoders=["x"])


def test_onnx_runtime_computes_in_int8_alone_and_never_in_certified_mode(machine) -> None:
    machine(gpu=True, features=("amx_bf16",))
    assert encoder_format("auto", certified=False, encoders=["x"], engine="onnx") == ("int8", "ONNX Runtime")
    for wanted in ("float32", "bfloat16", "float16"):
        with pytest.raises(UsageError, match=f"computes in int8; leave --encoder-dtype {wanted} out"):
            encoder_format(wanted, certified=False, encoders=["x"], engine="onnx")
    with pytest.raises(UsageError, match="takes its 8-bit scales from a whole batch; leave it out, or add --no-certif"):
        encoder_format("auto", certified=True, encoders=["x"], engine="onnx")


@pytest.mark.parametrize("engine", ["vllm", "onnx"])
def test_a_backend_is_refused_where_no_encoder_is_a_classification_head(engine: EncoderEngine) -> None:
    expected = f"--encoder-engine {engine} runs classification heads, default-support is none; name one with --nli"
    with pytest.raises(UsageError, match=expected):
        require_encoder_engine(engine, ["default-support"])
    with pytest.raises(UsageError, match="none is asked"):
        require_encoder_engine(engine, [])
    require_encoder_engine("transformers", ["default-support"])


def test_onnx_runtime_is_refused_where_its_packages_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    require_encoder_engine("onnx", ["mdeberta-v3-base-xnli"])
    monkeypatch.setattr("offline_eval.engines.onnx_classify.find_spec", lambda name: None)
    with pytest.raises(
        UsageError, match=r"needs onnx, onnxruntime, .* not installed here; pip install 'offline-eval\[o"
    ):
        require_encoder_engine("onnx", ["mdeberta-v3-base-xnli"])


def test_vllm_is_refused_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("offline_eval.engines.select.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="'vllm' is not installed here"):
        require_encoder_engine("vllm", ["mdeberta-v3-base-xnli", "default-answerability"])

"""Classification heads on vLLM: the same scores as the Transformers backend, whatever the pair's length or language."""

import json
from pathlib import Path

import pytest

from offline_eval.core.errors import ModelError, UsageError
from offline_eval.core.protocols import Failure
from offline_eval.engines import select as select_module
from offline_eval.engines.cross_encoder import CrossEncoderScorer, open_cross_encoder_process
from offline_eval.engines.process import ProcessScorer
from offline_eval.engines.select import EngineOptions, open_encoder
from offline_eval.models.config import ModelConfig
from offline_eval.models.installed import InstalledModel, describe_folder
from tests.support.tiny_encoders import make_tiny_encoder

LABELS = {"LABEL_0": "contradiction", "LABEL_1": "neutral", "LABEL_2": "entailment"}
SENTENCE = "the staff receive 26 days of annual leave a year and 8 public holidays"
PAIRS = [
    (SENTENCE, "staff receive 25 days"),
    (SENTENCE, "staff receive 26 days"),
    ("员工每年享有年假二十天，不可以结转。", "年假可以结转"),
    ("报销需要发票，部门经理审批。", "报销需要什么材料"),
    ("", "annual leave"),
    (f"{SENTENCE}. " * 25, "the leave is 30 days"),  # some 400 of 512 tokens
    ("员工每年享有年假。" * 50, "年假天"),
]
TOO_LONG = (f"{SENTENCE}. " * 60, "days")


def described(folder: Path, *, kind: str = "nli", **more: object) -> InstalledModel:
    fields = {
        "name": "tiny",
        "kind": kind,
        "family": "bert",
        "languages": ["en", "zh"],
        "license": "none",
        "context_length": 512,
        "dtype": "float32",
        "memory_gib": 0.1,
        "source": {"kind": "folder", "upstream": "none"},
        "label_map": LABELS,
    }
    return describe_folder(folder, ModelConfig.model_validate(fields | more))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> InstalledModel:
    # A head of 32 dimensions is the smallest that vLLM's attention on a CPU knows; the model has two.
    return described(make_tiny_encoder(tmp_path_factory.mktemp("tiny") / "nli", labels=3, hidden=64))


@pytest.mark.slow
@pytest.mark.parametrize("certified", [False, True])
def test_scores_are_those_of_the_transformers_backend(model: InstalledModel, certified: bool) -> None:
    expected = CrossEncoderScorer(model, device="cpu", certified=certified).score([*PAIRS, TOO_LONG])
    scorer = open_cross_encoder_process(model, dtype="float32", certified=certified)
    try:
        found = scorer.score([*PAIRS, TOO_LONG])
        again = [scorer.score([pair])[0] for pair in PAIRS]
        info = scorer.info
    finally:
        scorer.close()
    assert found[-1] == expected[-1]  # the same refusal in the same words
    assert isinstance(found[-1], Failure)
    for mine, theirs in zip(found[:-1], expected[:-1], strict=True):
        assert isinstance(mine, dict)
        assert list(mine) == ["contradiction", "neutral", "entailment"]
        assert mine == pytest.approx(theirs, abs=1e-3)
    first = [row["entailment"] for row in found if isinstance(row, dict)]
    assert max(first) - min(first) > 0.01  # the tiny model tells pairs apart
    assert (info.engine, info.dtype, info.device) == ("vllm_classify", "float32", "cpu")
    assert scorer.refused_connections == 0
    if certified:
        assert again == found[:-1]


@pytest.mark.slow
def test_an_architecture_that_vllm_does_not_know_is_refused_before_it_is_loaded(
    model: InstalledModel, tmp_path: Path
) -> None:
    folder = make_tiny_encoder(tmp_path / "other", labels=3)
    stated = json.loads((folder / "config.json").read_text("utf-8"))
    stated["architectures"] = ["DebertaV2ForSequenceClassification"]
    (folder / "config.json").write_text(json.dumps(stated), encoding="utf-8")
    with pytest.raises(ModelError, match=r"no DebertaV2ForSequenceClassification; use --encoder-engine transformers"):
        open_cross_encoder_process(described(folder))


def test_what_is_no_cross_encoder_or_has_unexplained_labels_starts_no_process(
    model: InstalledModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ProcessScorer, "_start", lambda self: pytest.fail("a process was started"))
    with pytest.raises(ModelError, match="is of kind embedder, not a cross-encoder"):
        open_cross_encoder_process(described(model.folder, kind="embedder"))
    with pytest.raises(ModelError, match="label_map does not say what LABEL_1, LABEL_2 means"):
        open_cross_encoder_process(described(model.folder, label_map={"LABEL_0": "entailment"}))


class Opened(Exception):
    """Carries what a worker would have been started with."""


def test_the_worker_is_told_labels_format_and_options_of_the_models_config(
    model: InstalledModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(self: ProcessScorer) -> object:
        raise Opened(self._spec)

    monkeypatch.setattr(ProcessScorer, "_start", start)
    set_up = described(model.folder, engine_options={"vllm": {"max_num_batched_tokens": 8192}})
    with pytest.raises(Opened) as plain:
        open_cross_encoder_process(set_up, dtype="bfloat16", batch_size=4)
    (spec,) = plain.value.args
    assert (spec.engine, spec.dtype, spec.batch_size, spec.context_length) == ("vllm_classify", "bfloat16", 4, 512)
    assert spec.relations == ("contradiction", "neutral", "entailment")
    assert spec.options == {"max_num_batched_tokens": 8192}
    with pytest.raises(Opened) as certified:
        open_cross_encoder_process(set_up, dtype="bfloat16", certified=True)
    assert (certified.value.args[0].dtype, certified.value.args[0].certified) == ("float32", True)


def test_the_backend_is_an_option_that_leaves_the_default_scorers_and_embedders_alone(
    model: InstalledModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, str]] = []

    def noted(what: str) -> object:
        return lambda given, **options: opened.append((what, getattr(given, "config", given)))

    monkeypatch.setattr("offline_eval.engines.cross_encoder.open_cross_encoder_process", noted("vllm"))
    monkeypatch.setattr("offline_eval.engines.pair_scorers.open_pair_scorer", noted("here"))
    monkeypatch.setattr("offline_eval.engines.embedder.open_embedder", noted("embedder"))
    monkeypatch.setattr(select_module, "pick_engine", lambda wanted: (wanted, "asked for"))
    options = EngineOptions(engine="none", encoder_engine="vllm")
    open_encoder("nli", str(model.folder), EngineOptions(engine="none"))
    open_encoder("nli", "default-support", options)
    open_encoder("embedder", "all-minilm-l6-v2", options)
    assert [what for what, _ in opened] == ["here", "here", "embedder"]
    monkeypatch.setattr(select_module, "require_installed", lambda name: model)
    open_encoder("nli", "tiny", options)
    assert opened[-1] == ("vllm", model.config)


def test_without_vllm_the_option_is_a_usage_error(model: InstalledModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select_module, "find_spec", lambda name: None)
    monkeypatch.setattr(select_module, "require_installed", lambda name: model)
    with pytest.raises(UsageError, match="'vllm' is not installed here"):
        open_encoder("nli", "tiny", EngineOptions(engine="none", encoder_engine="vllm"))

"""Cross-encoders with 8-bit weights on ONNX Runtime: near the float scores, and never mistaken for them."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from offline_eval.core.errors import EngineError, ModelError, UsageError
from offline_eval.core.hashing import file_digest
from offline_eval.core.protocols import Failure
from offline_eval.engines import onnx_classify, onnx_export
from offline_eval.engines.cross_encoder import CrossEncoderScorer
from offline_eval.engines.onnx_classify import OnnxScorer
from offline_eval.engines.pair_encoding import named_probabilities
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
    *((SENTENCE[:cut], SENTENCE[cut:]) for cut in range(4, 60, 2)),
]
TOO_LONG = (f"{SENTENCE}. " * 60, "days")
BOUND = 0.03  # measured: .018, from 7-bit weights and 8-bit activations with one scale for a whole batch


def described(folder: Path, **more: object) -> InstalledModel:
    fields = {
        "name": "tiny",
        "kind": "nli",
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


class Converted(NamedTuple):
    """A tiny model that was converted once, with what was seen on the way."""

    model: InstalledModel
    scorer: OnnxScorer
    file: Path
    plain: Path
    told: list[str]
    steps: list[tuple[int, int]]


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Converted]:
    home = tmp_path_factory.mktemp("home")
    model = described(make_tiny_encoder(tmp_path_factory.mktemp("tiny") / "nli", labels=3))
    before = {path.name: path.read_bytes() for path in model.folder.iterdir()}
    plain, quantize = home / "plain", onnx_export.quantize
    told: list[str] = []
    steps: list[tuple[int, int]] = []

    def kept(file: Path, out: Path) -> None:
        plain.mkdir()
        for part in file.parent.glob(f"{file.name}*"):
            (plain / part.name).write_bytes(part.read_bytes())
        quantize(file, out)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OFFLINE_EVAL_HOME", str(home))
        with pytest.MonkeyPatch.context() as copying:
            copying.setattr(onnx_export, "quantize", kept)
            scorer = OnnxScorer(model, announce=told.append, progress=lambda done, total: steps.append((done, total)))
        (file,) = (home / "derived" / "onnx").glob("*/model.onnx")
        yield Converted(model, scorer, file, plain / "float32.onnx", told, steps)
    assert {path.name: path.read_bytes() for path in model.folder.iterdir()} == before


def rows(scorer: OnnxScorer | CrossEncoderScorer, pairs: list[tuple[str, str]] = PAIRS) -> list[dict[str, float]]:
    found = scorer.score(pairs)
    assert all(isinstance(row, dict) for row in found)
    return [row for row in found if isinstance(row, dict)]


def differences(mine: list[dict[str, float]], theirs: list[dict[str, float]]) -> list[float]:
    return [abs(a[name] - b[name]) for a, b in zip(mine, theirs, strict=True) for name in b]


def test_before_quantizing_the_scores_are_those_of_the_transformers_backend(converted: Converted) -> None:
    float_scorer = CrossEncoderScorer(converted.model, device="cpu")
    session = onnx_export.open_session(converted.plain)
    encoded = converted.scorer._encoder.encode(PAIRS)
    mine: list[dict[str, float]] = []
    for pair in encoded:
        (logits,) = session.run(None, converted.scorer._batches.arrays([pair], padding=0))
        assert logits.dtype == np.float32
        mine.append(named_probabilities(logits[0].tolist(), ("contradiction", "neutral", "entailment")))
    assert max(differences(mine, rows(float_scorer))) < 1e-5


def test_eight_bit_scores_are_near_the_float_ones_and_not_equal(converted: Converted) -> None:
    expected = rows(CrossEncoderScorer(converted.model, device="cpu"))
    found = rows(converted.scorer)
    apart = differences(found, expected)
    assert max(apart) < BOUND
    assert max(apart) > 1e-4  # integers were computed in
    assert [list(row) for row in found] == [["contradiction", "neutral", "entailment"]] * len(PAIRS)
    assert [sum(row.values()) for row in found] == pytest.approx([1.0] * len(PAIRS))
    spread = [row["entailment"] for row in found]
    assert max(spread) - min(spread) > 0.1  # the tiny model tells pairs apart


def test_layers_have_seven_bit_weights_with_a_scale_for_each_channel(converted: Converted) -> None:
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(converted.file).graph
    count = Counter(node.op_type for node in graph.node)
    assert count["MatMulInteger"] == 2 * 6  # of each layer: query, key, value, output and two of the feed-forward part
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weights = [arrays[node.input[1]] for node in graph.node if node.op_type == "MatMulInteger"]
    assert {array.dtype for array in weights} == {np.dtype(np.int8)}
    largest = [np.abs(array.astype(int)).max(axis=0) for array in weights]
    assert {int(values.max()) for values in largest} <= {63, 64}
    assert min(int(values.min()) for values in largest) >= 62  # every channel uses the whole range
    embeddings = [array for array in arrays.values() if array.shape == (512, 32)]
    assert [array.dtype for array in embeddings] == [np.dtype(np.float32)]


def test_weights_of_a_large_model_lie_in_a_file_beside(
    converted: Converted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in converted.plain.parent.iterdir():
        (tmp_path / part.name).write_bytes(part.read_bytes())
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(onnx_export, "_EXTERNAL_BYTES", 1000)
    onnx_export.quantize(tmp_path / "float32.onnx", tmp_path / "out" / "model.onnx")
    (tmp_path / "out").rename(tmp_path / "kept")
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["model.onnx", "model.onnx.data"]
    arrays = converted.scorer._batches.arrays(converted.scorer._encoder.encode(PAIRS[:1]), padding=0)
    (found,) = onnx_export.open_session(tmp_path / "kept" / "model.onnx").run(None, arrays)
    (expected,) = onnx_export.open_session(converted.file).run(None, arrays)
    assert found.tolist() == expected.tolist()


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(len(PAIRS))))
def test_the_same_pairs_in_any_order_have_the_same_scores(converted: Converted, order: list[int]) -> None:
    plain = converted.scorer.score(PAIRS)
    mixed = converted.scorer.score([PAIRS[at] for at in order])
    assert [mixed[order.index(at)] for at in range(len(PAIRS))] == plain


def test_a_long_pair_is_refused_in_the_words_of_the_transformers_backend(converted: Converted) -> None:
    expected = CrossEncoderScorer(converted.model, device="cpu").score([PAIRS[0], TOO_LONG])
    found = converted.scorer.score([PAIRS[0], TOO_LONG])
    assert isinstance(found[1], Failure)
    assert found[1] == expected[1]
    assert isinstance(found[0], dict)
    assert converted.scorer.score([]) == []


def test_probabilities_follow_the_label_map(converted: Converted) -> None:
    turned = {"LABEL_0": "entailment", "LABEL_1": "neutral", "LABEL_2": "contradiction"}
    other = OnnxScorer(described(converted.model.folder, label_map=turned))
    for mine, theirs in zip(rows(other), rows(converted.scorer), strict=True):
        assert (mine["entailment"], mine["neutral"]) == (theirs["contradiction"], theirs["neutral"])
    with pytest.raises(ModelError, match="label_map does not say what LABEL_1, LABEL_2 means"):
        OnnxScorer(described(converted.model.folder, label_map={"LABEL_0": "entailment"}))
    with pytest.raises(ModelError, match="is of kind embedder, not a cross-encoder"):
        OnnxScorer(described(converted.model.folder, kind="embedder"))


def test_a_conversion_is_told_kept_outside_the_models_folder_and_used_again(
    converted: Converted, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = converted.file.parent
    assert converted.told == [f"converting tiny to ONNX with 8-bit weights; once, kept in {folder}"]
    assert converted.steps == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert sorted(path.name for path in folder.parent.iterdir()) == [folder.name]  # nothing half-made is left
    made = json.loads((folder / "made.json").read_text("utf-8"))
    assert made["files"] == {"model.onnx": file_digest(converted.file)}
    assert made["weights"] == converted.model.weights_hash
    monkeypatch.setattr(onnx_export, "_convert", lambda *a, **k: pytest.fail("converted a second time"))
    told: list[str] = []
    again = OnnxScorer(converted.model, announce=told.append)
    assert again.score(PAIRS) == converted.scorer.score(PAIRS)
    assert told == []


@pytest.mark.parametrize("what", ["one byte", "cut off", "no list", "list unreadable", "file missing"])
def test_a_damaged_file_is_noticed_and_made_again(
    converted: Converted, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, contents = converted.file, converted.file.with_name("made.json")
    good = file.read_bytes()

    def convert(model: object, inputs: object, plain: object, out: Path, **_: object) -> None:
        out.write_bytes(good)

    monkeypatch.setattr(onnx_export, "_convert", convert)
    match what:
        case "one byte":
            file.write_bytes(good[:5000] + bytes([good[5000] ^ 1]) + good[5001:])
        case "cut off":
            file.write_bytes(good[:-1])
        case "no list":
            contents.unlink()
        case "list unreadable":
            contents.write_text("[]", "utf-8")
        case "file missing":
            file.unlink()
    told: list[str] = []
    scorer = OnnxScorer(converted.model, announce=told.append)
    folder = file.parent
    assert told == [f"converting tiny to ONNX with 8-bit weights; {folder} is damaged and made again"]
    assert file.read_bytes() == good
    assert json.loads(contents.read_text("utf-8"))["files"] == {"model.onnx": file_digest(file)}
    assert scorer.score(PAIRS) == converted.scorer.score(PAIRS)
    assert sorted(path.name for path in folder.parent.iterdir()) == [folder.name]


def test_another_version_or_another_model_makes_a_file_of_its_own(
    converted: Converted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []

    def convert(model: object, inputs: object, plain: object, out: Path, **_: object) -> None:
        made.append(out)
        out.write_bytes(converted.file.read_bytes())

    monkeypatch.setattr(onnx_export, "_convert", convert)
    inputs = onnx_export.Inputs(segments=True, padding=0)
    assert onnx_export.quantized_model(converted.model, inputs) == converted.file
    other = described(make_tiny_encoder(tmp_path / "other", labels=3, seed=1))
    files = {converted.file, onnx_export.quantized_model(other, inputs)}
    monkeypatch.setattr(onnx_export, "made_by", lambda: {"onnx": "0"})
    files.add(onnx_export.quantized_model(converted.model, inputs))
    assert (len(files), len(made)) == (3, 2)
    for file in files - {converted.file}:
        file.unlink()
        file.with_name("made.json").unlink()
        file.parent.rmdir()


def test_who_comes_second_takes_the_finished_file(converted: Converted, tmp_path: Path) -> None:
    finished = tmp_path / "finished"
    finished.mkdir()
    (finished / "model.onnx").write_bytes(b"the same, made at the same time")
    before = file_digest(converted.file)
    onnx_export._put(finished, converted.file.parent)
    assert file_digest(converted.file) == before


def test_a_network_that_is_converted_wrongly_is_refused(
    converted: Converted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def wrong(network: Any, inputs: object, file: Path) -> None:
        for part in converted.plain.parent.iterdir():
            (file.parent / part.name).write_bytes(part.read_bytes())
        network.classifier.bias.data += 0.01

    monkeypatch.setattr(onnx_export, "export_float", wrong)
    monkeypatch.setenv("OFFLINE_EVAL_HOME", str(tmp_path))
    with pytest.raises(EngineError, match=r"BertForSequenceClassification cannot be converted .* gives other scores"):
        OnnxScorer(converted.model)
    assert not (tmp_path / "derived" / "onnx").exists()


def test_what_the_exporter_cannot_do_is_one_message(tmp_path: Path) -> None:
    import torch

    class Odd(torch.nn.Module):
        def forward(self, **arrays: torch.Tensor) -> Any:
            raise NotImplementedError("an operation\nunheard of")

        def get_input_embeddings(self) -> torch.nn.Embedding:
            return torch.nn.Embedding(5, 2)

    with pytest.raises(EngineError, match=r"Odd cannot be converted to ONNX \(an operation\); use --encoder-engine"):
        onnx_export.export_float(Odd(), onnx_export.Inputs(segments=False, padding=0), tmp_path / "x.onnx")


def test_the_engine_says_that_it_computes_in_eight_bits(converted: Converted) -> None:
    info = converted.scorer.info
    theirs = CrossEncoderScorer(converted.model, device="cpu").info
    assert (info.engine, info.dtype, info.device, info.context_length) == ("onnx", "int8", "cpu", 512)
    assert info.options == {"certified": False, "long_pair": "refused"}
    assert set(info.versions) == {"onnx", "onnxruntime", "onnxscript", "torch", "transformers"}
    assert info.weights_hash == theirs.weights_hash  # whose it is
    assert info.fingerprint != theirs.fingerprint


def test_the_backend_is_an_option_that_leaves_default_scorers_and_embedders_alone(
    converted: Converted, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, object]] = []
    monkeypatch.setattr(
        "offline_eval.engines.pair_scorers.open_pair_scorer",
        lambda name, **options: opened.append((name, options["dtype"])),
    )
    monkeypatch.setattr(
        "offline_eval.engines.embedder.open_embedder", lambda name, **options: opened.append((name, options["dtype"]))
    )
    options = EngineOptions(engine="none", encoder_engine="onnx", encoder_dtype="int8")
    open_encoder("nli", "default-support", options)
    open_encoder("embedder", "all-minilm-l6-v2", options)
    assert opened == [("default-support", "float32"), ("all-minilm-l6-v2", "float32")]
    monkeypatch.setattr("offline_eval.engines.select.require_installed", lambda name: converted.model)
    scorer = open_encoder("nli", "tiny", options)
    assert isinstance(scorer, OnnxScorer)
    assert scorer.score(PAIRS) == converted.scorer.score(PAIRS)


def test_a_score_moves_with_the_pairs_beside_it_so_certified_mode_refuses_it_before_anything_is_loaded(
    converted: Converted,
) -> None:
    alone = [row for pair in PAIRS for row in rows(converted.scorer, [pair])]
    assert 1e-4 < max(differences(alone, rows(converted.scorer))) < BOUND
    options = EngineOptions(engine="none", encoder_engine="onnx", certified=True)
    with pytest.raises(UsageError, match=r"do not depend on batches.*leave it out, or add --no-certified"):
        open_encoder("nli", "not-even-installed", options)


def test_missing_packages_are_named_with_the_extra(converted: Converted, monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"torch", "transformers", "onnx"}
    monkeypatch.setattr(onnx_classify, "find_spec", lambda name: object() if name in there else None)
    with pytest.raises(UsageError, match=r"needs onnxruntime, onnxscript, not installed here; pip install 'offline-"):
        OnnxScorer(converted.model)


def test_onnx_runtime_is_told_to_report_nothing_before_it_is_loaded() -> None:
    code = (
        "import os, sys, types\n"
        "os.environ.pop('ORT_DISABLE_TELEMETRY', None)\n"
        "from offline_eval.engines.onnx_export import onnx_runtime\n"
        "assert 'onnxruntime' not in sys.modules\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'onnxruntime': print('loaded with', os.environ.get('ORT_DISABLE_TELEMETRY'))\n"
        "sys.meta_path.insert(0, Finder())\n"
        "onnx_runtime()\n"
        "onnx_runtime()\n"  # is no trouble
        "del os.environ['ORT_DISABLE_TELEMETRY']\n"
        "try: onnx_runtime()\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "loaded with 1",
        "EngineError ONNX Runtime was loaded before ORT_DISABLE_TELEMETRY=1 was set and may report its use; "
        "set it first",
    ]

"""A tiny encoder learns a rule from labels, stops in time, and its folder can be imported and used."""

import json
import random
from pathlib import Path

import pytest

from offline_eval.cli.main import run_cli
from offline_eval.core.errors import UsageError
from offline_eval.engines.cross_encoder import open_cross_encoder
from offline_eval.models.config import FolderSource, ModelConfig
from offline_eval.models.hashes import hash_files
from offline_eval.models.installed import InstalledModel, require_installed
from offline_eval.models.manifest import Manifest, write_manifest
from offline_eval.training.finetune import TrainSettings, train
from offline_eval.training.labels import LabelledSet, read_labels
from offline_eval.training.lora import apply_adapter
from tests.support.tiny_encoders import make_tiny_encoder

SUBJECTS = ["staff", "holidays", "leave", "pay", "passage", "query"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OFFLINE_EVAL_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OFFLINE_EVAL_CONFIGS", raising=False)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = make_tiny_encoder(tmp_path / "base", labels=0, hidden=32)
    config = ModelConfig(
        name="tiny-base",
        kind="embedder",
        family="bert",
        languages=("en",),
        license="CC0-1.0",
        context_length=128,
        dtype="float32",
        memory_gib=0.01,
        source=FolderSource(upstream="none"),
    )
    write_manifest(folder, Manifest(config=config, files=hash_files(folder, trust_memory=False)))
    return folder


def labels(path: Path, *, task: str, n: int = 160) -> Path:
    """The second text says "not" or it does not: that decides."""
    draw = random.Random(0)
    first, second = ("premise", "hypothesis") if task == "nli" else ("query", "passage")
    values = {"nli": ("contradiction", "entailment"), "answerability": ("no", "yes"), "alignment": (0.1, 0.9)}[task]
    rows = []
    for number in range(n):
        subject, days = draw.choice(SUBJECTS), " ".join(str(number))
        denied = number % 2 == 0
        rows.append(
            {
                first: f"{subject} {days}",
                second: f"{subject} may {'not ' * 4 if denied else ''}be {days} in addition",
                "label": values[0 if denied else 1],
            }
        )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def trained_on(path: Path, base: Path, task: str, **settings: object) -> tuple[LabelledSet, InstalledModel, object]:
    data = read_labels(path, task=task)  # type: ignore[arg-type]
    model = require_installed(base)
    values = {"epochs": 12, "patience": 12, "learning_rate": 5e-3, "max_tokens": 64, **settings}
    return data, model, train(data, model, settings=TrainSettings.model_validate(values), progress=lambda line: None)


def test_training_learns_and_keeps_the_best_epoch(tmp_path: Path, base: Path) -> None:
    _, _, trained = trained_on(labels(tmp_path / "d.jsonl", task="answerability"), base, "answerability")
    assert min(trained.losses) == trained.losses[trained.best_epoch]
    assert trained.losses[trained.best_epoch] < 0.5 * trained.losses[0]
    right = [
        (row[0] >= 0.5) == (example.label == 1)
        for row, example in zip(trained.report, trained.parts.report, strict=True)
    ]
    assert sum(right) / len(right) > 0.9


def test_training_stops_when_the_stopping_part_gets_no_better(tmp_path: Path, base: Path) -> None:
    path = labels(tmp_path / "d.jsonl", task="answerability", n=60)
    _, _, trained = trained_on(path, base, "answerability", epochs=30, patience=1, learning_rate=0.5)
    assert len(trained.losses) < 31
    assert trained.losses[trained.best_epoch] == min(trained.losses)


def test_adapters_leave_the_body_alone_and_merge_to_the_same_scores(tmp_path: Path, base: Path) -> None:
    from transformers import AutoModelForSequenceClassification

    path = labels(tmp_path / "d.jsonl", task="answerability")
    _, _, trained = trained_on(path, base, "answerability", lora_rank=4, learning_rate=2e-2)
    plain = AutoModelForSequenceClassification.from_pretrained(base, num_labels=1)
    before, after = dict(plain.named_parameters()), dict(trained.network.named_parameters())
    assert set(before) == set(after)
    moved = {name for name in before if not before[name].equal(after[name])}
    touched = ("query.weight", "key.weight", "value.weight", "classifier.weight", "classifier.bias")
    assert moved
    assert all(name.endswith(touched) for name in moved)
    assert min(trained.losses[1:]) < trained.losses[0]


def test_a_saved_adapter_makes_the_same_network_of_the_base(tmp_path: Path, base: Path) -> None:
    from transformers import AutoModelForSequenceClassification

    path = labels(tmp_path / "d.jsonl", task="answerability")
    out = tmp_path / "out"
    arguments = ["train", "answerability", "--data", str(path), "--base", str(base), "--out", str(out)]
    assert run_cli([*arguments, "--lora", "2", "--epochs", "2", "--max-tokens", "64"]) == 0
    rebuilt = AutoModelForSequenceClassification.from_pretrained(base, num_labels=1)
    apply_adapter(rebuilt, out / "adapter")
    merged = dict(AutoModelForSequenceClassification.from_pretrained(out).named_parameters())
    for name, parameter in rebuilt.named_parameters():
        assert parameter.detach().numpy() == pytest.approx(merged[name].detach().numpy(), abs=1e-6), name
    assert (out / "adapter" / "adapter.safetensors").stat().st_size < (out / "model.safetensors").stat().st_size / 4


@pytest.mark.parametrize("task", ["nli", "answerability", "alignment"])
def test_the_output_folder_can_be_imported_and_scores_pairs(
    task: str, tmp_path: Path, base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = labels(tmp_path / "d.jsonl", task=task, n=80), tmp_path / "mine"
    arguments = ["--data", str(path), "--base", str(base), "--out", str(out), "--epochs", "1", "--max-tokens", "64"]
    assert run_cli(["train", task, *arguments, "--license", "CC0-1.0", "--format", "json"]) == 0
    assert "difference" in {row["measure"] for row in json.loads(capsys.readouterr().out)}
    assert run_cli(["models", "import", str(out), "--name", "mine"]) == 0
    engine = open_cross_encoder("mine", device="cpu")
    row = engine.score([("staff", "staff may not be")])[0]
    assert set(row) == ({"entailment", "neutral", "contradiction"} if task == "nli" else {"score"})
    card = json.loads((out / "training.json").read_text())
    assert card["license"] == "CC0-1.0"
    assert card["data_hash"] == read_labels(path, task=task).data_hash  # type: ignore[arg-type]
    assert "Held-out scores" in (out / "README.md").read_text()


def test_the_same_seed_gives_the_same_weights(tmp_path: Path, base: Path) -> None:
    path = labels(tmp_path / "d.jsonl", task="answerability", n=60)
    runs = [trained_on(path, base, "answerability", epochs=1)[2] for _ in range(2)]
    assert runs[0].report == runs[1].report


def test_pairs_beyond_the_limit_are_left_out_and_counted(tmp_path: Path, base: Path) -> None:
    path = labels(tmp_path / "d.jsonl", task="answerability")
    with path.open("a") as stream:
        for number in range(40):
            stream.write(
                json.dumps({"query": f"long {number}", "passage": "leave " * 100 + str(number), "label": 1}) + "\n"
            )
    _, _, trained = trained_on(path, base, "answerability", epochs=1)
    assert sum(trained.too_long.values()) == 40


def test_a_full_folder_is_not_written_over(tmp_path: Path, base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = labels(tmp_path / "d.jsonl", task="nli", n=40)
    assert run_cli(["train", "nli", "--data", str(path), "--base", str(base), "--out", str(base)]) == 2
    assert "is not empty" in capsys.readouterr().err


def test_a_limit_beyond_the_positions_is_refused(tmp_path: Path, base: Path) -> None:
    path = labels(tmp_path / "d.jsonl", task="nli", n=40)
    with pytest.raises(UsageError, match="exceeds the 512"):
        trained_on(path, base, "nli", max_tokens=1024)

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from model_builders import safetensors_bytes, write_model

from offline_eval.core.errors import ModelError, UnknownNameError, UsageError
from offline_eval.core.hashing import file_digest
from offline_eval.models import hashes
from offline_eval.models.importer import import_folder
from offline_eval.models.installed import find_installed, list_installed, require_installed, verify


def test_an_imported_folder_is_installed_with_a_manifest_of_every_file(model_folder: Path, home: Path) -> None:
    (model_folder / ".cache").mkdir()
    (model_folder / ".cache" / "x").write_text("left behind")
    installed = import_folder(model_folder, name="mine")
    manifest = json.loads((home / "mine" / "model.json").read_text())
    expected = {path.name: file_digest(path) for path in model_folder.iterdir() if path.is_file()}
    assert manifest["files"] == installed.files == expected
    assert manifest["config"]["source"]["kind"] == "folder"
    assert manifest["config"]["license"] == "unknown"
    assert sorted(path.name for path in home.iterdir()) == [".hashes", "mine"]  # nothing is left of the staging
    assert verify("mine") == []


def test_a_derived_config_reads_family_length_template_switch_and_kind(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m", dtype="bfloat16")
    (folder / "chat_template.jinja").write_text("{% if enable_thinking %}…{% endif %}")
    config = require_installed(folder).config
    assert (config.name, config.kind, config.family, config.context_length) == ("m", "judge", "qwen", 4096)
    assert (config.dtype, config.license, config.languages) == ("bfloat16", "unknown", ("*",))
    assert config.template_options == {"enable_thinking": False}


def test_a_derived_config_of_a_multimodal_model_reads_its_text_part(tmp_path: Path) -> None:
    folder = write_model(
        tmp_path / "g",
        model_type="gemma3",
        architectures=["Gemma3ForConditionalGeneration"],
        max_position_embeddings=None,
        text_config={"max_position_embeddings": 131072, "torch_dtype": "bfloat16"},
    )
    config = require_installed(str(folder)).config
    assert (config.family, config.context_length, config.dtype) == ("gemma", 131072, "bfloat16")


def test_a_derived_nli_config_maps_the_models_own_labels(tmp_path: Path) -> None:
    classifier = {"model_type": "xlm-roberta", "architectures": ["XLMRobertaForSequenceClassification"]}
    labels = {"0": "Contradiction", "1": "NEUTRAL", "2": "entailment"}
    config = require_installed(
        write_model(tmp_path / "n", **classifier, id2label=labels, max_position_embeddings=514)
    ).config
    assert config.kind == "nli"
    assert config.label_map == {"Contradiction": "contradiction", "NEUTRAL": "neutral", "entailment": "entailment"}
    assert config.context_length == 512  # 514 positions, of which two are padding


def test_labels_that_say_nothing_are_not_guessed(tmp_path: Path) -> None:
    classifier = {"model_type": "bert", "architectures": ["BertForSequenceClassification"]}
    folder = write_model(tmp_path / "n", **classifier, id2label={"0": "LABEL_0", "1": "LABEL_1"})
    with pytest.raises(ModelError, match="do not say which is entailment"):
        require_installed(folder)
    assert import_folder(folder, name="mine", kind="answerability").config.kind == "answerability"


def test_a_config_of_the_same_name_is_used(model_folder: Path) -> None:
    installed = import_folder(model_folder, name="qwen3-8b")
    assert installed.config.source.kind == "folder"
    assert installed.config.context_length == 32768
    assert require_installed("qwen3-8b").folder == installed.folder


def test_labels_that_contradict_the_config_are_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "n", id2label={"0": "no", "1": "yes"})
    with pytest.raises(ModelError, match=r"labels \['no', 'yes'\]"):
        import_folder(folder, name="minicheck-deberta-v3-large")


def test_a_name_is_taken_once_and_cannot_be_a_path(model_folder: Path) -> None:
    import_folder(model_folder, name="mine")
    with pytest.raises(ModelError, match="already installed"):
        import_folder(model_folder, name="mine")
    with pytest.raises(UsageError, match="cannot be a model's name"):
        import_folder(model_folder, name="../mine")
    with pytest.raises(UsageError, match="configured as judge, not nli"):
        import_folder(model_folder, name="qwen3-8b", kind="nli")


def test_hard_links_share_the_bytes_and_copies_do_not(model_folder: Path, home: Path) -> None:
    import_folder(model_folder, name="linked", copy=False)
    import_folder(model_folder, name="copied")
    weights = model_folder / "model.safetensors"
    assert os.path.samefile(weights, home / "linked" / "model.safetensors")
    assert not os.path.samefile(weights, home / "copied" / "model.safetensors")


def test_an_unsafe_folder_is_not_imported(model_folder: Path, home: Path) -> None:
    (model_folder / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(ModelError, match=r"pytorch_model.bin may run code"):
        import_folder(model_folder, name="mine")
    assert not home.exists()


def test_a_folder_carried_from_another_machine_is_checked_against_its_manifest(
    model_folder: Path, home: Path, tmp_path: Path
) -> None:
    import_folder(model_folder, name="mine")
    carried = tmp_path / "usb"
    shutil.move(home / "mine", carried)
    assert import_folder(carried, name="mine").config.name == "mine"
    (carried / "tokenizer.json").write_text('{"altered": 1}')
    with pytest.raises(ModelError, match=r"tokenizer.json was altered; copy it again"):
        import_folder(carried, name="other")
    with pytest.raises(ModelError, match=r"tokenizer.json was altered"):
        require_installed(carried)


def _alter(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(safetensors_bytes(b"\x00\x00\x00\x40" * 2))


ALTERATIONS: dict[str, tuple[Callable[[Path], object], str]] = {
    "altered": (_alter, "model.safetensors was altered"),
    "missing": (lambda folder: (folder / "tokenizer_config.json").unlink(), "tokenizer_config.json is missing"),
    "added": (lambda folder: (folder / "extra.txt").write_text("x"), "extra.txt was added"),
}


@pytest.mark.parametrize(("change", "problem"), ALTERATIONS.values(), ids=ALTERATIONS.keys())
def test_a_changed_model_is_found_by_verify_and_not_loaded(
    model_folder: Path, change: Callable[[Path], object], problem: str
) -> None:
    folder = import_folder(model_folder, name="mine").folder
    change(folder)
    assert verify("mine") == [problem]
    with pytest.raises(ModelError, match=f"is not what was installed: {problem}"):
        require_installed("mine")
    assert [model.config.name for model in list_installed()] == ["mine"]  # listing does not refuse


def test_verify_hashes_again_where_size_and_time_were_kept(model_folder: Path) -> None:
    folder = import_folder(model_folder, name="mine").folder
    weights = folder / "model.safetensors"
    before = weights.stat()
    _alter(folder)
    os.utime(weights, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert require_installed("mine")  # same size and time: trusted, which is what makes it quick
    assert verify("mine") == ["model.safetensors was altered"]
    with pytest.raises(ModelError, match="was altered"):  # and now it is known
        require_installed("mine")


def test_an_unchanged_model_is_not_hashed_again(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = import_folder(model_folder, name="mine")

    def refuse(path: Path) -> str:
        raise AssertionError(f"{path} was read again")

    monkeypatch.setattr(hashes, "file_digest", refuse)
    assert require_installed("mine") == first


def test_a_damaged_hash_memory_only_costs_time(model_folder: Path, home: Path) -> None:
    first = import_folder(model_folder, name="mine")
    for memory in (home / ".hashes").iterdir():
        memory.write_text("[1, 2")
    assert require_installed("mine") == first


def test_each_hash_moves_with_its_own_files_only(tmp_path: Path) -> None:
    def three(folder: Path) -> tuple[str, str, str]:
        model = require_installed(folder)
        return model.weights_hash, model.tokenizer_hash, model.template_hash

    folder = write_model(tmp_path / "m")
    weights, tokenizer, template = three(folder)
    (folder / "README.md").write_text("words")
    assert three(folder) == (weights, tokenizer, template)
    (folder / "tokenizer.json").write_text('{"other": 1}')
    assert three(folder)[0] == weights
    assert three(folder)[1] != tokenizer
    assert three(folder)[2] == template
    _alter(folder)
    assert three(folder)[0] != weights
    (folder / "chat_template.jinja").write_text("other")
    assert three(folder)[2] != template


def test_a_model_that_is_not_there_says_which_command_brings_it() -> None:
    with pytest.raises(ModelError, match="offline-eval models fetch smollm2-135m-instruct"):
        require_installed("smollm2-135m-instruct")
    with pytest.raises(ModelError, match=r"Qwen/Qwen3-8B.*offline-eval models import FOLDER --name qwen3-8b"):
        require_installed("qwen3-8b")
    with pytest.raises(ModelError, match="models fetch"):
        verify("all-minilm-l6-v2")
    with pytest.raises(UnknownNameError, match="did you mean 'qwen3-8b'"):
        require_installed("qwen3-8")
    with pytest.raises(ModelError, match="no such folder"):
        require_installed("./qwen3-8b")
    assert find_installed("qwen3-8b") is None
    assert find_installed("../..") is None


def test_a_damaged_manifest_is_named(model_folder: Path) -> None:
    folder = import_folder(model_folder, name="mine").folder
    (folder / "model.json").write_text("{}")
    with pytest.raises(ModelError, match=r"model.json is damaged; remove the folder"):
        require_installed("mine")

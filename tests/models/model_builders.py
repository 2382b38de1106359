"""Tiny model folders with real safetensors bytes, and wheels that pip can download."""

import hashlib
import json
import zipfile
from pathlib import Path


def safetensors_bytes(values: bytes = b"\x00\x00\x80\x3f" * 2) -> bytes:
    """One float32 tensor `w`: 8 bytes of header length, the JSON header, the data."""
    entry = {"dtype": "F32", "shape": [len(values) // 4], "data_offsets": [0, len(values)]}
    header = json.dumps({"__metadata__": {"format": "pt"}, "w": entry}).encode()
    return len(header).to_bytes(8, "little") + header + values


def write_model(folder: Path, **config: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    data = {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "max_position_embeddings": 4096}
    (folder / "config.json").write_text(json.dumps({**data, **config}))
    (folder / "model.safetensors").write_bytes(safetensors_bytes())
    (folder / "tokenizer.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"}))
    return folder


def write_wheel(folder: Path, files: dict[str, bytes], *, name: str = "tiny-model", version: str = "1.2") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    stem = name.replace("-", "_")
    info = f"{stem}-{version}.dist-info"
    extra = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    wheel = folder / f"{stem}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, content in {**files, **extra}.items():
            archive.writestr(path, content)
        archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in {**files, **extra}))
    return wheel


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

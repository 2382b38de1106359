"""A home of its own for each test, and what a test finds around it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from model_builders import write_model


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OFFLINE_EVAL_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OFFLINE_EVAL_CONFIGS", raising=False)
    return tmp_path / "home" / "models"


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    return write_model(tmp_path / "carried" / "Tiny-Qwen")


@pytest.fixture
def own_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Writes YAML under `$OFFLINE_EVAL_CONFIGS/<name>.yaml`, with `name:` put in front."""
    folder = tmp_path / "configs"
    folder.mkdir()
    monkeypatch.setenv("OFFLINE_EVAL_CONFIGS", str(folder))

    def write(text: str, name: str = "tiny") -> Path:
        path = folder / f"{name}.yaml"
        path.write_text(f"name: {name}\n{text}", encoding="utf-8")
        return path

    return write


@pytest.fixture
def local_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all pip can see: no index, no configuration file, no network."""
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder

"""The bill of materials is valid CycloneDX and names what is really installed."""

import json
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path

import pytest

from offline_eval.core.errors import UsageError
from offline_eval.models.installed import require_installed
from offline_eval.models.sbom import sbom
from tests.support.tiny_models import make_tiny_model

NOW = datetime(2026, 3, 1, tzinfo=UTC)
cyclonedx = pytest.importorskip("cyclonedx", reason="needs the extra 'sbom'")


def test_every_installed_package_is_listed_with_its_version() -> None:
    document = json.loads(sbom([], now=NOW))
    listed = {(part["name"], part["version"]) for part in document["components"]}
    assert listed == {(one.name, one.version) for one in distributions()}
    assert all(part["purl"].startswith("pkg:pypi/") for part in document["components"])
    numpy = next(part for part in document["components"] if part["name"] == "numpy")
    assert "BSD" in json.dumps(numpy["licenses"])


def test_it_is_cyclonedx_by_the_libraries_own_schema() -> None:
    from cyclonedx.exception import MissingOptionalDependencyException
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    validator = JsonStrictValidator(SchemaVersion.V1_6)
    try:
        problem = validator.validate_str(sbom([], now=NOW))
    except MissingOptionalDependencyException as error:
        pytest.skip(f"the schema validator is not installed: {error}")
    assert problem is None


def test_models_are_listed_with_every_files_hash(tmp_path: Path) -> None:
    model = require_installed(make_tiny_model("qwen", tmp_path / "裁判"))
    part = next(p for p in json.loads(sbom([model], now=NOW))["components"] if p["type"] == "machine-learning-model")
    values = {entry["name"]: entry["value"] for entry in part["properties"]}
    assert values["offline-eval:weights"] == model.weights_hash
    assert values["sha256:model.safetensors"] == model.files["model.safetensors"]


def test_only_the_time_differs_between_two_calls() -> None:
    first, second = (json.loads(sbom([], now=NOW.replace(hour=hour))) for hour in (1, 2))
    assert first["metadata"].pop("timestamp") != second["metadata"].pop("timestamp")
    assert first == second


def test_without_the_library_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cyclonedx.model.bom", None)
    with pytest.raises(UsageError, match=r"offline-eval\[sbom\]"):
        sbom([], now=NOW)

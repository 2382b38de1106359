"""Readers that could run code or be led astray stay out of the source: no pickle, no plain YAML loader, no eval."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "offline_eval").rglob("*.py")) + sorted((ROOT / "scripts").rglob("*.py"))
BANNED_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "pty", "telnetlib"}
BANNED_CALLS = {"eval", "exec", "compile", "__import__"}
YAML_HOME = ROOT / "offline_eval" / "core" / "yaml_text.py"
ARRAY_READERS = {"load", "save", "savez"}  # of numpy and bm25s: the default of some is to unpickle


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text("utf-8")))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_can_unpickle_or_evaluate(path: Path) -> None:
    for node in nodes(path):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not {name.split(".")[0] for name in names} & BANNED_MODULES, names
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in BANNED_CALLS, f"line {node.lineno}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_yaml_is_read_in_one_place_only(path: Path) -> None:
    for node in nodes(path):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "yaml":
            is_loader = "load" in node.attr or node.attr in ("compose", "scan", "parse")
            assert path == YAML_HOME or not is_loader, f"line {node.lineno}: yaml.{node.attr}; use core.yaml_text"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_arrays_and_models_are_read_without_pickle(path: Path) -> None:
    for node in nodes(path):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        options = {keyword.arg: keyword.value for keyword in node.keywords}
        owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
        if owner in ("np", "numpy") and node.func.attr in ARRAY_READERS:
            assert _is(options.get("allow_pickle"), False), f"line {node.lineno}"
        if node.func.attr == "from_pretrained" and "trust_remote_code" in options:
            assert _is(options["trust_remote_code"], False), f"line {node.lineno}"
        assert not _is(options.get("allow_pickle"), True), f"line {node.lineno}"
        assert owner != "torch" or node.func.attr != "load", f"line {node.lineno}"


def _is(node: ast.expr | None, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value

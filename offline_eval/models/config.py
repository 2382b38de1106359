"""Model configs: what a model is, where it comes from and how it is run; one YAML file each, so adding one is data."""

import os
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, Self

import yaml
from pydantic import Field, JsonValue, ValidationError, field_validator, model_validator

from offline_eval.core.errors import DataError, UnknownNameError, UsageError
from offline_eval.core.records import Record
from offline_eval.core.yaml_text import read_yaml

ModelKind = Literal["judge", "nli", "answerability", "alignment", "reranker", "embedder"]
Dtype = Literal["float32", "bfloat16", "float16"]
Relation = Literal["entailment", "neutral", "contradiction"]

CONFIGS_VARIABLE = "OFFLINE_EVAL_CONFIGS"
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
_RESERVED_OPTIONS = {
    # Two lengths could disagree, and then a prompt would pass our check and be cut by the engine.
    "max_model_len": "state the length as context_length",
    "trust_remote_code": "models are loaded without code of their own",
    "load_format": "models are loaded from safetensors only",
}
_SUBFOLDERS = ("judges", "encoders", "embedders")


class PackageSource(Record):
    """A model carried inside a wheel of the ordinary package registry.

    Attributes:
        file: Path inside the wheel: the GGUF file, or the folder for `safetensors_folder`.
        sha256: Of the GGUF file, as `sha256sum` prints it; for a folder, `hashes.folder_digest` of it.
    """

    kind: Literal["package"] = "package"
    package: str = Field(pattern=NAME_PATTERN)
    version: str = Field(pattern=r"^[A-Za-z0-9.!+_-]+$")
    file: str = Field(min_length=1)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    format: Literal["gguf", "safetensors_folder"]

    @field_validator("file")
    @classmethod
    def _stays_inside_the_wheel(cls, value: str) -> str:
        if "\\" in value or PurePosixPath(value).is_absolute() or ".." in PurePosixPath(value).parts:
            raise ValueError("must be a relative path inside the wheel, with forward slashes and without '..'")
        return value


class FolderSource(Record):
    """A model carried in by hand as a folder.

    Attributes:
        upstream: The public id to look for, for example `Qwen/Qwen3-8B`; `unknown` for a folder we were handed.
    """

    kind: Literal["folder"] = "folder"
    upstream: str = Field(min_length=1)
    revision: str | None = None
    note: str = ""


class ModelConfig(Record):
    """One model.

    Attributes:
        name: Registered name, the stem of its file.
        family: Models of one family share their biases, so a panel of one family is warned about.
        languages: Language codes the model was made for; `("*",)` for any.
        context_length: Longest prompt with its output that it is run with, in tokens; at most what it was made for.
        dtype: Preferred number format; an engine may be told another.
        memory_gib: Estimate of the memory needed to run it with a context of 8,192 tokens, in GiB.
        template_options: Passed to the chat template (`enable_thinking`); for encoders, `pair_text` is how a
            pair becomes one text, with `{premise}` and `{hypothesis}`.
        engine_options: Engine name to options of that engine's constructor.
        label_map: The model's own label to a relation; a two-label model calls everything unsupported `neutral`.
    """

    name: str = Field(pattern=NAME_PATTERN)
    kind: ModelKind
    family: str = Field(min_length=1)
    languages: tuple[str, ...] = Field(min_length=1)
    license: str = Field(min_length=1)
    context_length: int = Field(gt=0)
    dtype: Dtype
    memory_gib: float = Field(gt=0)
    source: Annotated[PackageSource | FolderSource, Field(discriminator="kind")]
    template_options: dict[str, JsonValue] = Field(default_factory=dict)
    engine_options: dict[Literal["vllm", "transformers"], dict[str, JsonValue]] = Field(default_factory=dict)
    label_map: dict[str, Relation] = Field(default_factory=dict)
    description: str = ""

    @model_validator(mode="after")
    def _nli_has_labels(self) -> Self:
        if self.kind == "nli" and "entailment" not in self.label_map.values():
            raise ValueError("an nli model needs label_map: which of its labels is 'entailment'")
        return self

    @model_validator(mode="after")
    def _options_leave_our_promises_alone(self) -> Self:
        for engine, options in self.engine_options.items():
            for option in _RESERVED_OPTIONS.keys() & options.keys():
                raise ValueError(f"engine_options.{engine} may not set {option}: {_RESERVED_OPTIONS[option]}")
        return self

    def speaks(self, language: str) -> bool:
        """Whether the model was made for a language (`zh` for `zh-Hans` too)."""
        return "*" in self.languages or language.split("-")[0].lower() in self.languages


def load_config(name: str) -> ModelConfig:
    """Read one model config; the user's own (`$OFFLINE_EVAL_CONFIGS`) goes before a shipped one of the same name.

    Raises:
        UnknownNameError: No such config; the message offers the nearest name.
        DataError: The file is not a valid config; one line a problem, as `file:line: …`.
    """
    paths = _config_paths()
    if name not in paths:
        raise UnknownNameError("model", name, list(paths))
    return read_config(paths[name])


def list_configs(kind: ModelKind | None = None) -> list[ModelConfig]:
    """Read all model configs, or those of one kind, sorted by name.

    Raises:
        DataError: Some files are not valid; all problems of all files.
    """
    configs: list[ModelConfig] = []
    problems: list[str] = []
    for _, path in sorted(_config_paths().items()):
        try:
            configs.append(read_config(path))
        except DataError as error:
            problems.extend(error.problems)
    if problems:
        raise DataError(problems)
    return [config for config in configs if kind in (None, config.kind)]


def config_names() -> list[str]:
    """Names of all model configs, sorted; reads no file."""
    return sorted(_config_paths())


def shipped_folder() -> Path:
    """The folder `model_configs`: inside the installed package, or at the repository's root."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "model_configs"
    return inside if inside.is_dir() else package.parent / "model_configs"


def read_config(path: Path) -> ModelConfig:
    """Read and check one config file.

    Raises:
        DataError: Not readable, not YAML, or not a config; one line a problem, as `file:line: …`.
    """
    data, root = read_yaml(path)
    if not isinstance(data, dict):
        raise DataError(f"{path}:1: expected a mapping of config fields, found {type(data).__name__}")
    try:
        config = ModelConfig.model_validate(data)
    except ValidationError as error:
        raise DataError([_problem(path, root, item["loc"], item["msg"]) for item in error.errors()]) from error
    if config.name != path.stem:
        raise DataError(_problem(path, root, ("name",), f"{config.name!r} must be the file's stem {path.stem!r}"))
    return config


def _config_paths() -> dict[str, Path]:
    paths: dict[str, Path] = {}
    for folder in _config_folders():
        for path in sorted(folder.glob("*.yaml")):
            paths[path.stem] = path
    return paths


def _config_folders() -> list[Path]:
    shipped = [shipped_folder() / sub for sub in _SUBFOLDERS]
    own = os.environ.get(CONFIGS_VARIABLE)
    if not own:
        return shipped
    root = Path(own).expanduser()
    if not root.is_dir():
        raise UsageError(f"{CONFIGS_VARIABLE} names {root}, which is no folder; create it or unset the variable")
    return [*shipped, root, *(root / sub for sub in _SUBFOLDERS)]


def _problem(path: Path, root: yaml.Node | None, location: tuple[int | str, ...], message: str) -> str:
    if location[:1] == ("source",):  # pydantic adds the union member's name, which does not stand in the file
        location = ("source", *location[2:])
    field = ".".join(str(part) for part in location)
    where = f"{path}:{_line_of(root, location)}"
    return f"{where}: {field}: {message}" if field else f"{where}: {message}"


def _line_of(node: yaml.Node | None, location: tuple[int | str, ...]) -> int:
    """Line of the deepest part of the location that stands in the file."""
    line = 1
    for part in location:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(part):
                    line, node = key.start_mark.line + 1, value
                    break
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line

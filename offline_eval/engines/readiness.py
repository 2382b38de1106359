"""Whether this machine can evaluate without a network: every switch, every model file, and what is still to be brought.

Why: behind an air gap a missing file costs a journey, so everything that is missing is named at once.
"""

import importlib.util
import os
from collections.abc import Mapping, Sequence

from offline_eval.airgap.guard import is_armed
from offline_eval.airgap.probes import default_routes
from offline_eval.airgap.switches import MUST_BE_UNSET, OFFLINE_SWITCHES, check_switches
from offline_eval.core.errors import UsageError
from offline_eval.core.records import Record
from offline_eval.engines.select import pick_engine
from offline_eval.models.config import config_names, load_config
from offline_eval.models.hashes import hash_files
from offline_eval.models.installed import how_to_install, list_installed, verify

# Module to what needs it; each is carried as a wheel.
_OPTIONAL_MODULES = {
    "sentence_transformers": "embedders and cross-encoders",
    "onnxruntime": "cross-encoders with 8-bit weights",
    "bm25s": "retrieval with BM25",
    "faiss": "dense retrieval",
    "jieba": "Chinese tokens for BM25",
    "pyarrow": "Parquet files and dataset folders",
}


class ModelState(Record):
    """An installed model.

    Attributes:
        files: Path inside the model's folder to the SHA-256 it has now.
        problems: What is missing, altered, added or unsafe; empty when it is as installed.
    """

    name: str
    kind: str
    license: str
    folder: str
    files: dict[str, str]
    problems: tuple[str, ...]


class Missing(Record):
    """Something to bring.

    Attributes:
        what: Its name.
        needed_for: What does not work without it.
        bring: How to get it here.
        required: Whether nothing can be judged without it.
    """

    what: str
    needed_for: str
    bring: str
    required: bool


class Readiness(Record):
    """What `doctor --offline` found.

    Attributes:
        switches: Switch to the value it has in this process; None when it is unset.
        switch_problems: One line per switch that is not as it must be.
        guard_armed: Whether this process refuses to leave the machine.
        default_routes: Network interfaces with a way out; empty inside an air gap.
        engine: The engine that would be taken, with the reason; None when there is none.
        missing: What to bring, the required first.
    """

    switches: dict[str, str | None]
    switch_problems: tuple[str, ...]
    guard_armed: bool
    default_routes: tuple[str, ...]
    engine: str | None
    models: tuple[ModelState, ...]
    missing: tuple[Missing, ...]

    @property
    def ready(self) -> bool:
        """Whether the default run works here, cut off from everything."""
        is_closed = self.guard_armed and not self.switch_problems
        return is_closed and not any(item.required for item in self.missing)


def look_offline(judge: str, encoders: Sequence[str], *, environ: Mapping[str, str] = os.environ) -> Readiness:
    """Look at everything an evaluation needs, reading every model file again; sends and starts nothing.

    Args:
        judge: Name of the default judge, which is offered when there is none.
        encoders: Names of the models that the default metrics beyond the panel use.
        environ: The environment whose switches are shown.
    """
    models = tuple(_models())
    engine, engine_missing = _engine()
    missing = [*engine_missing, *_missing_models(models, judge, encoders), *_altered(models), *_missing_modules()]
    return Readiness(
        switches={name: environ.get(name) for name in (*OFFLINE_SWITCHES, *MUST_BE_UNSET)},
        switch_problems=tuple(check_switches(environ)),
        guard_armed=is_armed(),
        default_routes=default_routes(),
        engine=engine,
        models=models,
        missing=tuple(sorted(missing, key=lambda item: not item.required)),
    )


def _models() -> list[ModelState]:
    return [
        ModelState(
            name=model.config.name,
            kind=model.config.kind,
            license=model.config.license,
            folder=str(model.folder),
            files=hash_files(model.folder, trust_memory=False),
            problems=tuple(verify(model.config.name)),
        )
        for model in list_installed()
    ]


def _engine() -> tuple[str | None, list[Missing]]:
    try:
        name, why = pick_engine("auto")
    except UsageError as error:
        bring = "the wheels of one engine: offline-eval bundle create --environment, where one is installed"
        return None, [Missing(what="an engine", needed_for=f"every judge ({error})", bring=bring, required=True)]
    return f"{name} ({why})", []


def _missing_models(models: Sequence[ModelState], judge: str, encoders: Sequence[str]) -> list[Missing]:
    missing = []
    if not any(model.kind == "judge" for model in models):
        missing.append(Missing(what="a judge", needed_for="every run", bring=_bring(judge), required=True))
    installed = {model.name for model in models}
    missing += [
        Missing(what=name, needed_for="similarities and dense retrieval", bring=_bring(name), required=False)
        for name in encoders
        if name not in installed
    ]
    return missing


def _altered(models: Sequence[ModelState]) -> list[Missing]:
    return [
        Missing(
            what=f"{model.name}, unaltered",
            needed_for=f"runs that use it ({'; '.join(model.problems)})",
            bring=f"remove {model.folder}, then {_bring(model.name)}",
            required=True,
        )
        for model in models
        if model.problems
    ]


def _missing_modules() -> list[Missing]:
    bring = "its wheel: offline-eval bundle create --environment, where it is installed"
    return [
        Missing(what=name, needed_for=purpose, bring=bring, required=False)
        for name, purpose in _OPTIONAL_MODULES.items()
        if importlib.util.find_spec(name) is None
    ]


def _bring(name: str) -> str:
    by_bundle = f"offline-eval bundle create --models {name} where it is installed, and bundle install here"
    return f"{by_bundle}; or {how_to_install(load_config(name))}" if name in config_names() else by_bundle

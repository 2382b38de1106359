"""Puts the response cache before a judge, so that a hit is the number that would have been computed, or is no hit.

What decides a number decides the key. Beside the request and the engine (weights, tokenizer, chat template, dtype,
options, versions) and the machine, that is what was computed together:

- an engine whose results do not depend on batches (batch-invariant kernels, or a script) is asked request by request;
- every other engine of this machine is asked batch by batch: the key holds the whole call, and on engines that keep
  prefixes also the calls since they were last told to forget. When such a batch misses after hits, the calls before it
  are computed after all, so that it meets the state it would have met;
- a model behind an endpoint is never cached: nobody knows its weights.

Only answers are kept. A call in which anything failed or was survived (a crash, a time limit, a smaller batch) is not.
"""

import os
import platform
from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from offline_eval import __version__
from offline_eval.airgap.probes import cpu_features, gpus, processor_name
from offline_eval.core.errors import StoreError
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import EngineInfo, Failure, GenerateRequest, Generation, PrefixCached, TextEngine
from offline_eval.pipeline.manifest import SETTINGS, installed_versions
from offline_eval.store.cache import ResponseCache

_ANSWERS: TypeAdapter[list[Generation | Failure]] = TypeAdapter(list[Generation | Failure])
# Decided before anything is computed, from the request alone.
_KEPT_FAILURES = frozenset({"prompt_too_long", "not_encodable"})


def with_cache(engine: TextEngine, cache: ResponseCache | None, *, announce: Callable[[str], None]) -> TextEngine:
    """The engine behind the cache, or alone where there is none or it must not be used."""
    scope = cache_scope(engine.info)
    if cache is None or scope is None:
        return engine
    return CachedEngine(engine, cache, scope=scope, announce=announce)


def cache_scope(info: EngineInfo) -> Literal["request", "call"] | None:
    """What an answer of this engine depends on: the request alone, or the whole call; None when nobody can tell."""
    if info.engine == "scripted" or info.options.get("batch_invariant") is True:
        return "request"
    return "call" if info.engine in ("transformers", "vllm") else None


class CachedEngine:
    """A judge behind the cache.

    Args:
        engine: Already loaded: what it says about itself is part of every key.
        cache: Trouble with it is told once; the engine is asked from then on.
        scope: As `cache_scope` says.

    Attributes:
        cache_hits: Requests that were answered from the cache.
        cache_misses: Requests that were not.
    """

    def __init__(
        self,
        engine: TextEngine,
        cache: ResponseCache,
        *,
        scope: Literal["request", "call"],
        announce: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._engine = engine
        self._cache: ResponseCache | None = cache
        self._by_request = scope == "request"
        self._announce = announce
        self._machine = machine_identity()
        self._history = ""  # of the calls since the engine last forgot
        self._skipped: list[Sequence[GenerateRequest]] = []  # calls since then that the engine has not seen
        self._is_clean = True  # nothing was survived since then
        self.cache_hits = 0
        self.cache_misses = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @property
    def info(self) -> EngineInfo:
        """The engine's."""
        return self._engine.info

    @property
    def incidents(self) -> Sequence[Any]:
        """The engine's."""
        found: Sequence[Any] = getattr(self._engine, "incidents", ())
        return found

    def forget_prefixes(self) -> None:
        """As the engine does, if it keeps any."""
        self._history, self._skipped, self._is_clean = "", [], True
        if isinstance(self._engine, PrefixCached):
            self._engine.forget_prefixes()

    def close(self) -> None:
        """Close the engine; the cache stays open for the next one."""
        self._engine.close()
        asked = self.cache_hits + self.cache_misses
        if self.cache_hits:
            self._announce(f"cache: {self.cache_hits} of {asked} requests were answered before and not computed again")

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        """Answer every request, in order."""
        if not requests:
            return []
        return self._request_by_request(requests) if self._by_request else self._as_a_call(requests)

    def _request_by_request(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        keys = [self._key([request.content_hash()]) for request in requests]
        known = self._known(keys)
        missing = [index for index, key in enumerate(keys) if key not in known]
        answers: dict[int, Generation | Failure] = {i: known[key][0] for i, key in enumerate(keys) if key in known}
        survived = len(self.incidents)
        made = self._engine.generate([requests[index] for index in missing]) if missing else []
        answers.update(zip(missing, made, strict=True))
        if len(self.incidents) == survived:
            self._keep({keys[index]: [answer] for index, answer in zip(missing, made, strict=True)})
        self._count(hits=len(requests) - len(missing), misses=len(missing))
        return [answers[index] for index in range(len(requests))]

    def _as_a_call(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        self._history = key = self._key([self._history, *(request.content_hash() for request in requests)])
        answers = self._known([key]).get(key)
        if answers is not None and len(answers) == len(requests):
            self._skipped.append(requests)
            self._count(hits=len(requests), misses=0)
            return answers
        survived = len(self.incidents)
        if isinstance(self._engine, PrefixCached):
            for call in self._skipped:
                self._engine.generate(call)
        self._skipped = []
        answers = self._engine.generate(requests)
        self._is_clean = self._is_clean and len(self.incidents) == survived
        if self._is_clean:
            self._keep({key: answers})
        self._count(hits=0, misses=len(requests))
        return answers

    def _key(self, parts: Sequence[str]) -> str:
        return digest("answers", [__version__, self._machine, self._engine.info.fingerprint, *parts])

    def _known(self, keys: Sequence[str]) -> dict[str, list[Generation | Failure]]:
        if self._cache is None:
            return {}
        try:
            found = self._cache.get(keys, weights=self._engine.info.weights_hash)
            return {key: _ANSWERS.validate_python(value) for key, value in found.items()}
        except (StoreError, ValidationError) as error:
            self._give_up(error)
            return {}

    def _keep(self, calls: dict[str, list[Generation | Failure]]) -> None:
        kept = {key: answers for key, answers in calls.items() if all(_is_lasting(answer) for answer in answers)}
        if self._cache is None or not kept:
            return
        info = self._engine.info
        values = {key: [answer.model_dump(mode="json") for answer in answers] for key, answers in kept.items()}
        try:
            self._cache.put(values, model=info.model, weights=info.weights_hash)
        except StoreError as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        self._cache = None
        self._announce(f"{error}; the run goes on without the cache")

    def _count(self, *, hits: int, misses: int) -> None:
        self.cache_hits += hits
        self.cache_misses += misses


def machine_identity() -> str:
    """Hash of what can move a number besides the engine: processor, cores, cards, libraries, and their settings."""
    settings = {name: os.environ[name] for name in SETTINGS if name in os.environ}
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    hardware = [processor_name(), list(cpu_features()), cores, list(gpus())]
    return digest("machine", [hardware, platform.python_version(), installed_versions(), settings])


def _is_lasting(answer: Generation | Failure) -> bool:
    return isinstance(answer, Generation) or answer.reason in _KEPT_FAILURES

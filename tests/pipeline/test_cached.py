"""A hit is the number that would have been computed: everything that decides it decides the key."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from offline_eval.core.errors import StoreError
from offline_eval.core.hashing import canonical_json
from offline_eval.core.protocols import (
    EngineInfo,
    Failure,
    GenerateRequest,
    Generation,
    LabelChoice,
    Message,
    ObjectTail,
    TextEngine,
)
from offline_eval.engines.isolate import Incident
from offline_eval.engines.scripted import ScriptedEngine, by_hash, pick
from offline_eval.pipeline.aggregate import Results, results_document
from offline_eval.pipeline.cached import CachedEngine, cache_scope, machine_identity, with_cache
from offline_eval.pipeline.execute import Executor
from offline_eval.store.cache import ResponseCache
from tests.support.panel_runs import make_config, many, start

LABELS = LabelChoice(labels=("1", "2", "3"))


def request(text: str, **changes: Any) -> GenerateRequest:
    fields = {"messages": (Message(role="user", content=text),), "prefill": '{"grade":', "constraint": LABELS}
    return GenerateRequest.model_validate(fields | changes)


class Judge:
    """An engine whose every answer tells what was computed together with it, and what was asked before."""

    def __init__(self, **info: Any) -> None:
        self.calls: list[list[str]] = []
        self.incidents: list[Incident] = []
        self._seen: list[str] = []  # since it last forgot
        base = ScriptedEngine(model="judge").info
        self.info: EngineInfo = base.model_copy(update={"engine": "vllm", "options": {"batch_size": 16}, **info})

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        texts = [one.messages[0].content for one in requests]
        self.calls.append(texts)
        self._seen.append("+".join(texts))
        if "survived" in texts:
            self.incidents.append(
                Incident(kind="worker_replaced", reason="engine_crashed", detail="died", requests=1, batch_size=16)
            )
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> Generation | Failure:
        if text == "fails":
            return Failure(reason="engine_crashed", detail="died")
        if text == "too long":
            return Failure(reason="prompt_too_long", detail="9 tokens")
        return Generation(text=f"{text} of {'; '.join(self._seen)}", prompt_tokens=1, output_tokens=1)

    def forget_prefixes(self) -> None:
        self._seen = []

    def close(self) -> None:
        pass


@pytest.fixture
def cache(tmp_path: Path) -> ResponseCache:
    return ResponseCache(tmp_path / "cache.sqlite")


def ask(engine: TextEngine, *texts: str) -> list[str]:
    answers = engine.generate([request(text) for text in texts])
    return [answer.text if isinstance(answer, Generation) else answer.reason for answer in answers]


def behind(engine: Judge, cache: ResponseCache) -> CachedEngine:
    found = with_cache(engine, cache, announce=lambda line: None)
    assert isinstance(found, CachedEngine)
    return found


# --- what a key holds ------------------------------------------------------------------------------------------------


def test_the_same_call_is_answered_without_the_engine_and_counted(cache: ResponseCache) -> None:
    first = behind(Judge(), cache)
    wanted = ask(first, "a", "b")
    judge = Judge()
    second = behind(judge, cache)
    assert ask(second, "a", "b") == wanted
    assert judge.calls == []
    assert (first.cache_hits, first.cache_misses) == (0, 2)
    assert (second.cache_hits, second.cache_misses) == (2, 0)


@pytest.mark.parametrize(
    "change",
    [
        {"weights_hash": "other"},
        {"tokenizer_hash": "other"},
        {"template_hash": "other"},
        {"dtype": "bfloat16"},
        {"engine": "transformers"},
        {"device": "cuda"},
        {"context_length": 512},
        {"grammar_backend": "other"},
        {"versions": {"torch": "9"}},
        {"options": {"batch_size": 8}},
        {"options": {"batch_size": 16, "seed": 1}},
        {"options": {"batch_size": 16, "enable_thinking": True}},
    ],
)
def test_nothing_is_hit_when_anything_about_the_engine_is_different(
    cache: ResponseCache, change: dict[str, Any]
) -> None:
    ask(behind(Judge(), cache), "a")
    judge = Judge(**change)
    ask(behind(judge, cache), "a")
    assert judge.calls == [["a"]]


@pytest.mark.parametrize(
    "changed",
    [
        request("a", prefill='{"label":'),
        request("a", messages=(Message(role="system", content="a"),)),
        request("a", constraint=LabelChoice(labels=("3", "2", "1"))),
        request("a", constraint=ObjectTail(fields={"reason": 160})),
        request("a "),
    ],
)
@pytest.mark.parametrize("options", [{}, {"batch_invariant": True}])
def test_nothing_is_hit_when_anything_about_the_request_is_different(
    cache: ResponseCache, changed: GenerateRequest, options: dict[str, Any]
) -> None:
    ask(behind(Judge(options=options), cache), "a")
    judge = Judge(options=options)
    behind(judge, cache).generate([changed])
    assert len(judge.calls) == 1


def test_nothing_is_hit_on_another_machine_or_with_other_settings(
    cache: ResponseCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(behind(Judge(), cache), "a")
    before = machine_identity()
    monkeypatch.setenv("OMP_NUM_THREADS", "1" if machine_identity() == before else "2")
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    assert machine_identity() != before
    judge = Judge()
    ask(behind(judge, cache), "a")
    assert judge.calls == [["a"]]


def test_two_sets_of_weights_never_meet_even_under_one_key(
    cache: ResponseCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CachedEngine, "_key", lambda self, parts: "always the same")
    ask(behind(Judge(), cache), "a")
    judge = Judge(weights_hash="other")
    assert ask(behind(judge, cache), "a") == ["a of a"]
    assert judge.calls == [["a"]]


# --- batches ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [("a",), ("b", "a"), ("a", "b", "c")])
def test_an_engine_whose_numbers_depend_on_the_batch_is_hit_by_the_same_batch_alone(
    cache: ResponseCache, other: tuple[str, ...]
) -> None:
    ask(behind(Judge(), cache), "a", "b")
    assert ask(behind(Judge(), cache), *other) == ask(Judge(), *other)


def test_a_batch_invariant_engine_is_hit_request_by_request_in_any_order(cache: ResponseCache) -> None:
    options = {"batch_invariant": True}
    wanted = ask(behind(Judge(options=options), cache), "a", "b")
    judge = Judge(options=options)
    engine = behind(judge, cache)
    assert ask(engine, "b", "c", "a") == [wanted[1], "c of c", wanted[0]]
    assert judge.calls == [["c"]]
    assert (engine.cache_hits, engine.cache_misses) == (2, 1)


@pytest.mark.parametrize("known", [1, 2, 3, 4])
def test_a_miss_after_hits_meets_the_state_it_would_have_met(cache: ResponseCache, known: int) -> None:
    calls = [("a", "b"), ("a", "reason"), ("c",), ("d", "e")]
    plain = Judge()
    wanted = [ask(plain, *call) for call in calls]
    engine = behind(Judge(), cache)
    for call in calls[:known]:
        ask(engine, *call)
    assert [ask(behind_again, *call) for behind_again in [behind(Judge(), cache)] for call in calls] == wanted


def test_after_forgetting_a_call_is_known_whatever_came_before(cache: ResponseCache) -> None:
    first = behind(Judge(), cache)
    ask(first, "a")
    first.forget_prefixes()
    ask(first, "b")
    judge = Judge()
    second = behind(judge, cache)
    assert ask(second, "b") == ["b of b"]
    assert judge.calls == []


@pytest.mark.parametrize(
    ("info", "scope"),
    [
        ({"engine": "scripted"}, "request"),
        ({"engine": "vllm", "options": {"batch_invariant": True}}, "request"),
        ({"engine": "vllm", "dtype": "bfloat16"}, "call"),
        ({"engine": "vllm", "dtype": "float32"}, "call"),
        ({"engine": "transformers"}, "call"),
        ({"engine": "endpoint"}, None),
        ({"engine": "something new"}, None),
    ],
)
def test_who_is_cached_and_how(info: dict[str, Any], scope: str | None, cache: ResponseCache) -> None:
    judge = Judge(**info)
    assert cache_scope(judge.info) == scope
    assert (with_cache(judge, cache, announce=print) is judge) is (scope is None)
    assert with_cache(judge, None, announce=print) is judge


# --- what is kept ----------------------------------------------------------------------------------------------------


def test_a_call_in_which_something_failed_is_not_kept(cache: ResponseCache) -> None:
    assert ask(behind(Judge(), cache), "a", "fails") == ["a of a+fails", "engine_crashed"]
    assert cache.info().entries == 0


def test_a_refusal_that_the_request_alone_decides_is_kept(cache: ResponseCache) -> None:
    ask(behind(Judge(), cache), "a", "too long")
    judge = Judge()
    assert ask(behind(judge, cache), "a", "too long") == ["a of a+too long", "prompt_too_long"]
    assert judge.calls == []


def test_nothing_is_kept_after_a_crash_until_the_engine_forgot(cache: ResponseCache) -> None:
    engine = behind(Judge(), cache)
    ask(engine, "survived")
    ask(engine, "a")  # on a fresh worker, which lacks the prefixes of the call before
    assert cache.info().entries == 0
    engine.forget_prefixes()
    ask(engine, "b")
    assert cache.info().entries == 1


def test_a_cache_that_breaks_is_told_once_and_the_numbers_are_the_same(cache: ResponseCache, tmp_path: Path) -> None:
    said: list[str] = []
    engine = with_cache(Judge(), cache, announce=said.append)
    wanted = ask(Judge(), "a")
    ask(engine, "a")
    with closing(sqlite3.connect(cache.path)) as db:
        db.execute("DROP TABLE entry")
        db.commit()
    engine = with_cache(Judge(), cache, announce=said.append)
    assert ask(engine, "a") == wanted
    ask(engine, "b")
    [line] = said
    assert "the run goes on without the cache" in line


def test_an_entry_that_is_no_list_of_answers_is_no_number(
    cache: ResponseCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = behind(Judge(), cache)
    monkeypatch.setattr(engine, "_key", lambda parts: "k")
    cache.put({"k": [{"kind": "generation", "text": 3}]}, model="m", weights=engine.info.weights_hash)
    assert ask(engine, "a") == ["a of a"]


# --- whole runs ------------------------------------------------------------------------------------------------------


def run(path: Path, cache: ResponseCache | None) -> tuple[bytes, dict[str, Any]]:
    config = make_config(("one", "two"), batch_size=1)
    run_file = start(path, config, *many(4))

    def opened(name: str) -> TextEngine:
        return with_cache(ScriptedEngine(model=name), cache, announce=lambda line: None)

    Executor(run_file, config, open_judge=opened).run()
    document = canonical_json(results_document(Results(run_file)))
    releases = {body["judge"]: body for name, body in run_file.events() if name == "release"}
    run_file.close()
    return document, releases


def test_a_run_from_the_cache_has_the_same_document_and_says_so_in_its_events(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "c.sqlite")
    plain, _ = run(tmp_path / "plain.sqlite", None)
    cold, first = run(tmp_path / "cold.sqlite", cache)
    warm, second = run(tmp_path / "warm.sqlite", cache)
    assert plain == cold == warm
    # Of each judge: 4 cases x 3 dimensions x (label, reason).
    assert [(first[judge]["cache_hits"], first[judge]["cache_misses"]) for judge in ("one", "two")] == [(0, 24)] * 2
    assert [(second[judge]["cache_hits"], second[judge]["cache_misses"]) for judge in ("one", "two")] == [(24, 0)] * 2


class Remembering(ScriptedEngine):
    """A judge whose probabilities move with what it was asked since it last forgot, as a prefix cache moves them."""

    def __init__(self) -> None:
        super().__init__(model="judge")
        self.info = self.info.model_copy(update={"engine": "vllm"})
        self._seen = 0

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        answers: list[Generation | Failure] = []
        for one in requests:
            is_label = isinstance(one.constraint, LabelChoice)
            answers.append(pick(one, "2", probability=0.5 + 0.001 * self._seen) if is_label else by_hash(one))
            self._seen += 1
        return answers

    def forget_prefixes(self) -> None:
        self._seen = 0


def remembered(path: Path, cache: ResponseCache | None, *, stop_after: int | None = None, **config: Any) -> bytes:
    chosen = make_config(batch_size=1, **config)
    run_file = start(path, chosen, *many(4))
    done = 0

    def progress(*_: int) -> None:
        nonlocal done
        done += 1
        if done == stop_after:
            raise KeyboardInterrupt

    def opened(name: str) -> TextEngine:
        return with_cache(Remembering(), cache, announce=lambda line: None)

    try:
        Executor(run_file, chosen, open_judge=opened, progress=progress).run()
        return canonical_json(results_document(Results(run_file)))
    finally:
        run_file.close()


def test_a_resumed_run_meets_the_engine_in_the_state_of_an_uninterrupted_one(tmp_path: Path) -> None:
    wanted = remembered(tmp_path / "whole.sqlite", None)
    for stopped in (1, 2, 3):
        path = tmp_path / f"{stopped}.sqlite"
        with pytest.raises(KeyboardInterrupt):
            remembered(path, None, stop_after=stopped)
        assert remembered(path, None) == wanted


def test_a_run_that_finds_half_of_its_calls_in_the_cache_has_the_document_of_one_without(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "c.sqlite")
    remembered(tmp_path / "labels.sqlite", cache, reasons="none")
    entries = cache.info().entries
    assert remembered(tmp_path / "half.sqlite", cache) == remembered(tmp_path / "plain.sqlite", None)
    assert cache.info().entries == 2 * entries  # the labels were there, the reasons came


def test_a_cache_in_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be opened"):
        ResponseCache(tmp_path / "file" / "c.sqlite")

"""Our run's throughput against plain `LLM.generate` on the same prompts, in one process; prints the ratio.

Both sides use one loaded vLLM engine. The plain side is handed every prompt, already encoded, in one call for the
labels and one for the reasons; our side runs checks, batches, commits and reads results back.
"""

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from offline_eval.airgap.switches import set_switches


def main() -> None:
    """Load one engine, time both sides in turn, print verdicts per second and the ratio."""
    set_switches()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", default="smollm2-135m-instruct")
    parser.add_argument("--responses", type=int, default=32)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--dtype", help="default: the model config's; auto: what is fast here")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()

    from offline_eval.engines.number_format import fast_format
    from offline_eval.engines.select import EngineOptions, engine_spec
    from offline_eval.engines.vllm import VllmEngine
    from offline_eval.models.installed import require_installed

    dtype = fast_format().dtype if arguments.dtype == "auto" else arguments.dtype
    options = EngineOptions(engine="vllm", batch_size=arguments.batch_size, dtype=dtype)
    engine = VllmEngine(engine_spec(require_installed(arguments.judge), "vllm", options=options))
    recorder = _Recorder(engine)
    _run(recorder, arguments)  # warm-up, and it collects the requests
    requests, labels = recorder.requests, recorder.labels
    print(
        f"{len(labels)} label and {len(requests) - len(labels)} reason requests; prefix cache emptied before each side"
    )
    ratios = []
    for number in range(arguments.rounds):
        plain = _plain(engine, requests)
        ours = _timed(engine, lambda: _run(engine, arguments))
        ratios.append(plain / ours)
        print(
            f"round {number + 1}: plain {plain:.1f} s, ours {ours:.1f} s ({len(labels) / ours:.2f} verdicts/s), "
            f"ratio {plain / ours:.2f}"
        )
    print(f"throughput of a run / plain LLM.generate: median {median(ratios):.2f} (at least 0.9 wanted)")


class _Recorder:
    """An engine that remembers what it was asked."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.info = engine.info
        self.requests: list[Any] = []
        self.labels: list[Any] = []

    def generate(self, requests: Any) -> Any:
        self.requests += requests
        self.labels += [request for request in requests if request.constraint.kind == "label"]
        return self._engine.generate(requests)

    def forget_prefixes(self) -> None:
        self._engine.forget_prefixes()

    def close(self) -> None:
        """The engine is used again."""


class _Kept:
    """An engine whose closing is left to the bench; as in a run, it forgets its prefixes before every batch."""

    def __init__(self, engine: Any) -> None:
        self.info, self.generate, self.forget_prefixes = engine.info, engine.generate, engine.forget_prefixes

    def close(self) -> None:
        """The engine is used again."""


def _run(engine: Any, arguments: argparse.Namespace) -> None:
    from importlib.resources import as_file, files

    from offline_eval.formats.reader import read_cases, read_responses
    from offline_eval.judge.panel import load_panel
    from offline_eval.pipeline.config import RunConfig, assign_judges, rubric_hashes
    from offline_eval.pipeline.execute import Executor
    from offline_eval.store.run_file import RunFile

    with as_file(files("offline_eval.demo")) as demo:
        cases = read_cases(demo / "cases.jsonl")
        responses = read_responses(demo / "answers-careful.jsonl", cases=cases)[: arguments.responses]
    panel = load_panel("three-examiners")
    judges = assign_judges(panel, [arguments.judge])
    config = RunConfig(
        panel=panel,
        judges=judges,
        engine="vllm",
        batch_size=arguments.batch_size,
        models={arguments.judge: "bench"},
        rubrics=rubric_hashes(panel.examiners),
    )
    with tempfile.TemporaryDirectory() as folder:
        run_file = RunFile(Path(folder) / "bench.sqlite", create=True)
        run_file.begin_run({"run_id": "bench", "config": config.model_dump(mode="json")}, cases, responses)
        Executor(run_file, config, open_judge=lambda name: _Kept(engine)).run()
        run_file.close()


def _plain(engine: Any, requests: list[Any]) -> float:
    """Seconds for plain `LLM.generate` over the same encoded prompts with the same sampling."""
    ready, failures = engine._preparer.prepare(requests)
    assert not failures
    groups = [[p for p in ready if bool(p.label_ids) is kind] for kind in (True, False)]

    def work() -> None:
        for group in groups:
            prompts = [{"prompt_token_ids": prepared.prompt} for prepared in group]
            engine._llm.generate(prompts, [engine._sampling(prepared) for prepared in group], use_tqdm=False)

    return _timed(engine, work)


def _timed(engine: Any, work: Any) -> float:
    engine._llm.reset_prefix_cache()
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()

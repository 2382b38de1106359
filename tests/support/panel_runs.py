"""Small runs for tests: cases, responses, evidence by hand, and judges that follow a script and keep a diary."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from offline_eval.core.evidence import Evidence, Guarantee, Provenance, Verdict, VerdictEvidence
from offline_eval.core.protocols import Failure, GenerateRequest, Generation, LabelChoice
from offline_eval.core.records import Case, Passage, Response
from offline_eval.core.results import Status
from offline_eval.engines.scripted import ScriptedEngine, by_hash
from offline_eval.judge.panel import Panel, load_panel
from offline_eval.judge.rubric import RUBRIC_LANGUAGES, load_rubric
from offline_eval.pipeline.config import RunConfig, assign_judges, rubric_hashes, run_id
from offline_eval.pipeline.execute import Executor
from offline_eval.store.run_file import RunFile

PROVENANCE = Provenance(producer="rubric_verdict", version="1", parameters_hash="0" * 64)
Script = Callable[[GenerateRequest], Generation | Failure]


def passages(*texts: str) -> tuple[Passage, ...]:
    return tuple(Passage(id=f"p{number}", text=text) for number, text in enumerate(texts, 1))


def make_case(id: str = "c1", **fields: Any) -> Case:
    asked = {"query": "How many days of leave do I get?", "query_type": "factual", "reference": "28 days."}
    return Case(id=id, **{**asked, **fields})


def make_response(case_id: str = "c1", **fields: Any) -> Response:
    given = {"answer": "You get 28 days of leave.", "passages": passages("Everybody has 28 days of leave a year.")}
    return Response(case_id=case_id, **{**given, **fields})


def many(n: int, **fields: Any) -> tuple[list[Case], list[Response]]:
    """n cases with one response each; answers differ, so that `by_hash` gives them different grades."""
    cases = [make_case(f"c{number:03d}", **fields) for number in range(n)]
    return cases, [make_response(case.id, answer=f"You get {case.id} days of leave.") for case in cases]


def scored(dimension: str, grade: float, *, judge: str = "one", role: str = "examiner", **fields: Any) -> Evidence:
    verdict = Verdict(status=Status.SCORED, decided_by="judge", label=f"{grade:g}", grade=grade, **fields)
    return _piece(dimension, verdict, judge, role)


def unscored(dimension: str, *, failed: bool, judge: str = "one", role: str = "examiner", why: str = "why") -> Evidence:
    status = Status.FAILED if failed else Status.NOT_APPLICABLE
    return _piece(dimension, Verdict(status=status, status_reason=why, decided_by="judge"), judge, role)


def _piece(dimension: str, verdict: Verdict, judge: str, role: str) -> VerdictEvidence:
    return VerdictEvidence.model_validate(
        {
            "response_key": "system/c1",
            "dimension": dimension,
            "rubric": f"{dimension}.en@2",
            "judge": judge,
            "role": role,
            "guarantee": Guarantee.GRAMMAR,
            "verdict": verdict,
            "provenance": PROVENANCE,
        }
    )


def make_config(judges: Sequence[str] = ("judge",), *, panel: Panel | None = None, **fields: Any) -> RunConfig:
    chosen = panel or load_panel("three-examiners")
    assigned = assign_judges(chosen, judges)
    names = {name for listed in assigned.values() for name in listed}
    return RunConfig(
        panel=chosen,
        judges=assigned,
        engine="scripted",
        models=dict.fromkeys(sorted(names), "scripted"),
        rubrics=rubric_hashes(chosen.examiners),
        **fields,
    )


def dimension_of(request: GenerateRequest) -> str:
    """Which examiner is asked, by the role it is given."""
    system = request.messages[0].content
    for name in ("faithfulness", "relevance", "completeness", "correctness"):
        if any(load_rubric(name, language).role in system for language in RUBRIC_LANGUAGES):
            return name
    raise AssertionError(f"no examiner is asked: {system[:200]}")


def asks_label(request: GenerateRequest) -> bool:
    return isinstance(request.constraint, LabelChoice)


class Judges:
    """Opens scripted judges and keeps a diary: who was opened and closed when, and every request.

    Args:
        scripts: Judge to script; the default script goes by the request's hash.
        stop_at: Number of the request at which Ctrl-C comes, from 1.
    """

    def __init__(self, scripts: Mapping[str, Script] | None = None, *, stop_at: int | None = None) -> None:
        self.diary: list[str] = []
        self.requests: list[tuple[str, GenerateRequest]] = []
        self._scripts = scripts or {}
        self._stop_at = stop_at

    def open(self, name: str) -> ScriptedEngine:
        judges, script = self, self._scripts.get(name, by_hash)
        self.diary.append(f"open {name}")

        class Engine(ScriptedEngine):
            def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
                for request in requests:
                    judges.requests.append((name, request))
                    if len(judges.requests) == judges._stop_at:
                        raise KeyboardInterrupt
                return super().generate(requests)

            def close(self) -> None:
                judges.diary.append(f"close {name}")

        return Engine(script, model=name)


def start(path: Path, config: RunConfig, cases: Sequence[Case], responses: Sequence[Response]) -> RunFile:
    """A run file with its inputs."""
    run_file = RunFile(path, create=True)
    stored = {"run_id": run_id(config, cases, responses), "config": config.model_dump(mode="json"), "warnings": []}
    run_file.begin_run(stored, cases, responses)
    return run_file


def execute(
    path: Path,
    config: RunConfig,
    cases: Sequence[Case],
    responses: Sequence[Response],
    judges: Judges | None = None,
) -> RunFile:
    """A whole run; the file stays open."""
    run_file = start(path, config, cases, responses)
    try:
        Executor(run_file, config, open_judge=(judges or Judges()).open).run()
    except BaseException:
        run_file.close()
        raise
    return run_file

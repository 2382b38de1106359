"""Systems under test that are functions: what they do wrong becomes a response with an error, never a crash."""

import sys

import pytest

from offline_eval.core.errors import UnknownNameError, UsageError
from offline_eval.core.protocols import RagSystem
from offline_eval.core.records import Case, Passage, Response
from offline_eval.formats.reader import read_responses
from offline_eval.formats.writer import write_responses
from offline_eval.pipeline.systems import CallableSystem, open_system

CASES = [
    Case(id=f"q{n}", query=f"问题 {n}", reference="secret", key_points=("secret",), relevant_passages={"secret": 1})
    for n in range(1, 6)
]

MODULE = """
import time, sys
from offline_eval_helper import polite

def text(query): return polite(query)
def structured(case):
    seen = sorted(case)
    return {"answer": case["id"], "contexts": ["a", "b"], "latency_ms": 3, "seen": seen, "case_id": "other"}
def picky(query):
    if "2" in query: raise ValueError("cannot\\x1b count to two")
    if "3" in query: sys.exit("done")
    if "4" in query: return 42
    if "5" in query: return {"answer": None}
    return "fine"
def slow(query):
    if "2" in query: time.sleep(5)
    return query
def dirty(query): return {"answer": "\\ud800", "blob": b"x"}
async def waiting(query): return "awaited " + query
class Bot:
    def ask(self, query): return "bot"
bot = Bot()
number = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A user's own module in the current directory, with a neighbour it imports."""
    (tmp_path / "my_rag.py").write_text(MODULE)
    (tmp_path / "offline_eval_helper.py").write_text("def polite(query): return 'please: ' + query\n")
    (tmp_path / "broken_rag.py").write_text("import sys\nsys.exit(3)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield "my_rag"
    for name in ("my_rag", "offline_eval_helper", "broken_rag"):
        sys.modules.pop(name, None)


def test_function_of_a_query_is_asked_in_order(module):
    seen = []
    system: RagSystem = CallableSystem(f"{module}:text")
    responses = CallableSystem(f"{module}:text").answer(CASES, progress=lambda done, total: seen.append((done, total)))
    assert [r.answer for r in responses] == [f"please: 问题 {n}" for n in range(1, 6)]
    assert {r.system for r in responses} == {system.name} == {"my_rag:text"}
    assert seen == [(n, 5) for n in range(1, 6)]


def test_function_of_a_case_sees_the_question_but_not_the_truth(module):
    (response,) = CallableSystem(f"{module}:structured", name="mine").answer(CASES[:1])
    assert response == Response(
        case_id="q1",
        system="mine",
        answer="q1",
        passages=(Passage(id="p1", text="a"), Passage(id="p2", text="b")),
        metadata={"latency_ms": 3, "seen": ["id", "query"]},
    )


def test_whatever_a_function_does_wrong_is_its_responses_error(module):
    responses = CallableSystem(f"{module}:picky").answer(CASES)
    assert [r.answer for r in responses] == ["fine", "", "", "", ""]
    assert [r.error for r in responses][:4] == [
        None,
        "ValueError: cannot\ufffd count to two",
        "SystemExit: done",
        "the answer is the number 42, expected text or an object",
    ]
    assert responses[4].error is not None
    assert responses[4].error.startswith("no answer, expected")
    (dirty,) = CallableSystem(f"{module}:dirty").answer(CASES[:1])
    assert dirty.error == (
        "answer holds half a surrogate pair (character 1), expected whole characters; "
        "blob is of type bytes, expected JSON data"
    )


def test_a_function_that_hangs_costs_its_time_limit_and_no_more(module):
    responses = CallableSystem(f"{module}:slow", limit_s=0.3).answer(CASES[:3])
    assert [r.error for r in responses] == [None, "no answer within 0.3 s", None]
    assert [r.answer for r in responses] == ["问题 1", "", "问题 3"]


def test_async_functions_and_methods_are_asked_too(module):
    assert CallableSystem(f"{module}:waiting").answer(CASES[:1])[0].answer == "awaited 问题 1"
    assert CallableSystem(f"{module}:bot.ask").answer(CASES[:1])[0].answer == "bot"


def test_no_cases_need_no_answers(module):
    assert CallableSystem(f"{module}:text").answer([]) == []


@pytest.mark.parametrize(
    ("spec", "kind", "message"),
    [
        ("no_such_rag:f", UsageError, "no_such_rag: cannot be imported from .*ModuleNotFoundError"),
        ("broken_rag:f", UsageError, "broken_rag: cannot be imported from .*SystemExit: 3"),
        ("my_rag:texts", UnknownNameError, "unknown function in my_rag 'texts'; did you mean 'text'"),
        ("my_rag:number", UsageError, "my_rag:number is a int, expected a function"),
        ("my_rag:", UsageError, "names no function"),
        ("my_rag", UsageError, "names no system; expected package.module:function"),
    ],
)
def test_a_function_that_cannot_be_had_is_a_usage_error(module, spec, kind, message):
    with pytest.raises(kind, match=message):
        open_system(spec)


def test_recorded_answers_can_be_judged_later(module, tmp_path):
    responses = open_system(f"mine={module}:picky").answer(CASES)
    write_responses(responses, tmp_path / "answers.jsonl")
    assert read_responses(tmp_path / "answers.jsonl", cases=CASES) == responses
    assert responses[0].system == "mine"

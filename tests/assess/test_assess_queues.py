"""Batching across requests, the result cache, and calls under time limits."""

import threading
from datetime import date

import pytest

from offline_eval.assess.batching import BatchingEmbedder, BatchingScorer
from offline_eval.assess.pipeline import SelfAssessingRag
from offline_eval.assess.policy import Policy
from offline_eval.assess.timed import Call, TimedCalls
from offline_eval.confidence.signals import SignalStatus
from offline_eval.core.errors import EngineError
from offline_eval.engines.scripted import ScriptedEmbedder, ScriptedScorer
from tests.support.assessing import encoders, finding, passages, pipeline, writing

QUERY = "How many days of annual leave do employees get?"
TEXT = "Employees get 15 days of annual leave."


class Held(ScriptedScorer):
    """Waits inside its first batch until it is let go; keeps the batches."""

    def __init__(self):
        super().__init__()
        self.entered, self.go, self.batches = threading.Event(), threading.Event(), []

    def score(self, pairs):
        self.batches.append(list(pairs))
        self.entered.set()
        self.go.wait(60)
        return super().score(pairs)


def start(scorer, pairs, results, name):
    def ask():
        try:
            results[name] = scorer.score(pairs)
        except EngineError as error:
            results[name] = error

    thread = threading.Thread(target=ask)
    thread.start()
    return thread


def until(condition):
    waited = threading.Event()
    for _ in range(6000):
        if condition():
            return
        waited.wait(0.01)
    raise AssertionError("it never happened")


def test_what_waits_while_the_encoder_works_is_computed_in_one_batch_and_comes_back_to_whom_it_belongs():
    held = Held()
    scorer = BatchingScorer(held)
    results = {}
    first = start(scorer, [("a", "a")], results, "first")
    assert held.entered.wait(60)
    others = [start(scorer, [("same", "same"), (f"w{n} v", f"w{n}")], results, n) for n in range(5)]
    until(lambda: scorer._queue._waiting.qsize() == 5)
    held.go.set()
    for thread in (first, *others):
        thread.join(60)
    assert [len(batch) for batch in held.batches] == [1, 6]  # five pairs of their own and the shared one once
    assert all(results[n] == [{"score": 1.0}, {"score": 1.0}] for n in range(5))
    assert scorer.score([("same", "same")]) == [{"score": 1.0}]
    assert len(held.batches) == 2  # remembered
    scorer.close()


def test_beyond_the_queue_a_call_is_refused_at_once():
    held = Held()
    scorer = BatchingScorer(held, most_waiting=1)
    results = {}
    first = start(scorer, [("a", "a")], results, "first")
    assert held.entered.wait(60)
    second = start(scorer, [("b", "b")], results, "second")
    until(lambda: scorer._queue._waiting.qsize() == 1)
    with pytest.raises(EngineError, match="1 calls are waiting"):
        scorer.score([("c", "c")])
    held.go.set()
    first.join(60)
    second.join(60)
    assert results["second"] == [{"score": 1.0}]
    scorer.close()
    with pytest.raises(EngineError, match="closed"):
        scorer.score([("d", "d")])


def test_one_calls_trouble_is_not_anothers():
    class Picky(Held):
        def score(self, pairs):
            answers = super().score(pairs)
            if ("bad", "bad") in pairs:
                raise EngineError("cannot read that")
            return answers

    held = Picky()
    scorer = BatchingScorer(held)
    results = {}
    threads = [start(scorer, [("a", "a")], results, "first")]
    assert held.entered.wait(60)
    threads += [start(scorer, [(name, name)], results, name) for name in ("bad", "good")]
    until(lambda: scorer._queue._waiting.qsize() == 2)
    held.go.set()
    for thread in threads:
        thread.join(60)
    assert results["good"] == [{"score": 1.0}]
    assert isinstance(results["bad"], EngineError)
    scorer.close()


def test_embeddings_through_the_queue_are_the_embedders_own():
    plain = ScriptedEmbedder()
    queued = BatchingEmbedder(ScriptedEmbedder())
    texts = ["annual leave", "年假", "annual leave"]
    assert (queued.embed(texts) == plain.embed(texts)).all()
    assert queued.embed([]).shape[0] == 0
    assert queued.languages == ("*",)
    queued.close()


def test_a_call_that_hangs_does_not_hold_up_the_others_and_only_so_many_may_hang():
    hanging = threading.Event()
    timed = TimedCalls(most_abandoned=2)
    for _ in range(2):
        outcomes = timed.run({"slow": Call(lambda: hanging.wait(60), 0.05), "quick": Call(lambda: True, 60.0)})
        assert outcomes["slow"].status is SignalStatus.TIMED_OUT
        assert outcomes["quick"].value is True
    refused = timed.run({"slow": Call(lambda: True, 60.0)})["slow"]
    assert (refused.status, refused.reason) == (SignalStatus.FAILED, "2 earlier calls have not come back")
    hanging.set()
    until(lambda: timed.run({"slow": Call(lambda: True, 60.0)})["slow"].value is True)
    late = timed.run({"late": Call(lambda: True, 0.0)})["late"]
    assert (late.status, late.reason) == (SignalStatus.TIMED_OUT, "the deadline had passed before it began")


def test_a_result_is_reused_until_a_document_changes():
    found = passages(TEXT)
    generator = writing(TEXT)
    rag = pipeline(finding(found, found), generator)
    first, second = rag.assess(QUERY), rag.assess(QUERY)
    assert (first.cached, second.cached, len(generator.requests)) == (False, True, 1)
    assert second.text == first.text
    found[0] = found[0].model_copy(update={"text": "Employees get 16 days of annual leave."})
    changed = rag.assess(QUERY)
    assert (changed.cached, len(generator.requests)) == (False, 2)
    assert changed.text != first.text


def test_a_degraded_result_is_never_kept_and_a_new_day_is_another_key():
    answers = iter([ConnectionError("down"), TEXT, TEXT])

    def unsteady(request):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    days = [date(2026, 1, 1)]
    found = passages(TEXT)
    policy = Policy(deadline_s=600, cosine_range=(0.0, 0.2))
    rag = SelfAssessingRag(finding(found, found), writing(unsteady), encoders(), policy, today=lambda: days[-1])
    assert rag.assess(QUERY).degraded
    assert not rag.assess(QUERY).cached
    assert rag.assess(QUERY).cached
    days.append(date(2026, 1, 2))
    assert not rag.assess(QUERY).cached


def test_many_threads_get_their_own_answers():
    def write(request):
        return f"Employees get 15 days of annual leave. {request.query.rstrip('?')}."

    found = passages(TEXT)
    rag = pipeline(finding(found, found), writing(write))
    results = {}

    def ask(number):
        results[number] = rag.assess(f"How many days of leave in office {number}?")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert {number: f"office {number}." in result.answer for number, result in results.items()} == dict.fromkeys(
        range(16), True
    )
    rag.close()


def test_stages_are_told_in_order_and_timed():
    events = []
    found = passages(TEXT)
    result = pipeline(finding(found, found), writing(TEXT)).assess(QUERY, on_stage=events.append)
    ended = [event.stage for event in events if event.status == "finished"]
    assert ended[0] == "retrieve"
    assert ended.index("context") < ended.index("generate") < ended.index("grounding") < ended.index("wording")
    assert {timing.stage for timing in result.timings} == set(ended)
    assert all(timing.ms >= 0 for timing in result.timings)

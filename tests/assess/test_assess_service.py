"""The service's promises: who gets in, what is refused and how, streams, logs, metrics and its OpenAPI document."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from openapi_spec_validator import validate
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from offline_eval.assess.service import AssessService
from offline_eval.assess.service_settings import ServiceLimits
from tests.support.assess_stub import StubAssessor

HOST = "127.0.0.1:8090"
CHECK = {"query": "年假有几天？", "answer": "26天", "passages": [{"id": "1", "text": "年假26天。"}]}


class Running:
    """A service with its client, its stand-in and its log."""

    def __init__(self, *, seconds: float = 0.0, can_generate: bool = True, **limits: Any) -> None:
        self.stub = StubAssessor(seconds=seconds)
        self.log: list[dict[str, Any]] = []
        self.service = AssessService(
            self.stub,
            limits=ServiceLimits(**limits),
            deadline_s=20.0,
            can_generate=can_generate,
            write=lambda line: self.log.append(json.loads(line)),
        )
        self.client = TestClient(self.service.app(hosts=(HOST,)), base_url=f"http://{HOST}")


@contextmanager
def running(**options: Any) -> Iterator[Running]:
    found = Running(**options)
    with found.client:  # one event loop for all requests
        try:
            yield found
        finally:
            found.stub.hold.set()
            found.service.queue.close()


def test_a_query_is_answered_with_the_full_result() -> None:
    with running() as it:
        answer = it.client.post("/assess", json={"query": "报销需要什么材料？", "language": "zh"})
        assert answer.status_code == 200
        body = answer.json()
        assert (body["query"], body["answer"], body["language"]) == (
            "报销需要什么材料？",
            "echo: 报销需要什么材料？",
            "zh",
        )
        assert body["confidence"]["kind"] == "score"


def test_an_answer_is_checked_without_generating() -> None:
    with running(can_generate=False) as it:
        assert it.client.post("/check", json=CHECK).json()["answer"] == "26天"
        refused = it.client.post("/assess", json={"query": "x"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "no_generator")


@pytest.mark.parametrize(
    ("content", "kind", "status", "code"),
    [
        (b"{", "application/json", 400, "not_json"),
        (b"\xff", "application/json", 400, "not_json"),
        (b"[1]", "application/json", 422, "invalid"),
        (b"{}", "application/json", 422, "invalid"),
        (b'{"query": ""}', "application/json", 422, "invalid"),
        (b'{"query": "x", "surprise": 1}', "application/json", 422, "invalid"),
        (b'{"query": "x", "deadline_s": -1}', "application/json", 422, "invalid"),
        (b'{"query": "x"}', "text/plain", 415, "not_json"),
        (b'{"query": "' + b"x" * 2000 + b'"}', "application/json", 413, "too_large"),
    ],
)
def test_a_body_that_is_not_what_is_expected_is_refused_by_name(
    content: bytes, kind: str, status: int, code: str
) -> None:
    with running(most_body_bytes=1024) as it:
        answer = it.client.post("/assess", content=content, headers={"Content-Type": kind})
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
        assert it.stub.asked == []


def test_every_fault_of_a_body_is_listed() -> None:
    with running() as it:
        error = it.client.post("/check", json={"answer": 5, "passages": [{"id": ""}]}).json()["error"]
        assert len(error["problems"]) == 4, error  # no query, answer is no text, an empty id, no text
        twice = it.client.post("/check", json=CHECK | {"passages": CHECK["passages"] * 2})
        assert (twice.status_code, twice.json()["error"]["message"]) == (422, "passage ids must be distinct")


@pytest.mark.parametrize("length", [None, "10"])
def test_a_body_that_says_too_little_about_its_size_is_stopped_while_it_arrives(length: str | None) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(100):
            yield b"x" * 100

    headers = {"Content-Type": "application/json"} | ({} if length is None else {"Content-Length": length})
    with running(most_body_bytes=1024) as it:
        assert it.client.post("/assess", content=pieces(), headers=headers).status_code == 413


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:8090"])
def test_another_host_name_is_refused(host: str) -> None:
    with running() as it:
        answer = it.client.post("/assess", json={"query": "x"}, headers={"Host": host})
        assert (answer.status_code, it.stub.asked) == (421, [])


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", f"https://{HOST}"])
def test_a_page_of_another_site_is_refused(origin: str) -> None:
    with running() as it:
        answer = it.client.post("/assess", json={"query": "x"}, headers={"Origin": origin})
        assert (answer.status_code, it.stub.asked) == (403, [])
        ours = {"Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin"}
        assert it.client.post("/assess", json={"query": "x"}, headers=ours).status_code == 200
        cross = ours | {"Sec-Fetch-Site": "cross-site"}
        assert it.client.post("/assess", json={"query": "x"}, headers=cross).status_code == 403


@pytest.mark.parametrize("path", ["/", "/health", "/metrics", "/openapi.json", "/static/try.js", "/nothing"])
def test_every_answer_carries_the_safe_headers(path: str) -> None:
    with running() as it:
        headers = it.client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")


def test_beyond_the_queue_a_request_gets_503_and_a_time_to_try_again() -> None:
    with running(workers=1, queue=1) as it, ThreadPoolExecutor(2) as clients:
        it.stub.hold.clear()
        accepted = [clients.submit(it.client.post, "/assess", json={"query": f"q{n}"}) for n in range(2)]
        while it.service.queue.accepted < 2:
            pass
        refused = it.client.post("/assess", json={"query": "one too many"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "busy")
        assert int(refused.headers["retry-after"]) >= 1
        streamed = it.client.post("/assess", json={"query": "x"}, headers={"Accept": "text/event-stream"})
        assert streamed.status_code == 503, "a stream is refused before it begins"
        assert it.client.get("/health").json()["accepted"] == 2
        it.stub.hold.set()
        assert sorted(future.result().json()["answer"] for future in accepted) == ["echo: q0", "echo: q1"]
        assert it.client.post("/assess", json={"query": "again"}).status_code == 200


def test_the_time_in_the_queue_counts_against_the_deadline() -> None:
    with running(workers=1, queue=5) as it, ThreadPoolExecutor(2) as clients:
        body = {"query": "x", "deadline_s": 15.0}
        it.stub.hold.clear()
        asked = [clients.submit(it.client.post, "/assess", json=body) for _ in range(2)]
        while it.service.queue.accepted < 2:
            pass
        time.sleep(0.5)  # one is worked on, the other waits
        it.stub.hold.set()
        assert [future.result().status_code for future in asked] == [200, 200]
        first, second = it.stub.deadlines
        assert first is not None
        assert second is not None
        assert first <= 15.0
        assert 0 < second <= 14.5
        it.client.post("/assess", json={"query": "x", "deadline_s": 9999})
        assert it.stub.deadlines[-1] is not None
        assert it.stub.deadlines[-1] <= 20.0, "never more than the service's own"


def test_a_stream_tells_the_stages_and_then_the_result() -> None:
    with running() as it:
        answer = it.client.post("/check", json=CHECK, headers={"Accept": "text/event-stream"})
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = [block.split("\n") for block in answer.text.strip().split("\n\n")]
        assert [event[0] for event in events] == ["event: stage", "event: stage", "event: result"]
        assert json.loads(events[1][1].removeprefix("data: "))["status"] == "finished"
        assert json.loads(events[2][1].removeprefix("data: "))["answer"] == "26天"


def test_a_fault_says_nothing_of_what_it_was_about() -> None:
    with running() as it:
        it.client.post("/assess", json={"query": "break"}, headers={"Accept": "text/event-stream"})
        stream = it.client.post("/assess", json={"query": "break"}, headers={"Accept": "text/event-stream"}).text
        assert stream.startswith("event: error\n")
        assert "RuntimeError" in stream
        assert "secret text" not in stream
        assert it.service.queue.accepted == 0


def test_the_request_log_holds_no_texts_unless_they_are_wanted() -> None:
    secret = CHECK | {"query": "geheim-q", "answer": "geheim-a"}
    with running() as it:
        it.client.post("/check", json=secret)
        it.client.get("/geheim-path?geheim=1")
        assert "geheim" not in json.dumps(it.log)
        line = it.log[0]
        assert (line["path"], line["status"], line["tier"], line["checks_ms"]) == ("/check", 200, "answer", 2.0)
        assert it.log[1]["path"] == "other"
    with running(log_texts=True) as it:
        it.client.post("/check", json=secret)
        assert (it.log[0]["query"], it.log[0]["answer"]) == ("geheim-q", "geheim-a")


def test_metrics_are_prometheus_text() -> None:
    with running() as it:
        it.client.post("/check", json=CHECK)
        it.client.post("/check", content=b"{", headers={"Content-Type": "application/json"})
        it.client.get("/made-up")
        answer = it.client.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        samples = {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }
        assert samples["offline_eval_requests_total", (("path", "/check"), ("status", "200"))] == 1
        assert samples["offline_eval_requests_total", (("path", "/check"), ("status", "400"))] == 1
        assert samples["offline_eval_requests_total", (("path", "other"), ("status", "404"))] == 1
        assert samples["offline_eval_tiers_total", (("tier", "answer"),)] == 1
        assert samples["offline_eval_checks_seconds_sum", ()] == pytest.approx(0.002)
        assert samples["offline_eval_accepted", ()] == 0


def test_the_openapi_document_is_valid_and_names_every_path() -> None:
    with running() as it:
        document = it.client.get("/openapi.json").json()
        validate(document)
        assert set(document["paths"]) == {"/", "/assess", "/check", "/health", "/metrics", "/openapi.json"}


def test_what_the_service_says_fits_its_own_document() -> None:
    from jsonschema import Draft202012Validator

    with running() as it:
        document = it.client.get("/openapi.json").json()
        refused = it.client.post("/check", json={})
        for answer, name in (
            (it.client.post("/check", json=CHECK), "Assessment"),
            (it.client.get("/health"), "Health"),
            (refused, "ErrorAnswer"),
        ):
            schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
            assert list(Draft202012Validator(schema).iter_errors(answer.json())) == []


@pytest.mark.parametrize(
    ("language", "words"), [("en", "Try the assessing service"), ("zh-CN,zh;q=0.9", "试用评估服务")]
)
def test_the_page_speaks_the_readers_language_and_loads_nothing_foreign(language: str, words: str) -> None:
    with running() as it:
        page = it.client.get("/", headers={"Accept-Language": language}).text
        assert words in page
        assert "http://" not in page
        assert "https://" not in page
        assert "<script>" not in page
        assert it.client.get("/?lang=zh").text.count("试用评估服务") == 2
    with running(can_generate=False) as it:
        assert 'id="ask"' not in it.client.get("/").text

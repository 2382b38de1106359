"""Systems under test behind HTTP: what they do wrong becomes a response with an error, never a crash."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from offline_eval.core.errors import AirGapError, DataError
from offline_eval.core.protocols import RagSystem
from offline_eval.core.records import Case, Passage, Response
from offline_eval.pipeline.system_http import MAX_BODY_BYTES, HttpSystem
from offline_eval.pipeline.systems import open_system

CASES = [Case(id=f"q{n}", query=f"问题 {n}", reference="secret") for n in range(1, 6)]


class Endpoint(BaseHTTPRequestHandler):
    """A RAG service with every fault a path can name."""

    asked: list[dict[str, object]] = []  # noqa: RUF012 - emptied by the fixture

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append({"path": self.path, "body": body, "token": self.headers.get("X-Token")})
        getattr(self, self.path.strip("/").split("?")[0])(body)

    def send(self, content: bytes, status: int = 200, **headers: str):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def good(self, body):
        docs = [
            {"meta": {"id": 7}, "body": "第一段", "name": "T"},
            {"meta": {"id": 8}, "body": None},
        ]
        self.send(json.dumps({"data": {"text": f"答 {body['q']}", "docs": docs, "cited": [7]}}).encode())

    def slow(self, body):
        if "2" in body["q"]:
            time.sleep(3)
        self.good(body)

    def drip(self, body):
        self.send_response(200)
        self.end_headers()
        for _ in range(30):
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.1)

    def reverse(self, body):
        time.sleep(0.5 - 0.1 * int(body["q"][-1]))
        self.good(body)

    def error(self, body):
        self.send(b"out of \x1bmemory", status=500)

    def missing(self, body):
        self.send(b"{}", status=404)

    def redirect(self, body):
        self.send(b"", status=302, Location="http://example.org/good")

    def not_json(self, body):
        self.send(b"<html>")

    def not_utf8(self, body):
        self.send(b'{"data": "\xff"}')

    def no_path(self, body):
        self.send(b'{"data": {"answer": "x"}}')

    def null(self, body):
        self.send(b'{"data": {"text": null}}')

    def boolean(self, body):
        self.send(b'{"data": {"text": true, "docs": null, "cited": []}}')

    def no_list(self, body):
        self.send(b'{"data": {"text": "x", "docs": "one", "cited": []}}')

    def no_text(self, body):
        self.send(b'{"data": {"text": "x", "docs": [{"meta": {"id": 1}}], "cited": []}}')

    def huge(self, body):
        self.send(b" " * (MAX_BODY_BYTES + 1))

    def cut(self, body):
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b'{"data"')

    def garbage(self, body):
        self.wfile.write(b"not http at all\r\n\r\n")

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        pass  # a client that stops waiting is what these tests are about


@pytest.fixture
def port():
    Endpoint.asked.clear()
    server = Server(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


def mapping(path: Path, port: int, place: str, **changes: object) -> Path:
    data: dict[str, object] = {
        "url": f"http://127.0.0.1:{port}/{place}",
        "request": {"q": "{query}", "nested": ["{case_id}", 5]},
        "response": {
            "answer": "data.text",
            "passages": "data.docs",
            "passage": {"id": "meta.id", "text": "body", "title": "name"},
            "citations": "data.cited",
        },
        "timeout_s": 5,
    }
    path.write_text(yaml.safe_dump({**data, **changes}, allow_unicode=True), encoding="utf-8")
    return path


def test_http_mapping_is_filled_in_and_read_out(tmp_path, port, monkeypatch):
    monkeypatch.setenv("RAG_TOKEN", "t0ps3cret")
    file = mapping(tmp_path / "my-rag.yaml", port, "good?k=1", headers={"X-Token": "Bearer ${RAG_TOKEN}"})
    asked = Case(id="a", query="{case_id} 年假？")
    system: RagSystem = open_system(str(file))
    assert system.answer([asked]) == [
        Response(
            case_id="a",
            system="my-rag",
            answer="答 {case_id} 年假？",
            passages=(Passage(id="7", text="第一段", title="T"), Passage(id="8", text="")),
            citations=("7",),
        )
    ]
    assert Endpoint.asked == [
        {"path": "/good?k=1", "body": {"q": "{case_id} 年假？", "nested": ["a", 5]}, "token": "Bearer t0ps3cret"}
    ]


def test_http_answers_keep_the_order_of_the_cases(tmp_path, port):
    file = mapping(tmp_path / "m.yaml", port, "reverse", concurrency=5)
    seen = []
    responses = HttpSystem(file, name="b").answer(CASES, progress=lambda done, total: seen.append(done))
    assert [r.case_id for r in responses] == [case.id for case in CASES]
    assert [r.answer for r in responses] == [f"答 {case.query}" for case in CASES]
    assert seen == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("error", "HTTP 500 Internal Server Error: out of \ufffdmemory"),
        ("missing", "HTTP 404 Not Found: {}"),
        ("redirect", "HTTP 302 redirects to 'http://example.org/good'; redirects are not followed"),
        ("not_json", "unreadable JSON: broken JSON at character 1: expecting value"),
        ("not_utf8", "unreadable JSON: invalid UTF-8 at byte offset 10 (0xff), expected UTF-8"),
        ("no_path", "no data.text in the answer; data has 'answer'"),
        ("null", "data.text is null, expected text"),
        ("no_list", "data.docs is the text 'one', expected a list of passages"),
        ("no_text", "no body in the answer; the answer has 'meta'"),
        ("huge", "the answer has more than 16 MiB"),
        ("cut", "the answer breaks off 93 bytes before its end"),
    ],
)
def test_http_faults_are_the_responses_error(tmp_path, port, place, error):
    (response,) = HttpSystem(mapping(tmp_path / "m.yaml", port, place)).answer(CASES[:1])
    assert response.error == f"{error} (from http://127.0.0.1:{port}/{place})"
    assert (response.case_id, response.system, response.answer) == ("q1", "m", "")
    assert len(Endpoint.asked) == 1


def test_http_answer_of_the_wrong_type_is_the_responses_error(tmp_path, port):
    (response,) = HttpSystem(mapping(tmp_path / "m.yaml", port, "boolean")).answer(CASES[:1])
    assert response.error == "answer is a JSON boolean (true), expected text"


def test_http_that_is_none_is_the_responses_error(tmp_path, port):
    (response,) = HttpSystem(mapping(tmp_path / "m.yaml", port, "garbage")).answer(CASES[:1])
    assert response.error is not None
    assert response.error.startswith(f"broken HTTP from http://127.0.0.1:{port}/garbage (BadStatusLine")


def test_slow_endpoints_cost_their_time_limit_and_no_more(tmp_path, port):
    file = mapping(tmp_path / "m.yaml", port, "slow", timeout_s=0.4)
    responses = HttpSystem(file).answer(CASES[:3])
    assert [bool(r.error) for r in responses] == [False, True, False]
    assert "no answer within 0.4 s" in (responses[1].error or "")
    # One byte every tenth of a second keeps each read alive; the whole request is what is limited.
    (dripping,) = HttpSystem(mapping(tmp_path / "d.yaml", port, "drip", timeout_s=0.5)).answer(CASES[:1])
    assert "no answer within 0.5 s" in (dripping.error or "")


def test_nobody_listening_is_the_responses_error(tmp_path, port, monkeypatch):
    # A proxy in the environment would lead elsewhere; it is not asked.
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
    responses = HttpSystem(mapping(tmp_path / "m.yaml", 1, "good")).answer(CASES[:2])
    assert [r.error for r in responses] == ["cannot reach http://127.0.0.1:1/good (Connection refused)"] * 2
    assert Endpoint.asked == []


@pytest.mark.parametrize("host", ["example.org", "10.0.0.8", "127.0.0.1.example.org", "2130706433", "[2001:db8::1]"])
def test_hosts_beyond_this_machine_are_refused_by_name(tmp_path, host):
    bare = host.strip("[]")
    file = mapping(tmp_path / "m.yaml", 1, "", url=f"http://{host}:8000/ask", allow_hosts=[bare])
    with pytest.raises(AirGapError, match="that the mapping file allows it itself is not enough") as caught:
        open_system(str(file), allow_hosts=["other.example.org"])
    assert repr(bare) in str(caught.value)
    assert open_system(f"far={file}", allow_hosts=[bare]).name == "far"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3", "[::1]", "LOCALHOST"])
def test_this_machine_needs_no_permission(tmp_path, host):
    file = mapping(tmp_path / "m.yml", 1, "", url=f"http://{host}:8000/ask", name="named")
    assert open_system(str(file)).name == "named"


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"url": "ftp://127.0.0.1/x"}, ["url is 'ftp://127.0.0.1/x', expected http://host:port/path in ASCII"]),
        (
            {"url": "http://127.0.0.1:99999/"},
            ["url cannot be read (Port out of range 0-65535), expected http://host:port/path"],
        ),
        ({"url": "http://me:pw@127.0.0.1/"}, ["url holds a user name, expected credentials in headers, as ${NAME}"]),
        (
            {"headers": {"X": "${NOT_SET_ANYWHERE}"}},
            ["headers.X needs the environment variable NOT_SET_ANYWHERE; set it"],
        ),
        ({"headers": {"X": "a\nY: b"}}, ["header 'X' has characters HTTP cannot carry, expected printable ASCII"]),
        (
            {"timeout_s": 0, "concurrency": 1.5, "respnse": {}, "response": {"passages": "x"}, "method": "GET"},
            [
                "method is the text 'GET', expected 'POST'",
                "no response.answer, expected one",
                "timeout_s is the number 0, expected more than 0",
                "concurrency is the number 1.5, expected a whole number",
                "respnse is not known here, expected none",
            ],
        ),
    ],
)
def test_mapping_files_with_faults_are_refused_with_all_of_them(tmp_path, changes, problems):
    file = mapping(tmp_path / "m.yaml", 1, "good", **changes)
    with pytest.raises(DataError) as caught:
        HttpSystem(file)
    assert list(caught.value.problems) == [f"{file}: {problem}" for problem in problems]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("url: [", r"m.yaml:1: not valid YAML"),
        ("url: !!python/object/apply:os.system [ls]", r"m.yaml:1: not valid YAML"),
        ("- a", "m.yaml: is a list, expected an object with url and response"),
        ("", "m.yaml: is null, expected an object"),
    ],
)
def test_files_that_are_no_mapping_are_refused(tmp_path, content, problem):
    (tmp_path / "m.yaml").write_text(content)
    with pytest.raises(DataError, match=problem):
        HttpSystem(tmp_path / "m.yaml")
    with pytest.raises(DataError, match="no such file"):
        HttpSystem(tmp_path / "none.yaml")

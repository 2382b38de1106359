"""An OpenAI-compatible server on loopback whose behaviour a test chooses: it obeys, chats, breaks off or hangs up."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODELS = {"data": [{"id": "judge", "max_model_len": 4096}]}

Body = dict[str, Any]
Behaviour = Callable[[Body], Any]


class Refusal(Exception):
    """An HTTP status with a text."""

    def __init__(self, status: int, text: str = "", headers: dict[str, str] | None = None) -> None:
        self.status, self.text, self.headers = status, text, headers or {}


class Server(ThreadingHTTPServer):
    """An OpenAI-compatible server with a behaviour in place of a model."""

    daemon_threads = True

    def __init__(self, behaviour: Behaviour, models: Any) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviour, self.models = behaviour, models
        self.seen: list[Body] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def asked(self) -> list[Body]:
        """Requests after the probe."""
        return [body for body in self.seen if "Say hello." not in body["messages"][0]["content"]]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.reply(200, json.dumps(self.server.models).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append(body)
        try:
            answer = self.server.behaviour(body)
        except Refusal as refusal:
            self.reply(refusal.status, refusal.text.encode(), refusal.headers)
            return
        if answer is None:  # hang up without a word
            self.close_connection = True
            return
        self.reply(200, answer if isinstance(answer, bytes) else json.dumps(answer).encode())

    def reply(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


def chat(text: Any, *, finish: str = "stop", logprobs: Any = None) -> Body:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish, "logprobs": logprobs}
    return {"choices": [choice], "usage": {"prompt_tokens": 11, "completion_tokens": 7}}


def properties(body: Body) -> dict[str, Any]:
    found: dict[str, Any] = body["response_format"]["json_schema"]["schema"]["properties"]
    return found


def obey(body: Body) -> Body:
    """What a server with a grammar does: the last member of each enum, the longest string."""
    value = {
        name: form["enum"][-1] if "enum" in form else "长" * form["maxLength"]
        for name, form in properties(body).items()
    }
    return chat(json.dumps(value, ensure_ascii=False))


def always(answer: Any) -> Behaviour:
    """A server without a grammar that greets the probe and gives one answer to all else."""

    def behave(body: Body) -> Any:
        if body["messages"][0]["content"].startswith("Say hello."):
            return chat("Hello!")
        if isinstance(answer, Exception):
            raise answer
        return answer(body) if callable(answer) else answer

    return behave

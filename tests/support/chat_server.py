"""A loopback server that speaks the OpenAI chat protocol and obeys the requested schema, or does not."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[dict[str, Any]], str]


def obedient(body: dict[str, Any]) -> str:
    """The first choice of every enum and a short text everywhere else."""
    properties = body["response_format"]["json_schema"]["schema"]["properties"]
    return json.dumps({name: form["enum"][0] if "enum" in form else "because" for name, form in properties.items()})


@contextmanager
def chat_server(reply: Reply = obedient, *, delay: float = 0.0) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve; yields the base URL and the list of request bodies seen so far."""
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send({"data": [{"id": "served"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(body)
            time.sleep(delay)
            message = {"role": "assistant", "content": reply(body)}
            self._send({"choices": [{"message": message, "finish_reason": "stop"}], "usage": {}})

        def _send(self, value: dict[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

"""A loopback OpenAI-compatible server as an engine: the guarantee it gives is probed, stated, and never assumed."""

import json
import math
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from offline_eval.core.errors import AirGapError, EngineError
from offline_eval.core.evidence import Guarantee
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import EngineInfo, Failure, GenerateRequest, Generation, LabelChoice
from offline_eval.engines.grammar import object_tail_schema

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_TOP_LOGPROBS = 20  # the most an OpenAI-compatible server must offer
_PARALLEL = 8
_MAX_REPLY_BYTES = 16 << 20
_UNKNOWN_CONTEXT = 1 << 20
_ROOM_FOR_THOUGHT = 1024  # tokens a server without a grammar may spend before the object
_TOO_LONG = re.compile(r"context[ _]length|context[ _]window|maximum context", re.IGNORECASE)
_PREFILL_KEY = re.compile(r'^\{"([a-z_]+)":(?:"?([A-Za-z0-9_]+)"?,)?')


class NoReplyError(EngineError):
    """The server gave no usable reply.

    Attributes:
        reason: `engine_error`, `time_limit` or `prompt_too_long`.
        status: HTTP status, where there was one.
    """

    def __init__(self, message: str, *, reason: str = "engine_error", status: int | None = None) -> None:
        self.reason = reason
        self.status = status
        super().__init__(message)


class EndpointEngine:
    """A chat model behind `POST {url}/chat/completions`.

    Args:
        url: Base URL, for example `http://127.0.0.1:8000/v1`.
        model: The server's name for the model; empty takes the only one it lists.
        allow_hosts: Hosts beyond loopback that may be asked.
        timeout_s: Longest wait for one reply, in seconds.

    Raises:
        AirGapError: The host is neither loopback nor allow-listed.
        EngineError: No server answers, or it lists no such model.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str = "",
        family: str = "unknown",
        allow_hosts: Sequence[str] = (),
        timeout_s: float = 120,
    ) -> None:
        host = urlsplit(url).hostname or ""
        if urlsplit(url).scheme not in ("http", "https") or not host:
            raise EngineError(f"endpoint {url!r}: not an http(s) URL, for example http://127.0.0.1:8000/v1")
        if host not in _LOOPBACK and host not in allow_hosts:
            raise AirGapError(f"endpoint host {host!r} is not this machine; allow it by name with --allow-host {host}")
        self._url = url.rstrip("/")
        self._timeout_s = timeout_s
        self._opener = build_opener(ProxyHandler({}), _NoRedirect())
        self._has_extras = True  # response_format, logprobs and template options; some servers refuse them
        self._is_masked = False  # log probabilities after the grammar's mask say nothing about the mass outside
        self._model, context_length = self._find_model(model)
        self._guarantee = self._probe()
        self.info = EngineInfo(
            engine="endpoint",
            model=self._model,
            family=family,
            weights_hash=digest("endpoint", [self._url, self._model]),
            tokenizer_hash="unknown",
            template_hash="unknown",
            dtype="unknown",
            device="server",
            context_length=context_length,
            guarantee=self._guarantee,
            grammar_backend="server",
            options={"url": self._url},
        )

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        """Answer every request, in order, a few at a time."""
        with ThreadPoolExecutor(max_workers=_PARALLEL) as pool:
            return list(pool.map(self._one, requests))

    def close(self) -> None:
        """The server is not ours to stop."""

    def _one(self, request: GenerateRequest) -> Generation | Failure:
        form = _Form(request)
        messages = [message.model_dump() for message in request.messages]
        messages[-1]["content"] += form.instruction
        has_grammar = self._guarantee is Guarantee.SERVER_SCHEMA
        limit = form.limit if has_grammar else form.limit + _ROOM_FOR_THOUGHT
        failure = Failure(reason="engine_error", detail="not asked")
        for _ in range(1 if has_grammar else 2):  # without a grammar: one re-ask
            try:
                reply = self._post(messages, schema=form.schema, limit=limit)
            except NoReplyError as error:
                return Failure(reason=error.reason, detail=str(error))
            result = form.read(reply, is_masked=self._is_masked)
            if isinstance(result, Generation):
                return result
            failure = result
            messages = [*messages, *form.again(result.raw or "")]
        return failure

    def _post(self, messages: Sequence[dict[str, Any]], *, schema: dict[str, Any], limit: int) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": list(messages),
            "temperature": 0,
            "seed": 0,
            "max_tokens": limit,
        }
        if self._has_extras:
            body |= {
                "logprobs": True,
                "top_logprobs": _TOP_LOGPROBS,
                "chat_template_kwargs": {"enable_thinking": False},
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "verdict", "strict": True, "schema": schema},
                },
            }
        return self._call("/chat/completions", body)

    def _call(self, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = Request(self._url + path, data=data, headers={"Content-Type": "application/json"})
        where, shown = f"{self._url}{path}", ""
        try:
            with self._opener.open(request, timeout=self._timeout_s) as answer:
                reply = json.loads(_read_all(answer, self._timeout_s))
        except HTTPError as error:
            with error, suppress(OSError, HTTPException):
                shown = error.read(400).decode("utf-8", "replace")
            too_long = error.code == 400 and _TOO_LONG.search(shown) is not None
            reason = "prompt_too_long" if too_long else "engine_error"
            raise NoReplyError(f"{where}: HTTP {error.code}: {shown}", reason=reason, status=error.code) from error
        except (OSError, HTTPException) as error:
            if isinstance(error, TimeoutError) or isinstance(getattr(error, "reason", None), TimeoutError):
                raise NoReplyError(f"{where}: no answer within {self._timeout_s:g} s", reason="time_limit") from error
            hint = "; start a server with `offline-eval serve`" if isinstance(error, URLError) else ""
            raise NoReplyError(f"{where}: no answer ({error}){hint}") from error
        except (ValueError, RecursionError) as error:
            raise NoReplyError(f"{where}: the reply is not JSON ({error})") from error
        if not isinstance(reply, dict):
            raise NoReplyError(f"{where}: the reply is not a JSON object")
        return reply

    def _find_model(self, wanted: str) -> tuple[str, int]:
        """The model's name and context length, in tokens; a server need not state the latter."""
        listed = self._call("/models", None).get("data")
        entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
        limits = {str(entry.get("id")): entry.get("max_model_len") for entry in entries}
        name = wanted or (next(iter(limits)) if len(limits) == 1 else "")
        if not name or (limits and name not in limits):
            raise EngineError(
                f"{self._url} serves {', '.join(limits) or 'no model'}; asked for {wanted or 'the only one'!r}"
            )
        limit = limits.get(name)
        return name, limit if isinstance(limit, int) and limit > 0 else _UNKNOWN_CONTEXT

    def _probe(self) -> Guarantee:
        """Ask for something no model would write by itself: only a server with a grammar obeys."""
        unlikely = {"kind": "label", "labels": ("qx7", "vz3")}
        request = GenerateRequest.model_validate(
            {"messages": [{"role": "user", "content": "Say hello."}], "prefill": '{"grade":"', "constraint": unlikely}
        )
        form = _Form(request)
        hello = [message.model_dump() for message in request.messages]
        try:
            reply = self._post(hello, schema=form.schema, limit=form.limit)
        except NoReplyError as error:
            if error.status is None:
                raise
            self._has_extras = False
            reply = self._post(hello, schema=form.schema, limit=form.limit)
        if not isinstance(form.read(reply, is_masked=True), Generation):
            return Guarantee.NONE
        # Unmasked, a greeting does not begin with a brace.
        first = next(iter(_listed_logprobs(reply)), {})
        self._is_masked = math.fsum(math.exp(value) for token, value in first.items() if token.startswith("{")) > 0.5
        return Guarantee.SERVER_SCHEMA


class _NoRedirect(HTTPRedirectHandler):
    """A server must not send us elsewhere: its host was checked, the other one was not."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Refuse; the redirect then arrives as an HTTP error."""
        return


class _Form:
    """One request as a JSON schema, and how to read its answer."""

    def __init__(self, request: GenerateRequest) -> None:
        match = _PREFILL_KEY.match(request.prefill)
        if match is None:
            raise EngineError(f"prefill {request.prefill!r} does not open a verdict object")
        self._key, self._label = match[1], match[2]
        self._constraint = request.constraint
        if isinstance(request.constraint, LabelChoice):
            labels = list(request.constraint.labels)
            self.schema = _object({self._key: {"type": "string", "enum": labels}})
            self.instruction = (
                f'\n\nAnswer with one JSON object {{"{self._key}": "…"}} and one of: {", ".join(labels)}.'
            )
            self.limit = 32
            return
        tail = object_tail_schema(request.constraint.fields)["properties"]
        assert isinstance(tail, dict)
        self.schema = _object({self._key: {"type": "string", "enum": [self._label]}, **tail})
        names = ", ".join([self._key, *tail])
        self.instruction = f"\n\nAnswer with one JSON object with the keys {names}. {self._key} is {self._label!r}."
        self.limit = 64 + 6 * sum(request.constraint.fields.values())

    def again(self, raw: str) -> list[dict[str, str]]:
        """The turns that ask once more, after an answer that was not the object."""
        return [
            {"role": "assistant", "content": raw},
            {"role": "user", "content": f"That was not the object alone.{self.instruction} Write nothing else."},
        ]

    def read(self, reply: dict[str, Any], *, is_masked: bool) -> Generation | Failure:
        """Read a reply of any shape.

        Args:
            is_masked: Whether its log probabilities come after the grammar's mask; then they are left out.
        """
        try:
            choice = reply["choices"][0]
            content = choice["message"]["content"]
            finish = choice.get("finish_reason")
        except (KeyError, IndexError, TypeError, AttributeError):
            shown = json.dumps(reply)[:2000]
            return Failure(reason="off_menu", detail="the reply has no choices[0].message.content", raw=shown)
        raw = content.encode("utf-8", "replace").decode() if isinstance(content, str) else ""
        if finish == "length":
            return Failure(reason="cut_off", detail="the token limit came before the end of the object", raw=raw)
        text = self._text_of(_object_in(raw))
        if text is None:
            return Failure(reason="off_menu", detail="the reply is not the requested JSON object", raw=raw)
        return Generation(
            text=text,
            label_logprobs=None if is_masked else self._logprobs(reply, text),
            prompt_tokens=_count(reply, "prompt_tokens"),
            output_tokens=_count(reply, "completion_tokens"),
        )

    def _text_of(self, value: Any) -> str | None:
        if not isinstance(value, dict):
            return None
        if isinstance(self._constraint, LabelChoice):
            label = str(value.get(self._key))
            return label if label in self._constraint.labels else None
        if str(value.get(self._key)) != self._label:
            return None  # evidence and reason for another label
        fields = {name: value.get(name) for name in self._constraint.fields}
        limits = self._constraint.fields
        if not all(isinstance(text, str) and len(text) <= limits[name] for name, text in fields.items()):
            return None
        whole = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        return whole.encode("utf-8", "replace").decode()[1:]

    def _logprobs(self, reply: dict[str, Any], label: str) -> dict[str, float] | None:
        """Log probabilities at the token where the label was written; None unless every label is listed there."""
        if not isinstance(self._constraint, LabelChoice):
            return None
        for token, listed in zip(_written_tokens(reply), _listed_logprobs(reply), strict=True):
            if token == label and all(name in listed for name in self._constraint.labels):
                return {name: listed[name] for name in self._constraint.labels}
        return None


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _read_all(answer: HTTPResponse, limit_s: float) -> bytes:
    """A whole reply; `limit_s` is for all of it, however slowly it drips."""
    deadline = time.monotonic() + limit_s
    pieces = bytearray()
    while piece := answer.read1(1 << 16):
        pieces += piece
        if time.monotonic() > deadline:
            raise TimeoutError
        if len(pieces) > _MAX_REPLY_BYTES:
            raise ValueError(f"longer than {_MAX_REPLY_BYTES} bytes")
    return bytes(pieces)


def _token_entries(reply: dict[str, Any]) -> list[dict[str, Any]]:
    try:
        entries = reply["choices"][0]["logprobs"]["content"]
    except (KeyError, IndexError, TypeError):
        return []
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _written_tokens(reply: dict[str, Any]) -> list[str]:
    return [_bare(entry.get("token")) for entry in _token_entries(reply)]


def _listed_logprobs(reply: dict[str, Any]) -> list[dict[str, float]]:
    """For each written token the listed alternatives, bare token to natural log probability; the likelier spelling."""
    found = []
    for entry in _token_entries(reply):
        listed: dict[str, float] = {}
        for other in entry.get("top_logprobs") or []:
            value = other.get("logprob") if isinstance(other, dict) else None
            if isinstance(value, int | float) and math.isfinite(value):
                listed.setdefault(_bare(other.get("token")), min(0.0, float(value)))
        found.append(listed)
    return found


def _count(reply: dict[str, Any], name: str) -> int:
    usage = reply.get("usage")
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and value >= 0 else 0


def _bare(token: Any) -> str:
    return str(token).strip(' "\n')


def _object_in(text: str) -> Any:
    """The JSON value that the whole text is, after any thinking block; None when it is none."""
    try:
        return json.loads(text.rsplit("</think>", 1)[-1])
    except (ValueError, RecursionError):
        return None

"""A loopback OpenAI-compatible server as an engine: the guarantee it gives is probed, stated, and never assumed."""

import json
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from offline_eval.core.errors import AirGapError, EngineError
from offline_eval.core.evidence import Guarantee
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import EngineInfo, Failure, GenerateRequest, Generation, LabelChoice
from offline_eval.engines.grammar import object_tail_schema

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_TOP_LOGPROBS = 20  # the most an OpenAI-compatible server must offer
_PARALLEL = 8
_MAX_REPLY_BYTES = 16 << 20
_PREFILL_KEY = re.compile(r'^\{"([a-z_]+)":(?:"?([A-Za-z0-9_]+)"?,)?')


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
        self._model = self._find_model(model)
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
            context_length=1 << 20,
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
        tries = 1 if self._guarantee is Guarantee.SERVER_SCHEMA else 2  # without a grammar: one re-ask
        failure = Failure(reason="engine_error", detail="not asked")
        for _ in range(tries):
            try:
                reply = self._post(messages, schema=form.schema, limit=form.limit)
            except (EngineError, OSError, ValueError) as error:
                return Failure(reason="engine_error", detail=f"{type(error).__name__}: {error}")
            result = form.read(reply)
            if isinstance(result, Generation):
                return result
            failure = result
        return failure

    def _post(self, messages: Sequence[dict[str, Any]], *, schema: dict[str, Any], limit: int) -> dict[str, Any]:
        body = {
            "model": self._model,
            "messages": list(messages),
            "temperature": 0,
            "seed": 0,
            "max_tokens": limit,
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
        from urllib.error import HTTPError, URLError
        from urllib.request import ProxyHandler, Request, build_opener

        data = None if body is None else json.dumps(body).encode()
        request = Request(self._url + path, data=data, headers={"Content-Type": "application/json"})
        try:
            with build_opener(ProxyHandler({})).open(request, timeout=self._timeout_s) as answer:
                reply = json.loads(answer.read(_MAX_REPLY_BYTES))
        except HTTPError as error:
            shown = error.read(400).decode("utf-8", "replace")
            raise EngineError(f"{self._url}{path}: HTTP {error.code}: {shown}") from error
        except (URLError, TimeoutError, ConnectionError) as error:
            raise EngineError(
                f"{self._url}{path}: no answer ({error}); start a server with `offline-eval serve`"
            ) from error
        if not isinstance(reply, dict):
            raise EngineError(f"{self._url}{path}: the reply is not a JSON object")
        return reply

    def _find_model(self, wanted: str) -> str:
        names = [str(entry.get("id")) for entry in self._call("/models", None).get("data", [])]
        if wanted in names or (wanted and not names):
            return wanted
        if not wanted and len(names) == 1:
            return names[0]
        raise EngineError(
            f"{self._url} serves {', '.join(names) or 'no model'}; asked for {wanted or 'the only one'!r}"
        )

    def _probe(self) -> Guarantee:
        """Ask for something no model would write by itself: only a server with a grammar obeys."""
        unlikely = {"kind": "label", "labels": ("qx7", "vz3")}
        request = GenerateRequest.model_validate(
            {"messages": [{"role": "user", "content": "Say hello."}], "prefill": '{"grade":"', "constraint": unlikely}
        )
        form = _Form(request)
        try:
            reply = self._post([{"role": "user", "content": "Say hello."}], schema=form.schema, limit=form.limit)
        except (EngineError, OSError, ValueError):
            return Guarantee.NONE
        return Guarantee.SERVER_SCHEMA if isinstance(form.read(reply), Generation) else Guarantee.NONE


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

    def read(self, reply: dict[str, Any]) -> Generation | Failure:
        try:
            choice = reply["choices"][0]
            raw = str(choice["message"]["content"] or "")
            finish = choice.get("finish_reason")
        except (KeyError, IndexError, TypeError):
            return Failure(
                reason="off_menu", detail="the reply has no choices[0].message.content", raw=json.dumps(reply)[:2000]
            )
        if finish == "length":
            return Failure(reason="cut_off", detail=f"no end within {self.limit} tokens", raw=raw)
        value = _first_object(raw)
        text = self._text_of(value)
        if text is None:
            return Failure(reason="off_menu", detail="the reply is not the requested JSON object", raw=raw)
        usage = reply.get("usage") or {}
        return Generation(
            text=text,
            label_logprobs=self._logprobs(choice, text),
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            output_tokens=int(usage.get("completion_tokens") or 0),
        )

    def _text_of(self, value: Any) -> str | None:
        if not isinstance(value, dict):
            return None
        if isinstance(self._constraint, LabelChoice):
            label = str(value.get(self._key))
            return label if label in self._constraint.labels else None
        fields = {name: value.get(name) for name in self._constraint.fields}
        too_long = any(
            not isinstance(text, str) or len(text) > self._constraint.fields[n] for n, text in fields.items()
        )
        return None if too_long else json.dumps(fields, ensure_ascii=False, separators=(",", ":"))[1:]

    def _logprobs(self, choice: dict[str, Any], label: str) -> dict[str, float] | None:
        """Log probabilities at the token where the label was written; None unless every label is listed there."""
        if not isinstance(self._constraint, LabelChoice):
            return None
        for entry in (choice.get("logprobs") or {}).get("content") or []:
            if _bare(entry.get("token")) != label:
                continue
            listed: dict[str, float] = {}
            for other in entry.get("top_logprobs") or []:
                listed.setdefault(_bare(other.get("token")), float(other["logprob"]))
            if all(name in listed for name in self._constraint.labels):
                return {name: listed[name] for name in self._constraint.labels}
        return None


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _bare(token: Any) -> str:
    return str(token).strip(' "\n')


def _first_object(text: str) -> Any:
    """The first JSON object after any thinking block; None when there is none."""
    visible = text.rsplit("</think>", 1)[-1]
    start = visible.find("{")
    if start < 0:
        return None
    try:
        return json.JSONDecoder().raw_decode(visible[start:])[0]
    except ValueError:
        return None

"""A system under test behind HTTP, described by a small YAML file; on this machine unless a host is allowed by name."""

import http.client
import ipaddress
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import Field, JsonValue, ValidationError

from offline_eval.core.errors import AirGapError, DataError
from offline_eval.core.protocols import ProgressCallback
from offline_eval.core.records import Case, Record, Response
from offline_eval.core.yaml_text import read_yaml
from offline_eval.formats.json_text import decode_utf8, parse_json
from offline_eval.formats.wording import described, plain_words, quoted
from offline_eval.pipeline.asking import ask_all, failed, response_from

MAX_BODY_BYTES = 16 << 20
_PLACEHOLDER = re.compile(r"\{(query|case_id)\}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LIST_INDEX = re.compile(r"[0-9]{1,9}")
_EXCERPT = 200

PassageField = Literal["id", "text", "title", "doc_id", "date", "score", "metadata"]


def _query_alone() -> JsonValue:
    return {"query": "{query}"}


class ResponsePaths(Record):
    """Where things stand in the endpoint's JSON; steps joined by dots, numbers count list elements from 0.

    Attributes:
        answer: Path to the answer's text; null for an endpoint that only finds passages.
        passages: Path to the list of passages; None when the endpoint gives none.
        passage: Our passage fields to paths inside one passage; empty when it uses our names.
        citations: Path to the list of cited passage ids.
    """

    answer: str | None
    passages: str | None = None
    passage: dict[PassageField, str] = Field(default_factory=dict)
    citations: str | None = None


class HttpMapping(Record):
    """The mapping file.

    Attributes:
        name: What results call the system; the file's stem when None.
        headers: Header to value; `${NAME}` is replaced by that environment variable.
        request: JSON body; `{query}` and `{case_id}` are replaced inside its texts.
        timeout_s: Seconds for one request.
        concurrency: Requests under way at the same time.
        allow_hosts: Hosts the file needs beyond this machine; they count only when the user allows them too.
    """

    name: str | None = Field(default=None, min_length=1)
    url: str
    method: Literal["POST"] = "POST"
    headers: dict[str, str] = Field(default_factory=dict)
    request: JsonValue = Field(default_factory=_query_alone)
    response: ResponsePaths
    timeout_s: float = Field(default=60.0, gt=0)
    concurrency: int = Field(default=1, ge=1, le=64)
    allow_hosts: tuple[str, ...] = ()


class HttpSystem:
    """An HTTP endpoint that answers a JSON question with JSON.

    Redirects are not followed and proxies from the environment are not used, because both would lead elsewhere than
    the host that was checked.

    Args:
        mapping_file: A YAML file with the fields of `HttpMapping`.
        name: What results call it; the file's own `name`, else its stem, when None.
        allow_hosts: Hosts beyond this machine that may be asked.

    Raises:
        DataError: The file cannot be read, or says something that cannot be; all faults are listed.
        AirGapError: The host is not this machine and not allowed.
    """

    def __init__(self, mapping_file: Path, *, name: str | None = None, allow_hosts: Sequence[str] = ()) -> None:
        self._mapping = _read_mapping(mapping_file)
        self._name = name or self._mapping.name or mapping_file.stem
        self._url = _checked_url(self._mapping, mapping_file, allow_hosts)
        self._headers = _filled_headers(self._mapping.headers, mapping_file)

    @property
    def name(self) -> str:
        """What results call it."""
        return self._name

    def answer(self, cases: Sequence[Case], *, progress: ProgressCallback | None = None) -> list[Response]:
        """Ask the cases; whatever goes wrong with a request becomes its response's error."""
        return ask_all(
            self._ask,
            cases,
            system=self._name,
            limit_s=self._mapping.timeout_s,
            concurrency=self._mapping.concurrency,
            progress=progress,
        )

    def _ask(self, case: Case) -> Response:
        body = json.dumps(_filled(self._mapping.request, {"query": case.query, "case_id": case.id})).encode()
        where = f"{self._url.scheme}://{self._url.netloc}{self._url.path}"  # the query string may hold a secret
        try:
            values = self._values(self._post(body))
        except TimeoutError:
            return failed(case, self._name, f"no answer within {self._mapping.timeout_s:g} s from {where}")
        except http.client.HTTPException as error:
            return failed(case, self._name, f"broken HTTP from {where} ({type(error).__name__}: {error})")
        except OSError as error:
            return failed(case, self._name, f"cannot reach {where} ({error.strerror or error})")
        except ValueError as error:
            return failed(case, self._name, f"{error} (from {where})")
        return response_from(values, case, self._name)

    def _post(self, body: bytes) -> bytes:
        """Send one request; returns the body of a good answer, and raises ValueError for any other."""
        host, port = self._url.hostname or "", self._url.port
        secure = self._url.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(host, port, timeout=self._mapping.timeout_s)
        target = (self._url.path or "/") + (f"?{self._url.query}" if self._url.query else "")
        try:
            connection.request(self._mapping.method, target, body=body, headers=self._headers)
            answer = connection.getresponse()
            content = answer.read(MAX_BODY_BYTES + 1)
        finally:
            connection.close()
        if 300 <= answer.status < 400:
            elsewhere = answer.getheader("Location", "nowhere")
            raise ValueError(f"HTTP {answer.status} redirects to {quoted(elsewhere)}; redirects are not followed")
        if answer.status >= 400:
            excerpt = content[:_EXCERPT].decode("utf-8", "replace")
            raise ValueError(f"HTTP {answer.status} {answer.reason}: {excerpt}")
        if len(content) > MAX_BODY_BYTES:
            raise ValueError(f"the answer has more than {MAX_BODY_BYTES >> 20} MiB")
        if answer.length:
            raise ValueError(f"the answer breaks off {answer.length:,} bytes before its end")
        return content

    def _values(self, content: bytes) -> dict[str, Any]:
        """The native response fields inside the endpoint's JSON."""
        paths = self._mapping.response
        try:
            data = parse_json(decode_utf8(content))
        except ValueError as error:
            raise ValueError(f"unreadable JSON: {error}") from None
        values: dict[str, Any] = {"answer": "" if paths.answer is None else _at(data, paths.answer)}
        if values["answer"] is None:
            raise ValueError(f"{paths.answer} is null, expected text")
        if paths.passages is not None:
            values["passages"] = self._passages(_at(data, paths.passages), paths.passages)
        if paths.citations is not None:
            values["citations"] = _at(data, paths.citations)
        return values

    def _passages(self, found: Any, path: str) -> Any:
        if found is None:
            return []
        if not isinstance(found, list):
            raise ValueError(f"{path} is {described(found)}, expected a list of passages")
        return [self._passage(item) for item in found]

    def _passage(self, item: Any) -> Any:
        paths = self._mapping.response.passage
        if not paths or not isinstance(item, dict):
            return item
        passage: dict[str, Any] = {}
        for field, path in paths.items():
            try:
                passage[field] = _at(item, path)
            except ValueError:
                if field == "text":
                    raise  # every other field may be missing
        return passage


def _read_mapping(path: Path) -> HttpMapping:
    data = read_yaml(path).data
    if not isinstance(data, dict):
        raise DataError(f"{path}: is {described(data)}, expected an object with url and response")
    try:
        return HttpMapping.model_validate(data)
    except ValidationError as error:
        raise DataError([f"{path}: {fault}" for fault in plain_words(error)]) from None


def _checked_url(mapping: HttpMapping, path: Path, allow_hosts: Sequence[str]) -> SplitResult:
    """Split the URL; refuse what is no plain HTTP URL and hosts beyond this machine."""
    try:
        url = urlsplit(mapping.url)
        host, _ = url.hostname, url.port
    except ValueError as error:
        raise DataError(f"{path}: url cannot be read ({error}), expected http://host:port/path") from None
    if url.scheme not in ("http", "https") or not host or not mapping.url.isascii() or " " in mapping.url:
        raise DataError(f"{path}: url is {quoted(mapping.url)}, expected http://host:port/path in ASCII")
    if url.username is not None or url.password is not None:
        raise DataError(f"{path}: url holds a user name, expected credentials in headers, as ${{NAME}}")
    if not _is_loopback(host) and host not in {allowed.lower() for allowed in allow_hosts}:
        asked = (
            " (that the mapping file allows it itself is not enough)"
            if host in {name.lower() for name in mapping.allow_hosts}
            else ""
        )
        raise AirGapError(
            f"{path}: url leads to the host {quoted(host)}, which is not this machine{asked}; "
            f"use a loopback address, or allow the host by name if it is meant (allow_hosts={quoted(host)})"
        )
    return url


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _filled_headers(headers: dict[str, str], path: Path) -> dict[str, str]:
    """Put environment variables in; a message never shows a value, which may be a secret."""
    filled = {"Content-Type": "application/json", "Accept": "application/json"}
    faults = []
    for name, value in headers.items():
        missing = [variable for variable in _VARIABLE.findall(value) if variable not in os.environ]
        faults += [f"{path}: headers.{name} needs the environment variable {variable}; set it" for variable in missing]
        text = _VARIABLE.sub(lambda match: os.environ.get(match[1], ""), value)
        if not _HEADER_NAME.fullmatch(name) or not text.isascii() or (text and not text.isprintable()):
            faults.append(f"{path}: header {quoted(name)} has characters HTTP cannot carry, expected printable ASCII")
        filled = {key: kept for key, kept in filled.items() if key.lower() != name.lower()} | {name: text}
    if faults:
        raise DataError(faults)
    return filled


def _filled(template: Any, values: dict[str, str]) -> Any:
    """The template with its placeholders replaced once; what was put in is not looked at again."""
    if isinstance(template, str):
        return _PLACEHOLDER.sub(lambda match: values[match[1]], template)
    if isinstance(template, list):
        return [_filled(item, values) for item in template]
    if isinstance(template, dict):
        return {key: _filled(item, values) for key, item in template.items()}
    return template


def _at(data: Any, path: str) -> Any:
    """Follow a dotted path.

    Raises:
        ValueError: A step that is not there, with what is there instead.
    """
    walked: list[str] = []
    for step in path.split("."):
        if isinstance(data, dict) and step in data:
            data = data[step]
        elif isinstance(data, list) and _LIST_INDEX.fullmatch(step) and int(step) < len(data):
            data = data[int(step)]
        else:
            raise ValueError(f"no {path} in the answer; {'.'.join(walked) or 'the answer'} {_contents(data)}")
        walked.append(step)
    return data


def _contents(data: Any) -> str:
    if isinstance(data, dict):
        return f"has {', '.join(quoted(key) for key in data) or 'no keys'}"
    if isinstance(data, list):
        return f"is a list of {len(data)}"
    return f"is {described(data)}"

"""What the service accepts and what it says when it refuses: bodies with limits, and one shape for every error."""

import asyncio
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError
from starlette.requests import Request

from offline_eval.assess.service_settings import ServiceLimits
from offline_eval.core.errors import DataError
from offline_eval.core.records import Passage, Record
from offline_eval.formats.json_text import decode_utf8, parse_json
from offline_eval.formats.wording import plain_words

Body = TypeVar("Body", bound=BaseModel)

MOST_QUERY_CHARACTERS = 8_000
MOST_ANSWER_CHARACTERS = 200_000
MOST_PASSAGES = 100
_NOT_JSON = "not JSON"


class AssessBody(Record):
    """A question to be answered and assessed.

    Attributes:
        language: Of the result's own words, for example `en` or `zh`; found out when None.
        deadline_s: Seconds from the request's arrival; never more than the service's own.
    """

    query: str = Field(min_length=1, max_length=MOST_QUERY_CHARACTERS)
    language: str | None = Field(default=None, max_length=20)
    deadline_s: float | None = Field(default=None, gt=0)


class CheckBody(Record):
    """An answer that is already there, to be assessed.

    Attributes:
        passages: What the answer rests on, best first.
        rankings: Retriever name to passage ids, best first, where several retrievers were asked.
        citations: Ids of the passages the answer says it used.
        language: As for a question.
        deadline_s: As for a question.
    """

    query: str = Field(min_length=1, max_length=MOST_QUERY_CHARACTERS)
    answer: str = Field(max_length=MOST_ANSWER_CHARACTERS)
    passages: tuple[Passage, ...] = Field(max_length=MOST_PASSAGES)
    rankings: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    citations: tuple[str, ...] = Field(default=(), max_length=MOST_PASSAGES)
    language: str | None = Field(default=None, max_length=20)
    deadline_s: float | None = Field(default=None, gt=0)


class ErrorBody(Record):
    """Why a request was refused.

    Attributes:
        code: Short and stable: `busy`, `stopping`, `too_large`, `invalid`, …
        message: What happened and what to do.
        problems: Every fault of the body, where it has any.
    """

    code: str
    message: str
    problems: tuple[str, ...] = ()


class Refused(Exception):
    """A request that is not served.

    Args:
        status: The HTTP status.
        retry_after_s: Seconds after which it is worth another try; None when it is not.
    """

    def __init__(
        self, status: int, code: str, message: str, *, problems: tuple[str, ...] = (), retry_after_s: int | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = ErrorBody(code=code, message=message, problems=problems)
        self.retry_after_s = retry_after_s


async def read_body(request: Request, kind: type[Body], limits: ServiceLimits) -> Body:
    """Read and check a JSON body.

    Raises:
        Refused: 415 not JSON, 413 too large, 408 too slow, 400 not readable, 422 not what is expected.
    """
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise Refused(415, "not_json", "expected Content-Type: application/json")
    try:
        raw = await asyncio.wait_for(_read(request, limits.most_body_bytes), limits.body_timeout_s)
    except TimeoutError:
        raise Refused(408, "too_slow", f"the body did not arrive within {limits.body_timeout_s:g} s") from None
    try:
        return parse_body(raw, kind, source="body")
    except DataError as error:
        broken = len(error.problems) == 1 and error.problems[0].startswith(_NOT_JSON)
        if broken:
            raise Refused(400, "not_json", error.problems[0]) from None
        raise Refused(422, "invalid", "the body is not what is expected", problems=error.problems) from None


def parse_body(raw: bytes, kind: type[Body], *, source: str) -> Body:
    """Read a body's JSON.

    Args:
        source: What messages call it.

    Raises:
        DataError: Not JSON, or not what is expected; all faults are listed.
    """
    try:
        data: Any = parse_json(decode_utf8(raw))
    except ValueError as error:
        raise DataError(f"{_NOT_JSON}: {source}: {error}") from None
    if not isinstance(data, dict):
        raise DataError(f"{source}: expected a JSON object")
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise DataError([f"{source}: {fault}" for fault in plain_words(error)]) from None


async def _read(request: Request, most: int) -> bytes:
    too_large = Refused(413, "too_large", f"a body holds at most {most} bytes; send fewer or shorter passages")
    said = request.headers.get("content-length", "")
    if said.isdigit() and int(said) > most:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise too_large
    return bytes(body)

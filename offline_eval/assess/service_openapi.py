"""The service's OpenAPI document, made from the records it really reads and writes, so that the two cannot differ."""

from typing import Any

from pydantic.json_schema import models_json_schema

from offline_eval import __version__
from offline_eval.assess.records import Assessment, StageEvent
from offline_eval.assess.service_bodies import AssessBody, CheckBody, ErrorBody
from offline_eval.core.records import Record

JsonObject = dict[str, Any]
_REF = "#/components/schemas/{model}"
_ERRORS = {
    "400": "The body cannot be read.",
    "403": "The request comes from a page of another site.",
    "408": "The body arrived too slowly.",
    "413": "The body is too large.",
    "415": "The body is not JSON.",
    "421": "Another address was named.",
    "422": "The body is not what is expected; every fault is listed.",
    "500": "The service failed.",
}


class ErrorAnswer(Record):
    """What every refusal looks like."""

    error: ErrorBody


class Health(Record):
    """How the service is."""

    status: str
    version: str
    accepted: int
    capacity: int
    can_generate: bool


def openapi_document() -> JsonObject:
    """The document, OpenAPI 3.1."""
    read = models_json_schema(
        [(AssessBody, "validation"), (CheckBody, "validation")], ref_template=_REF, by_alias=True
    )[1]
    written = models_json_schema(
        [
            (Assessment, "serialization"),
            (StageEvent, "serialization"),
            (ErrorAnswer, "serialization"),
            (Health, "serialization"),
        ],
        ref_template=_REF,
    )[1]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "offline-eval assess",
            "version": __version__,
            "description": "Answers with a stated confidence, and checks of answers that are already there.",
        },
        "paths": {
            "/assess": {
                "post": _assessing("assess", "Answer a query and assess the answer.", "AssessBody", more="409")
            },
            "/check": {"post": _assessing("check", "Assess an answer that is already there.", "CheckBody")},
            "/health": {
                "get": _get("health", "Whether requests are taken.", "application/json", _ref("Health"), "503")
            },
            "/metrics": {"get": _get("metrics", "Prometheus' text form.", "text/plain", {"type": "string"})},
            "/openapi.json": {"get": _get("openapi", "This document.", "application/json", {"type": "object"})},
            "/": {"get": _get("page", "A page to try the service.", "text/html", {"type": "string"})},
        },
        "components": {"schemas": read.get("$defs", {}) | written.get("$defs", {})},
    }


def _assessing(name: str, summary: str, body: str, *, more: str | None = None) -> JsonObject:
    stream = "Events `stage` (StageEvent) while it is under way, then one `result` (Assessment) or `error`."
    responses: JsonObject = {
        "200": {
            "description": f"The assessment; with `Accept: text/event-stream` a stream. {stream}",
            "content": {
                "application/json": {"schema": _ref("Assessment")},
                "text/event-stream": {"schema": {"type": "string", "description": stream}},
            },
        },
        "503": _busy(),
    }
    responses |= {status: _error(words) for status, words in _ERRORS.items()}
    if more is not None:
        responses[more] = _error("The service has no generator.")
    content = {"application/json": {"schema": _ref(body)}}
    return {
        "operationId": name,
        "summary": summary,
        "requestBody": {"required": True, "content": content},
        "responses": responses,
    }


def _get(name: str, summary: str, media: str, schema: JsonObject, unwell: str | None = None) -> JsonObject:
    responses: JsonObject = {"200": {"description": summary, "content": {media: {"schema": schema}}}}
    if unwell is not None:
        responses[unwell] = {"description": "The service is stopping.", "content": {media: {"schema": schema}}}
    return {"operationId": name, "summary": summary, "responses": responses}


def _busy() -> JsonObject:
    busy = _error("As many requests are accepted as the service takes, or it is stopping.")
    seconds = {"description": "Seconds after which to try again.", "schema": {"type": "integer"}}
    return busy | {"headers": {"Retry-After": seconds}}


def _error(words: str) -> JsonObject:
    return {"description": words, "content": {"application/json": {"schema": _ref("ErrorAnswer")}}}


def _ref(name: str) -> JsonObject:
    return {"$ref": _REF.format(model=name)}

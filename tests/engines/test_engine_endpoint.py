"""Servers on loopback that obey, chat, think, break off, hang or redirect: each gives a verdict or a named failure."""

import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from engine_requests import grade_request, tail_request
from openai_server import MODELS, Behaviour, Body, Refusal, Server, always, chat, obey, properties

from offline_eval.core.errors import AirGapError, EngineError
from offline_eval.core.evidence import Guarantee
from offline_eval.core.protocols import Failure, GenerateRequest, Generation
from offline_eval.engines.endpoint import EndpointEngine

Serve = Callable[..., Server]


@pytest.fixture
def serve() -> Iterator[Serve]:
    running: list[Server] = []

    def one(behaviour: Behaviour, models: Any = MODELS) -> Server:
        server = Server(behaviour, models)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        running.append(server)
        return server

    yield one
    for server in running:
        server.shutdown()
        server.server_close()


def one(engine: EndpointEngine, request: GenerateRequest | None = None) -> Generation | Failure:
    [answer] = engine.generate([request or grade_request("材料")])
    return answer


def failure(engine: EndpointEngine, request: GenerateRequest | None = None) -> Failure:
    answer = one(engine, request)
    assert isinstance(answer, Failure), answer
    return answer


def test_a_server_that_obeys_the_schema_is_believed_and_asked_once(serve: Serve) -> None:
    server = serve(obey)
    engine = EndpointEngine(server.url)
    assert engine.info.guarantee is Guarantee.SERVER_SCHEMA
    assert (engine.info.model, engine.info.context_length) == ("judge", 4096)
    answer = one(engine)
    assert isinstance(answer, Generation)
    assert (answer.text, answer.label_logprobs, answer.prompt_tokens, answer.output_tokens) == ("3", None, 11, 7)
    [asked] = server.asked
    assert properties(asked) == {"grade": {"type": "string", "enum": ["1", "2", "3"]}}
    assert (asked["temperature"], asked["seed"], asked["chat_template_kwargs"]) == (0, 0, {"enable_thinking": False})


def test_the_tail_of_an_object_is_what_follows_the_prefill(serve: Serve) -> None:
    engine = EndpointEngine(serve(obey).url)
    answer = one(engine, tail_request("材料", evidence=3, reason=5))
    assert isinstance(answer, Generation)
    assert json.loads('{"grade":2,' + answer.text) == {"grade": 2, "evidence": "长长长", "reason": "长长长长长"}


def test_answers_come_back_in_the_order_of_the_requests(serve: Serve) -> None:
    def echo(body: Body) -> Body:
        number = int(body["messages"][0]["content"].split()[0])
        time.sleep(0.02 * (number % 3))
        return chat(json.dumps({"grade": str(number % 3 + 1)}))

    engine = EndpointEngine(serve(always(echo)).url)
    answers = engine.generate([grade_request(f"{number} x") for number in range(20)])
    assert [answer.text for answer in answers if isinstance(answer, Generation)] == [
        str(number % 3 + 1) for number in range(20)
    ]


def test_a_judge_that_chats_around_the_object_is_asked_again_and_then_off_menu(serve: Serve) -> None:
    raw = 'Sure! Here is the JSON: {"grade": "3"} Hope that helps!'
    server = serve(always(chat(raw)))
    engine = EndpointEngine(server.url)
    assert engine.info.guarantee is Guarantee.NONE
    answer = failure(engine)
    assert (answer.reason, answer.raw) == ("off_menu", raw)
    first, second = server.asked
    assert second["messages"][:1] == first["messages"]
    assert second["messages"][1] == {"role": "assistant", "content": raw}
    assert second["messages"][2]["role"] == "user"


def test_a_judge_that_follows_the_second_ask_is_answered(serve: Serve) -> None:
    def improve(body: Body) -> Body:
        return chat("Grade: 2" if len(body["messages"]) == 1 else '{"grade": 2}')

    answer = one(EndpointEngine(serve(always(improve)).url))
    assert isinstance(answer, Generation)
    assert answer.text == "2"


def test_thinking_before_the_object_is_set_apart(serve: Serve) -> None:
    server = serve(always(chat('<think>{"grade": "1"} {a}</think>\n\n{"grade": "3"}')))
    answer = one(EndpointEngine(server.url))
    assert isinstance(answer, Generation)
    assert answer.text == "3"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "raw",
    ['{"grade": "4"}', '{"grade": true}', '{"grade": 1.0}', '{"mark": "1"}', '["1"]', "3", "", '{"grade": "1"'],
)
def test_a_label_off_the_menu_is_never_a_grade(raw: str, serve: Serve) -> None:
    server = serve(always(chat(raw)))
    answer = failure(EndpointEngine(server.url))
    assert (answer.reason, answer.raw) == ("off_menu", raw)
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    "value",
    [
        {"grade": "3", "reason": "for another label"},
        {"grade": "2", "reason": "longer than five"},
        {"grade": "2", "reason": 5},
        {"grade": "2"},
        {"reason": "ok"},
    ],
    ids=["other label", "too long", "not text", "no reason", "no label"],
)
def test_a_reason_that_does_not_fit_the_request_is_off_menu(value: Body, serve: Serve) -> None:
    raw = json.dumps(value)
    answer = failure(EndpointEngine(serve(always(chat(raw))).url), tail_request("x", reason=5))
    assert (answer.reason, answer.raw) == ("off_menu", raw)


def test_an_object_that_was_cut_off_is_a_failure_with_what_there_was(serve: Serve) -> None:
    answer = failure(EndpointEngine(serve(always(chat('{"grade": "1"', finish="length"))).url))
    assert (answer.reason, answer.raw) == ("cut_off", '{"grade": "1"')


@pytest.mark.parametrize("status", [500, 503, 429, 404])
def test_an_http_error_is_that_items_failure(status: int, serve: Serve) -> None:
    answer = failure(EndpointEngine(serve(always(Refusal(status, "no luck"))).url))
    assert answer.reason == "engine_error"
    assert f"HTTP {status}: no luck" in answer.detail


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5000",
        '{"code":"context_length_exceeded"}',
    ],
)
def test_a_prompt_that_the_server_finds_too_long_is_named_so(message: str, serve: Serve) -> None:
    assert failure(EndpointEngine(serve(always(Refusal(400, message))).url)).reason == "prompt_too_long"


def test_one_failing_item_leaves_the_others_alone(serve: Serve) -> None:
    def fail_one(body: Body) -> Body:
        if "bad" in body["messages"][0]["content"]:
            raise Refusal(500)
        return chat('{"grade": "2"}')

    engine = EndpointEngine(serve(always(fail_one)).url)
    answers = engine.generate([grade_request(text) for text in ("a", "bad", "b")])
    assert [answer.kind for answer in answers] == ["generation", "failure", "generation"]


def test_a_server_that_hangs_runs_into_the_time_limit(serve: Serve) -> None:
    release = threading.Event()

    def hang(_: Body) -> Body:
        release.wait(20)
        return chat('{"grade": "2"}')

    engine = EndpointEngine(serve(always(hang)).url, timeout_s=0.5)
    started = time.monotonic()
    answer = failure(engine)
    release.set()
    assert answer.reason == "time_limit"
    assert "no answer within 0.5 s" in answer.detail
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"",
        b"<html>gateway</html>",
        b'{"choices": [',
        b"[1]",
        b"[" * 100_000,
        b"\xff\xfe",
        {},
        {"choices": []},
        {"choices": {"a": 1}},
        {"choices": [7]},
        {"choices": [[]]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": "hi"}]},
        chat(None),
        chat(["a"]),
        chat('{"grade": "\\ud800"}'),
        chat("\ud800"),
        chat("[" * 100_000),
    ],
    ids=lambda answer: str(answer)[:40],
)
def test_no_reply_of_whatever_shape_gets_out_as_an_exception(answer: Any, serve: Serve) -> None:
    found = failure(EndpointEngine(serve(always(answer)).url))
    assert found.reason in ("engine_error", "off_menu")
    found.model_dump_json()  # it can be stored


@pytest.mark.parametrize("usage", [None, 5, {"prompt_tokens": "many", "completion_tokens": -3}])
def test_odd_token_counts_are_left_out(usage: Any, serve: Serve) -> None:
    answer = one(EndpointEngine(serve(always(chat('{"grade": "2"}') | {"usage": usage})).url))
    assert isinstance(answer, Generation)
    assert (answer.prompt_tokens, answer.output_tokens) == (0, 0)


def test_half_a_surrogate_pair_in_a_reason_becomes_a_question_mark(serve: Serve) -> None:
    raw = '{"grade": "2", "reason": "a\\ud83d"}'
    answer = one(EndpointEngine(serve(always(chat(raw))).url), tail_request("x", reason=5))
    assert isinstance(answer, Generation)
    assert answer.text == '"reason":"a?"}'


def written(*tokens: tuple[str, dict[str, float]]) -> Body:
    """Log probabilities of written tokens with their alternatives, from probabilities."""
    return {
        "content": [
            {
                "token": token,
                "top_logprobs": [{"token": other, "logprob": math.log(p)} for other, p in listed.items()],
            }
            for token, listed in tokens
        ]
    }


def test_log_probabilities_are_read_where_the_label_was_written(serve: Serve) -> None:
    label = {"2": 0.5, "3": 0.25, "1": 0.125, "5": 0.0625}
    logprobs = written(('{"', {'{"': 0.9, "Hi": 0.1}), ("grade", {"grade": 1.0}), ('":"', {'":"': 1.0}), ("2", label))
    answer = one(EndpointEngine(serve(always(chat('{"grade":"2"}', logprobs=logprobs))).url))
    assert isinstance(answer, Generation)
    assert answer.label_logprobs == pytest.approx({name: math.log(label[name]) for name in "123"})


def test_log_probabilities_that_lack_a_label_are_not_used(serve: Serve) -> None:
    logprobs = written(('{"grade":"', {}), ("2", {"2": 0.5, "3": 0.25}))
    answer = one(EndpointEngine(serve(always(chat('{"grade":"2"}', logprobs=logprobs))).url))
    assert isinstance(answer, Generation)
    assert answer.label_logprobs is None


@pytest.mark.parametrize("logprobs", [5, {"content": 5}, {"content": [5]}, {"content": [{"top_logprobs": [5]}]}])
def test_odd_log_probabilities_are_not_used(logprobs: Any, serve: Serve) -> None:
    answer = one(EndpointEngine(serve(always(chat('{"grade":"2"}', logprobs=logprobs))).url))
    assert isinstance(answer, Generation)
    assert answer.label_logprobs is None


@pytest.mark.parametrize(("brace", "is_masked"), [(0.99, True), (0.02, False)])
def test_log_probabilities_after_the_servers_mask_are_not_taken_for_the_models_own(
    brace: float, is_masked: bool, serve: Serve
) -> None:
    # Asked to say hello, a model does not open a brace by itself: if it seems to, the mask has been applied already.
    first = ('{"', {'{"': brace, "Hello": 1 - brace})

    def obey_with_logprobs(body: Body) -> Body:
        label = properties(body)["grade"]["enum"][-1]
        chosen = (label, {"1": 0.2, "2": 0.3, "3": 0.5})
        return chat(json.dumps({"grade": label}), logprobs=written(first, chosen))

    engine = EndpointEngine(serve(obey_with_logprobs).url)
    assert engine.info.guarantee is Guarantee.SERVER_SCHEMA
    answer = one(engine)
    assert isinstance(answer, Generation)
    assert (answer.label_logprobs is None) is is_masked


def test_a_server_that_refuses_the_extras_is_asked_without_them(serve: Serve) -> None:
    def plain_only(body: Body) -> Body:
        if "response_format" in body:
            raise Refusal(400, "unknown field response_format")
        return chat("Hello!" if "Say hello" in body["messages"][0]["content"] else '{"grade": "1"}')

    server = serve(plain_only)
    engine = EndpointEngine(server.url)
    assert engine.info.guarantee is Guarantee.NONE
    answer = one(engine)
    assert isinstance(answer, Generation)
    assert answer.text == "1"
    assert set(server.asked[0]) == {"model", "messages", "temperature", "seed", "max_tokens"}


def test_a_server_that_answers_nothing_is_found_out_at_start(serve: Serve) -> None:
    def refuse(_: Body) -> Body:
        raise Refusal(500, "out of order")

    server = serve(refuse)
    with pytest.raises(EngineError, match="HTTP 500: out of order"):
        EndpointEngine(server.url)


def test_no_server_is_an_engine_error_that_says_how_to_start_one(serve: Serve) -> None:
    server = serve(obey)
    url = server.url
    server.shutdown()
    server.server_close()
    with pytest.raises(EngineError, match="offline-eval serve"):
        EndpointEngine(url)


def test_a_model_that_is_not_served_is_named_with_those_that_are(serve: Serve) -> None:
    server = serve(obey, {"data": [{"id": "one"}, {"id": "two"}]})
    with pytest.raises(EngineError, match="serves one, two; asked for 'three'"):
        EndpointEngine(server.url, model="three")
    with pytest.raises(EngineError, match="the only one"):
        EndpointEngine(server.url)
    assert EndpointEngine(server.url, model="two").info.model == "two"


@pytest.mark.parametrize("models", [{"data": "x"}, {"data": [5]}, {}])
def test_a_server_with_an_odd_list_of_models_serves_the_name_it_is_asked_for(models: Any, serve: Serve) -> None:
    assert EndpointEngine(serve(obey, models).url, model="mine").info.model == "mine"


@pytest.mark.parametrize(
    "url",
    [
        "http://192.0.2.7:8000/v1",
        "https://judge.example/v1",
        "http://127.0.0.1@judge.example/v1",
        "http://localhost.judge.example/v1",
    ],
)
def test_a_host_beyond_this_machine_is_refused_by_name(url: str) -> None:
    with pytest.raises(AirGapError, match="--allow-host"):
        EndpointEngine(url)


def test_an_allow_listed_host_may_be_asked(serve: Serve) -> None:
    # 127.0.0.2 is this machine too, but not one of the names that stand for it.
    url = serve(obey).url.replace("127.0.0.1", "127.0.0.2")
    with pytest.raises(AirGapError, match=r"127\.0\.0\.2"):
        EndpointEngine(url)
    with pytest.raises(EngineError, match="no answer"):  # allowed, and nothing listens on that address
        EndpointEngine(url, allow_hosts=("127.0.0.2",))


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/v1", "127.0.0.1:8000", "http:///v1", ""])
def test_what_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(EngineError, match="not an http"):
        EndpointEngine(url)


def test_proxies_of_the_environment_are_ignored(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = serve(always(Refusal(502, "went through the proxy")))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url)
    monkeypatch.setenv("no_proxy", "")
    answer = one(EndpointEngine(serve(obey).url))
    assert isinstance(answer, Generation)
    assert proxy.seen == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int, serve: Serve) -> None:
    elsewhere = serve(obey)
    location = {"Location": f"{elsewhere.url}/chat/completions"}
    answer = failure(EndpointEngine(serve(always(Refusal(status, headers=location))).url))
    assert f"HTTP {status}" in answer.detail
    assert elsewhere.seen == []

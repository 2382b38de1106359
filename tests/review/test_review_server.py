"""The gate: who gets in, who does not, and what every answer carries."""

import pytest

from offline_eval.core.errors import UsageError
from offline_eval.review.decision_log import DecisionLog
from offline_eval.review.desk import Desk
from offline_eval.review.server import HOST, MOST_BODY_BYTES, Session, listen
from tests.support.review_runs import ORIGIN, PORT, SECRET, labeller, make_desk, send, small_run, visitor

CSRF = Session(PORT, secret=SECRET).csrf
LABEL = {"dimension": "relevance", "value": "2", "csrf": CSRF}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    folder = tmp_path_factory.mktemp("run")
    return make_desk(small_run(folder, 6), folder / "l.db")


def labels(desk: Desk) -> int:
    return sum(row.kind == "label" for row in DecisionLog(desk._log.path).rows())


def test_the_link_opens_the_session_and_leaves_the_address_bar(desk: Desk) -> None:
    client = visitor(desk)
    opened = client.get(f"/?session={SECRET}")
    assert (opened.status_code, opened.headers["location"]) == (303, "/")
    cookie = opened.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert client.get("/item/1").status_code == 200


@pytest.mark.parametrize("address", ["/", "/item/1", "/queue", "/agreement", "/static/keys.js", "/item/1/text/answer"])
def test_without_the_session_nothing_is_shown(desk: Desk, address: str) -> None:
    for client in (visitor(desk), visitor(desk)):
        assert client.get(address).status_code == 403
        assert client.get(address, params={"session": "wrong"}).status_code == 403
        client.cookies.set(Session(PORT).cookie, "wrong")
        refused = client.get(address)
        assert refused.status_code == 403
        assert "days" not in refused.text


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", "", f"0.0.0.0:{PORT}"]
)
def test_another_host_name_is_refused_even_with_the_session(desk: Desk, host: str) -> None:
    client = labeller(desk)
    before = labels(desk)
    assert client.get("/item/1", headers={"Host": host}).status_code == 421
    posted = client.post("/item/1/label", data=LABEL, headers={"Host": host, "Origin": f"http://{host}"})
    assert posted.status_code == 421
    assert labels(desk) == before


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", f"http://127.0.0.1:{PORT + 1}", f"https://127.0.0.1:{PORT}", None]
)
def test_a_form_of_another_origin_is_refused_even_with_session_and_token(desk: Desk, origin: str | None) -> None:
    client = labeller(desk)
    before = labels(desk)
    headers = {} if origin is None else {"Origin": origin}
    assert client.post("/item/1/label", data=LABEL, headers=headers).status_code == 403
    sites = {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"}
    assert client.post("/item/1/label", data=LABEL, headers=sites).status_code == 403
    assert labels(desk) == before


@pytest.mark.parametrize("token", [None, "", "wrong", CSRF[:-1]])
@pytest.mark.parametrize("address", ["/item/1/label", "/item/1/note", "/item/1/skip", "/undo"])
def test_a_form_without_its_token_changes_nothing(desk: Desk, address: str, token: str | None) -> None:
    client = labeller(desk)
    before = len(DecisionLog(desk._log.path).rows())
    form = {"dimension": "relevance", "value": "2", "text": "x", **({} if token is None else {"csrf": token})}
    assert client.post(address, data=form, headers={"Origin": ORIGIN}).status_code == 403
    assert len(DecisionLog(desk._log.path).rows()) == before


def test_the_same_form_with_everything_right_is_taken(desk: Desk) -> None:
    before = labels(desk)
    assert send(labeller(desk), "/item/1/label", dimension="relevance", value="2") == 303
    assert labels(desk) == before + 1


def test_forms_that_are_no_forms_or_too_large_are_refused(desk: Desk) -> None:
    client = labeller(desk)
    headers = {"Origin": ORIGIN}
    assert client.post("/item/1/label", json=LABEL, headers=headers).status_code == 415
    assert send(client, "/item/1/note", text="x" * MOST_BODY_BYTES) == 413
    assert send(client, "/item/1/note", text="x" * 5000) == 400
    assert send(client, "/item/1/label", **{f"f{n}": "x" for n in range(30)}) == 400
    for fields in ({"dimension": "relevance", "value": "9"}, {"dimension": "<b>", "value": "1"}, {}):
        assert send(client, "/item/1/label", **fields) == 400
    assert client.put("/item/1/label", data=LABEL, headers=headers).status_code == 405
    assert client.get("/item/1/label").status_code == 405


@pytest.mark.parametrize(
    "address", ["/item/0", "/item/7", "/item/1/text/nothing", "/static/server.py", "/none", "/static/..%2fserver.py"]
)
def test_what_does_not_exist_is_a_page_with_a_way_back(desk: Desk, address: str) -> None:
    answer = labeller(desk).get(address)
    assert answer.status_code == 404


@pytest.mark.parametrize(
    "address", ["/item/1", "/queue", "/agreement", "/help", "/static/review.css", "/none", "/?session=wrong"]
)
def test_every_answer_forbids_framing_caching_and_scripts_from_elsewhere(desk: Desk, address: str) -> None:
    headers = labeller(desk).get(address).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_a_fault_of_ours_is_a_page_without_a_traceback(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("/secret/path")

    client = labeller(desk)
    monkeypatch.setattr(desk, "agreement", broken)
    answer = client.get("/agreement")
    assert answer.status_code == 500
    assert "Traceback" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_the_server_listens_on_loopback_alone_and_says_when_a_port_is_taken() -> None:
    with listen(0) as listener:
        assert listener.getsockname()[0] == HOST == "127.0.0.1"
        with pytest.raises(UsageError, match="--port"):
            listen(listener.getsockname()[1])


def test_two_sessions_have_different_secrets_and_the_token_does_not_tell_the_secret() -> None:
    first, second = Session(1), Session(1)
    assert first.link != second.link
    assert first.csrf not in first.link
    assert len(first.link.split("=")[1]) >= 43  # 256 bits
    assert not first.is_secret("é\ud800")

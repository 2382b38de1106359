"""Small finished runs to review, and the page of one person over them."""

from collections.abc import Callable, Sequence
from pathlib import Path

from starlette.testclient import TestClient

from offline_eval.core.protocols import Failure, GenerateRequest, Generation
from offline_eval.core.records import Case, Response
from offline_eval.engines.scripted import by_hash
from offline_eval.pipeline.aggregate import Results
from offline_eval.review.app import review_app
from offline_eval.review.desk import Desk, open_log
from offline_eval.review.reviewed_run import ReviewedRun
from offline_eval.review.server import Session
from offline_eval.review.words import Language
from tests.support.panel_runs import Judges, asks_label, execute, make_config, many

PORT = 8000
SECRET = "the-secret-of-the-session"
ORIGIN = f"http://127.0.0.1:{PORT}"


def grades_in_the_answer(request: GenerateRequest) -> Generation | Failure:
    """A judge that gives the grade N when the answer says `grade N`; every dimension gets the same."""
    if not asks_label(request):
        return by_hash(request)
    text = "".join(message.content for message in request.messages if message.role == "user")
    grade = next((label for label in "123" if f"grade {label}" in text), "2")
    logprobs = {label: -0.05 if label == grade else -4.0 for label in "123"}
    return Generation(text=grade, label_logprobs=logprobs, prompt_tokens=1, output_tokens=1)


def make_run(
    path: Path,
    cases: Sequence[Case],
    responses: Sequence[Response],
    *,
    script: Callable[[GenerateRequest], Generation | Failure] = by_hash,
) -> ReviewedRun:
    run_file = execute(path, make_config(), cases, responses, Judges({"judge": script}))
    results = Results(run_file)
    run_file.close()
    return ReviewedRun(results)


def small_run(folder: Path, n: int = 30) -> ReviewedRun:
    return make_run(folder / "run.sqlite", *many(n))


def make_desk(
    run: ReviewedRun, path: Path, *, person: str = "anna", size: int | None = None, show_verdicts: bool = False
) -> Desk:
    log, queue = open_log(run, path, size=size)
    return Desk(run, log, queue, person=person, show_verdicts=show_verdicts)


def visitor(desk: Desk, *, language: Language = "en") -> TestClient:
    """A browser without a session."""
    app = review_app(desk, Session(PORT, secret=SECRET), language=language)
    return TestClient(app, base_url=ORIGIN, follow_redirects=False)


def labeller(desk: Desk, *, language: Language = "en") -> TestClient:
    """A browser that has opened the session's link."""
    client = visitor(desk, language=language)
    assert client.get(f"/?session={SECRET}").status_code == 303
    return client


def send(client: TestClient, address: str, **fields: str) -> int:
    """Send one of the page's forms, as a browser would.

    Returns:
        The answer's status.
    """
    form = {"csrf": Session(PORT, secret=SECRET).csrf, **fields}
    return client.post(address, data=form, headers={"Origin": ORIGIN}).status_code

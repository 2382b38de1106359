"""The pages on which drafts are accepted, edited and rejected; the essentials work without a script."""

from typing import Literal

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from offline_eval.core.errors import DataError
from offline_eval.report.numbers import three
from offline_eval.review.draft_desk import EDITED, LONGEST_FIELD, DraftDesk, is_changed, next_open, status_counts
from offline_eval.review.draft_fields import FieldFault, field_text
from offline_eval.review.draft_words import DRAFT_WORDS
from offline_eval.review.pages import EXCERPT, environment
from offline_eval.review.server import Session, build_app, read_form
from offline_eval.review.static_files import STATIC
from offline_eval.review.words import Words
from offline_eval.testset.draft import Draft

_QUEUE_PAGE = 200
_SAID = ("saved_accepted", "saved_rejected")


def draft_review_app(desk: DraftDesk, session: Session, *, language: Literal["en", "zh"]) -> ASGIApp:
    """The page of one reviewer, behind the gate."""
    pages = DraftPages(desk, session, Words(language, DRAFT_WORDS))
    return build_app(pages.routes(), session, errors={HTTPException: pages.error, Exception: pages.error})


class DraftPages:
    """The pages of one desk."""

    def __init__(self, desk: DraftDesk, session: Session, words: Words) -> None:
        self._desk = desk
        self._session = session
        self._words = words
        self._templates = environment()

    def routes(self) -> list[Route]:
        """Every address, with what answers it."""
        return [
            Route("/", self._start),
            Route("/item/{number:int}", self._item),
            Route("/item/{number:int}/accept", self._accept, methods=["POST"]),
            Route("/item/{number:int}/reject", self._reject, methods=["POST"]),
            Route("/queue", self._queue),
            Route("/help", self._help),
            STATIC,
        ]

    async def error(self, request: Request, error: Exception) -> Response:
        """A refusal, or a fault of ours, as a page with a way back."""
        status = error.status_code if isinstance(error, HTTPException) else 400 if isinstance(error, DataError) else 500
        text = error.detail if isinstance(error, HTTPException) else f"{type(error).__name__}: {error}"
        text = self._words("no_item") if status == 404 else str(error) if isinstance(error, DataError) else text
        return self._page("draft_error.html", status=status, message=text)

    async def _start(self, request: Request) -> Response:
        place = next_open(self._desk.drafts())
        return RedirectResponse("/queue" if place is None else f"/item/{place + 1}", 303)

    async def _item(self, request: Request) -> Response:
        drafts = self._desk.drafts()
        place = self._place(request, drafts)
        draft = drafts[place]
        open_place = next_open(drafts, after=place)
        return self._page(
            "draft_item.html",
            number=place + 1,
            total=len(drafts),
            draft=draft,
            fields={field: field_text(draft, field) for field in EDITED},
            sources=self._desk.sources(draft),
            settled=sum(draft.status != "draft" for draft in drafts),
            next_open=None if open_place in (None, place) else open_place + 1,
            said=self._said(request),
            three=three,
        )

    async def _accept(self, request: Request) -> Response:
        form = await read_form(request, self._session)
        if "query" in form and not form["query"].strip():
            raise HTTPException(400, self._words("no_question"))
        drafts = self._desk.drafts()
        place = self._place(request, drafts)
        for field in EDITED:
            if field in form and is_changed(drafts[place], field, form[field]):
                self._check_length(field, form[field])
        try:
            self._desk.accept(drafts[place], form)
        except FieldFault as fault:
            raise HTTPException(400, self._words(fault.word, **fault.values)) from None
        return self._onward(place, "saved_accepted")

    async def _reject(self, request: Request) -> Response:
        form = await read_form(request, self._session)
        reason = form.get("reason", "")
        self._check_length("reason", reason)
        if not reason.strip():
            raise HTTPException(400, self._words("reason_needed"))
        drafts = self._desk.drafts()
        place = self._place(request, drafts)
        self._desk.reject(drafts[place], reason)
        return self._onward(place, "saved_rejected")

    async def _queue(self, request: Request) -> Response:
        drafts = self._desk.drafts()
        pages = max(1, -(-len(drafts) // _QUEUE_PAGE))
        asked = request.query_params.get("page", "")
        page = int(asked) if asked.isascii() and asked.isdigit() and 1 <= int(asked[:9]) <= pages else 1
        start = (page - 1) * _QUEUE_PAGE
        counts = status_counts(drafts)
        return self._page(
            "draft_queue.html",
            rows=list(enumerate(drafts[start : start + _QUEUE_PAGE], start + 1)),
            page=page,
            pages=pages,
            counts=counts,
            settled=len(drafts) - counts["draft"],
            total=len(drafts),
            said=self._said(request),
        )

    async def _help(self, request: Request) -> Response:
        return self._page("draft_help.html")

    def _onward(self, place: int, said: str) -> Response:
        """To the next open draft, or to the queue when all are decided."""
        following = next_open(self._desk.drafts(), after=place)
        address = "/queue" if following is None else f"/item/{following + 1}"
        return RedirectResponse(f"{address}?said={said}", 303)

    def _check_length(self, field: str, text: str) -> None:
        if len(text) > LONGEST_FIELD:
            values = {"field": field, "count": f"{len(text):,}", "most": f"{LONGEST_FIELD:,}"}
            raise HTTPException(400, self._words("too_long", **values))

    def _place(self, request: Request, drafts: list[Draft]) -> int:
        number = int(request.path_params["number"])
        if not 1 <= number <= len(drafts):
            raise HTTPException(404)
        return number - 1

    def _said(self, request: Request) -> str:
        said = request.query_params.get("said", "")
        return self._words(said) if said in _SAID else ""

    def _page(self, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
        text = self._templates.get_template(template).render(
            words=self._words,
            csrf=self._session.csrf,
            person=self._desk.person,
            excerpt=EXCERPT,
            longest=LONGEST_FIELD,
            **values,
        )
        return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)

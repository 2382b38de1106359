"""The review's pages: a request becomes an action at the desk or a screen; the essentials work without a script."""

from collections.abc import Awaitable, Callable
from math import ceil

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from offline_eval.judge.rubric import Rubric
from offline_eval.report.numbers import interval_text, percent, three
from offline_eval.report.visible import visible
from offline_eval.review.agreement import LEAST_LABELS
from offline_eval.review.answers import CANNOT_TELL, EMPTY, is_complete
from offline_eval.review.desk import LONGEST_NOTE, Desk
from offline_eval.review.reviewed_run import PANEL, Screen
from offline_eval.review.server import Session, read_form
from offline_eval.review.static_files import STATIC
from offline_eval.review.words import Words

EXCERPT = 20_000  # characters of one text on an item's page; the rest is a link away
_TEXT_PAGE = 100_000  # characters on one page of a whole text
_PASSAGES_SHOWN = 30
_QUEUE_PAGE = 200

Action = Callable[[Request], Awaitable[Response]]


def shown(text: str) -> str:
    """A text with everything unseen made visible, its line breaks and tabs kept."""
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in text.replace("\r\n", "\n").split("\n"))


def _finished(value: object) -> object:
    """Every value a template prints goes through here: none can bring control or direction characters in."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def environment() -> Environment:
    """Templates that escape everything they print."""
    return Environment(
        loader=PackageLoader("offline_eval.review"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finished,
        trim_blocks=True,
        lstrip_blocks=True,
    )


class Pages:
    """The pages of one desk."""

    def __init__(self, desk: Desk, session: Session, words: Words) -> None:
        self._desk = desk
        self._session = session
        self._words = words
        self._templates = environment()

    def routes(self) -> list[Route]:
        """Every address, with what answers it."""
        acting: dict[str, Callable[[int, dict[str, str]], str]] = {
            "label": self._label,
            "note": self._note,
            "skip": self._skip,
        }
        return [
            Route("/", self._start),
            Route("/item/{number:int}", self._item),
            *(
                Route(f"/item/{{number:int}}/{name}", self._acting(act), methods=["POST"])
                for name, act in acting.items()
            ),
            Route("/item/{number:int}/text/{field}", self._text),
            Route("/undo", self._undo, methods=["POST"]),
            Route("/queue", self._queue),
            Route("/agreement", self._agreement),
            Route("/help", self._help),
            STATIC,
        ]

    async def error(self, request: Request, error: Exception) -> Response:
        """A refusal, or a fault of ours, as a page with a way back."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        text = error.detail if isinstance(error, HTTPException) else f"{type(error).__name__}: {error}"
        text = self._words("no_item") if status == 404 else text
        return self._page("error.html", status=status, message=text)

    async def _start(self, request: Request) -> Response:
        place = self._desk.next_open(self._desk.states())
        return RedirectResponse("/queue?done=1" if place is None else f"/item/{place + 1}", 303)

    async def _item(self, request: Request) -> Response:
        desk, place = self._desk, self._place(request)
        states = desk.states()
        entry = desk.queue.items[place]
        state = states.get(entry.key, EMPTY)
        screen = desk.run.screen(entry.key)
        active = next((r.dimension for r in screen.rubrics if r.dimension not in state.labels), None)
        picked = request.query_params.get("dimension", "")
        open_place = desk.next_open(states, after=place)
        return self._page(
            "item.html",
            number=place + 1,
            total=len(desk.queue.items),
            entry=entry,
            state=state,
            screen=screen,
            texts=_texts(screen),
            revealed=desk.is_revealed(state),
            is_complete=is_complete(state, desk.run.dimensions),
            active=picked if screen.rubric(picked) else active,
            next_open=None if open_place is None or open_place == place else open_place + 1,
            settled=desk.settled(states),
            looks_at=self._looks_at,
            said=self._said(request),
        )

    def _looks_at(self, rubric: Rubric) -> str:
        return ", ".join(self._words.name(block, "block_") for block in rubric.sees)

    def _acting(self, act: Callable[[int, dict[str, str]], str]) -> Action:
        async def answer(request: Request) -> Response:
            place = self._place(request)
            return RedirectResponse(act(place, await read_form(request, self._session)), 303)

        return answer

    def _label(self, place: int, form: dict[str, str]) -> str:
        key, dimension, value = self._desk.queue.items[place].key, form.get("dimension", ""), form.get("value", "")
        if not self._desk.can_label(key, dimension, value):
            raise HTTPException(400, self._words("bad_label"))
        self._desk.label(key, dimension, value)
        return f"/item/{place + 1}?said=saved"

    def _note(self, place: int, form: dict[str, str]) -> str:
        text = form.get("text", "").replace("\r\n", "\n").strip()
        if len(text) > LONGEST_NOTE:
            raise HTTPException(400, self._words("note_too_long", count=f"{len(text):,}", most=f"{LONGEST_NOTE:,}"))
        self._desk.note(self._desk.queue.items[place].key, text)
        return f"/item/{place + 1}?said=saved"

    def _skip(self, place: int, form: dict[str, str]) -> str:
        self._desk.skip(self._desk.queue.items[place].key)
        following = self._desk.next_open(self._desk.states(), after=place)
        return "/queue?done=1" if following is None else f"/item/{following + 1}"

    async def _undo(self, request: Request) -> Response:
        form = await read_form(request, self._session)
        undone = self._desk.undo()
        place = self._desk.place_of(undone.item) if undone else None
        if undone is None or place is None:
            number = _number(form.get("number"), most=len(self._desk.queue.items))
            return RedirectResponse(f"/item/{number}?said={'undone' if undone else 'nothing_to_undo'}", 303)
        return RedirectResponse(f"/item/{place + 1}?said=undone", 303)

    async def _queue(self, request: Request) -> Response:
        desk = self._desk
        states = desk.states()
        pages = ceil(len(desk.queue.items) / _QUEUE_PAGE)
        page = _number(request.query_params.get("page"), most=pages)
        start = (page - 1) * _QUEUE_PAGE
        rows = [
            {
                "number": place + 1,
                "entry": entry,
                "query": desk.run.screen(entry.key).query[:200],
                "status": desk.status(state := states.get(entry.key, EMPTY)),
                "revealed": desk.is_revealed(state),
            }
            for place, entry in enumerate(desk.queue.items[start : start + _QUEUE_PAGE], start)
        ]
        return self._page(
            "queue.html",
            rows=rows,
            page=page,
            pages=pages,
            queue=desk.queue,
            left_out=desk.run.left_out,
            settled=desk.settled(states),
            total=len(desk.queue.items),
            said=self._said(request),
        )

    async def _agreement(self, request: Request) -> Response:
        judged, among = self._desk.agreement()
        return self._page(
            "agreement.html", judged=judged, among=among, least=LEAST_LABELS, panel=PANEL,
            percent=percent, three=three, interval_text=interval_text,
        )  # fmt: skip

    async def _help(self, request: Request) -> Response:
        return self._page("help.html")

    async def _text(self, request: Request) -> Response:
        place = self._place(request)
        text = _texts(self._desk.run.screen(self._desk.queue.items[place].key)).get(request.path_params["field"])
        if text is None:
            raise HTTPException(404)
        pages = max(1, ceil(len(text) / _TEXT_PAGE))
        page = _number(request.query_params.get("page"), most=pages)
        part = text[(page - 1) * _TEXT_PAGE : page * _TEXT_PAGE]
        return self._page("text.html", number=place + 1, part=part, page=page, pages=pages)

    def _place(self, request: Request) -> int:
        number = int(request.path_params["number"])
        if not 1 <= number <= len(self._desk.queue.items):
            raise HTTPException(404)
        return number - 1

    def _said(self, request: Request) -> str:
        """What the last action did, for the status line; only words of ours."""
        said = request.query_params.get("said", "")
        return self._words(said) if said in ("saved", "undone", "nothing_to_undo") else ""

    def _page(self, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
        text = self._templates.get_template(template).render(
            words=self._words,
            csrf=self._session.csrf,
            person=self._desk.person,
            cannot_tell=CANNOT_TELL,
            excerpt=EXCERPT,
            passages_shown=_PASSAGES_SHOWN,
            longest_note=LONGEST_NOTE,
            **values,
        )
        return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)


def _texts(screen: Screen) -> dict[str, str]:
    """Every text of a screen under the name by which its whole can be asked for."""
    texts = {"query": screen.query, "answer": screen.answer, "reference": screen.reference or ""}
    texts |= {f"passage-{number}": passage.text for number, passage in enumerate(screen.passages, 1)}
    texts |= {f"point-{number}": point for number, point in enumerate(screen.key_points, 1)}
    return texts | {f"claim-{number}": claim for number, claim in enumerate(screen.claims, 1)}


def _number(text: str | None, *, most: int) -> int:
    """A page's number from an address; 1 for anything else."""
    return int(text) if text and text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= most else 1

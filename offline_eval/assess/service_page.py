"""A small page to try the service, in English and Chinese: no script but its own, every text set as text."""

from importlib.resources import files
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from offline_eval.core.yaml_text import parse_yaml

Language = Literal["en", "zh"]
_STATIC = {"try.js": "text/javascript", "try.css": "text/css"}


def page_routes(*, can_generate: bool) -> list[Route]:
    """The page and its two files.

    Args:
        can_generate: Whether the page offers to answer a question, not only to check an answer.
    """

    async def page(request: Request) -> Response:
        return Response(render_page(_language(request), can_generate=can_generate), media_type="text/html")

    async def static(request: Request) -> Response:
        name = request.url.path.rpartition("/")[2]
        return Response(_text("static", name), media_type=_STATIC[name])

    return [Route("/", page, methods=["GET"]), *(Route(f"/static/{n}", static, methods=["GET"]) for n in _STATIC)]


def render_page(language: Language, *, can_generate: bool) -> str:
    """The page's HTML."""
    from jinja2 import Environment

    words = parse_yaml(_text("templates", "words.yaml"), "words.yaml").data
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_text("templates", "try.html.j2"))
    other = "en" if language == "zh" else "zh"
    return template.render(t=words[language], language=language, other=other, can_generate=can_generate)


def _language(request: Request) -> Language:
    asked = request.query_params.get("lang") or request.headers.get("accept-language", "")
    return "zh" if asked.strip().lower().startswith("zh") else "en"


def _text(folder: str, name: str) -> str:
    return files("offline_eval.assess").joinpath(folder, name).read_text("utf-8")

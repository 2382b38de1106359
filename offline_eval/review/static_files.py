"""The style sheet, the script and the icon, the same for every page; nothing else can be asked for."""

from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_TYPES = {"review.css": "text/css", "keys.js": "text/javascript", "icon.svg": "image/svg+xml"}


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _TYPES:
        raise HTTPException(404)
    return Response(files(__package__).joinpath("static", name).read_bytes(), media_type=_TYPES[name])


STATIC = Route("/static/{name}", _static)

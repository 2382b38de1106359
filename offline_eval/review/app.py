"""Puts a desk, its pages and the gate together into one app."""

from typing import Literal

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from offline_eval.review.desk import Desk
from offline_eval.review.pages import Pages
from offline_eval.review.server import Session, build_app
from offline_eval.review.words import Words


def review_app(desk: Desk, session: Session, *, language: Literal["en", "zh"]) -> ASGIApp:
    """The review page of one person.

    Args:
        language: Of the page's own words; rubrics appear in the language the judge was asked in.
    """
    pages = Pages(desk, session, Words(language))
    return build_app(pages.routes(), session, errors={HTTPException: pages.error, Exception: pages.error})

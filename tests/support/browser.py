"""A real browser for tests: the system's Chromium, without any network of its own, with a diary of what it does."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--headless",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
    "--no-pings",
]

PHONE, DESK = (390, 844), (1280, 900)


@dataclass
class Diary:
    """What a page did while it was open.

    Attributes:
        requests: Addresses that were asked for, blocked ones included.
        errors: Errors on the console and exceptions that no script caught.
    """

    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@contextmanager
def open_browser() -> Iterator["Browser"]:
    """Start the system's Chromium; the test is skipped with a reason where it or Playwright is missing."""
    program = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no chromium on this machine; `make browser` installs it where it can")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=_ARGUMENTS, env=_environment())
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_page(
    browser: "Browser",
    *,
    size: tuple[int, int] = DESK,
    scheme: Literal["light", "dark"] = "light",
    offline: bool = False,
    script: bool = True,
) -> Iterator[tuple["Page", Diary]]:
    """A fresh page with nothing remembered.

    Args:
        size: Width and height of the window, in CSS pixels.
        offline: Whether every request beyond files fails.
        script: Whether scripts run.
    """
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,
        offline=offline,
        java_script_enabled=script,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(30_000)
    diary = Diary()
    page.on("request", lambda request: diary.requests.append(request.url))
    page.on("console", lambda message: diary.errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: diary.errors.append(str(error)))
    try:
        yield page, diary
    finally:
        context.close()


def serious_findings(page: "Page") -> list[str]:
    """Accessibility findings of axe-core that are serious or critical: rule, place and what is wrong."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(page).response["violations"]
    return [
        f"{violation['id']} at {node['target']}: {node['failureSummary']}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def overflow(page: "Page") -> int:
    """By how many pixels the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def _environment() -> dict[str, str | float | bool]:
    """The browser's own: no proxy, no display, no bus."""
    dropped = ("DISPLAY", "DBUS_SESSION_BUS_ADDRESS")
    return {k: v for k, v in os.environ.items() if k not in dropped and not k.lower().endswith("_proxy")}

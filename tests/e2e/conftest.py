"""Chromium once for all browser tests, a server once for each module, a guarded page for each test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.chromium import find_chromium, launch, watch_page
from tests.serving import Server

Open = Callable[..., Page]

SLOW_MS = 60_000
"""Where the machine is busy a page takes its time; how long is no test."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A headless Chromium. Without one the tests are skipped; on CI that is a failure.

    It ends with these tests: Playwright keeps an event loop running in the thread that started it, in which no other
    test could start its own.
    """
    path = find_chromium()
    if path is None:
        reason = "no Chromium on the PATH (set CHROMIUM to one), so the page was not tried in a browser"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with launch(path) as browser:
        yield browser


@pytest.fixture(scope="package", autouse=True)
def patience() -> Iterator[None]:
    """What is expected of a page may take its time."""
    expect.set_options(timeout=SLOW_MS)
    yield
    expect.set_options(timeout=5_000)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A real server with an empty database."""
    with Server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture
def open_page(browser: Browser, server: Server) -> Iterator[Open]:
    """Opens a path of the server in a fresh profile; afterwards no page may have complained or called elsewhere."""
    opened = []

    def open_path(path: str, *, theme: str = "light", width: int = 1440, height: int = 980) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)  # type: ignore[arg-type]
        context.set_default_timeout(SLOW_MS)
        page = context.new_page()
        opened.append((context, watch_page(page, server.url)))
        page.goto(server.url + path)
        return page

    yield open_path
    for context, guard in opened:
        context.close()
        guard.check()


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where pictures of the page go, to be looked at."""
    folder = Path(__file__).parents[2] / "artifacts" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder

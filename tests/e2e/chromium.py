"""A Chromium for tests: found on this machine, started without a word to the outside, every page under guard."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, sync_playwright

__all__ = ["Guard", "find_chromium", "launch", "watch_page"]

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def find_chromium() -> str | None:
    """The path of a Chromium; the variable CHROMIUM names another one than that on the PATH."""
    return os.environ.get("CHROMIUM") or next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def launch(path: str) -> Iterator[Browser]:
    """Starts Chromium with a profile of its own, and ends it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS), headless=True)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Guard:
    """What a page did that no page may do."""

    complaints: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def check(self) -> None:
        assert not self.foreign, f"requests that left the host: {self.foreign}"
        assert not self.complaints, "the page complained:\n" + "\n".join(self.complaints)


def watch_page(page: Page, url: str) -> Guard:
    """Notes errors and warnings on the console, exceptions, and requests to another host than ``url``'s."""
    guard = Guard()
    host = urlsplit(url).netloc

    def note_request(address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.netloc != host:
            guard.foreign.append(address)

    page.on("request", lambda request: note_request(request.url))
    page.on("websocket", lambda socket: note_request(socket.url))
    page.on(
        "console",
        lambda message: guard.complaints.append(message.text) if message.type in {"error", "warning"} else None,
    )
    page.on("pageerror", lambda error: guard.complaints.append(f"{error.message}\n{error.stack}"))
    return guard

"""Calls the user's functions when the server reports a finding, in a thread of its own.

Owns that thread, and who was told what. Knows nothing of the server: findings are handed in as they come.
"""

from __future__ import annotations

import copy
import queue
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["Callbacks", "is_dismissed"]

Finding = dict[str, Any]
Callback = Callable[[Finding], object]
SEVERITIES: Final = ("warning", "critical")
"""In rising order."""


def is_dismissed(finding: Mapping[str, Any]) -> bool:
    """Whether a person said at the dashboard that a finding is none."""
    return (finding.get("review") or {}).get("state") == "dismissed"


@dataclass
class _Listener:
    """One function, and how severe each finding was when it was told; -1 for a severity that is not known."""

    call: Callback
    told: dict[str, int] = field(default_factory=dict)
    has_failed: bool = False

    def is_news(self, finding: Finding) -> bool:
        """Whether a finding is new, or has become more severe; it counts as told then."""
        name, severity = str(finding.get("id")), finding.get("severity")
        rank = SEVERITIES.index(severity) if severity in SEVERITIES else -1
        if is_dismissed(finding) or self.told.get(name, -2) >= rank:
            return False
        self.told[name] = rank
        return True


class Callbacks:
    """The functions to call, and the thread that calls them. The thread begins with the first function.

    Args:
        say: tells the user something, in a line.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        """Starts without functions."""
        self._say = say
        self._lock = threading.Lock()
        self._listeners: list[_Listener] = []
        self._known: list[Finding] = []
        self._calls: queue.SimpleQueue[tuple[_Listener, Finding] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def add(self, callback: Callback) -> None:
        """Takes a function, and has it told what is known already."""
        with self._lock:
            if self._is_closed:
                return
            listener = _Listener(callback)
            self._listeners.append(listener)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="gradwatch-findings", daemon=True)
                self._thread.start()
            self._tell([listener], self._known)

    def take(self, findings: Iterable[Finding]) -> None:
        """Takes the run's findings as they are now. Never waits for a function."""
        with self._lock:
            self._known = list(findings)
            if not self._is_closed:
                self._tell(self._listeners, self._known)

    def close(self, timeout_s: float) -> None:
        """Waits for the calls that are due, but not for ever. Idempotent.

        Args:
            timeout_s: how long to wait, in seconds.
        """
        with self._lock:
            thread, self._is_closed = self._thread, True
            self._thread = None
        if thread is None:
            return
        self._calls.put(None)
        if thread is threading.current_thread():  # a function closes the run: what is due comes after it
            return
        thread.join(timeout_s)
        if thread.is_alive():
            self._say(f"a function given to on_finding is still busy after {timeout_s:g} s, and is left to itself")

    def _tell(self, listeners: Iterable[_Listener], findings: Iterable[Finding]) -> None:
        for finding in findings:
            for listener in listeners:
                if listener.is_news(finding):
                    # A copy for each: what one function does to it is its own affair.
                    self._calls.put((listener, copy.deepcopy(finding)))

    def _work(self) -> None:
        while (due := self._calls.get()) is not None:
            listener, finding = due
            try:
                listener.call(finding)
            except BaseException as error:  # the boundary: an error of the user's function harms no training
                if not listener.has_failed:
                    listener.has_failed = True
                    name = getattr(listener.call, "__name__", None) or repr(listener.call)
                    self._say(
                        f"{name}, given to on_finding, failed: {type(error).__name__}: {error} · training goes on; it "
                        "is still called for what is found from now on, and its errors are not told again"
                    )

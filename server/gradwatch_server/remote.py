"""Asks a running server, for commands that need one. Owns the words for what can go wrong on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from gradwatch_server.errors import (
    GradwatchServerError,
    InvalidQueryError,
    NotFoundError,
    RequestError,
)

__all__ = ["Remote", "control_run", "open_remote"]

TIMEOUT_S = 10.0
_ERRORS: dict[int, type[GradwatchServerError]] = {404: NotFoundError, 422: InvalidQueryError, 401: RequestError}
Json = dict[str, Any]


class Remote:
    """A running server, over its REST interface.

    Args:
        client: with the server's address and token.
    """

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def ask(self, method: str, path: str, body: Json | None = None, *, timeout_s: float = TIMEOUT_S) -> Json:
        """Sends a request; returns the answer, empty where there is none.

        Raises:
            RequestError: the server does not take it.
            GradwatchServerError: it failed on the way.
        """
        return _read(self._client.request(method, path, json=body, timeout=timeout_s))

    def find_run(self, text: str) -> str:
        """The one run whose id is, or begins with, a text.

        Raises:
            RequestError: there is none, or more than one.
        """
        found = _read(self._client.get("/api/runs", params={"search": text, "limit": 1000}))["runs"]
        ids = [one["id"] for one in found if one["id"].startswith(text)]
        if text in ids or len(ids) == 1:
            return text if text in ids else str(ids[0])
        if ids:
            raise RequestError("ambiguous_run", f"{len(ids)} runs begin with {text!r}: {', '.join(ids[:5])} ...")
        raise NotFoundError("unknown_run", f"There is no run {text!r} on {self._client.base_url}.", {"run_id": text})

    def find_finding(self, run_id: str, text: str) -> Json:
        """The one finding of a run whose id is, or begins with, a text.

        Raises:
            RequestError: there is none, or more than one.
        """
        known = self.ask("GET", f"/api/runs/{run_id}/findings")["findings"]
        found = [one for one in known if one["id"] == text] or [one for one in known if one["id"].startswith(text)]
        if len(found) == 1:
            return dict(found[0])
        listed = ", ".join(one["id"] for one in found or known) or "none"
        if found:
            raise RequestError("ambiguous_finding", f"{len(found)} findings begin with {text!r}: {listed}.")
        raise NotFoundError("unknown_finding", f"Run {run_id!r} has no finding {text!r}; it has {listed}.")


@contextmanager
def open_remote(url: str, token: str | None) -> Iterator[Remote]:
    """Opens the way to a server.

    Args:
        url: its address.
        token: its token, if it has one.

    Raises:
        GradwatchServerError: no server answers there.
    """
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with httpx.Client(base_url=url, headers=headers, timeout=TIMEOUT_S, trust_env=False) as client:
            yield Remote(client)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise GradwatchServerError(
            "no_server",
            f"No server answers at {url} ({error}); name another with --url or GRADWATCH_URL, "
            'or start one with "gradwatch serve".',
        ) from error


def control_run(url: str, token: str | None, run: str, wishes: Json) -> Json:
    """Asks a running training for something, by way of its server.

    Args:
        url: the server's address.
        token: its token, if it has one.
        run: the run's id, or the beginning of one.
        wishes: the fields of a control.

    Returns:
        The server's answer.

    Raises:
        RequestError: there is no such run or more than one, or the server does not take what is asked for.
        GradwatchServerError: no server answers there, or the training is not connected to it.
    """
    with open_remote(url, token) as remote:
        return remote.ask("POST", f"/api/runs/{remote.find_run(run)}/controls", wishes)


def _read(answer: httpx.Response) -> Json:
    if answer.status_code == httpx.codes.NO_CONTENT:
        return {}
    try:
        content = answer.json()
    except ValueError as error:
        raise GradwatchServerError(
            "no_server", f"{answer.url} answered {answer.status_code} with no JSON: no gradwatch server is there."
        ) from error
    if answer.is_success and isinstance(content, dict):
        return content
    known = content if isinstance(content, dict) else {}
    cls = _ERRORS.get(answer.status_code, GradwatchServerError)
    message = str(known.get("message", f"{answer.url} answered {answer.status_code}."))
    raise cls(str(known.get("code", "no_server")), message, known.get("detail"))

"""Asks a running server, for commands that need one. Owns the words for what can go wrong on the way."""

from __future__ import annotations

from typing import Any

import httpx

from gradwatch_server.errors import GradwatchServerError, InvalidQueryError, NotFoundError, RequestError

__all__ = ["control_run"]

TIMEOUT_S = 10.0
_ERRORS: dict[int, type[GradwatchServerError]] = {404: NotFoundError, 422: InvalidQueryError, 401: RequestError}


def control_run(url: str, token: str | None, run: str, wishes: dict[str, Any]) -> dict[str, Any]:
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
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with httpx.Client(base_url=url, headers=headers, timeout=TIMEOUT_S, trust_env=False) as client:
            run_id = _find(client, run)
            return _read(client.post(f"/api/runs/{run_id}/controls", json=wishes))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise GradwatchServerError(
            "no_server",
            f"No server answers at {url} ({error}); name another with --url or GRADWATCH_URL, "
            'or start one with "gradwatch serve".',
        ) from error


def _find(client: httpx.Client, text: str) -> str:
    """The one run whose id is, or begins with, a text."""
    found = _read(client.get("/api/runs", params={"search": text, "limit": 1000}))["runs"]
    ids = [one["id"] for one in found if one["id"].startswith(text)]
    if text in ids or len(ids) == 1:
        return text if text in ids else str(ids[0])
    if ids:
        raise RequestError("ambiguous_run", f"{len(ids)} runs begin with {text!r}: {', '.join(ids[:5])} ...")
    raise NotFoundError("unknown_run", f"There is no run {text!r} on {client.base_url}.", {"run_id": text})


def _read(answer: httpx.Response) -> dict[str, Any]:
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

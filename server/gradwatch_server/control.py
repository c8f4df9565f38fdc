"""The way from a person to a running training: the hooks that are connected, and what they are asked for.

Owns no route and no socket. A control is sent once, to every hook of the run that is connected; it is kept nowhere.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from gradwatch_server.errors import ConflictError, InvalidQueryError

__all__ = ["Hooks", "check_kinds"]

Send = Callable[[dict[str, Any]], Awaitable[bool]]


class Hooks:
    """The hooks that are connected, by run. Used on the event loop only."""

    def __init__(self) -> None:
        self._sends: dict[str, list[Send]] = {}

    def enter(self, run_id: str, send: Send) -> None:
        """A hook has been greeted; ``send`` sends it a message, and tells whether it was still there."""
        self._sends.setdefault(run_id, []).append(send)

    def leave(self, run_id: str, send: Send) -> None:
        """A hook is gone."""
        left = [one for one in self._sends.get(run_id, []) if one != send]
        if left:
            self._sends[run_id] = left
        else:
            self._sends.pop(run_id, None)

    async def control(self, run_id: str, wishes: dict[str, Any]) -> str:
        """Asks a running training for something.

        Args:
            run_id: the run.
            wishes: the fields of a ``control`` message.

        Returns:
            The control's id.

        Raises:
            ConflictError: no hook of the run is connected.
        """
        message = {"type": "control", "id": secrets.token_hex(8), **wishes}
        sent = [await send(message) for send in list(self._sends.get(run_id, []))]
        if not any(sent):
            raise ConflictError(
                "not_connected",
                f"No training of run {run_id!r} is connected, so nobody can be asked. It has ended, or its connection "
                "is broken; in that case try again when the run is live.",
                {"run_id": run_id},
            )
        return str(message["id"])


def check_kinds(asked: Sequence[str], streams: Iterable[dict[str, Any]]) -> list[str]:
    """The kinds asked for that the run's training cannot give, for they are not in its graph.

    Args:
        asked: the kinds that a person wants full statistics of.
        streams: the run's streams with their tensor tables.

    Raises:
        InvalidQueryError: none of them is there.
    """
    captured = {"gradient"}
    for stream in streams:
        captured |= {tensor["kind"] for tensor in stream["tensors"]}
        captured |= {"operation"} if stream["operations"] else set()
    missing = [kind for kind in asked if kind not in captured]
    if len(missing) == len(asked):
        raise InvalidQueryError(
            "kinds_not_captured",
            f"This training captures {', '.join(sorted(captured))}, and not {', '.join(missing)}: what is not in its "
            "graph from the start cannot be added. Name them in gradwatch.watch(..., capture=...).",
            {"captured": sorted(captured), "not_captured": missing},
        )
    return missing

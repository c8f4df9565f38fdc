"""Several workers of one run: how the run stands, and which of their findings are one. Owns no table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, select

from gradwatch import protocol
from gradwatch_server.store.schema import frames, workers

__all__ = ["LastWord", "merge_findings", "read_last_words", "state_of_all"]

Json = dict[str, Any]
CRITICAL = "critical"


@dataclass(frozen=True)
class LastWord:
    """What a worker said last of its state.

    Attributes:
        state: ``live``, ``finished`` or ``crashed``.
        error: the error of a crash, the reason why a person stopped the training, or None.
    """

    state: str = "live"
    error: str | None = None


def read_last_words(connection: Connection, run_id: str) -> dict[int, LastWord]:
    """Every worker's last word, in order of workers: a worker whose newest message is no ``state`` is live."""
    newest = and_(
        frames.c.run_id == workers.c.run_id,
        frames.c.worker == workers.c.worker,
        frames.c.seq == workers.c.last_seq,
        frames.c.type == "state",
    )
    query = (
        select(workers.c.worker, frames.c.data)
        .join(frames, newest, isouter=True)
        .where(workers.c.run_id == run_id)
        .order_by(workers.c.worker)
    )
    return {worker: _word(data) for worker, data in connection.execute(query)}


def _word(data: bytes | None) -> LastWord:
    if data is None:
        return LastWord()
    message = protocol.decode(data)
    return LastWord(message["state"], message["error"])


def state_of_all(words: Mapping[int, LastWord]) -> tuple[str, str | None]:
    """A run's state and error: crashed if one worker is, finished if all are, else live."""
    crashed = {worker: word for worker, word in words.items() if word.state == "crashed"}
    if crashed:
        worker, word = next(iter(crashed.items()))
        return "crashed", word.error if len(words) == 1 or word.error is None else f"worker {worker}: {word.error}"
    if any(word.state != "finished" for word in words.values()):
        return "live", None
    return "finished", next((word.error for word in words.values() if word.error is not None), None)


def merge_findings(by_worker: Mapping[int, Sequence[Json]]) -> list[Json]:
    """The findings of several workers as one list, the leading one first.

    What began at the same step in several workers is one incident: after a reduction all apply the same gradient. It is
    told by the worker that knows most of it, the one whose own replica it came from if there is one, and names all the
    workers where it began.

    Args:
        by_worker: each worker's findings, the leading one first.
    """
    incidents: list[list[Json]] = []
    for bodies in by_worker.values():
        for body in bodies:
            incident = next((one for one in incidents if _is_part(body, one)), None)
            if incident is None:
                incidents.append([body])
            else:
                incident.append(body)
    told = [_tell(incident) for incident in incidents]
    return sorted(told, key=lambda body: (body["severity"] != CRITICAL, body["first_step"]))


def _is_part(body: Json, incident: Sequence[Json]) -> bool:
    """Whether a finding is another worker's view of an incident. What is critical at one step has one cause."""
    first = incident[0]
    is_alike = body["severity"] == first["severity"] and (body["severity"] == CRITICAL or body["kind"] == first["kind"])
    is_of_another = all(body["worker"] != other["worker"] for other in incident)
    return is_alike and is_of_another and body["first_step"] == first["first_step"]


def _tell(incident: Sequence[Json]) -> Json:
    own = [body for body in incident if body["evidence"].get("replica") is not None]
    where = own or incident
    lead = where[0]
    return {
        **lead,
        "last_step": max(body["last_step"] for body in incident),
        "evidence": {**lead["evidence"], "workers": [body["worker"] for body in where]},
    }

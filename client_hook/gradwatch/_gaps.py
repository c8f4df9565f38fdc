"""The places in a run's log whose messages were dropped, and the small messages that stand in for them.

The server takes a log without holes. So a dropped message keeps its place: a message without rows, of which the
first of its gap carry how many rows were lost, stream by stream.
"""

from __future__ import annotations

import bisect
import dataclasses
from typing import Any

import numpy as np

from gradwatch.protocol import rows_message, scalars_message

__all__ = ["Gap", "Gaps"]


@dataclasses.dataclass
class Gap:
    """Dropped messages with nothing between them.

    Attributes:
        first: the first seq dropped.
        last: the last seq dropped.
        filler: a stream that the server knows at ``first``, or a scalar's name where no stream has rows in the gap.
        n_lost: the rows lost, by stream; never more streams than messages.
        is_read: a stand-in may have been sent, so the gap must stay what it is.
    """

    first: int
    last: int
    filler: int | str
    n_lost: dict[int, int]
    is_read: bool = False

    def stand_in(self, seq: int) -> dict[str, Any]:
        """Builds the message that takes the place of ``seq``."""
        self.is_read = True
        streams = list(self.n_lost)
        place = seq - self.first
        if place >= len(streams) and isinstance(self.filler, str):
            nothing = np.zeros(0)
            return scalars_message(
                seq=seq,
                name=self.filler,
                steps=nothing.astype(np.int64),
                times=nothing,
                values=nothing.astype(np.float32),
            )
        stream = streams[place] if place < len(streams) else int(self.filler)
        return rows_message(
            seq=seq,
            stream=stream,
            steps=np.zeros(0, np.int64),
            times=np.zeros(0, np.float64),
            statistics=np.zeros((0, 0, 10), np.float32),
            scalars=np.zeros((0, 0), np.float32),
            scalars_present=np.zeros((0, 0), np.uint8),
            n_lost=self.n_lost[stream] if place < len(streams) else 0,
            cost=None,
        )


class Gaps:
    """The gaps of one log, in order. Neighbours become one, so a long outage costs no memory."""

    def __init__(self, gaps: list[list[Any]] | None = None) -> None:
        """Starts empty, or with what `to_list` gave."""
        self._gaps = [Gap(*fields) for fields in gaps or []]

    def __len__(self) -> int:
        return len(self._gaps)

    def add(self, gap: Gap) -> None:
        """Adds a gap that overlaps none."""
        at = bisect.bisect(self._gaps, gap.first, key=lambda one: one.first)
        self._gaps.insert(at, gap)
        self._join(at)
        self._join(at - 1)

    def find(self, seq: int) -> Gap | None:
        """Gives the gap in which ``seq`` is."""
        at = bisect.bisect(self._gaps, seq, key=lambda one: one.first) - 1
        return self._gaps[at] if at >= 0 and seq <= self._gaps[at].last else None

    def discard_through(self, seq: int) -> None:
        """Forgets everything up to and with ``seq``."""
        self._gaps = [gap for gap in self._gaps if gap.last > seq]
        if self._gaps and self._gaps[0].first <= seq:
            gap = self._gaps[0]
            still_to_tell = list(gap.n_lost.items())[seq + 1 - gap.first :]
            self._gaps[0] = dataclasses.replace(gap, first=seq + 1, n_lost=dict(still_to_tell))

    def seq_range(self) -> tuple[int, int]:
        """Gives the oldest and the newest seq; (0, -1) if there is no gap."""
        return (self._gaps[0].first, self._gaps[-1].last) if self._gaps else (0, -1)

    def to_list(self) -> list[list[Any]]:
        """Gives the gaps in a form that msgpack knows."""
        return [[gap.first, gap.last, gap.filler, gap.n_lost] for gap in self._gaps]

    def _join(self, at: int) -> None:
        """Makes the gap at an index and the one after it one, where nothing lies between them."""
        if at < 0 or at + 1 >= len(self._gaps):
            return
        one, other = self._gaps[at : at + 2]
        if one.last + 1 != other.first or one.is_read or other.is_read:
            return
        streams = [*one.n_lost, *(stream for stream in other.n_lost if stream not in one.n_lost)]
        n_lost = {stream: one.n_lost.get(stream, 0) + other.n_lost.get(stream, 0) for stream in streams}
        filler = one.filler if isinstance(one.filler, int) else other.filler
        self._gaps[at : at + 2] = [Gap(one.first, other.last, filler, n_lost)]

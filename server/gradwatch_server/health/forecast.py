"""The rule that warns before anything is NaN: steady trends that reach the end of numbers soon. Owns their windows.

A trend is told only where it is steady beyond doubt, does not level off, and reaches its limit within twice the time
over which it was seen (`trend`): a warm-up, a schedule, or a norm that grows as a root of the steps is none. What came
of each forecast is noted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.channel import Channel, FullChannels, list_frequent, read_frequent
from gradwatch_server.health.episode import EPISODES_LIMIT, RECOVERY_ROWS, Phase, Trend
from gradwatch_server.health.nonfinite import LOSS_SCALE_FLOOR
from gradwatch_server.health.operation_table import OPERATION_COLUMN, Operation
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.trend import Extrapolation, extrapolate, find_near
from gradwatch_server.health.window import Ladder, Window

__all__ = ["ForecastRule"]

CHANGE_MIN: Final = math.log(2.0)
"""A trend must at least have doubled or halved its quantity in the window."""
CANDIDATES_LIMIT: Final = 16
"""Channels looked at closely in one window: where everything grows, some of them tell as much as all."""
MOVED_SHARE: Final = 0.5
"""A quantity that has gone this part of the way on its logarithm may break what squares it."""

STEADY_SHARE: Final = 0.1
"""What noise may take back of the way that is left, of a quantity that is still on it."""

NEWEST_POINTS: Final = 4
"""So many of a window's points must lie beyond a gate."""
STILL_SHARE: Final = 0.3
"""And must go on at this part of the slope or more."""

_PHASES: Final = {
    "gradient": Phase.GRADIENT,
    "loss": Phase.LOSS,
    "loss_scale": Phase.GRADIENT,
    "activation": Phase.ACTIVATION,
    "backprop": Phase.BACKPROP,
    "weight": Phase.WEIGHT,
    "margin": Phase.ACTIVATION,
}

Float = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


class _Sighting(NamedTuple):
    """A channel whose trend reaches its limit soon."""

    channel: Channel
    found: Extrapolation
    window: Window
    n_tensors: int


class _Group:
    """Channels that are captured at the same rows."""

    def __init__(self, channels: tuple[Channel, ...]) -> None:
        self.channels = channels
        self.ladder = Ladder(len(channels))
        self.newest = np.full(len(channels), np.nan)
        """The last known value of each."""
        self._limits = np.array([channel.end for channel in channels])
        self._gates = np.array([_gate(channel) for channel in channels])

    def see(self, steps: Int64, values: Float) -> Iterator[tuple[int, list[_Sighting]]]:
        """Each window's last step, and what was seen in it, the soonest first."""
        if not len(steps) or not self.channels:
            return
        self._note_newest(values)
        for window, near in self.ladder.feed(steps, values, self._sift):
            # Of many that grow, those nearest to their limits.
            left = np.abs(self._limits[near] - window.values[-1])
            chosen = np.argsort(left, kind="stable")[:CANDIDATES_LIMIT].tolist()
            seen = [(self.channels[near[i]], extrapolate(window, i, self._limits[near[i]])) for i in chosen]
            sure = [
                (channel, found)
                for channel, found in seen
                if found is not None
                and abs(found.end - found.start) >= CHANGE_MIN
                and window.n_rows >= channel.n_rows_min
            ]
            sure = [(channel, found) for channel, found in sure if self._is_past(window, near, channel, found)]
            if sure:
                sightings = [
                    _Sighting(c, found, window, sum(o.quantity == c.quantity for o, _ in sure)) for c, found in sure
                ]
                yield window.last_step, sorted(sightings, key=lambda one: one.found.at_step)

    def _sift(self, first: Float, last: Float) -> Bool:
        return np.asarray(find_near(first, last, self._limits) & (last <= self._gates))

    def _is_past(self, window: Window, near: Int64, channel: Channel, found: Extrapolation) -> bool:
        """Whether the newest points, beyond the gate, are still on their way: an epsilon would hold them there."""
        if math.isinf(channel.gate):
            return True
        place = self.channels.index(channel)
        values = window.values[-NEWEST_POINTS:, int(np.flatnonzero(near == place)[0])]
        expected = found.slope * (window.steps[-1] - window.steps[-NEWEST_POINTS])
        return bool(values[0] <= self._gates[place] and values[-1] - values[0] <= STILL_SHARE * expected)

    def _note_newest(self, values: Float) -> None:
        is_known = np.isfinite(values[-1])
        self.newest[is_known] = values[-1, is_known]
        gaps = np.flatnonzero(~is_known)
        if len(gaps):
            known = np.isfinite(values[:, gaps])
            gaps, known = gaps[known.any(axis=0)], known[:, known.any(axis=0)]
            last = len(values) - 1 - np.argmax(known[::-1], axis=0)
            self.newest[gaps] = values[last, gaps]


class ForecastRule:
    """Watches one stream's norms, loss, loss scale, outputs and margins.

    Args:
        stream: the stream's number.
        table: its tensor table.
        operations: its operations.
    """

    def __init__(self, stream: int, table: TensorTable, operations: tuple[Operation, ...]) -> None:
        self._stream, self._table = stream, table
        self._full_channels = FullChannels(table, operations)
        self._frequent, self._full = _Group(list_frequent()), _Group(self._full_channels.channels)
        # Running statistics that broke stay so, and training goes on.
        self._harmed = np.concatenate([np.setdiff1d(table.weight, table.states), table.update])
        self._current: dict[str, tuple[Trend, Channel]] = {}
        self._rest_step: dict[str, int] = {}
        self.episodes: list[Trend] = []

    def feed(self, block: Block) -> None:
        """Takes rows; where numbers broke, what is known of trends before it is settled and forgotten."""
        if not len(block.steps):
            return
        rows, full = self._full_channels.read(block)
        frequent = read_frequent(block)
        is_broken = self._find_broken(block)
        edges = [0, *(np.flatnonzero(np.diff(is_broken)) + 1).tolist(), len(block.steps)]
        for start, stop in itertools.pairwise(edges):
            if is_broken[start]:
                self._settle(int(block.steps[start]))
                self._frequent.ladder.clear()
                self._full.ladder.clear()
                continue
            low, high = np.searchsorted(rows, [start, stop])
            seen = [
                *self._frequent.see(block.steps[start:stop], frequent[start:stop]),
                *self._full.see(block.steps[rows[low:high]], full[low:high]),
            ]
            self._take(block, slice(start, stop), sorted(seen, key=lambda one: one[0]))
        for trend, _ in self._current.values():
            trend.last_step = int(block.steps[-1])

    def _take(self, block: Block, where: slice, seen: list[tuple[int, list[_Sighting]]]) -> None:
        """Takes rows in which nothing broke, and what was seen in the windows that end there."""
        done, steps = where.start, block.steps
        for step, sightings in seen:
            until = int(np.searchsorted(steps, step, side="right"))
            self._note_arrivals(block, slice(done, until))
            self._expire(step)
            done = until
            for sighting in sightings:
                self._open(step, sighting)
        self._note_arrivals(block, slice(done, where.stop))
        self._expire(int(steps[where.stop - 1]))

    def _open(self, step: int, sighting: _Sighting) -> None:
        channel, found, window, n_tensors = sighting
        subject = _subject(channel)
        if subject in self._current or step < self._rest_step.get(subject, -1) or len(self.episodes) >= EPISODES_LIMIT:
            return
        trend = Trend(
            stream=self._stream,
            phase=_PHASES[channel.quantity],
            first_step=window.first_step,
            last_step=step,
            n_rows=window.n_rows,
            known_step=step,
            table=self._table,
            quantity=channel.quantity,
            column=channel.column,
            operation=channel.operation,
            start=channel.read(found.start),
            end=channel.read(found.end),
            slope=found.slope,
            limit=channel.limit,
            dtype=channel.dtype,
            at_step=found.at_step,
            at_step_low=found.at_step_low,
            at_step_high=found.at_step_high,
            n_tensors=n_tensors,
        )
        self._current[subject] = trend, channel
        self.episodes.append(trend)

    def _expire(self, step: int) -> None:
        """Notes the forecasts that did not come true by their latest step."""
        for subject, (trend, _) in list(self._current.items()):
            if step > trend.at_step_high:
                self._close(subject, trend, trend.at_step_high, has_come=False)

    def _close(self, subject: str, trend: Trend, step: int, *, has_come: bool) -> None:
        trend.has_come = has_come
        trend.outcome_step = step if has_come else None
        trend.last_step = step
        trend.closed_step = step + 1
        self._rest_step[subject] = step + max(RECOVERY_ROWS, trend.known_step - trend.first_step)
        del self._current[subject]

    def _settle(self, step: int) -> None:
        """Notes what the first broken row says of the open forecasts."""
        self._expire(step)
        for subject, (trend, channel) in list(self._current.items()):
            self._close(subject, trend, step, has_come=self._has_come(trend, channel, step))

    def _has_come(self, trend: Trend, channel: Channel, step: int) -> bool:
        """Whether the trend was still under way: what breaks for another reason is no merit of the forecast."""
        end = math.log(trend.end) if channel.is_log else trend.end
        group = self._frequent if channel in self._frequent.channels else self._full
        moved = (group.newest[group.channels.index(channel)] - end) / (channel.end - end)
        return bool(moved >= MOVED_SHARE or (moved >= -STEADY_SHARE and step >= trend.at_step_low))

    def _note_arrivals(self, block: Block, where: slice) -> None:
        """Closes forecasts of which the quantity itself arrived, although nothing that matters broke yet."""
        for subject, (trend, channel) in list(self._current.items()):
            has_come = _arrivals(block, channel)[where] & (block.steps[where] > trend.known_step)
            if has_come.any():
                step = int(block.steps[where][np.argmax(has_come)])
                self._close(subject, trend, min(step, trend.at_step_high), has_come=step <= trend.at_step_high)

    def _find_broken(self, block: Block) -> Bool:
        broken = block.is_nonfinite[:, self._harmed].any(axis=1) | ~block.is_loss_finite
        is_overflow = block.has_nonfinite_gradient & block.is_scaled & (block.loss_scale > LOSS_SCALE_FLOOR)
        return np.asarray(broken | (block.has_nonfinite_gradient & ~is_overflow))


def _arrivals(block: Block, channel: Channel) -> Bool:
    """``[n]`` whether the quantity itself was at its end."""
    if channel.operation is not None:
        row = block.operations[:, channel.operation.place]
        names = ("n_nonfinite", "n_singular")
        return np.asarray((row[:, [OPERATION_COLUMN[name] for name in names]] > 0).any(axis=1))
    if channel.quantity == "loss_scale":
        return block.is_scaled & (block.loss_scale <= channel.limit)
    if channel.column >= 0:
        counts = block.statistics[:, channel.column, COLUMN["n_nan"] : COLUMN["n_neg_inf"] + 1]
        return np.asarray((counts > 0).any(axis=1))
    return np.zeros(len(block.steps), bool)


def _gate(channel: Channel) -> float:
    if math.isinf(channel.gate):
        return math.inf
    return math.log(channel.gate) if channel.is_log else channel.gate


def _subject(channel: Channel) -> str:
    """Of what at most one forecast is open: each operation; everything that grows is one flow."""
    if channel.operation is not None:
        return f"margin {channel.operation.name}"
    return "loss_scale" if channel.quantity == "loss_scale" else "growth"

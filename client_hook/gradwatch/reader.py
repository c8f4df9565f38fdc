"""The thread that takes rows off the rings and hands them to the sender. Never makes the training thread wait."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from gradwatch.cadence import Cadence
from gradwatch.columns import ColumnLog
from gradwatch.plan import Control, Plan
from gradwatch.probe import Stream
from gradwatch.protocol import STATISTICS, Message, is_loss, rows_message, scalars_message
from gradwatch.ring import Ring, Rows

__all__ = ["LoggedValue", "Reader", "ScalarLog", "global_norm"]

INTERVAL_S: Final = 0.1
INTERVAL_MIN_S: Final = 0.01
FAILURES_MAX: Final = 10
"""Readings that may fail in a row: one may meet a device at a bad moment, ten are a mistake of ours."""
_COUNTS: Final = slice(STATISTICS.index("n_nan"), STATISTICS.index("n_neg_inf") + 1)
_LOSS: Final = Stream.SCALARS.index("loss")
_GRADIENT_NORM: Final = Stream.SCALARS.index("gradient_norm")
_SKIPPED: Final = Stream.SCALARS.index("skipped")
_LOSS_SCALE: Final = Stream.SCALARS.index("loss_scale")
LOGGED_WITHIN_S: Final = 0.5
LOSS_SCALE_FLOOR: Final = 1.0
"""Gradients that overflow at this scale overflow without scaling too."""


@dataclass(frozen=True)
class LoggedValue:
    """One value of ``watch.log`` outside a graph; ``value`` and ``step`` may be tensors still being computed."""

    name: str
    value: Any
    step: Any
    time: float


class ScalarLog:
    """What ``watch.log`` adds: rings for values logged in a graph, a list for those logged from Python."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: list[LoggedValue] = []
        self._rings: dict[str, Ring] = {}
        self._offsets: dict[str, int] = {}
        self.has_loss = False
        """Whether the user logs a loss."""

    def ring(self, name: str) -> Ring:
        """The ring of the values that graphs log under a name."""
        with self._lock:
            self.has_loss |= is_loss(name)
            if name not in self._rings:
                self._rings[name] = Ring(1)
            return self._rings[name]

    def add(self, value: LoggedValue) -> None:
        """Keeps a value logged from Python until the reader resolves it."""
        with self._lock:
            self.has_loss |= is_loss(value.name)
            self._values.append(value)

    def take(self, now: float) -> list[Message]:
        """The ``scalars`` messages (``seq`` 0) of everything logged since the last call."""
        with self._lock:
            values, self._values = self._values, []
            rings = dict(self._rings)
        messages = []
        for name, ring in rings.items():
            rows = ring.read()
            if len(rows.steps):
                times = np.full(len(rows.steps), now)
                messages.append(_scalars(name, rows.steps, times, rows.values[:, 0]))
        for name in dict.fromkeys(value.name for value in values):
            chosen = [value for value in values if value.name == name]
            steps = np.array([self._step(value) for value in chosen], np.int64)
            numbers = np.array([np.mean(_number(value.value)) for value in chosen], np.float64).astype(np.float32)
            messages.append(_scalars(name, steps, np.array([value.time for value in chosen]), numbers))
        return messages

    def _step(self, value: LoggedValue) -> int:
        """The step that a value belongs to: the one just applied, or the coming one if the loop logs first."""
        step = int(_number(value.step))
        offset = self._offsets.setdefault(value.name, 1 if step < 0 else 0)
        return step + offset


def global_norm(gradients: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """sqrt(sum_i n_i^2) over the norms in ``[n, n_gradients, 12]``: ``[n]``, at most float32's largest number.

    A gradient that is missing counts as 0.
    """
    norms = np.nan_to_num(gradients[:, :, STATISTICS.index("norm")].astype(np.float64), posinf=0.0)
    total = np.sqrt(np.square(norms).sum(axis=1))
    limit = np.float64(np.finfo(np.float32).max)
    return cast("npt.NDArray[np.float32]", np.minimum(total, limit).astype(np.float32))


def _number(value: Any) -> npt.NDArray[Any]:
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def _scalars(name: str, steps: Any, times: Any, values: Any) -> Message:
    return scalars_message(seq=0, name=name, steps=steps, times=times, values=values)


class Reader:
    """Reads the rings every 100 ms, or faster while they fill faster.

    Args:
        streams: the run's streams, growing.
        log: what ``watch.log`` adds.
        columns: what is known of the inputs' columns.
        put: takes each message for delivery; must not block.
        plan: told how fast training goes and what a person asks for; says when full rows are due.
        cadence: set as the plan says.
        clock: gives the newest step that has begun.
        delivery_s: gives the processor time, in seconds, that delivering has taken so far.
        on_nonfinite: called once, with the stream and its rows, when a row holds a non-finite gradient.
        on_error: called with what went wrong when a reading fails; after `FAILURES_MAX` in a row reading stops.
        look_around: called after each reading in the thread; must not raise.
    """

    def __init__(
        self,
        *,
        streams: Sequence[Stream],
        log: ScalarLog,
        columns: ColumnLog,
        put: Callable[[Message], None],
        plan: Plan,
        cadence: Cadence,
        clock: Callable[[], int],
        delivery_s: Callable[[], float] = lambda: 0.0,
        on_nonfinite: Callable[[Stream, int, str], None],
        on_error: Callable[[Exception], None],
        look_around: Callable[[], None] = lambda: None,
    ) -> None:
        self._streams = streams
        self._log = log
        self._columns = columns
        self._put = put
        self._plan = plan
        self._cadence = cadence
        self._clock = clock
        self._delivery_s = delivery_s
        self._delivered_s = 0.0
        self._controls: deque[Control] = deque()
        self._period, self._kinds = plan.period, plan.kinds
        self._on_nonfinite = on_nonfinite
        self._on_error = on_error
        self._look_around = look_around
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gradwatch-reader", daemon=True)
        self._n_announced = 0
        self._held: dict[int, list[tuple[float, dict[str, Any]]]] = {}
        self._has_loss: dict[int, bool] = {}
        self._n_failures = 0
        self._read_at = time.monotonic()
        self._busy_s = 0.0
        self._interval_s = INTERVAL_S
        self.last_step = -1
        self.n_steps = 0
        self.n_lost = 0
        self.first_nonfinite_step: int | None = None

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def close(self) -> None:
        """Stops the thread and takes what is left on the rings. Idempotent."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=5)
        self.read()

    def read(self, *, holds_back: bool = False) -> None:
        """Takes everything off the rings now; ``holds_back``: what is not yet known whole may wait for another time."""
        with self._lock:
            try:
                self._read(holds_back=holds_back)
                self._n_failures = 0
            except Exception as error:  # the boundary: whatever fails here must not reach training
                self._n_failures += 1
                if self._n_failures >= FAILURES_MAX:
                    self._stop.set()
                self._on_error(error)

    def ask(self, control: Control) -> None:
        """Does as a person asks, at the next reading."""
        self._controls.append(control)

    def _run(self) -> None:
        while not self._stop.wait(self._interval_s):
            began = time.thread_time()
            self.read(holds_back=not self._stop.is_set())
            self._look_around()
            self._busy_s += time.thread_time() - began

    def _read(self, *, holds_back: bool) -> None:
        now, elapsed_s = time.time(), time.monotonic() - self._read_at
        self._read_at += elapsed_s
        while self._n_announced < len(self._streams):
            self._put(self._streams[self._n_announced].tensors_message())
            self._n_announced += 1
        fill, n_steps = 0.0, 0
        sick: list[tuple[int, bool, Stream, str]] = []
        for i, stream in enumerate(self._streams[: self._n_announced]):
            rows = stream.ring.read()
            origins = [origin for replay in list(stream.replays) for origin in replay.read(is_last=not holds_back)]
            if i == 0:
                n_steps = len(rows.steps) + rows.n_lost
            if len(rows.steps) or rows.n_lost or origins:
                statistics, is_normal = self._send(stream, rows, origins, now, elapsed_s)
                sick += _find_nonfinite(stream, rows, statistics, is_normal)
                fill = max(fill, (len(rows.steps) + rows.n_lost) / stream.ring.n_rows)
            self._release(stream, is_last=not holds_back)
        if sick and self.first_nonfinite_step is None:
            # The earliest step; of one step a replica's own gradient, before what became of it.
            self.first_nonfinite_step, _, stream, name = min(sick, key=lambda one: one[:2])
            self._on_nonfinite(stream, self.first_nonfinite_step, name)
        for message in self._log.take(now):
            self._put(message)
        for message in self._columns.take(now, self._n_announced, is_last=self._stop.is_set()):
            self._put(message)
        fill = max(fill, self._columns.fill)
        self._follow_plan(n_steps, elapsed_s)
        self._pace(fill)

    def _pace(self, fill: float) -> None:
        if fill > 0.25:
            self._interval_s = max(INTERVAL_MIN_S, self._interval_s / 2)
        elif fill < 0.05:
            self._interval_s = min(INTERVAL_S, self._interval_s * 2)

    def _follow_plan(self, n_steps: int, elapsed_s: float) -> None:
        """Lets the plan know how it goes and what is asked for, and sets the cadence accordingly."""
        delivered_s = self._delivery_s()
        self._busy_s += delivered_s - self._delivered_s
        self._delivered_s = delivered_s
        self._plan.observe(n_steps, elapsed_s, self._busy_s, self.last_step)
        self._busy_s = 0.0
        while self._controls:
            control = self._controls.popleft()
            if control.everything_for is not None:
                # First, and then the clock: every step that begins from here on is full.
                self._set_cadence(1, self._plan.captured)
            self._plan.take(control, self._clock())
        self._set_cadence(self._plan.period, self._plan.kinds)
        if self._n_announced and (message := self._plan.tell(self._clock)) is not None:
            self._put(message)

    def _set_cadence(self, period: int, kinds: tuple[str, ...]) -> None:
        if period != self._period:
            self._cadence.set_period(period)
        if kinds != self._kinds:
            self._cadence.set_kinds(kinds)
        self._period, self._kinds = period, kinds

    def _release(self, stream: Stream, *, is_last: bool) -> None:
        """Sends the rows that wait to be told whether what a tape differentiated is the loss: not if the user logs one.

        A loop that logs its loss from Python does so right after the step. That is waited for once.
        """
        held = self._held.get(stream.index, [])
        if not held:
            return
        waited_s = time.monotonic() - held[0][0]
        if stream.index not in self._has_loss and (self._log.has_loss or is_last or waited_s >= LOGGED_WITHIN_S):
            self._has_loss[stream.index] = not self._log.has_loss
        if stream.index in self._has_loss:
            for _, numbers in held:
                numbers["scalars_present"][:, _LOSS] *= self._has_loss[stream.index]
                self._put(rows_message(**numbers))
            held.clear()

    def _send(
        self, stream: Stream, rows: Rows, origins: list[dict[str, Any]], now: float, elapsed_s: float
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
        """Sends a stream's rows; gives their statistics, and which rows a loss scale's normal work left out."""
        n = len(rows.steps)
        statistics, operations, scalars, present = stream.layout.take_apart(rows.values)
        scalars[:, _GRADIENT_NORM], present[:, _GRADIENT_NORM] = global_norm(statistics[:, : len(stream.names)]), 1
        for numbers_beside in stream.beside(rows.steps):
            scalars = np.column_stack([scalars, numbers_beside])
            present = np.column_stack([present, np.ones(n, np.float32)])
        self.n_steps += n if stream.replica is None else 0
        self.n_lost += rows.n_lost
        self.last_step = max(self.last_step, int(rows.steps.max(initial=-1)))
        numbers: dict[str, Any] = {
            "seq": 0,
            "stream": stream.index,
            "steps": rows.steps,
            "times": now - elapsed_s + elapsed_s * np.arange(1, n + 1) / max(n, 1),
            "statistics": statistics,
            "scalars": scalars,
            "scalars_present": present.astype(np.uint8),
            "n_lost": rows.n_lost,
            "cost": min(self._plan.cost_of_all, 1.0),
            "n_skipped": int((scalars[:, _SKIPPED] * present[:, _SKIPPED]).sum()) if stream.skips_nonfinite else 0,
            "operations": operations,
            "origins": origins,
            "assigned": [] if stream.assignments is None else stream.assignments.take(self.last_step),
        }
        if stream.has_loss_of_tape:
            self._held.setdefault(stream.index, []).append((time.monotonic(), numbers))
        else:
            self._put(rows_message(**numbers))
        is_normal = (scalars[:, _SKIPPED] > 0) & (scalars[:, _LOSS_SCALE] > LOSS_SCALE_FLOOR)
        return statistics, is_normal & (not stream.skips_nonfinite)


def _find_nonfinite(
    stream: Stream, rows: Rows, statistics: npt.NDArray[np.float32], is_normal: npt.NDArray[np.bool_]
) -> list[tuple[int, bool, Stream, str]]:
    """The first step that went bad, whether it is what was applied (no replica's own), and the deepest variable.

    An overflow that a dynamic loss scale met by leaving the step out ``is_normal``, as long as every weight that was
    read is finite.
    """
    n_variables = len(stream.names)
    counts = statistics[:, :n_variables, _COUNTS].sum(axis=2)
    first = stream.kinds.index("weight") * n_variables if "weight" in stream.kinds else 0
    is_harmed = (statistics[:, first : first + n_variables, _COUNTS] > 0).any(axis=(1, 2)) & (first > 0)
    is_sick = (counts > 0).any(axis=1) & (~is_normal | is_harmed)
    if not is_sick.any():
        return []
    row = int(np.argmax(is_sick))
    deepest = int(np.flatnonzero(counts[row] > 0)[-1])
    return [(int(rows.steps[row]), stream.replica is None, stream, stream.names[deepest])]

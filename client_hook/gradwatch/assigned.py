"""What anybody but the optimizer makes of trained weights between two steps. Owns a sample of them, as it was last.

A copy in the wrong direction, an average that is left in the model, a checkpoint that is loaded in the loop: how much
is then left of what the optimizer did since the last time, and which line of the user's did it. Of an assignment that
stands in the step's own graph only the line is known.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gradwatch.origin import source_here, source_of
from gradwatch.statistic import apart

__all__ = ["Assignments"]

VARIABLES_MAX: Final = 8
SAMPLE: Final = 256
"""Elements of each."""
TIMES_MAX: Final = 200
"""Steps after which it is looked at, in a run: whoever assigns after every step pays no more."""

Sample = npt.NDArray[np.float64]


class Assignments:
    """Compares some of one stream's weights before and after they are assigned.

    Args:
        variables: the variables that the stream trains, or those behind Keras' own.
        read_step: gives the newest step that has begun, -1 before the first.
    """

    def __init__(self, variables: Iterable[tf.Variable], read_step: Callable[[], int]) -> None:
        chosen = [one for one in variables if one.dtype.is_floating][:VARIABLES_MAX]
        self._variables = {one.handle._id: one for one in chosen}
        self._read_step = read_step
        self._lock = threading.Lock()
        with tf.init_scope():
            self._last = {key: _sample(one) for key, one in self._variables.items()}
        self._before: dict[int, Sample] = {}
        self._after: dict[int, Sample] = {}
        self._step, self._n_times = -1, 0
        self._is_traced = False
        self._source: dict[str, Any] | None = None
        self._found: list[dict[str, Any]] = []

    def enter(self, variable: tf.Variable) -> Callable[[], None] | None:
        """A variable is about to be assigned; what is returned is to be called when it was. None: it is not one."""
        key = variable.handle._id
        if key not in self._variables or self._n_times >= TIMES_MAX:
            return None
        step, now = self._read_step(), _sample(self._variables[key])
        with self._lock:
            if step != self._step or not self._before:
                self._end()
                self._step, self._source = step, source_here()
                self._n_times += 1
            self._before.setdefault(key, now)
        return partial(self._leave, key)

    def note_traced(self, variable: tf.Variable, op: Any) -> None:
        """A variable is assigned in a graph; the first line that assigns one of the stream's is told."""
        if variable.handle._id not in self._variables or self._is_traced:
            return
        source = source_of(op)
        with self._lock, tf.init_scope():
            self._is_traced = True
            self._found.append({"step": max(self._read_step(), 0), "left": None, "source": source})

    def take(self, last_step: int) -> list[dict[str, Any]]:
        """What was found since the last call, of steps before this one: as in the protocol's ``assigned``."""
        with self._lock:
            if self._before and last_step > self._step:
                self._end()
            found, self._found = self._found, []
        return found

    def _leave(self, key: int) -> None:
        with self._lock:
            self._after[key] = _sample(self._variables[key])

    def _end(self) -> None:
        """All that was assigned after one step is."""
        keys = [key for key in self._before if key in self._after]
        if any((self._before[key] != self._after[key]).any() for key in keys):
            moved, left = (
                float(np.linalg.norm([np.linalg.norm(now[key] - self._last[key]) for key in keys]))
                for now in (self._before, self._after)
            )
            if self._step >= 0 and moved > 0 and np.isfinite(left / moved):
                self._found.append({"step": self._step, "left": left / moved, "source": self._source})
            self._last |= self._after
        self._before.clear()
        self._after.clear()


def _sample(variable: tf.Variable) -> Sample:
    with apart():
        values = tf.reshape(variable.read_value(), [-1])[:SAMPLE]
        return np.asarray(tf.cast(values, tf.float64))

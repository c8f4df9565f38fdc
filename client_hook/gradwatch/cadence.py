"""When full statistics are due, and of which kinds: as a few variables on the device say, or the host at each call.

They can be set from any thread while the training runs; a graph traced long ago follows. What they are set to is
`gradwatch.plan`'s.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import weakref
from collections.abc import Collection, Iterator
from typing import Any

import tensorflow as tf

from gradwatch.call import find_called, told_at_call
from gradwatch.memo import GraphMemo
from gradwatch.protocol import KINDS
from gradwatch.ring import create_untraced
from gradwatch.shared import has_gpu
from gradwatch.tap import enclosing_graphs

__all__ = ["Cadence"]

Tensor = Any  # tensorflow ships no types


class Cadence:
    """The cadence of one run.

    On a GPU the host tells each call of a traced function whether full statistics are due in it, so that no step waits
    for the device to find out; see `gradwatch.call`. Then every ``period``-th call of each function is.

    Args:
        period: steps between full rows, to begin with.
    """

    def __init__(self, period: int) -> None:
        self._period_now, self._kinds_now = period, [True] * len(KINDS)
        self._period = create_untraced(lambda: _variable("gradwatch_period", period, tf.int64))
        self._are_on = create_untraced(lambda: _variable("gradwatch_kinds_are_on", self._kinds_now))
        self._memo = GraphMemo()
        self._turns: weakref.WeakKeyDictionary[Any, _Turn] = weakref.WeakKeyDictionary()
        self._eagerly = threading.local()

    def set_period(self, period: int) -> None:
        """Takes full rows at every ``period``-th step from now on."""
        self._period_now = period
        self._period.assign(period)

    def set_kinds(self, kinds: Collection[str]) -> None:
        """Takes full statistics of these kinds only from now on."""
        self._kinds_now = [kind in kinds for kind in KINDS]
        self._are_on.assign(self._kinds_now)

    def is_due(self, step: Tensor, within: int = 1) -> Tensor:
        """Whether full statistics are due at a step (int64 scalar), or were at the ``within - 1`` before it; bool."""
        told = self._told(within)
        return step % self._read_period() < within if told is None else told[0]

    def is_due_on_host(self, step: int, kind: str) -> bool:
        """Whether full statistics of a kind are due at a step, as far as the host knows."""
        return self._is_on_host(kind) and step % self._period_now == 0

    def is_due_around(self, step: Tensor) -> Tensor:
        """Whether they are due at a step or the next: within a step, before it is known whose ``apply`` comes."""
        told = self._told()
        return (step + 1) % self._read_period() < 2 if told is None else told[0]

    def is_due_around_on_host(self, step: int, kind: str) -> bool:
        """Whether those of a kind are, as far as the host knows."""
        return self._is_on_host(kind) and (step + 1) % self._period_now < 2

    def _is_on_host(self, kind: str) -> bool:
        return self._kinds_now[KINDS.index(kind)]

    def where_told(self, flag: Tensor, within: int = 1) -> Tensor:
        """A flag, but False where the host has told that nothing is due: what a step must not wait to find out."""
        told = self._told(within)
        return flag if told is None else flag & told[0]

    def is_on(self, kind: str) -> Tensor:
        """Whether full statistics of a kind are wanted at all, a bool scalar; one answer within a graph."""
        told = self._told()
        if told is not None:
            return told[1 + KINDS.index(kind)]
        return self._memo.get("kinds", lambda: tf.unstack(self._are_on.read_value()))[KINDS.index(kind)]

    @contextlib.contextmanager
    def eagerly(self) -> Iterator[None]:
        """What is traced meanwhile is a part of a step that runs eagerly: all of its parts go by its number."""
        self._eagerly.is_on = True
        try:
            yield
        finally:
            self._eagerly.is_on = False

    def _read_period(self) -> Tensor:
        return self._memo.get("period", lambda: [self._period.read_value()])[0]

    def _told(self, within: int = 1) -> list[Tensor] | None:
        """Whether it is due, and for each kind whether it is on, as the host tells; None where it does not."""
        if not has_gpu() or tf.executing_eagerly() or getattr(self._eagerly, "is_on", False):
            return None
        around = enclosing_graphs()
        # One that is told already, if any is: also from within a loop of the hook's own.
        called = next((one for one in around if one in self._turns), None) or find_called(around)
        if called is None:
            return None
        if within > 1:
            self._told()  # counts the calls, so it is asked first
        turn = self._turns.setdefault(called, _Turn())

        def tell() -> Tensor:
            turn.n_calls += within == 1
            is_due = (turn.n_calls - 1) % self._period_now < within
            return _on_host((is_due, *self._kinds_now))

        with called.as_default():
            return self._memo.get(("told", within), lambda: told_at_call(called, (turn, within), tell, 1 + len(KINDS)))


class _Turn:
    """How often a traced function was called."""

    def __init__(self) -> None:
        self.n_calls = 0


@functools.cache
def _on_host(values: tuple[bool, ...]) -> Tensor:
    with tf.device("CPU:0"):
        return tf.constant(values)


def _variable(name: str, value: Any, dtype: Any = None) -> Any:
    return tf.Variable(value, dtype=dtype, trainable=False, name=name)

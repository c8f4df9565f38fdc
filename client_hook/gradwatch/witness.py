"""Notices training that the hook does not see, and says so while it still matters.

A `tf.function` that was traced before ``watch()`` keeps its graph: its steps change weights, and leave no row.
Owns what it last saw of each watched model and optimizer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final, NamedTuple

import numpy as np

from gradwatch import legacy
from gradwatch.target import trainable_variables

__all__ = ["Trained", "Witness", "count_iterations", "sample_weights"]

INTERVAL_S: Final = 0.5
UNSEEN_MAX: Final = 3
"""Changes in a row without a step seen: weights are also loaded, or exchanged for their averages and back."""
SAMPLE_SIZE: Final = 3


class Trained(NamedTuple):
    """Something that training changes.

    Attributes:
        key: what it is known by.
        subject: what to call it.
        mark: something that is another one after each step, whether the step was seen or not; None where unknown.
        n_rows: rows that were recorded of it.
    """

    key: Hashable
    subject: str
    mark: Hashable
    n_rows: int


class Witness:
    """Compares what changes with what is recorded.

    Args:
        find: what is watched, as it is now.
        say: takes the line for the user, once for each.
        clock: seconds, never going back.
    """

    def __init__(
        self,
        find: Callable[[], Iterable[Trained]],
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._find, self._say, self._clock = find, say, clock
        self._looked_at = -INTERVAL_S
        self._seen: dict[Hashable, Trained] = {}
        self._n_unseen: dict[Hashable, int] = {}
        self._told: set[Hashable] = set()

    def look(self) -> None:
        """Looks, unless it did so just now."""
        if self._clock() - self._looked_at < INTERVAL_S:
            return
        for now in self._find():
            before = self._seen.get(now.key)
            self._seen[now.key] = now
            if before is None or before.mark is None or now.n_rows != before.n_rows:
                self._n_unseen[now.key] = 0
            elif now.mark != before.mark and now.key not in self._told:
                self._n_unseen[now.key] += 1
                if self._n_unseen[now.key] == UNSEEN_MAX:
                    self._told.add(now.key)
                    self._say(
                        f"{now.subject} is trained, and its steps are not seen. A tf.function that was traced before "
                        "gradwatch.watch(...) keeps its old graph: call watch first, or make the function anew, "
                        "`step = tf.function(step.python_function)`; weights that the script assigns itself are seen "
                        "where no optimizer exists that may train them"
                    )
        self._looked_at = self._clock()


def sample_weights(model: Any) -> list[Any]:
    """A few of a model's trainable variables, the smallest: cheap to read, and a step changes them all."""
    return sorted(trainable_variables(model), key=lambda one: int(np.prod(one.shape)))[:SAMPLE_SIZE]


def count_iterations(optimizer: Any) -> int | None:
    """The steps that an optimizer has taken, None before its first."""
    if legacy.is_optimizer(optimizer):
        return legacy.iterations(optimizer)
    return int(np.asarray(optimizer.iterations)) if optimizer.built else None

"""Calls that only add their gradients up, for a step that applies the sums later.

Where another function, or a branch, applies what was added to variables, nothing leads from there to the loss. So what
a tape gave is kept until its graph adds it to a variable, and the call itself tells where it went bad. Owns, in each
thread, what may be added yet, and what tells of the calls until a stream of steps takes it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import tensorflow as tf

from gradwatch import statistic
from gradwatch.glance import Glance
from gradwatch.probe import Clock, resource_of
from gradwatch.replay import TRACES_MAX, Replay
from gradwatch.walk import roots_of
from gradwatch.xla import is_under_xla

__all__ = ["Added", "Adding"]

GIVEN_MAX: Final = 4
"""Calls of tapes that wait: those of several models, before the first is added."""
OPS_MAX: Final = 40
"""From what a variable is assigned back to a gradient: it is divided, clipped, added."""
Tensor = Any  # tensorflow ships no types


class Added(NamedTuple):
    """What a tape gave in a graph that adds it to variables.

    Attributes:
        gradients: by the id of the `tf.Variable` that each is of; a tensor or `tf.IndexedSlices`.
        loss: what they are of.
    """

    gradients: Mapping[int, Any]
    loss: Tensor

    def of(self, variables: Sequence[Any]) -> list[Any]:
        """The gradients of variables; None where there is none."""
        return [self.gradients.get(id(resource_of(one))) for one in variables]


class Adding:
    """The calls of a watch that add gradients up.

    Args:
        is_own: whether variables are trained by what is watched.
        clock: the steps.
        layer_paths: gives the Keras paths of the watched models' layers.
    """

    def __init__(
        self, is_own: Callable[[Sequence[Any]], bool], clock: Clock, layer_paths: Callable[[], Sequence[str]]
    ) -> None:
        self._is_own, self._clock, self._layer_paths = is_own, clock, layer_paths
        self._thread = threading.local()
        self._waiting: deque[tuple[Added, Replay]] = deque(maxlen=TRACES_MAX)

    def note_asked(self, target: Any, sources: Any, gradients: Any) -> None:
        """A tape was asked for the gradients of a target with respect to some sources, and gave these."""
        targets = tf.nest.flatten(target)
        if tf.executing_eagerly() or len(targets) != 1 or not tf.is_symbolic_tensor(targets[0]):
            return
        found = zip(tf.nest.flatten(sources), tf.nest.flatten(gradients), strict=True)
        made = [(one, gradient) for one, gradient in found if isinstance(resource_of(one), tf.Variable)]
        if made and targets[0].dtype.is_floating and self._is_own([one for one, _ in made]):
            new = Added({id(resource_of(one)): own for one, own in made if own is not None}, targets[0])
            self._thread.given = [*self._given, new][-GIVEN_MAX:]

    def note_traced(self, variable: tf.Variable, op: Any) -> None:
        """An operation of the graph being traced assigns a variable: of a gradient's sum the first lets the call tell.

        Under XLA and a strategy no call does: what a branch costs there is paid by every step.
        """
        added = self._take(variable, op)
        if added is None or is_under_xla() or tf.distribute.has_strategy():
            return
        with statistic.apart():
            replay = Replay(list(added.gradients.values()), added.loss, self._layer_paths())
            if replay.is_possible:
                dense = [statistic.dense_values(one) for one in added.gradients.values()]
                replay.record(self._clock.step.read_value() + 1, Glance(dense, [], [added.loss]).is_bad())
                self._waiting.append((added, replay))

    def take(self, variables: Sequence[Any]) -> list[tuple[Added, Replay]]:
        """What was found of the calls that add up gradients of some variables, and what tells of them; once each."""
        ids = {id(resource_of(one)) for one in variables} if self._waiting else set()
        found = [pair for pair in self._waiting if not ids.isdisjoint(pair[0].gradients)]
        for pair in found:
            self._waiting.remove(pair)
        return found

    def forget(self, variables: Sequence[Any]) -> None:
        """Variables are applied: what tapes gave of them and was added to nothing will not be."""
        ids = {id(resource_of(one)) for one in variables} if self._given else set()
        self._thread.given = [one for one in self._given if ids.isdisjoint(one.gradients)]

    def _take(self, variable: tf.Variable, op: Any) -> Added | None:
        """What a tape gave that a variable of its own shape is assigned something made of."""
        graph = tf.compat.v1.get_default_graph()
        here = [one for one in self._given if one.loss.graph is graph]
        reached = _sources_of(op.inputs[1:]) if here and isinstance(op, tf.Operation) else set()
        for one in here:
            own = set(map(id, roots_of(made for made in one.gradients.values() if made.shape == variable.shape)))
            if id(variable) not in one.gradients and not reached.isdisjoint(own):
                self._thread.given = [other for other in self._given if other is not one]
                return one
        return None

    @property
    def _given(self) -> list[Added]:
        return getattr(self._thread, "given", [])


def _sources_of(tensors: Sequence[Tensor]) -> set[int]:
    """The ids of tensors, and of those near by that they are made of."""
    found: dict[int, Tensor] = {}
    pending = deque(tensors)
    while pending and len(found) < OPS_MAX:
        tensor = pending.popleft()
        if id(tensor) not in found:
            found[id(tensor)] = tensor
            pending.extend(tensor.op.inputs)
    return set(found)

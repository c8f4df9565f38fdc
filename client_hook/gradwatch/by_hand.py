"""Steps that a script applies itself: what a tape differentiated is assigned to the weights without an optimizer.

Such a step begins where the first of the variables that a tape was asked for is assigned, and ends where the last is.
Owns, in each thread, what tapes gave for watched variables until then, and the step that has begun.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import keras
import tensorflow as tf

from gradwatch import legacy
from gradwatch.probe import resource_of
from gradwatch.tap import enclosing_graphs

__all__ = ["ByHand", "Given", "HandWritten"]

GIVEN_MAX: Final = 4
"""Groups of gradients that wait to be applied: those of several models, before the first is."""
STREAMS_MAX: Final = 8
"""Groups of variables that are followed: a loop that asks for each variable alone has too many."""


class HandWritten:
    """Stands for the optimizer of such steps; nothing is known of its settings."""

    name = "by hand"
    built = True
    variables = ()


class Given(NamedTuple):
    """What a tape gave.

    Attributes:
        targets: the ids of what the gradients are of.
        graph: where they are; None eagerly.
        variables: as the tape was asked for them.
        gradients: of each; None where there is none.
    """

    targets: tuple[int, ...]
    graph: Any
    variables: Sequence[Any]
    gradients: Sequence[Any]

    @property
    def ids(self) -> frozenset[int]:
        """Of the `tf.Variable` that have a gradient."""
        pairs = zip(self.variables, self.gradients, strict=True)
        return _ids(variable for variable, gradient in pairs if gradient is not None)


@dataclass
class _Open:
    """A step that has begun: its graph, the variables that are to be assigned yet, all of them, and what ends it."""

    graph: Any
    missing: set[int]
    ids: frozenset[int]
    finish: Callable[[], None]


class ByHand:
    """The steps of a watch that no optimizer applies.

    Args:
        is_own: whether variables are trained by what is watched.
        begin: is given what a tape gave just before the first of it is applied, and gives what ends that step, or None.
        complain: takes a line for the user.
    """

    def __init__(
        self,
        is_own: Callable[[Sequence[Any]], bool],
        begin: Callable[[Given], Callable[[], None] | None],
        complain: Callable[[str], None],
    ) -> None:
        self._is_own, self._begin, self._complain = is_own, begin, complain
        self._thread = threading.local()
        self._refused: set[int] = set()
        self._refused_groups: set[tuple[int, ...]] = set()
        self._allowed: dict[frozenset[int], bool] = {}

    def note_asked(self, target: Any, sources: Any, gradients: Any) -> None:
        """A tape was asked for the gradients of a target, and gave these."""
        self.end()
        flat = tf.nest.flatten(sources)
        ids = _ids(flat)
        if not ids.isdisjoint(self._refused):
            return
        found = zip(flat, tf.nest.flatten(gradients), strict=True)
        pairs = [(variable, gradient) for variable, gradient in found if isinstance(resource_of(variable), tf.Variable)]
        if not pairs or not self._is_own([variable for variable, _ in pairs]):
            return
        new = Given(tuple(map(id, tf.nest.flatten(target))), _graph(), *map(list, zip(*pairs, strict=True)))
        given = [one for one in self._given if not one.ids & ids]
        if given and given[-1].targets == new.targets and given[-1].graph is new.graph:  # asked for one by one
            last = given.pop()
            new = new._replace(variables=[*last.variables, *new.variables], gradients=[*last.gradients, *new.gradients])
        self._thread.given = [*given, new][-GIVEN_MAX:]

    def enter(self, variable: tf.Variable) -> bool:
        """A variable is about to be assigned: whether that is a part of a step, which may begin so."""
        key = id(variable)
        if self._open is not None and key in self._open.ids:
            return True
        given = next((one for one in reversed(self._given) if key in one.ids and _is_here(one.graph)), None)
        if given is None:
            return False
        self.end()
        self._thread.given = [one for one in self._given if one is not given]
        if not self._may_follow(given):
            return False
        finish = self._begin(given)
        if finish is None:
            return False
        self._thread.open = _Open(_graph(), set(given.ids), given.ids, finish)
        return True

    def leave(self, variable: tf.Variable) -> None:
        """A variable was assigned, as a part of a step."""
        if self._open is not None:
            self._open.missing.discard(id(variable))
            if not self._open.missing:
                self.end()

    def end(self) -> None:
        """Ends the step that has begun, though not all of its variables were assigned; or forgets that of a graph."""
        if self._open is None:
            return
        step, self._thread.open = self._open, None
        if step.graph is None:
            with tf.init_scope():  # something may be traced by now
                step.finish()
        elif step.graph is _graph():
            step.finish()
        else:
            self._complain(
                f"of {len(step.ids)} variables that a tape was asked for, a compiled step assigns "
                f"{len(step.ids) - len(step.missing)} by itself; expected all of them, or an optimizer"
            )

    def refuse(self, variables: Sequence[Any]) -> None:
        """An optimizer applies these: what else is assigned to them is no step."""
        group = tuple(map(id, variables))
        if group in self._refused_groups:
            return
        self._refused_groups.add(group)
        ids = _ids(variables)
        self._refused |= ids
        if self._given:
            self._thread.given = [one for one in self._given if not one.ids & ids]

    def _may_follow(self, given: Given) -> bool:
        if given.ids not in self._allowed:
            n_known = sum(self._allowed.values())
            self._allowed[given.ids] = n_known < STREAMS_MAX and not _may_be_applied(given.ids)
        return self._allowed[given.ids]

    @property
    def _given(self) -> list[Given]:
        return getattr(self._thread, "given", [])

    @property
    def _open(self) -> _Open | None:
        return getattr(self._thread, "open", None)


def _graph() -> Any:
    return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()


def _is_here(graph: Any) -> bool:
    """Whether what runs now is built in a graph, or inside of it; None: runs eagerly."""
    return tf.executing_eagerly() if graph is None else any(one is graph for one in enclosing_graphs())


def _ids(variables: Iterable[Any]) -> frozenset[int]:
    """Of the `tf.Variable` behind them."""
    return frozenset(id(resource_of(variable)) for variable in variables)


def _may_be_applied(ids: frozenset[int]) -> bool:
    """Whether any optimizer that there is may train some of these variables: one that is not built may train any.

    Weights are also moved for a while, by their gradients too, before an optimizer takes the step: the first time
    nothing else tells that from a step.
    """
    optimizers, others = keras.optimizers.Optimizer, legacy.optimizer_classes()
    kinds: dict[type, bool] = {}
    for one in gc.get_objects():
        kind = type(one)  # what an object says of itself may do anything
        if kind not in kinds:
            kinds[kind] = issubclass(kind, (optimizers, *others))
        if kinds[kind]:
            known = getattr(one, "_trainable_variables", None) if issubclass(kind, optimizers) else None
            if not known or not ids.isdisjoint(_ids(known)):
                return True
    return False

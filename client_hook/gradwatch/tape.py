"""What tapes were asked for before an ``apply``: whose gradient, with respect to what, and where there was none."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence, Set
from typing import Any, Final, NamedTuple

import tensorflow as tf

from gradwatch.eager import Backward
from gradwatch.probe import resource_of
from gradwatch.tap import is_visible

__all__ = ["TapeLog", "insert_left_out"]

ASKED_MAX: Final = 8
"""Calls of tapes that are kept; a step makes a few."""
BACKWARD_MAX: Final = 4
"""Of those, the ones whose differentiated operations are kept: tensors, of calls that may never lead to an apply."""
Tensor = Any  # tensorflow ships no types


class _Asked(NamedTuple):
    """One call of a tape's ``gradient``; variables by the ids of their `tf.Variable`.

    Attributes:
        target: what the gradient is of; None where it is no floating tensor of a graph, nor a single number eagerly.
        sources: with respect to what.
        unreached: those whose gradient was None.
        backward: what the tape differentiated, where it did so eagerly.
    """

    target: Tensor | None
    sources: frozenset[int]
    unreached: frozenset[int]
    backward: Backward | None


class TapeLog:
    """Keeps what tapes were asked for in each thread until the variables are applied."""

    def __init__(self) -> None:
        self._thread = threading.local()

    def note(self, target: Any, sources: Any, gradients: Any, backward: Backward | None) -> None:
        """A tape was asked for the gradients of a target with respect to some sources, and gave these."""
        resources = [resource_of(source) for source in tf.nest.flatten(sources)]
        ids = [id(resource) for resource in resources]
        unreached = [one for one, gradient in zip(ids, tf.nest.flatten(gradients), strict=True) if gradient is None]
        is_kept = isinstance(target, tf.Tensor) and target.dtype.is_floating
        is_kept = is_kept and (tf.is_symbolic_tensor(target) or target.shape.rank == 0)
        if not any(isinstance(resource, tf.Variable) for resource in resources):
            backward = None  # nothing that could be applied
        new = _Asked(target if is_kept else None, frozenset(ids), frozenset(unreached), backward)
        asked = [*self._asked, new][-ASKED_MAX:]
        older, newest = asked[:-BACKWARD_MAX], asked[-BACKWARD_MAX:]
        self._thread.asked = [*(one._replace(backward=None) for one in older), *newest]

    def take(self, variables: Sequence[Any]) -> tuple[Tensor | None, frozenset[int], list[Backward]]:
        """What a tape was asked for with respect to the variables that are about to be applied, and forgets it.

        Returns:
            What the gradients are of, where it can be used here, or None; the ids of the `tf.Variable` that are
            not applied although a tape was asked for their gradient together with that of others that are, and gave
            none, as no other tape did; and what each of these tapes differentiated eagerly.
        """
        applied = frozenset(id(resource_of(variable)) for variable in variables)
        asked = self._asked
        mine = [one for one in asked if applied & one.sources]
        self._thread.asked = [one for one in asked if not applied & one.sources]
        target = next((one.target for one in reversed(mine) if is_visible(one.target)), None)
        unreached = frozenset().union(*(one.unreached for one in mine)) - applied
        reached = frozenset().union(*(one.sources - one.unreached for one in asked))
        return target, unreached - reached, [one.backward for one in mine if one.backward is not None]

    @property
    def _asked(self) -> list[_Asked]:
        return getattr(self._thread, "asked", [])


def insert_left_out(
    variables: Sequence[Any], names: Sequence[str], ids: Set[int], trained: Mapping[str, Any]
) -> tuple[list[Any], list[str], list[bool]]:
    """Puts variables that are left out among those that are applied, each before the first that the models have later.

    Args:
        variables: those that are applied.
        names: their names.
        ids: those of the `tf.Variable` that are left out.
        trained: all that the watched models train, by path: a path that several have is not there.

    Returns:
        The variables, their names, and whether each is left out.
    """
    ranks = {id(resource_of(one)): rank for rank, one in enumerate(trained.values())}
    found = [(variable, name, False) for variable, name in zip(variables, names, strict=True)]
    for (one_id, rank), (name, one) in zip(ranks.items(), trained.items(), strict=True):
        if one_id in ids and name not in names:
            places = (i for i, (other, *_) in enumerate(found) if ranks.get(id(resource_of(other)), -1) > rank)
            found.insert(next(places, len(found)), (one, name, True))
    return [one for one, *_ in found], [name for _, name, _ in found], [is_left_out for *_, is_left_out in found]

"""What tapes were asked for before an ``apply``: whose gradient, with respect to what, and where there was none.

What an optimizer scaled before it was differentiated is known by what it was.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, Final, NamedTuple

import tensorflow as tf

from gradwatch import statistic
from gradwatch.eager import Backward
from gradwatch.probe import resource_of
from gradwatch.tap import is_visible

__all__ = ["Taken", "TapeLog", "insert_left_out"]

ASKED_MAX: Final = 8
"""Calls of tapes that are kept; a step makes a few."""
BACKWARD_MAX: Final = 4
"""Of those, the ones whose differentiated operations are kept: tensors, of calls that may never lead to an apply."""
SCALED_MAX: Final = 8
"""Scaled losses that are kept; several models may scale theirs before the first is differentiated."""
Tensor = Any  # tensorflow ships no types


class _Asked(NamedTuple):
    """One call of a tape's ``gradient``; variables by the ids of their `tf.Variable`.

    Attributes:
        targets: what the gradient is of, before it was scaled; empty where one of them is no floating tensor of a
            graph, nor a single number eagerly.
        is_unscaled: whether an optimizer had scaled them all.
        sources: with respect to what.
        unreached: those whose gradient was None.
        backward: what the tape differentiated, where it did so eagerly.
        made: in a graph, the gradients, each with the id of the variable that it is of.
    """

    targets: tuple[Tensor, ...]
    is_unscaled: bool
    sources: frozenset[int]
    unreached: frozenset[int]
    backward: Backward | None
    made: tuple[tuple[Tensor, int], ...] = ()


class Taken(NamedTuple):
    """What tapes were asked for with respect to some variables.

    Attributes:
        loss: what the gradients are of, where it can be used here, or None; of several the sum (of their means).
        is_unscaled: whether that is the loss before the optimizer scaled it.
        left_out: the ids of the `tf.Variable` that are not applied although a tape was asked for their gradient
            together with that of others that are, and gave none, as no other tape did.
        backwards: what each of these tapes differentiated eagerly.
        strangers: of the variables, those that are given the gradient of another one which the same tape was asked for;
            each with that gradient.
    """

    loss: Tensor | None
    is_unscaled: bool
    left_out: frozenset[int]
    backwards: list[Backward]
    strangers: list[tuple[Any, Tensor]]


class TapeLog:
    """Keeps what tapes were asked for in each thread until the variables are applied."""

    def __init__(self) -> None:
        self._thread = threading.local()

    def note_scaled(self, loss: Any, scaled: Any) -> None:
        """An optimizer made the second of the first, to be differentiated in its place."""
        if _is_loss(loss):  # another would not be kept for a loss, and may be large
            self._thread.scaled = [*self._scaled, (scaled, loss)][-SCALED_MAX:]

    def note(self, target: Any, sources: Any, gradients: Any, backward: Backward | None) -> None:
        """A tape was asked for the gradients of a target with respect to some sources, and gave these."""
        resources = [resource_of(source) for source in tf.nest.flatten(sources)]
        ids = [id(resource) for resource in resources]
        unreached = [one for one, gradient in zip(ids, tf.nest.flatten(gradients), strict=True) if gradient is None]
        if not any(isinstance(resource, tf.Variable) for resource in resources):
            backward = None  # nothing that could be applied
        pairs = [self._unscaled(one) for one in tf.nest.flatten(target)]
        targets = tuple(one for one, _ in pairs) if all(_is_loss(one) for one, _ in pairs) else ()
        is_unscaled = all(was_scaled for _, was_scaled in pairs)
        pairs_made = zip(tf.nest.flatten(gradients), ids, strict=True)
        made = tuple((one, of) for one, of in pairs_made if one is not None and tf.is_symbolic_tensor(one))
        new = _Asked(targets, is_unscaled, frozenset(ids), frozenset(unreached), backward, made)
        asked = [*self._asked, new][-ASKED_MAX:]
        older, newest = asked[:-BACKWARD_MAX], asked[-BACKWARD_MAX:]
        self._thread.asked = [*(one._replace(backward=None) for one in older), *newest]

    def take(self, variables: Sequence[Any], gradients: Sequence[Any] = ()) -> Taken:
        """What a tape was asked for with respect to the variables that are about to be applied, and forgets it.

        Args:
            variables: those.
            gradients: that are given for them, where that is to be looked at.
        """
        applied = frozenset(id(resource_of(variable)) for variable in variables)
        asked = self._asked
        mine = [one for one in asked if applied & one.sources]
        self._thread.asked = [one for one in asked if not applied & one.sources]
        used = {id(target) for one in mine for target in one.targets}
        self._thread.scaled = [pair for pair in self._scaled if id(pair[1]) not in used]
        last = next((one for one in reversed(mine) if one.targets and all(map(is_visible, one.targets))), None)
        unreached = frozenset().union(*(one.unreached for one in mine)) - applied
        reached = frozenset().union(*(one.sources - one.unreached for one in asked))
        return Taken(
            loss=None if last is None else _total(last.targets),
            is_unscaled=last is not None and last.is_unscaled,
            left_out=unreached - reached,
            backwards=[one.backward for one in mine if one.backward is not None],
            strangers=[one for asked_of in mine for one in _strangers(asked_of, variables, gradients)],
        )

    def _unscaled(self, target: Any) -> tuple[Any, bool]:
        """What an optimizer scaled to get this, or itself; and whether there was such a thing."""
        return next(((loss, True) for scaled, loss in reversed(self._scaled) if scaled is target), (target, False))

    @property
    def _scaled(self) -> list[tuple[Any, Any]]:
        return getattr(self._thread, "scaled", [])

    @property
    def _asked(self) -> list[_Asked]:
        return getattr(self._thread, "asked", [])


def _strangers(asked: _Asked, variables: Sequence[Any], gradients: Sequence[Any]) -> Iterator[tuple[Any, Tensor]]:
    """The variables that are given the gradient of another, where one tape was asked for both; and that gradient."""
    of: dict[int, set[int]] = {}
    for gradient, source in asked.made:  # of a sum of two, both may have the same one
        of.setdefault(id(gradient), set()).add(source)
    for variable, gradient in zip(variables, gradients, strict=False):
        own = id(resource_of(variable))
        if own in asked.sources and own not in of.get(id(gradient), {own}):
            yield variable, gradient


def _is_loss(target: Any) -> bool:
    is_floating = isinstance(target, tf.Tensor) and target.dtype.is_floating
    return is_floating and (tf.is_symbolic_tensor(target) or target.shape.rank == 0)


def _total(targets: Sequence[Tensor]) -> Tensor:
    if len(targets) == 1:
        return targets[0]
    with statistic.apart():
        return tf.add_n([tf.reduce_mean(tf.cast(one, tf.float32)) for one in targets])


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

"""Where the hook stands in the user's training: in place of ``apply`` and ``compute_loss``, while something is watched.

Owns the list of active watches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import keras

from gradwatch.patch import MethodPatch, defining_classes

__all__ = ["Observer", "active_observers", "add_observer", "remove_observer"]


class Observer(Protocol):
    """What an active watch offers to the wrapped methods."""

    def claims(self, optimizer: Any, variables: Sequence[Any]) -> bool:
        """Whether an optimizer that applies these variables is watched."""

    def record(
        self, optimizer: Any, gradients: Sequence[Any], variables: Sequence[Any], apply: Callable[[], Any]
    ) -> Any:
        """Runs ``apply`` once, with the step recorded around it."""

    def note_loss(self, model: Any, loss: Any) -> None:
        """Takes note of the loss that a model computed."""


_active: list[Observer] = []
_recording = threading.local()


def active_observers() -> list[Observer]:
    """The active watches, oldest first."""
    return list(_active)


def add_observer(observer: Observer, models: Sequence[Any], optimizers: Sequence[Any]) -> None:
    """Lets a watch see every ``apply`` and every ``compute_loss`` from now on; it knows which are its own."""
    _active.append(observer)
    for cls in {keras.optimizers.Optimizer, *map(type, optimizers)}:
        _apply_patch.install(defining_classes(cls, "apply"))
    for cls in {keras.Model, *map(type, models)}:
        _loss_patch.install({base for base in cls.__mro__ if "compute_loss" in base.__dict__})


def remove_observer(observer: Observer) -> None:
    """Undoes `add_observer`; with the last watch gone every class is as it was."""
    _active.remove(observer)
    if not _active:
        _apply_patch.restore()
        _loss_patch.restore()


def _around_apply(original: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
    """In place of an optimizer's ``apply``: records the step for every watch that claims it."""
    apply = partial(original, optimizer, *args, **kwargs)
    if getattr(_recording, "is_inside", False):  # an optimizer within an optimizer, e.g. under a loss scale
        return apply()
    gradients: Any = args[0] if args else kwargs.get("grads", ())
    variables: Any = args[1] if len(args) > 1 else kwargs.get("trainable_variables")
    if variables is None:
        variables = getattr(optimizer, "_trainable_variables", ())
    if not gradients or len(gradients) != len(variables):
        return apply()
    for active in [active for active in _active if active.claims(optimizer, variables)]:
        apply = partial(active.record, optimizer, gradients, variables, apply)
    _recording.is_inside = True
    try:
        return apply()
    finally:
        _recording.is_inside = False


def _around_compute_loss(original: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
    loss = original(model, *args, **kwargs)
    if kwargs.get("training", True):  # the loss of an evaluation belongs to no step
        for active in _active:
            active.note_loss(model, loss)
    return loss


_apply_patch = MethodPatch("apply", _around_apply)
_loss_patch = MethodPatch("compute_loss", _around_compute_loss)

"""Where the hook stands in the user's training: in place of ``apply`` and ``compute_loss``, while something is watched.

An optimizer of Keras 2 or TensorFlow 1 has no ``apply``: there it is ``apply_gradients``. Owns the list of active
watches.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import keras
import tensorflow as tf
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable, ResourceVariable

from gradwatch import eager, legacy, sums
from gradwatch.distribution import note_reduced
from gradwatch.eager import Backward
from gradwatch.patch import MethodPatch, defining_classes

__all__ = ["Observer", "active_observers", "add_observer", "find_fit", "remove_observer"]


class Observer(Protocol):
    """What an active watch offers to the wrapped methods."""

    def claims(self, optimizer: Any, variables: Sequence[Any]) -> bool:
        """Whether an optimizer that applies these variables is watched."""

    def record(
        self, optimizer: Any, gradients: Sequence[Any], variables: Sequence[Any], apply: Callable[[], Any]
    ) -> Any:
        """Runs ``apply`` once, with the step recorded around it."""

    @property
    def captures_operations(self) -> bool:
        """Whether single operations are looked at: what a tape differentiates is kept for nobody else."""

    def enter_applied(self, variable: tf.Variable) -> bool:
        """Somebody is about to assign a variable: whether that is a part of a step which no optimizer applies."""

    def leave_applied(self, variable: tf.Variable) -> None:
        """A variable was assigned, as such a part."""

    def enter_assign(self, variable: tf.Variable) -> Callable[[], None] | None:
        """Somebody is about to assign a variable, between steps; what is returned is called when that is done."""

    def note_loss(self, model: Any, loss: Any) -> None:
        """Takes note of the loss that a model computed."""

    def note_scaled(self, loss: Any, scaled: Any) -> None:
        """An optimizer scaled a loss, to be differentiated so."""

    def note_batch(self, model: Any, x: Any, y: Any, y_pred: Any, sample_weight: Any) -> None:
        """Takes note of what a model computed its loss from."""

    def note_targets(self, y: Any, y_pred: Any, sample_weight: Any) -> None:
        """A loss is about to be computed from these, outside Keras' own training too."""

    def note_traced_assign(self, variable: tf.Variable, op: Any) -> None:
        """Somebody assigns a variable in a graph, by an operation."""

    def enter_layer(self, layer: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A layer is about to be called, with these arguments; what is returned goes to `leave_layer`."""

    def leave_layer(self, layer: Any, entered: Any, output: Any) -> None:
        """A layer was called, and gave an output (None if it raised)."""

    def enter_tape(self) -> None:
        """A tape is about to record: a step may begin."""

    def note_other(self) -> None:
        """An optimizer has applied a step that is not this watch's."""

    def note_asked(self, target: Any, sources: Any, gradients: Any, backward: Backward | None) -> None:
        """A tape was asked for the gradients of a target with respect to some sources, and gave these, so."""

    def note_jacobian(self, target: Any, sources: Any, jacobian: Any) -> None:
        """Likewise each number's of a target by itself: its Jacobian."""

    def sources(self, asked: Any) -> list[tuple[Any, Any]]:
        """Pairs whose second is a tensor whose gradient is wanted too where a tape is asked for these gradients."""

    def note_gradients(self, sources: Sequence[tuple[Any, Any]], gradients: Sequence[Any], asked: Any) -> None:
        """The gradients of what `sources` gave, None where a tensor is not connected."""

    def note_validation(self, model: Any, results: Mapping[str, Any]) -> None:
        """``fit`` has evaluated a model: its loss and metrics, by Keras' names."""

    def leave_fit(self) -> None:
        """A ``fit`` of some model has come back, or failed."""

    def disown(self) -> None:
        """Makes this a watch that does nothing, in a process forked from the one that is watched."""


_lock = threading.RLock()
"""Held while watches, and what is patched for them, change: one may end in its own thread while another begins."""
_active: list[Observer] = []
_recording = threading.local()
_inner: list[Any] = []
"""The optimizers within those that are being applied."""


_fits: list[tuple[int, Any]] = []
"""The threads in which a ``fit`` runs that began while something was watched, with its model; the innermost last."""


def active_observers() -> list[Observer]:
    """The active watches, oldest first."""
    return list(_active)


def add_observer(observer: Observer, models: Sequence[Any], optimizers: Sequence[Any]) -> None:
    """Lets a watch see every ``apply`` and every ``compute_loss`` from now on; it knows which are its own."""
    with _lock:
        _active.append(observer)
        old_models, new_models = _split(models, legacy.is_model)
        old_optimizers, new_optimizers = _split(optimizers, legacy.is_optimizer)
        for cls in {keras.optimizers.Optimizer, *map(type, new_optimizers)}:
            _apply_patch.install(defining_classes(cls, "apply"))
            _reduce_patch.install(defining_classes(cls, "_all_reduce_sum_gradients"))
            _scale_patch.install(defining_classes(cls, "scale_loss"))
        _function_patch.install({Function})
        if new_models or new_optimizers:
            _gradient_patch.install({tf.GradientTape})
            _jacobian_patch.install({tf.GradientTape})
            _tape_patch.install({tf.GradientTape})
            eager.install()
        if new_models:
            _call_patch.install({keras.layers.Layer})
            _loss_call_patch.install({keras.losses.Loss})
        for patch in _assign_patches:
            patch.install({BaseResourceVariable, ResourceVariable})  # a library may have given the latter its own
        for cls in {keras.Model, *(type(one) for one in new_models if isinstance(one, keras.Model))}:
            _loss_patch.install(_defining_bases(cls, "compute_loss"))
            _fit_patch.install(_defining_bases(cls, "fit"))
            _evaluate_patch.install(_defining_bases(cls, "evaluate"))
        for cls in {*legacy.optimizer_classes(), *map(type, old_optimizers)}:
            _apply_gradients_patch.install(defining_classes(cls, "apply_gradients"))
        if not old_models and not old_optimizers:
            return
        for cls in {*legacy.model_classes(), *map(type, old_models)}:
            _loss_patch.install(_defining_bases(cls, "compute_loss"))
            _test_step_patch.install(_defining_bases(cls, "test_step"))
            _fit_patch.install(_defining_bases(cls, "fit"))
            _evaluate_patch.install(_defining_bases(cls, "evaluate"))


def remove_observer(observer: Observer) -> None:
    """Undoes `add_observer`; with the last watch gone every class is as it was."""
    with _lock:
        if observer in _active:
            _active.remove(observer)
        if not _active:
            patches = (
                _apply_patch,
                _apply_gradients_patch,
                *_assign_patches,
                _call_patch,
                _evaluate_patch,
                _fit_patch,
                _function_patch,
                _gradient_patch,
                _jacobian_patch,
                _loss_call_patch,
                _loss_patch,
                _reduce_patch,
                _scale_patch,
                _tape_patch,
                _test_step_patch,
            )
            with contextlib.ExitStack() as stack:  # all of them, though an interrupt may arrive at any
                stack.callback(eager.restore)
                for patch in patches:
                    stack.callback(patch.restore)


def find_fit(thread_id: int, models: Sequence[Any]) -> Any:
    """The model whose ``fit`` runs in a thread, or the one of these models that is in a ``fit`` anywhere; or None."""
    for thread, model in reversed(_fits):
        if thread == thread_id or any(model is one for one in models):
            return model
    return None


def _split(targets: Iterable[Any], is_old: Callable[[Any], bool]) -> tuple[list[Any], list[Any]]:
    """Those of Keras 2, and those of Keras 3."""
    old = [target for target in targets if is_old(target)]
    return old, [target for target in targets if not is_old(target)]


def _defining_bases(cls: type, name: str) -> set[type]:
    return {base for base in cls.__mro__ if name in base.__dict__}


def _around_apply(original: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
    """In place of an optimizer's ``apply``: records the step for every watch that claims it."""
    apply = partial(original, optimizer, *args, **kwargs)
    gradients: Any = args[0] if args else kwargs.get("grads", ())
    variables: Any = args[1] if len(args) > 1 else kwargs.get("trainable_variables")
    if variables is None:
        variables = getattr(optimizer, "_trainable_variables", ())
    return _record(optimizer, gradients, variables, apply)


def _around_apply_gradients(original: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
    """In place of the older optimizers' ``apply_gradients``, whose pairs may be an iterator."""
    given: Any = args[0] if args else kwargs.pop("grads_and_vars", ())
    if isinstance(given, Iterable):
        given = list(given)
    apply = partial(original, optimizer, given, *args[1:], **kwargs)
    if not isinstance(given, list) or not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in given):
        return apply()  # a mistake of the user's: the optimizer says what it is
    return _record(optimizer, [pair[0] for pair in given], [pair[1] for pair in given], apply)


def _record(optimizer: Any, gradients: Any, variables: Any, apply: Callable[[], Any]) -> Any:
    # An optimizer within an optimizer, e.g. under a loss scale; under a strategy it may have threads of its own.
    if getattr(_recording, "is_inside", False) or any(optimizer is inner for inner in _inner):
        return apply()
    if not gradients or len(gradients) != len(variables):
        return apply()
    for active in active_observers():
        if active.claims(optimizer, variables):
            apply = partial(active.record, optimizer, gradients, variables, apply)
        else:
            active.note_other()
    inner = getattr(optimizer, "inner_optimizer", None)
    _recording.is_inside = True
    _inner.append(inner)
    try:
        return apply()
    finally:
        _inner.remove(inner)
        _recording.is_inside = False


def _around_call(original: Any, layer: Any, *args: Any, **kwargs: Any) -> Any:
    """In place of a layer's ``__call__``: each watch may look at what it gives."""
    entered = [(active, active.enter_layer(layer, args, kwargs)) for active in _active]
    output = None
    try:
        output = original(layer, *args, **kwargs)
    finally:
        for active, token in reversed(entered):
            active.leave_layer(layer, token, output)
    return output


def _around_enter(original: Any, tape: Any) -> Any:
    """In place of a tape's ``__enter__``."""
    with _inside():
        for active in active_observers():
            active.enter_tape()
    return original(tape)


def _around_gradient(original: Any, tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
    """In place of a tape's ``gradient``: the layers' outputs are sources too. What the user gets is the same."""
    is_row = getattr(_recording, "is_jacobian", False)  # of one number, as it stands for all
    wanted = [] if is_row else [(active, active.sources(sources)) for active in _active]
    is_heard = any(active.captures_operations for active in _active)
    if any(more for _, more in wanted):
        more = [[tensor for _, tensor in pairs] for _, pairs in wanted]
        with eager.listen_backward(is_heard=is_heard) as backward:
            gradients, found = original(tape, target, (sources, more), *args, **kwargs)
        for (active, pairs), theirs in zip(wanted, found, strict=True):
            active.note_gradients(pairs, theirs, sources)
    else:
        with eager.listen_backward(is_heard=is_heard) as backward:
            gradients = original(tape, target, sources, *args, **kwargs)
    with _inside():
        for active in active_observers():
            active.note_asked(target, sources, gradients, backward)
    return gradients


def _around_jacobian(original: Any, tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
    """In place of a tape's ``jacobian``, which asks itself for the gradient of each number."""
    before = getattr(_recording, "is_jacobian", False)
    _recording.is_jacobian = True
    try:
        jacobian = original(tape, target, sources, *args, **kwargs)
    finally:
        _recording.is_jacobian = before
    with _inside():
        for active in active_observers():
            active.note_jacobian(target, sources, jacobian)
    return jacobian


def _around_assign(
    note: Callable[[tf.Variable], None], original: Any, variable: tf.Variable, *args: Any, **kwargs: Any
) -> Any:
    """In place of a variable's ``assign`` and its kin: watches see what is not an optimizer's."""
    if getattr(_recording, "is_inside", False):
        return original(variable, *args, **kwargs)
    with contextlib.suppress(Exception):  # the boundary: the hook must not harm training
        note(variable)
    with _inside():
        applying = [active for active in active_observers() if active.enter_applied(variable)]
    others = [active for active in _active if active not in applying]
    if not tf.executing_eagerly():
        result = original(variable, *args, **kwargs)
        for active in others:
            active.note_traced_assign(variable, getattr(result, "op", result))
    else:
        entered = [active.enter_assign(variable) for active in others]
        result = original(variable, *args, **kwargs)
        for leave in entered:
            if leave is not None:
                leave()
    with _inside():
        for active in applying:
            active.leave_applied(variable)
    return result


@contextlib.contextmanager
def _inside() -> Iterator[None]:
    """What is assigned meanwhile is the hook's own."""
    before = getattr(_recording, "is_inside", False)
    _recording.is_inside = True
    try:
        yield
    finally:
        _recording.is_inside = before


def _around_scale_loss(original: Any, optimizer: Any, loss: Any, *args: Any, **kwargs: Any) -> Any:
    """In place of an optimizer's ``scale_loss``: what a tape is asked to differentiate then, was this loss."""
    scaled = original(optimizer, loss, *args, **kwargs)
    for active in _active:
        active.note_scaled(loss, scaled)
    return scaled


def _around_fit(original: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
    """In place of ``fit``: while it runs, training can be ended by the model's own ``stop_training``."""
    entry = (threading.get_ident(), model)
    _fits.append(entry)
    try:
        return original(model, *args, **kwargs)
    finally:
        try:
            for active in active_observers():
                active.leave_fit()
        finally:
            _fits.remove(entry)


def _around_evaluate(original: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
    """In place of ``evaluate``: what ``fit`` calls it for belongs to the run; what the user does is theirs to log."""
    results = original(model, *args, **kwargs)
    if (threading.get_ident(), model) in _fits and isinstance(results, Mapping):
        for active in active_observers():
            active.note_validation(model, results)
    return results


def _around_compute_loss(original: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
    loss = original(model, *args, **kwargs)
    if kwargs.get("training", True):  # the loss of an evaluation belongs to no step
        for active in _active:
            active.note_loss(model, loss)
            active.note_batch(model, *_batch_of(*args, **kwargs))
    return loss


def _batch_of(x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, **_: Any) -> tuple[Any, ...]:
    """What a loss is computed from, of the arguments of ``compute_loss``."""
    return x, y, y_pred, sample_weight


def _around_loss_call(original: Any, loss: Any, *args: Any, **kwargs: Any) -> Any:
    y, y_pred, sample_weight = _given_to_loss(*args, **kwargs)
    for active in _active:
        active.note_targets(y, y_pred, sample_weight)
    return original(loss, *args, **kwargs)


def _given_to_loss(y_true: Any = None, y_pred: Any = None, sample_weight: Any = None, **_: Any) -> tuple[Any, ...]:
    return y_true, y_pred, sample_weight


def _around_test_step(original: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
    """Keras 2 does not say to ``compute_loss`` whether it evaluates: what an evaluation leaves is forgotten."""
    result = original(model, *args, **kwargs)
    for active in _active:
        active.note_loss(model, None)
    return result


def _disown_all() -> None:
    """In a forked process (a data loader's worker): the parent goes on watching, the child has nothing to say."""
    global _lock  # noqa: PLW0603 another thread may have held it when the process was forked
    _lock = threading.RLock()
    for active in _active:
        active.disown()
    _active.clear()


_apply_patch = MethodPatch("apply", _around_apply)
_reduce_patch = MethodPatch("_all_reduce_sum_gradients", note_reduced)
_assign_patches = [
    MethodPatch("assign", partial(_around_assign, sums.note_assigned)),
    MethodPatch("assign_sub", partial(_around_assign, sums.note_assigned)),
    MethodPatch("assign_add", partial(_around_assign, sums.note_added)),
]
_apply_gradients_patch = MethodPatch("apply_gradients", _around_apply_gradients)
_call_patch = MethodPatch("__call__", _around_call)
_evaluate_patch = MethodPatch("evaluate", _around_evaluate)
_fit_patch = MethodPatch("fit", _around_fit)
_function_patch = MethodPatch("__call__", sums.around_function)
_gradient_patch = MethodPatch("gradient", _around_gradient)
_jacobian_patch = MethodPatch("jacobian", _around_jacobian)
_loss_patch = MethodPatch("compute_loss", _around_compute_loss)
_loss_call_patch = MethodPatch("__call__", _around_loss_call)
_scale_patch = MethodPatch("scale_loss", _around_scale_loss)
_tape_patch = MethodPatch("__enter__", _around_enter)
_test_step_patch = MethodPatch("test_step", _around_test_step)

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_all)

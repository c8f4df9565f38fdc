"""What a Keras optimizer does with the gradients it is given, before and beside the update. Owns no state.

It takes a loss scale off them, adds them up over micro-steps, clips them, leaves out a step that overflowed, and keeps
variables of its own for each weight (*slots*). All of it is read from the optimizer's public attributes when a step is
traced. What follows from numbers already taken is derived from them; no tensor is read again but where nothing else
tells, and then only where that is due.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import tensorflow as tf

from gradwatch import legacy, statistic
from gradwatch.protocol import STATISTICS
from gradwatch.xla import cond, math_here

__all__ = ["Clipped", "Slot", "Treatment", "find_slots", "measure_clipping", "read_treatment", "unscale"]

Tensor = Any  # tensorflow ships no types
_MAGNITUDES: Final = ("norm", "min", "max", "mean", "std")
"""The statistics that grow with what they are taken of; the others are counts."""
_ACCUMULATOR: Final = "gradient_accumulator"
"""Keras' name of the slot that micro-steps add to."""


class Slot(NamedTuple):
    """A variable that an optimizer keeps of a weight.

    Attributes:
        place: the weight's place among the variables asked for.
        name: what Keras calls it, e.g. ``momentum``.
        variable: the `tf.Variable`.
    """

    place: int
    name: str
    variable: Any


class Treatment(NamedTuple):
    """What an optimizer is about to do with the gradients of one step; by default, to apply them as they are.

    Attributes:
        scale: the factor that it takes off the gradients first, float32; None: none.
        skips_nonfinite: it leaves out a step with a non-finite gradient by itself, and lowers its scale.
        clipnorm: the largest norm of each gradient, float32; None: not limited.
        global_clipnorm: the largest norm of all gradients together.
        clipvalue: the largest magnitude of an element.
        n_micro_steps: ``apply`` calls that it takes for one update.
        is_update: whether this one is the last of them, a bool scalar; None: every one is.
        accumulators: where they are added up, one `tf.Variable` a gradient; empty where nothing is asked of them.
    """

    scale: Tensor | None = None
    skips_nonfinite: bool = False
    clipnorm: Tensor | None = None
    global_clipnorm: Tensor | None = None
    clipvalue: Tensor | None = None
    n_micro_steps: int = 1
    is_update: Tensor | None = None
    accumulators: tuple[Any, ...] = ()


class Clipped(NamedTuple):
    """What clipping left of a step's gradients: float32 scalars, and whether they are known at this step.

    Attributes:
        norm: the norm of all gradients together, after clipping.
        share: of gradients (``clipnorm``), of the whole (``global_clipnorm``: 0 or 1), of elements (``clipvalue``).
        is_known: False at a micro-step, where a gradient is not finite, or where a reading was not due.
    """

    norm: Tensor
    share: Tensor
    is_known: Tensor


def read_treatment(optimizer: Any, variables: Sequence[Any]) -> Treatment:
    """What an optimizer, built, does with the gradients of these variables from now on.

    Of one of Keras 2 only the skipping is known: it is given its gradients without the scale.
    """
    if legacy.is_optimizer(optimizer):
        return Treatment(skips_nonfinite=bool(getattr(optimizer, "dynamic", False)))
    dynamic_scale = getattr(optimizer, "dynamic_scale", None)
    scale = getattr(optimizer, "loss_scale_factor", None) if dynamic_scale is None else dynamic_scale
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    limits = {name: getattr(inner, name, None) for name in ("clipnorm", "global_clipnorm", "clipvalue")}
    known: dict[str, Any] = {name: _number(limit) for name, limit in limits.items() if limit and limit > 0}
    n_micro_steps = getattr(inner, "gradient_accumulation_steps", None)
    iteration = next((one for one in inner.variables if one.name == "iteration"), None) if n_micro_steps else None
    if iteration is None:
        return Treatment(_number(scale), dynamic_scale is not None, **known)
    return Treatment(
        _number(scale),
        dynamic_scale is not None,
        **known,
        n_micro_steps=int(n_micro_steps or 1),
        is_update=(tf.cast(tf.convert_to_tensor(iteration), tf.int64) + 1) % n_micro_steps == 0,
        accumulators=_find_accumulators(inner, variables) if known else (),
    )


def unscale(block: Tensor, scale: Tensor | None) -> Tensor:
    """The statistics ``[n, 12]`` of gradients without the factor ``scale`` on them; counts stay."""
    if scale is None:
        return block
    is_magnitude = tf.constant([name in _MAGNITUDES for name in STATISTICS])
    return tf.where(is_magnitude, block / scale, block)


def measure_clipping(
    treatment: Treatment, gradients: Sequence[Any], norms_of: Callable[[], Tensor], *, is_finite: Tensor, is_due: Tensor
) -> Clipped | None:
    """What clipping leaves of the gradients.

    A limit on norms needs no reading but of sparse gradients, whose norm Keras takes over the slices as they are, rows
    that share an index apart. A limit on elements does, and so does what micro-steps have added up, which is clipped
    as a whole: the former is read where that is due, the latter at each update.

    Args:
        treatment: what the optimizer does.
        gradients: as given to it, with the scale; None where there is none.
        norms_of: gives their norms without the scale, float32 ``[n]``.
        is_finite: whether all of them are finite.
        is_due: whether a reading is due.

    Returns:
        None where nothing is clipped.
    """
    limits = treatment.clipnorm, treatment.global_clipnorm, treatment.clipvalue
    present = [i for i, gradient in enumerate(gradients) if gradient is not None]
    if all(limit is None for limit in limits) or not present:
        return None
    if treatment.is_update is not None:
        if not treatment.accumulators:
            return None
        is_due = treatment.is_update if treatment.clipvalue is None else is_due & treatment.is_update
        return _where(is_due & is_finite, lambda: _clip_sums(treatment, gradients, present))
    given = [gradients[i] for i in present]
    if treatment.clipvalue is not None:
        sizes = [_size(gradient) for gradient in given]
        limit = treatment.clipvalue
        return _where(is_due & is_finite, lambda: _clip_values(given, sizes, limit, treatment.scale))
    norms = tf.gather(norms_of(), present)
    measured = [_slices_norm(gradient, norms[i], treatment.scale) for i, gradient in enumerate(given)]
    return Clipped(*_clip_norms(treatment, norms, tf.stack(measured)), is_known=is_finite)


def find_slots(optimizer: Any, variables: Sequence[Any]) -> list[Slot]:
    """The variables that an optimizer, built, keeps of these weights, in the weights' order.

    Keras names a slot after its weight: its path with ``_`` for ``/``, then the slot's own name. A slot that is named
    otherwise (the factored moments of Adafactor) or could be that of several weights is left out.
    """
    if legacy.is_optimizer(optimizer):
        return []
    stems = [_stem(variable) for variable in variables]
    found: dict[tuple[str, str], list[Any]] = {}
    for one in optimizer.variables:
        stem = max((stem for stem in set(stems) if one.name.startswith(f"{stem}_")), key=len, default=None)
        if stem is not None and one.value.dtype.is_floating:
            found.setdefault((stem, one.name[len(stem) + 1 :]), []).append(one.value)
    slots = []
    for (stem, name), kept in found.items():
        places = [place for place, other in enumerate(stems) if other == stem]
        if len(places) == len(kept):  # weights of one name have their slots in their own order
            slots += [Slot(place, name, variable) for place, variable in zip(places, kept, strict=True)]
    return sorted(slots, key=lambda slot: slot.place)


def _find_accumulators(optimizer: Any, variables: Sequence[Any]) -> tuple[Any, ...]:
    found = {slot.place: slot.variable for slot in find_slots(optimizer, variables) if slot.name == _ACCUMULATOR}
    return tuple(found[place] for place in range(len(variables))) if len(found) == len(variables) else ()


def _stem(variable: Any) -> str:
    if hasattr(variable, "path"):
        return str(variable.path).replace("/", "_")
    return str(variable.name).replace("/", "_").replace(":", "_")


def _clip_norms(treatment: Treatment, norms: Tensor, measured: Tensor) -> tuple[Tensor, Tensor]:
    """Norm and share after clipping, from the gradients' own norms ``[n]`` and those that the optimizer goes by."""
    if treatment.clipnorm is not None:
        factors = treatment.clipnorm / tf.maximum(measured, treatment.clipnorm)
        return _together(norms * factors), tf.reduce_mean(_as_float(measured > treatment.clipnorm))
    total = _together(measured)
    factor = treatment.global_clipnorm / tf.maximum(total, treatment.global_clipnorm)
    return _together(norms) * factor, _as_float(total > treatment.global_clipnorm)


def _clip_values(
    tensors: Sequence[Any], sizes: Sequence[Tensor], limit: Tensor, scale: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Norm and share after clipping each element; the slices of a sparse gradient are clipped before they are added."""
    if scale is not None:
        limit *= scale
    norms, counts = [], []
    for tensor in tensors:
        values = tf.cast(tensor.values if isinstance(tensor, tf.IndexedSlices) else tensor, tf.float32)
        clipped = tf.clip_by_value(values, -limit, limit)
        counts.append(tf.reduce_sum(_as_float(clipped != values)))
        if isinstance(tensor, tf.IndexedSlices):
            clipped = statistic.dense_values(tf.IndexedSlices(clipped, tensor.indices, tensor.dense_shape))
        norms.append(_norm(clipped))
    norm = _together(tf.stack(norms))
    return norm if scale is None else norm / scale, tf.add_n(counts) / tf.add_n(list(sizes))


def _clip_sums(treatment: Treatment, gradients: Sequence[Any], present: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Norm and share after clipping the mean over the micro-steps, of which this is the last."""
    n_micro_steps = tf.cast(treatment.n_micro_steps, tf.float32)
    means = []
    for i in present:
        last = tf.cast(tf.convert_to_tensor(gradients[i]), tf.float32)
        last = last if treatment.scale is None else last / treatment.scale
        means.append((last + tf.cast(treatment.accumulators[i].read_value(), tf.float32)) / n_micro_steps)
    if treatment.clipvalue is not None:
        return _clip_values(means, [_size(mean) for mean in means], treatment.clipvalue, None)
    norms = tf.stack([_norm(mean) for mean in means])
    return _clip_norms(treatment, norms, norms)


def _where(is_wanted: Tensor, measure: Any) -> Clipped:
    norm, share = cond(is_wanted, measure, lambda: (tf.constant(0.0), tf.constant(0.0)))
    return Clipped(norm, share, is_wanted & math_here().is_finite(norm))


def _slices_norm(gradient: Any, norm: Tensor, scale: Tensor | None) -> Tensor:
    if not isinstance(gradient, tf.IndexedSlices):
        return norm
    found = _norm(tf.cast(gradient.values, tf.float32))
    return found if scale is None else found / scale


def _norm(tensor: Tensor) -> Tensor:
    return math_here().sqrt(2 * tf.nn.l2_loss(tensor))


def _together(norms: Tensor) -> Tensor:
    """The norm over tensors' norms; NaN where one is."""
    return _as_float(math_here().sqrt(tf.reduce_sum(tf.square(tf.cast(norms, tf.float64)))))


def _size(gradient: Any) -> Tensor:
    if isinstance(gradient, tf.IndexedSlices):
        if gradient.dense_shape is None:
            return _as_float(tf.size(gradient.values))
        return tf.reduce_prod(_as_float(gradient.dense_shape))
    return _as_float(tf.size(gradient))


def _number(value: Any) -> Tensor | None:
    return None if value is None else tf.cast(tf.convert_to_tensor(value), tf.float32)


def _as_float(tensor: Tensor) -> Tensor:
    return tf.cast(tensor, tf.float32)

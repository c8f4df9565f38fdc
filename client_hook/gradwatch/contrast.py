"""Which pairs a loss draws together and which it pushes apart, and how far apart they lie, in the graph. Owns no state.

A network describes two samples, and a loss asks that some pairs be described alike and others not: by a label of each
pair (Hadsell et al., "Dimensionality reduction by learning an invariant mapping", 2006), or by roles (Schroff et al.,
"FaceNet", 2015). Which label stands for what is nowhere written; with the two exchanged the loss comes down as it
should. But what belongs together is, as a rule, more alike as it enters already.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import tensorflow as tf

from gradwatch.constants import constant, factor
from gradwatch.origin import GRADIENT_SCOPE, slip_of
from gradwatch.slips.graph.signs import signs_in
from gradwatch.walk import AVERAGING, behind, given_tensors, is_square, reads_variable, variables_of
from gradwatch.xla import math_here

__all__ = ["Contrast", "find_contrast", "find_contrasts", "measure_contrast"]

SAME: Final = frozenset({"AddN", "Cast", "ExpandDims", "Identity", "Mean", "Reshape", "Squeeze", "Sum"})
RISING: Final = frozenset({"Exp", "Expm1", "Log", "Log1p", "Relu", "Sigmoid", "Softplus", "Sqrt"})
"""Functions that are the larger, the larger their input is."""
BOUNDS: Final = frozenset({"Maximum", "Minimum"})
NOT_BELOW_0: Final = frozenset({"Maximum", "Relu", "Sqrt", "Sum"})
DIVIDING: Final = frozenset({"DivNoNan", "RealDiv"})
SPLITTING: Final = frozenset({"Split", "SplitV"})
TO_LENGTH: Final = frozenset({"Cast", "Identity", "Maximum", "Mul", "RealDiv", "Rsqrt", "Sqrt", "Square", "Sum"})
"""What brings a description to length 1."""
CHOOSING: Final = frozenset({"Select", "SelectV2"})
WAYS_MAX: Final = 60
DISTANCES_MAX: Final = 16
"""Of two descriptions each, that are looked at."""
NUMBERS_MAX: Final = 4_096
"""Of a sample, that are compared."""
_NAN: Final = float("nan")
Tensor = Any  # tensorflow ships no types
Weight = tuple[Tensor, bool]
"""What a distance is multiplied with, and True; or what it is chosen by, and whether where that is true."""


class _Distance(NamedTuple):
    """How far apart two descriptions are, in squares or not, or how alike.

    Attributes:
        op: what gives it, ``[n]`` or ``[n, 1]``.
        sign: 1 of a distance, -1 of a likeness.
        inputs: the two samples that are described, ``[n, ...]`` both.
    """

    op: Any
    sign: int
    inputs: tuple[Tensor, Tensor]


class _Term(NamedTuple):
    """A way on which a distance goes into a mean: with which sign, times what, if anything, and into which number."""

    sign: int
    weight: Weight | None
    into: Tensor


class Contrast(NamedTuple):
    """What is drawn together and what is pushed apart.

    Attributes:
        drawn: the distance that is to be small.
        pushed: the one that is to be large; the same one where each pair has a label.
        weights: of each pair how much it is drawn, and how much it is pushed, ``[n]``; None where the roles tell.
        into: the numbers that both go into.
    """

    drawn: _Distance
    pushed: _Distance
    weights: tuple[Weight, Weight] | None
    into: tuple[Tensor, ...]


def find_contrasts(forward: Sequence[Any], loss: Tensor | None, layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first distance between two descriptions by one network that a loss contrasts. No slip by itself.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        loss: what is made small; None where it is not known.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, layer and source line of what is to be small, and ``contrasts``: ``labels`` or ``roles``.
    """
    found = _contrast_in(forward)
    if found is None or loss is None or any(set(signs_in(one, loss)) != {1} for one in found.into):
        return []
    return [slip_of(found.drawn.op, layer_paths) | {"contrasts": "labels" if found.weights else "roles"}]


def find_contrast(graphs: Iterable[Any]) -> Contrast | None:
    """Such a contrast in one of these graphs; None without one."""
    return _contrast_in(itertools.chain.from_iterable(graph.get_operations() for graph in graphs))


def measure_contrast(contrast: Contrast) -> tuple[Tensor, Tensor]:
    """By how much what is pushed apart lies farther apart than what is drawn together: as it enters, and as described.

    In standard deviations of the distances: with labels (mean of those pushed - mean of those drawn) / deviation of
    all, with roles the mean of the differences over their deviation. As they enter, the distance of two samples is the
    root of the mean square of their differences, each number scaled to a deviation of 1 in the batch.

    Returns:
        Two float32 scalars; NaN where the distances are all the same, or anything is not finite.
    """
    drawn, pushed = contrast.drawn, contrast.pushed
    of_drawn, of_pushed = (one.sign * _flat(one.op.outputs[0]) for one in (drawn, pushed))
    enters_drawn = _distance(*drawn.inputs)
    enters_pushed = enters_drawn if pushed.op is drawn.op else _distance(*pushed.inputs)
    weights = None if contrast.weights is None else [_weight(one) for one in contrast.weights]
    return _apart(enters_drawn, enters_pushed, weights), _apart(of_drawn, of_pushed, weights)


def _flat(values: Tensor) -> Tensor:
    return tf.reshape(tf.cast(values, tf.float32), [-1])


def _weight(weight: Weight) -> Tensor:
    values, is_where_true = weight
    return _flat(values if is_where_true else ~values)


def _distance(first: Tensor, second: Tensor) -> Tensor:
    columns = [tf.reshape(tf.cast(one, tf.float32), [tf.shape(one)[0], -1])[:, :NUMBERS_MAX] for one in (first, second)]
    both = tf.concat(columns, 0)
    variance = tf.reduce_mean(tf.square(both - tf.reduce_mean(both, axis=0)), axis=0)
    squares = tf.math.divide_no_nan(tf.square(columns[0] - columns[1]), variance)
    return math_here().sqrt(tf.reduce_mean(squares, axis=1))


def _apart(drawn: Tensor, pushed: Tensor, weights: Sequence[Tensor] | None) -> Tensor:
    if weights is None:
        gap = pushed - drawn
        difference, deviations = tf.reduce_mean(gap), gap - tf.reduce_mean(gap)
    else:
        means = [
            tf.reduce_sum(weight * one) / tf.reduce_sum(weight)
            for weight, one in zip(weights, (drawn, pushed), strict=True)
        ]
        difference, deviations = means[1] - means[0], drawn - tf.reduce_mean(drawn)
    apart = difference / math_here().sqrt(tf.reduce_mean(tf.square(deviations)))
    return tf.where(math_here().is_finite(apart), apart, _NAN)


def _contrast_in(ops: Iterable[Any]) -> Contrast | None:
    distances = itertools.islice(filter(None, map(_distance_of, ops)), DISTANCES_MAX)
    known = [(one, terms) for one in distances if (terms := _terms_of(one)) is not None]
    for distance, terms in known:
        found = _by_labels(distance, terms)
        if found is not None:
            return found
    for (one, terms), (other, of_other) in itertools.permutations(known, 2):
        shared = {id(sample) for sample in one.inputs} & {id(sample) for sample in other.inputs}
        into = _only(terms, 1) & _only(of_other, -1)
        if len(shared) == 1 and len(into) == 1:
            return Contrast(one, other, None, tuple(term.into for term in terms if id(term.into) in into))
    return None


def _only(terms: Sequence[_Term], sign: int) -> set[int]:
    """The numbers, by id, into which a distance goes as it is, with that sign."""
    return {id(one.into) for one in terms if one.weight is None and one.sign == sign}


def _by_labels(distance: _Distance, terms: Sequence[_Term]) -> Contrast | None:
    drawn, pushed = (
        [(one.weight, one.into) for one in terms if one.weight is not None and one.sign == sign] for sign in (1, -1)
    )
    if not len(drawn) == len(pushed) == 1:
        return None
    (draws, into), (pushes, into_too) = drawn[0], pushed[0]
    is_one = draws[0] is pushes[0] and draws[1] == pushes[1]
    return None if is_one else Contrast(distance, distance, (draws, pushes), (into, into_too))


def _distance_of(op: Any) -> _Distance | None:
    """The distance that an operation gives, or the likeness, of two descriptions that one network gave."""
    if op.type not in AVERAGING or op.name.startswith(GRADIENT_SCOPE) or not op.outputs[0].dtype.is_floating:
        return None
    shape = op.outputs[0].shape
    if shape.rank != 1 and not (shape.rank == 2 and shape[1] == 1):
        return None
    source = op.inputs[0].op
    between, sign = source, 1
    if source.type == "Abs" or is_square(source):
        between = source.inputs[0].op
    elif source.type == "Mul":
        sign = -1
    if between.type not in ("Sub", "SquaredDifference") and sign > 0:
        return None
    first, second = between.inputs
    shared = variables_of(first.op)
    if not shared or shared != variables_of(second.op):
        return None
    sample, another = _sample_of(first, second), _sample_of(second, first)
    if sample is None or another is None or not sample.shape[1:].is_compatible_with(another.shape[1:]):
        return None
    return _Distance(op, sign, (sample, another))


def _sample_of(description: Tensor, other: Tensor) -> Tensor | None:
    """The one tensor of numbers that was given for a description alone."""
    own, others = given_tensors(description), given_tensors(other)
    samples = [one for key, one in own.items() if key not in others] or _joined(description)
    is_of_numbers = [one.dtype.is_floating or one.dtype == tf.uint8 for one in samples] == [True]
    return samples[0] if is_of_numbers and (samples[0].shape.rank or 0) > 1 else None


def _joined(description: Tensor) -> list[Tensor]:
    """The part of a batch, joined of several, that a part of its descriptions is of; none where it is not split so."""
    read = [one for op in behind([description.op], through=TO_LENGTH) for one in op.inputs]
    parts = {one.name: one for one in [description, *read] if one.op.type in SPLITTING}
    if len(parts) != 1:
        return []
    (part,) = parts.values()
    n_parts = len(part.op.outputs)
    joints = (one for one in behind([part.op], through=None) if one.type == "ConcatV2" and one.get_attr("N") == n_parts)
    given = [one for one in joints if not reads_variable(one.outputs[0], None)]
    is_of_samples = len(given) == 1 and tf.get_static_value(given[0].inputs[-1]) == 0
    return [given[0].inputs[part.value_index]] if is_of_samples else []


def _terms_of(distance: _Distance) -> list[_Term] | None:
    """The ways on which a distance goes into means, or a vector that a tape takes for a loss.

    None where one of them is not understood.
    """
    pending: list[tuple[Tensor, int, Weight | None]] = [(distance.op.outputs[0], distance.sign, None)]
    terms: list[_Term] = []
    for _ in range(WAYS_MAX):
        if not pending:
            return terms
        one, sign, weight = pending.pop()
        if one.shape.rank == 0:
            terms.append(_Term(sign, weight, one))
            continue
        users = [user for user in one.consumers() if _reads(user)]
        if not users and one is not distance.op.outputs[0]:
            terms.append(_Term(sign, weight, one))
        for user in users:
            pending.extend(_passed(user, one, sign, weight))
    return None


def _reads(user: Any) -> bool:
    """Whether an operation makes a number of what it is given, and is not of a gradient; a metric compares."""
    is_of_gradient = user.name.startswith(GRADIENT_SCOPE)
    return not is_of_gradient and bool(user.outputs) and bool(user.outputs[0].dtype.is_floating)


def _passed(user: Any, one: Tensor, sign: int, weight: Weight | None) -> Iterator[tuple[Tensor, int, Weight | None]]:
    """What an operation makes of a distance, if it is larger or smaller with it, and what that is weighed by."""
    given = user.outputs[0]
    is_raised = user.type == "Pow" and (constant(user.inputs[1]) or 0) > 0
    others = [other for other in user.inputs if other is not one]
    scaled = factor(user)
    if is_square(user) or is_raised:
        if weight is None and one.op.type in NOT_BELOW_0:
            yield given, sign, None
    elif user.type in SAME or (user.type in RISING and weight is None):
        yield given, sign, weight
    elif user.type in BOUNDS:
        if weight is None and others and constant(others[0]) is not None:
            yield given, sign, None
    elif user.type == "Neg" or (user.type == "Sub" and user.inputs[1] is one):
        yield given, -sign, weight
    elif user.type in ("Add", "AddV2", "Sub"):
        yield given, sign, weight
    elif scaled is not None:
        yield given, sign * ((scaled[0] > 0) - (scaled[0] < 0)), weight  # times 0 it is no part of the loss
    elif user.type in DIVIDING:
        if user.inputs[0] is one and not reads_variable(user.inputs[1], None):
            yield given, sign, weight
    elif user.type == "Mul" and weight is None and not reads_variable(others[0], None):
        yield given, sign, (others[0], True)
    elif user.type in CHOOSING and weight is None and user.inputs[0] is not one:
        yield given, sign, (user.inputs[0], user.inputs[1] is one)

"""How far what a model gives follows what it is to give, in the graph. Owns no state.

A loss may fall for many reasons; whether predictions rise and fall with their targets does not depend on which loss it
is, on its weights, nor on what is added to it.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import tensorflow as tf

from gradwatch.walk import ADDING, PICKING
from gradwatch.xla import math_here

__all__ = ["Pair", "correlate", "count_scores", "find_deviations", "is_comparable", "is_compared", "meetings_of"]

COLUMNS_MAX: Final = 4_096
"""Numbers of a sample that are looked at."""
ELEMENTS_MAX: Final = 1 << 18
"""Numbers of a batch that are looked at: it is done in float64."""
ROUNDING: Final = 1e-12
"""Of the sum of squares of some numbers, what their deviations from the mean are at the least if they differ."""
WAY_MAX: Final = 64
"""Tensors that are made of a target, or of an output, on the way to where they meet."""
_NAN: Final = float("nan")
Tensor = Any  # tensorflow ships no types


class Pair(NamedTuple):
    """A target and what a loss compares with it.

    Attributes:
        name: the target's name in the tensor table.
        target: ``[n, ...]``; integers may be labels.
        output: ``[n, ...]``; of labels the scores of each class, ``[n, ..., n_classes]``.
    """

    name: str
    target: Tensor
    output: Tensor


def is_comparable(target: Tensor, output: Tensor) -> bool:
    """Whether there is a number of the output for each of the target, or scores for labels."""
    return count_scores(target, output) is not None


def correlate(target: Tensor, output: Tensor) -> Tensor:
    """Pearson's correlation of outputs with targets over the samples of a batch, of all columns together.

    With t and o both less their mean over the samples, column by column: sum(t o) / sqrt(sum(t^2) sum(o^2)). Labels
    count as a column of 0 and 1 for each class, and the softmax of their scores as o: of many classes most scores say
    little.

    Args:
        target: as in `Pair`.
        output: likewise.

    Returns:
        A float32 scalar, -1 to 1; 0 where the outputs are alike, NaN where the targets are, where anything is not
        finite, and where the two are not comparable or not as many.
    """
    sizes = count_scores(target, output)
    if sizes is None:
        return tf.constant(_NAN)
    n_columns, is_of_labels = sizes
    n_rows = ELEMENTS_MAX // min(n_columns, COLUMNS_MAX)
    outputs = tf.cast(tf.reshape(output, [-1, n_columns])[:n_rows], tf.float64)
    if is_of_labels:
        targets = tf.one_hot(tf.reshape(target, [-1])[:n_rows], n_columns, dtype=tf.float64)
        outputs = tf.nn.softmax(outputs)
    else:
        targets = tf.cast(tf.reshape(target, [-1, n_columns])[:n_rows], tf.float64)
    n_targets, n_outputs = tf.shape(targets)[0], tf.shape(outputs)[0]  # a batch may hold fewer of the one
    n_both = tf.minimum(n_targets, n_outputs)
    (t, of_t, t_varies), (o, of_o, o_varies) = (
        find_deviations(one[:n_both, :COLUMNS_MAX]) for one in (targets, outputs)
    )
    functions = math_here()
    found = tf.reduce_sum(t * o) / functions.sqrt(of_t * of_o)
    is_known = t_varies & functions.is_finite(of_o) & (n_targets == n_outputs)
    return tf.cast(tf.where(is_known, tf.where(o_varies, found, 0.0), _NAN), tf.float32)


def is_compared(target: Tensor, output: Tensor) -> bool:
    """Whether an operation of the graph takes both, or what is made of each alone: a loss that is written by hand.

    What picks from the output is a label: no target that has a column for each of the output's, one of which does.
    """
    met, rank = meetings_of(target), target.shape.rank
    may_be_label = not rank or rank != output.shape.rank or target.shape[-1] == 1
    left = ADDING if may_be_label else ADDING | PICKING
    return any(op.type not in left for key, op in meetings_of(output).items() if key in met)


def meetings_of(tensor: Tensor) -> dict[int, Any]:
    """The operations, by id, that take what is made of a tensor alone, and something else."""
    pending, seen = [tensor], {id(tensor)}
    users: dict[int, Any] = {}
    while pending and len(seen) <= WAY_MAX:
        for op in pending.pop().consumers():
            if all(id(one) in seen or _is_fixed(one) for one in op.inputs):
                users.pop(id(op), None)
                made = [one for one in op.outputs if id(one) not in seen]
                seen.update(map(id, made))
                pending += made
            else:
                users[id(op)] = op
    return users


def _is_fixed(tensor: Tensor, depth: int = 4) -> bool:
    """Whether a tensor is made of nothing but constants, by a few operations."""
    op = tensor.op
    made = bool(op.inputs) and depth > 0 and all(_is_fixed(one, depth - 1) for one in op.inputs)
    return op.type == "Const" or made


def count_scores(target: Tensor, output: Tensor) -> tuple[int, bool] | None:
    """The columns of both, or of labels the classes, and whether the targets are labels; None where they do not fit."""
    rank, goal = output.shape.rank, target.shape.rank
    if not rank or not goal or not output.dtype.is_floating:
        return None
    of_output, of_target = output.shape.as_list(), target.shape.as_list()
    if rank > 1 and target.dtype.is_integer and (of_output[-1] or 0) > 1:
        labels = of_target[:-1] if goal == rank and of_target[-1] == 1 else of_target
        is_label = tf.TensorShape(labels).is_compatible_with(of_output[:-1])
        if is_label:
            return of_output[-1], True
    n_outputs, n_targets = (tf.TensorShape(shape[1:]).num_elements() for shape in (of_output, of_target))
    is_alike = rank == goal and of_target[1:] == of_output[1:]
    is_fit = target.shape[:1].is_compatible_with(output.shape[:1]) and (is_alike or n_outputs == n_targets == 1)
    return (n_outputs, False) if n_outputs is not None and is_fit else None


def find_deviations(columns: Tensor, axis: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Columns less their means, the sums of their squares, and whether these are finite and more than rounding.

    Args:
        columns: float64 ``[n, n_columns]``.
        axis: 0 for a sum of each column, ``[n_columns]``; None for one of all of them.
    """
    deviations = columns - tf.reduce_mean(columns, axis=0)
    square_sums = tf.reduce_sum(tf.square(deviations), axis=axis)
    is_more = square_sums > ROUNDING * tf.reduce_sum(tf.square(columns), axis=axis)
    return deviations, square_sums, math_here().is_finite(square_sums) & is_more

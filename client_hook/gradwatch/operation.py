"""Finds the risky operations of a training step in its graph, and measures how near each is to its singular point.

An operation is risky if a finite input can give a non-finite output or slope: Log, Sqrt, division, Exp and their like,
forward and in the gradient. They are found by walking back from the gradients (and the loss) through the graph that the
user's own code built, in the order in which they run. Owns no state; adds only pure ops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import tensorflow as tf

from gradwatch.constants import constant
from gradwatch.origin import GRADIENT_SCOPE, layer_of, source_of
from gradwatch.protocol import OPERATION_STATISTICS
from gradwatch.reduction import MAX, MIN, SUM, reduce_rows
from gradwatch.shared import SharedFunction
from gradwatch.statistic import estimate_size
from gradwatch.walk import ADDING, LOOPS, SAME_NUMBERS, behind, passed
from gradwatch.way import FUNCTION_CALLS, called_by, find_way, is_gradient, place_of
from gradwatch.xla import is_under_xla, math_for

__all__ = [
    "OPERATIONS_MAX",
    "Operation",
    "describe_operations",
    "find_operations",
    "is_risky",
    "measure",
    "operation_block",
    "row_of",
]

OPERATIONS_MAX: Final = 200
"""Operations tapped in one step at most; a deep model's risky ones are a few per layer."""

Tensor = Any  # tensorflow ships no types


class Operation(NamedTuple):
    """One risky operation, for people.

    Attributes:
        type: TensorFlow's type of it, e.g. ``SqrtGrad``.
        name: its name in the graph.
        layer: the Keras path of the layer that it runs in, or empty where it runs in none (a loss, a penalty).
        is_gradient: whether `tf.GradientTape` added it.
        forward: type and name of the forward operation that it differentiates, or None.
        source: file, line and code of the user's own call that made it (a gradient: its forward operation), or None.
        input: type of the operation that makes the input that counts, and the constant that this one adds, bounds by or
            subtracts from (an epsilon, a clip, ``1 - x``), None where there is none; of a difference whose other side
            is bounded, ``least``, what that leaves (``1 - clip(x)``); of a sum or bound of such a difference, ``from``,
            what it subtracts from (``1 - x + 1e-7``); None where no input counts.
        dtype: what its output is, such as ``float16``.
        inside: of a call, loop or condition, the user's own risky operations in it: ``{"type", "source"}`` of the first
            `INSIDE_MAX`; None for any other operation.
    """

    type: str
    name: str
    layer: str
    is_gradient: bool
    forward: dict[str, str] | None
    source: dict[str, Any] | None
    input: dict[str, Any] | None = None
    dtype: str | None = None
    inside: list[dict[str, Any]] | None = None


class _Risk(NamedTuple):
    """Where an operation is singular: which input counts, how far it is, and how steep the operation is there."""

    input: int
    margin: Callable[[Tensor, float], Tensor]  # of the input, given the largest number of the operation's own type
    slope: Callable[[list[Tensor]], Tensor]


def _at_zero(slope: Callable[[list[Tensor]], Tensor], at: int = 0) -> _Risk:
    return _Risk(at, lambda x, _: tf.abs(x), slope)


def _headroom(x: Tensor, largest: float) -> Tensor:
    """How far the argument of exp is below overflow."""
    return tf.constant(math.log(largest), x.dtype) - x


def _headroom_of_size(x: Tensor, largest: float) -> Tensor:
    return _headroom(tf.abs(x), largest)


def _to_one(x: Tensor, _: float) -> Tensor:
    return 1 - tf.abs(x)


def _division_slope(x: list[Tensor]) -> Tensor:
    """Of a / b: the larger of |1 / b| and |a / b^2|, from the least |b| and the largest |a|, an upper bound."""
    least = tf.reduce_min(tf.abs(x[1]))
    return tf.maximum(1 / least, tf.reduce_max(tf.abs(x[0])) / tf.square(least))


# Each slope is |d out / d in|, the operation's textbook derivative.
RISKS: Final[dict[str, _Risk]] = {
    "Log": _at_zero(lambda x: 1 / tf.abs(x[0])),
    "Log1p": _Risk(0, lambda x, _: tf.abs(1 + x), lambda x: 1 / tf.abs(1 + x[0])),
    "Sqrt": _at_zero(lambda x: 0.5 * tf.math.rsqrt(tf.abs(x[0]))),
    "Rsqrt": _at_zero(lambda x: 0.5 * tf.abs(x[0]) ** -1.5),
    "Reciprocal": _at_zero(lambda x: 1 / tf.square(x[0])),
    "Inv": _at_zero(lambda x: 1 / tf.square(x[0])),
    "RealDiv": _at_zero(_division_slope, 1),
    "Div": _at_zero(_division_slope, 1),
    "DivNoNan": _at_zero(_division_slope, 1),
    "Xdivy": _at_zero(_division_slope, 1),
    "Xlogy": _at_zero(lambda x: tf.reduce_max(tf.abs(x[0])) / tf.reduce_min(tf.abs(x[1])), 1),
    "Pow": _at_zero(lambda x: tf.abs(x[1] * tf.pow(x[0], x[1] - 1))),
    "Exp": _Risk(0, _headroom, lambda x: tf.exp(x[0])),
    "Expm1": _Risk(0, _headroom, lambda x: tf.exp(x[0])),
    "Sinh": _Risk(0, _headroom_of_size, lambda x: tf.cosh(x[0])),
    "Cosh": _Risk(0, _headroom_of_size, lambda x: tf.abs(tf.sinh(x[0]))),
    "BesselI0": _Risk(0, _headroom_of_size, lambda x: tf.math.bessel_i1e(tf.abs(x[0])) * tf.exp(tf.abs(x[0]))),
    "BesselI1": _Risk(
        0,
        _headroom_of_size,
        lambda x: (
            tf.math.bessel_i0e(x[0]) * tf.exp(tf.abs(x[0])) - tf.math.divide_no_nan(tf.math.bessel_i1(x[0]), x[0])
        ),
    ),
    "Acos": _Risk(0, _to_one, lambda x: tf.math.rsqrt(1 - tf.square(x[0]))),
    "Asin": _Risk(0, _to_one, lambda x: tf.math.rsqrt(1 - tf.square(x[0]))),
    "Atanh": _Risk(0, _to_one, lambda x: 1 / tf.abs(1 - tf.square(x[0]))),
    "Acosh": _Risk(0, lambda x, _: x - 1, lambda x: tf.math.rsqrt(tf.abs(tf.square(x[0]) - 1))),
    "SqrtGrad": _at_zero(lambda x: 0.5 / tf.abs(x[0])),
    "RsqrtGrad": _at_zero(lambda x: 0.5 * tf.abs(x[0]) ** 3),
    "ReciprocalGrad": _at_zero(lambda x: tf.square(x[0])),
}
"""Operations with a singular point. ``RsqrtGrad(y)``, ``ReciprocalGrad(y)`` take the *output* y, large there."""

EXPONENT_MAX: Final = 700.0
"""Of a power of e that a float of Python's holds."""
HALF_NOTHING: Final = 2.0**-25
"""What is no larger is 0 in half precision, which has nothing between 0 and twice that."""
_CONSTANT_PLACES: Final = {"Add": (1, 0), "AddV2": (1, 0), "Maximum": (1, 0), "Minimum": (1, 0), "Sub": (0,)}
"""Operations with a constant that tells how near their result can come to something, and among which inputs it is."""
_BOUNDS_MAX: Final = 4
"""Such operations that are looked through, one behind another."""

LARGE_OUTPUT: Final = 65_536
"""Elements above which an operation without a margin is left alone: to hold large tensors until the end of a step costs
more than a few per cent of it, and attention's softmax or a batch normalisation is hardly ever the culprit."""

CALLS: Final = frozenset({*LOOPS, *FUNCTION_CALLS, "If", "StatelessIf"})
"""Operations that call a function, which the walk cannot enter."""
INSIDE_MAX: Final = 8
_DEPTH_MAX: Final = 4
"""Functions in functions that are looked into."""
_BODIES: Final = ("f", "body", "then_branch", "else_branch")
"""Attributes that name the functions which an operation calls."""

_ENTROPIES: Final = ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
"""Losses that take the softmax of their first input."""
_TOGETHER: Final = SAME_NUMBERS | {"Mean", "Mul", "Prod", "RealDiv", "Sum"}
"""What makes one number of several that may all be 0."""

WITHOUT_MARGIN: Final = frozenset(
    {
        "Softmax",
        "LogSoftmax",
        *_ENTROPIES,
        "Cumprod",
        "Prod",
        "Cholesky",
        "CholeskyGrad",
        "MatrixInverse",
        "MatrixDeterminant",
        "LogMatrixDeterminant",
        "MatrixSolve",
        "MatrixTriangularSolve",
        "Svd",
        "SelfAdjointEigV2",
        "Qr",
        "Lgamma",
        "Digamma",
        "Erfinv",
        "Ndtri",
        "Atan2",
        "FusedBatchNormGradV3",
        "CTCLoss",
        *CALLS,
    }
)
"""Operations whose singular set is no point of one input, and calls that the walk cannot enter: outputs are checked."""

_NO_SINGULAR_INPUT: Final = frozenset({"RsqrtGrad", "ReciprocalGrad"})
_OUTPUT_FIRST: Final = frozenset({"SqrtGrad", "RsqrtGrad", "ReciprocalGrad"})
_DIVISIONS: Final = frozenset({"RealDiv", "Div", "Xdivy"})
_ARCS: Final = ("Acos", "Asin", "Acosh", "Atanh")
_FORWARD_TYPES: Final[dict[str, tuple[str, ...]]] = {
    "Reciprocal": ("Log", "Log1p", "Xlogy", "SelfAdjointEigV2", *_ARCS),
    "RealDiv": ("RealDiv", "Div", "Acosh", "Atan2"),
    "Sinh": ("Cosh", "Acosh"),
    "Cosh": ("Sinh", "Asinh"),
    "BesselI1": ("BesselI0",),
    "Xdivy": ("Xdivy", "Xlogy"),
    "Sqrt": _ARCS,
    "CholeskyGrad": ("Cholesky",),
    **dict.fromkeys(LOOPS, LOOPS),
    "FusedBatchNormGradV3": ("FusedBatchNormV3",),
}
"""What an operation in the gradient may come from, where that is not an operation of its own type."""
_GRADIENT_STEPS: Final = 8
"""Operations between one in the gradient and the forward tensors that it is computed from; arcs have the most."""


def find_operations(gradients: Sequence[Any], loss: Tensor | None) -> list[Any]:
    """The risky `tf.Operation` of a step, in the order in which they run.

    Args:
        gradients: symbolic tensors, `tf.IndexedSlices` or None, as given to ``apply``.
        loss: the step's loss in the same graph, or None.

    Returns:
        Operations that the gradients or the loss depend on, and the forward operations whose gradient is among them:
        the first `OPERATIONS_MAX`.
    """
    seen = find_way(gradients, loss)
    for op in list(seen.values()):
        forward = _forward_of(op) if is_risky(op) and is_gradient(op) else None
        if forward is not None and is_risky(forward):
            seen[id(forward)] = forward
    chosen = sorted((op for op in seen.values() if is_risky(op)), key=place_of)
    return chosen[:OPERATIONS_MAX]


def describe_operations(ops: Iterable[Any], layer_paths: Sequence[str]) -> list[Operation]:
    """What people need to know of each operation; ``layer_paths`` are the Keras paths of the watched models' layers."""
    described = []
    for op in ops:
        forward = _forward_of(op) if is_gradient(op) else None
        described.append(
            Operation(
                type=op.type,
                name=op.name,
                layer=layer_of(op.name, layer_paths) or layer_of("" if forward is None else forward.name, layer_paths),
                is_gradient=is_gradient(op),
                forward=None if forward is None else {"type": forward.type, "name": forward.name},
                source=source_of(forward if forward is not None else op),
                input=None if is_gradient(op) else _describe_input(op),
                dtype=op.outputs[0].dtype.name if op.outputs else None,
                inside=_describe_inside(forward if forward is not None else op) if op.type in CALLS else None,
            )
        )
    return described


def _describe_inside(op: Any) -> list[dict[str, Any]]:
    """The user's own operations with a singular point in what an operation calls, a line of a type once."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for inner in _operations_inside(op):
        source = source_of(inner) if inner.type in RISKS and is_risky(inner) and not is_gradient(inner) else None
        if source is not None:
            found.setdefault((inner.type, source["file"], source["line"]), {"type": inner.type, "source": source})
    return list(found.values())[:INSIDE_MAX]


def _operations_inside(op: Any, depth: int = 0) -> Iterator[Any]:
    """The operations of the functions that one calls, and of those that they call."""
    for name in _BODIES if op.type in CALLS and depth < _DEPTH_MAX else ():
        try:
            function = op.graph._get_function(op.get_attr(name).name)
        except ValueError:  # it has no such attribute
            continue
        graph = getattr(function, "graph", None)  # a function from a saved model has none with lines of code
        for inner in () if graph is None else graph.get_operations():
            yield inner
            yield from _operations_inside(inner, depth + 1)


def _describe_input(op: Any) -> dict[str, Any] | None:
    """What makes the input of an operation with a singular point, such as ``{"type": "AddV2", "constant": 1e-8}``.

    Of ``c - minimum(x, b)`` with b < c it tells what is left: ``{"type": "Sub", "constant": c, "least": c - b}``. And
    of the logarithm of exponentials that are added up or multiplied ``"exponential": True``; of what is to be kept from
    0 by a number that is 0 in half precision ``"lost": True``.
    """
    if op.type in _ENTROPIES:
        return {"type": str(_made_by(op.inputs[0]).type), "constant": None}
    risk = RISKS.get(op.type)
    if risk is None or len(op.inputs) <= risk.input:
        return None
    maker = passed(op.inputs[risk.input])
    bound = maker.inputs[0].op if maker.type == "Exp" else None
    if bound is not None and bound.type == "Maximum" and (least := _constant_of(bound)) is not None:
        return {"type": "Maximum", "constant": math.exp(min(least, EXPONENT_MAX))}  # no less than that
    constant = _constant_of(maker)
    most = None if maker.type != "Sub" or constant is None else _most_of(maker.inputs[1])
    left = {} if constant is None or most is None or most >= constant else {"least": constant - most}
    inner = None if maker.type == "Sub" else _difference_in(maker)
    is_of_exponential = op.type == "Log" and any(one.type == "Exp" for one in behind([maker], through=_TOGETHER))
    further = {"exponential": True} if is_of_exponential else {}
    further |= {"lost": True} if _is_lost(maker) else {}
    return {
        "type": str(maker.type),
        "constant": constant,
        **left,
        **({} if inner is None else {"from": inner}),
        **further,
    }


def _is_lost(maker: Any) -> bool:
    """Whether an operation, or the one that a root is taken of, adds or bounds by what is 0 in half precision."""
    op = passed(maker.inputs[0]) if maker.type in ("Sqrt", "Rsqrt") else maker
    is_such = op.type in ADDING | {"Maximum"} and op.outputs[0].dtype == tf.float16
    numbers = (constant(one) for one in op.inputs) if is_such else ()
    return any(number is not None and abs(number) <= HALF_NOTHING for number in numbers)


def _difference_in(op: Any) -> float | None:
    """The number that is subtracted from within an operation that only adds a constant or bounds by one."""
    for _ in range(_BOUNDS_MAX):
        if op.type not in _CONSTANT_PLACES or _constant_of(op) is None:
            return None
        if op.type == "Sub":
            return _constant_of(op)
        op = _made_by(next((one for one in op.inputs if tf.get_static_value(one) is None), op.inputs[0]))
    return None


def _most_of(tensor: Tensor) -> float | None:
    """What a bound in the graph keeps the numbers of a tensor from exceeding: ``minimum``, or a clip; else None."""
    op = _made_by(tensor)
    if op.type == "Maximum" and (least := _constant_of(op)) is not None:  # a clip: no more than the larger of both
        most = next((_most_of(one) for one in op.inputs if tf.get_static_value(one) is None), None)
        return None if most is None else max(least, most)
    return _constant_of(op) if op.type == "Minimum" else None


def _made_by(tensor: Tensor) -> Any:
    """The operation that makes the numbers of a tensor, whatever its shape and type."""
    op = tensor.op
    while op.type in SAME_NUMBERS:
        op = op.inputs[0].op
    return op


def _constant_of(op: Any) -> float | None:
    """The constant in a sum, a bound or a difference from a constant, the weakest where it is a tensor of several."""
    places = _CONSTANT_PLACES.get(op.type, ())
    for place in places:
        value = tf.get_static_value(op.inputs[place])
        if value is not None and np.size(value) and np.all(np.isfinite(value)):
            return float(np.max(value) if op.type == "Minimum" else np.min(value))
    return None


def operation_block(ops: Sequence[Any]) -> Tensor:
    """What each operation did in this step: float32 ``[n, 6]``, in the order of `protocol.OPERATION_STATISTICS`.

    - ``n_nonfinite``, ``n_nonfinite_in``: non-finite elements of its outputs and of its inputs;
    - ``margin``: the least distance of a finite input element to the singular point (exp: of the exponent to overflow);
    - ``amplification``: the largest |d out / d in| over the finite input elements;
    - ``n_singular``: input elements exactly at the singular point (margin 0 or beyond it);
    - ``n_in``: elements of the input that counts.

    NaN where an operation has no such number. Infinite amplification becomes float32's largest number.
    """
    if not ops:
        return tf.zeros([0, 6], tf.float32)
    return tf.stack([_row(op) for op in ops])


def _row(op: Any) -> Tensor:
    inputs, outputs = ([one for one in some if one.dtype.is_floating] for some in (op.inputs, op.outputs))
    return _shared_row([*inputs, *outputs], len(inputs), op.type, is_under_xla())


def row_of(tensors: Sequence[Tensor], n_inputs: int, op_type: str, is_fused: bool = False) -> Tensor:
    """A row of `operation_block` from the floating inputs and, behind them, outputs."""
    inputs, outputs = tensors[:n_inputs], tensors[n_inputs:]
    nan = tf.constant(np.nan, tf.float32)
    risk = RISKS.get(op_type)
    if risk is None or len(inputs) <= risk.input:
        n_out, n_in = (_count_nonfinite(some, is_fused=is_fused) for some in (outputs, inputs))
        return tf.stack([n_out, n_in, nan, nan, nan, nan])
    x = [tensor if tensor.dtype == tf.float64 else tf.cast(tensor, tf.float32) for tensor in inputs]
    counted, functions = x[risk.input], math_for(is_fused)
    margin = risk.margin(counted, float(inputs[risk.input].dtype.max))
    margin = tf.where(functions.is_finite(margin), margin, tf.fill(tf.shape(margin), tf.constant(np.inf, margin.dtype)))
    slope = risk.slope(x)
    slope = tf.where(functions.is_nan(slope), tf.zeros_like(slope), slope)
    if is_fused and (n_inputs == 1 or op_type.endswith("Grad")):  # all of one shape: in one pass
        least, steepest, *counts = _reduce_all(
            [(MIN, margin), (MAX, slope), *((SUM, one) for one in (_broken(outputs), _broken(inputs), margin <= 0))]
        )
        n_out, n_in, n_singular = map(_float32, counts)
    else:
        n_out, n_in = (_count_nonfinite(some, is_fused=is_fused) for some in (outputs, inputs))
        least, n_singular = _least_and_singular(margin, is_fused=is_fused)
        steepest = tf.reduce_max(slope)
    if op_type in _NO_SINGULAR_INPUT:
        n_singular = nan
    least, steepest = (tf.minimum(_float32(one), tf.float32.max) for one in (least, steepest))
    return tf.stack([n_out, n_in, least, steepest, _float32(n_singular), _float32(tf.size(counted))])


_shared_row: Final = SharedFunction(row_of)


def measure(op_type: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> dict[str, float]:
    """The numbers of `operation_block` of one eager operation, by name, from its floating inputs and outputs."""
    row = row_of([*inputs, *outputs], len(inputs), op_type)
    return dict(zip(OPERATION_STATISTICS, row.numpy().tolist(), strict=True))


def _count_nonfinite(tensors: Iterable[Tensor], *, is_fused: bool) -> Tensor:
    if is_fused:
        counts = [_reduce_all([(SUM, _broken([tensor]))])[0] for tensor in tensors]
    else:
        counts = [tf.math.count_nonzero(~tf.math.is_finite(tensor)) for tensor in tensors]
    return tf.add_n([_float32(count) for count in counts]) if counts else tf.constant(0.0)


def _broken(tensors: Sequence[Tensor]) -> Tensor:
    """How many of some tensors of one shape are not finite, at each place; under XLA."""
    return tf.add_n([tf.cast(~math_for(True).is_finite(tensor), tf.int64) for tensor in tensors])


def _reduce_all(reductions: Iterable[tuple[str, Tensor]]) -> list[Tensor]:
    """Tensors of one shape, each reduced to a number, by one pass under XLA; truths are counted."""
    numbers = [(kind, tf.cast(one, tf.int64) if one.dtype == tf.bool else one) for kind, one in reductions]
    rows = [(kind, tf.reshape(one, [1, -1])) for kind, one in numbers]
    return [found[0] for found in reduce_rows(rows, is_fused=True)]


def _least_and_singular(margin: Tensor, *, is_fused: bool) -> tuple[Tensor, Tensor]:
    """The least distance to the singular point, and how many elements are at it or beyond it."""
    if not is_fused:
        return tf.reduce_min(margin), tf.math.count_nonzero(margin <= 0)
    least, n_singular = _reduce_all([(MIN, margin), (SUM, margin <= 0)])
    return least, n_singular


def _float32(x: Tensor) -> Tensor:
    return tf.cast(x, tf.float32)


def is_risky(op: Any) -> bool:
    """Whether an operation has a singular point, or may overflow or call what has, and is no mean's division."""
    if op.type not in RISKS and op.type not in WITHOUT_MARGIN:
        return False
    if not any(tensor.dtype.is_floating for tensor in op.outputs):
        return False
    if op.type in ("RealDiv", "Div"):
        return not _is_count(op.inputs[1])
    if op.type == "Exp" and is_gradient(op):  # of erf, softplus and their like: of a number that cannot be positive
        return _estimate_size(op) <= LARGE_OUTPUT
    return op.type in RISKS or op.type in CALLS or _estimate_size(op) <= LARGE_OUTPUT


def _is_count(divisor: Tensor) -> bool:
    """Whether a divisor is a constant other than 0, or a number of elements: what a mean and its gradient have."""
    value = tf.get_static_value(divisor)
    if value is not None:
        return bool(np.all(value != 0))
    return bool(divisor.op.type == "Cast" and divisor.op.inputs[0].dtype.is_integer)


def _estimate_size(op: Any) -> int:
    """Elements of an operation's floating outputs; an unknown dimension counts as a usual batch."""
    shapes = [tensor.shape for tensor in op.outputs if tensor.dtype.is_floating]
    if any(shape.rank is None for shape in shapes):
        return 0
    return sum(estimate_size(shape.as_list()) for shape in shapes)


def _forward_of(op: Any) -> Any | None:
    """The forward operation that a gradient operation differentiates, as far as the graph tells."""
    if op.type in _OUTPUT_FIRST:
        return op.inputs[0].op
    if op.type in FUNCTION_CALLS:
        return next((tensor.op for tensor in op.inputs if "__forward_" in called_by(tensor.op)), None)
    scope = op.name[len(GRADIENT_SCOPE) :].rpartition("/")[0]
    wanted = _FORWARD_TYPES.get(op.type, (op.type,))
    candidates = [found for found in _forward_neighbours(op) if found.type in wanted]
    # Binary operators and loops open a scope of their own name, functions stand in the scope of their caller.
    for candidate in candidates:
        is_around = candidate.type in LOOPS and scope.startswith(f"{candidate.name}/")
        if is_around or scope in (candidate.name, candidate.name.rpartition("/")[0]):
            return candidate
    return candidates[0] if candidates else None


def _forward_neighbours(op: Any) -> list[Any]:
    """Forward operations that make or use the forward tensors which a gradient operation is computed from.

    Of a division those of its divisor: what it divides came all the way back from the loss.
    """
    found: dict[int, Any] = {}
    pending, n_left = [op], _GRADIENT_STEPS
    while pending and n_left:
        gradient, n_left = pending.pop(0), n_left - 1
        for tensor in gradient.inputs[1:] if gradient is op and op.type in _DIVISIONS else gradient.inputs:
            if tensor.op.name.startswith(GRADIENT_SCOPE):
                pending.append(tensor.op)
                continue
            for other in (*tensor.consumers(), tensor.op):
                if not other.name.startswith(GRADIENT_SCOPE):
                    found[id(other)] = other
    return list(found.values())

"""Means and variances of a draw that a function keeps from one side of 0, in the graph. Owns no state.

A variational network draws ``mean + exp(log_variance / 2) * noise`` and is to come to a mean of 0 and a variance of 1
where it knows nothing. A relu before them leaves no mean below 0, and no variance below 1: it cannot say that it is
sure.

The divergence from that holds the variance, ``exp(log_variance)``: the square of the deviation that is drawn with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from gradwatch.constants import factor, scaled
from gradwatch.origin import layer_of, slip_of
from gradwatch.slips.graph.signs import signs_in
from gradwatch.walk import ADDING, is_square, passed

__all__ = ["find_codes", "find_one_sided", "find_spread", "find_widened"]

DRAWING: Final = frozenset({"RandomStandardNormal", "StatelessRandomNormal", "StatelessRandomNormalV2"})
KEEPING: Final = frozenset({"Cast", "Identity", "Reshape", "Split", "SplitV", "Squeeze", "StridedSlice"})
ONE_SIDED: Final = frozenset({"Relu", "Relu6", "Softplus"})
WAY_MAX: Final = 12
TOLERANCE: Final = 0.01
Tensor = Any  # tensorflow ships no types


def find_one_sided(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Draws whose mean, or the logarithm of whose variance, is what a function gives that is never below 0.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Relu``, ``Relu6`` or ``Softplus``), name, layer and source line of the function, and ``draws``: what it
        gives of the draw, ``mean``, ``log_variance`` or ``both``; the first one.
    """
    for _, mean, scale in _find_draws(forward):
        of_mean, of_scale = _function_of(mean), _function_of(scale)
        function = of_mean or of_scale
        if function is not None:
            draws = "both" if of_mean and of_scale else "mean" if of_mean else "log_variance"
            slip = slip_of(function, layer_paths)
            return [slip | {"layer": layer_of(function.name, layer_paths), "draws": draws}]
    return []


def find_codes(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Draws whose mean is asked to be small, as a variational network's is; no slips, but what tells of a code.

    Args:
        forward: as for `find_one_sided`.
        layer_paths: likewise.

    Returns:
        Type, name, layer and source line of the sum of mean and noise, and ``codes``: the layers that give mean and
        log-variance; the first such draw.
    """
    squared = {id(passed(op.inputs[0], KEEPING)) for op in forward if _is_power(op)}
    for op, mean, scale in _find_draws(forward):
        made = [_only(mean), _only(scale)]
        layers = [layer_of(one.name, layer_paths) for one in made]
        if id(passed(mean, KEEPING)) in squared and all(layers):
            return [slip_of(op, layer_paths) | {"codes": list(dict.fromkeys(layers))}]
    return []


def find_spread(forward: Sequence[Any], loss: Tensor | None, layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Draws with another deviation than the root of the variance that a loss makes small.

    Args:
        forward: as for `find_one_sided`.
        loss: what is made small; None where it is not known.
        layer_paths: as for `find_one_sided`.

    Returns:
        Type (``Exp``), name, layer and source line of what makes the deviation, and ``deviates``: by which power of
        that root it is drawn; the first such draw.
    """
    exponents = [(op, *_exponent_of(op)) for op in forward if op.type == "Exp"] if loss is not None else []
    for _, _, scale in _find_draws(forward):
        made, drawn, base = next((one for one in exponents if one[0].inputs[0] is scale), (None, 0.0, None))
        same = [(op, exponent) for op, exponent, other in exponents if other is base]
        held = {power for op, exponent in same for power in _powers_in(op, exponent, loss)}
        if len(held) == 1 and drawn > 0:
            power = 2 * drawn / held.pop()
            if power > 0 and abs(power - 1) > TOLERANCE:
                return [slip_of(made, layer_paths) | {"deviates": power}]
    return []


def find_widened(forward: Sequence[Any], loss: Tensor | None, layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Draws whose variance, and whose mean's square, a loss makes large, as a divergence with the wrong sign does.

    Args:
        forward: as for `find_one_sided`.
        loss: what is made small; None where it is not known.
        layer_paths: as for `find_one_sided`.

    Returns:
        Type, name, layer and source line of the square, and ``widens``: True; the first such draw.
    """
    exponents = [(op, *_exponent_of(op)) for op in forward if op.type == "Exp"] if loss is not None else []
    for _, mean, scale in _find_draws(forward) if exponents else ():
        squares = [op for op in forward if _is_power(op) and _as_made(op.inputs[0]) is _as_made(mean)]
        base = next((other for op, _, other in exponents if op.inputs[0] is scale), None)
        powers = [op for op, _, other in exponents if other is base]
        variances = [*powers, *(user for op in powers for user in op.outputs[0].consumers() if _is_power(user))]
        signs = [{sign for op in ops for sign in signs_in(op.outputs[0], loss)} for ops in (squares, variances)]
        if signs == [{-1}, {-1}]:
            return [slip_of(squares[0], layer_paths) | {"widens": True}]
    return []


def _as_made(tensor: Tensor) -> Tensor:
    """A tensor before what leaves its numbers and their order as they are."""
    while tensor.op.type in ("Cast", "Identity", "Reshape", "Squeeze"):
        tensor = tensor.op.inputs[0]
    return tensor


def _exponent_of(exponential: Any) -> tuple[float, Tensor]:
    """How many times what, a power of e is taken of."""
    power, tensor = 1.0, exponential.inputs[0]
    for _ in range(WAY_MAX):
        parts = factor(tensor.op)
        if parts is None and tensor.op.type not in ("Cast", "Identity"):
            break
        number, tensor = parts or (1.0, tensor.op.inputs[0])
        power *= number
    return power, tensor


def _powers_in(exponential: Any, power: float, loss: Tensor) -> Iterator[float]:
    """The powers of e, as they are and squared, that a loss makes small."""
    made = exponential.outputs[0]
    squares = [op for op in made.consumers() if _is_power(op) and op.inputs[0] is made]
    for tensor, times in ((made, 1), *((op.outputs[0], 2) for op in squares)):
        if set(signs_in(tensor, loss)) == {1}:
            yield times * power


def _find_draws(forward: Sequence[Any]) -> Iterator[tuple[Any, Tensor, Tensor]]:
    """The sums ``mean + exp(scale) * noise``, with mean and scale."""
    for op in forward:
        if op.type in ADDING:
            for mean, noise in (op.inputs, tuple(reversed(op.inputs))):
                scale = _scale_of(noise)
                if scale is not None:
                    yield op, mean, scale


def _is_power(op: Any) -> bool:
    return op.type == "Pow" or is_square(op)


def _scale_of(noise: Tensor) -> Tensor | None:
    """The exponent of what multiplies a draw around 0; None where it is none."""
    product = noise.op
    if product.type != "Mul":
        return None
    for one, other in (product.inputs, tuple(reversed(product.inputs))):
        spread = _only(one)
        if spread.type == "Exp" and _is_draw(other):
            return spread.inputs[0]
    return None


def _is_draw(tensor: Tensor) -> bool:
    return _only(tensor).type in DRAWING


def _function_of(tensor: Tensor) -> Any:
    """The function of one sign that a tensor is a part or a positive multiple of; None where it is something else."""
    op = _only(tensor)
    return op if op.type in ONE_SIDED else None


def _only(tensor: Tensor) -> Any:
    """What made a tensor, but for its form, a positive factor and an added 0."""
    op = tensor.op
    for _ in range(WAY_MAX):
        if op.type in KEEPING:
            op = op.inputs[1 if op.type == "Split" else 0].op
            continue
        parts = scaled(op)
        if parts is None or parts[0] <= 0:
            break
        op = parts[1].op
    return op

"""Returns that are counted on beyond an episode's end, in the graph. Owns no state.

What a state is worth is learned from the reward and, times a discount, from what the next state is worth. Where the
episode has ended there is no next state: a step that is told so and does not read it learns that no end is bad.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any, Final

import tensorflow as tf

from gradwatch.constants import factor, parted
from gradwatch.origin import GRADIENT_SCOPE, source_of
from gradwatch.tap import find_handle
from gradwatch.walk import ADDING, DIFFERENCES, behind, beyond, given_of, passed, reads_variable

__all__ = ["find_greedy", "find_returns", "find_unended", "find_unfollowed", "find_unstopped", "is_of_return"]

DISCOUNT_MIN: Final = 0.5
"""A discount is between this and 1."""
SAME: Final = frozenset({"Cast", "ExpandDims", "Identity", "Reshape", "Squeeze", "StopGradient", "StridedSlice"})
"""Operations that leave numbers what they are."""
PICKING: Final = SAME | {
    "Add",
    "AddV2",
    "BiasAdd",
    "GatherNd",
    "GatherV2",
    "Max",
    "Maximum",
    "Mean",
    "Min",
    "Minimum",
    "Sum",
}
"""What picks a value among those of several actions, or networks."""
MOVING: Final = (PICKING | {"Mul", "Neg", "SelectV2"}) - {"StopGradient"}
"""What hands a gradient on to the network that gave a value."""
MADE: Final = frozenset({"BatchMatMulV2", "MatMul"})
"""What a network gives is made by."""
ACTIONS_RANK: Final = 2
"""Axes of the values of actions: one for the samples, one for the actions."""
WAY_MAX: Final = 200
UNREAD_MAX: Final = 4
Tensor = Any  # tensorflow ships no types


def find_unended(forward: Sequence[Any]) -> list[dict[str, Any]]:
    """Sums of a reward and a discounted value of the next state, in a step that does not read all that it was given.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.

    Returns:
        Type (``Placeholder``), name, no layer, source line of the sum, and ``unread``: the names of the step's
        arguments with a number for each sample that nothing reads; the first such sum.
    """
    for op, given, later in _find_sums(forward):
        if later.dtype.is_floating and _is_discounted_value(later):
            unread = [name for name in _unread(op.graph, given) if name]
            if unread:
                found = {"type": given.type, "name": op.name, "layer": "", "source": source_of(op)}
                return [found | {"unread": unread[:UNREAD_MAX]}]
    return []


def find_unfollowed(forward: Sequence[Any]) -> list[dict[str, Any]]:
    """Sums of a reward and what a network gives, in a step that does not read one of two arguments of a state's form.

    Args:
        forward: as for `find_unended`.

    Returns:
        Type (``Placeholder``), name, no layer, source line of the first such sum, and ``unfollowed``: the name of the
        argument, of as many numbers for each sample as another one that is read.
    """
    for op, given, later in _find_sums(forward):
        if _is_of_network(later):
            wide = [one for one in _arguments(op.graph) if (one.shape.rank or 0) > 1 and one.dtype.is_floating]
            unread = next((one for one in wide if not one.consumers()), None)
            read = [one for one in wide if one.consumers()]
            if unread is not None and any(_is_alike(one, unread) for one in read):
                found = {"type": given.type, "name": op.name, "layer": "", "source": source_of(op)}
                return [found | {"unfollowed": str(unread.op.name)}]
            return []
    return []


def _is_alike(one: Tensor, other: Tensor) -> bool:
    n = one.shape[1:].num_elements()
    return one.shape.rank == other.shape.rank and n is not None and n > 1 and n == other.shape[1:].num_elements()


def find_greedy(forward: Sequence[Any]) -> list[dict[str, Any]]:
    """The largest value that a network gives of several actions, learned in place of that of the action taken.

    Args:
        forward: as for `find_unended`.

    Returns:
        Type (``Max``), name, no layer and source line of the first largest value that has a gradient and is compared
        with a return, and ``greedy``: True.
    """
    for op in forward:
        if op.type not in DIFFERENCES:
            continue
        for learned, asked in (op.inputs, tuple(reversed(op.inputs))):
            largest = passed(learned, SAME - {"StopGradient"})
            if largest.type != "Max" or largest.inputs[0].shape.rank != ACTIONS_RANK:
                continue
            if _has_gradient(largest) and reads_variable(largest.inputs[0], None) and _is_return(asked):
                place = {"layer": "", "source": source_of(largest)}
                return [{"type": largest.type, "name": largest.name, **place, "greedy": True}]
    return []


def find_unstopped(forward: Sequence[Any], trained: Set[int]) -> list[dict[str, Any]]:
    """A return that a network's value is compared with, and through which the same network has a gradient too.

    Args:
        forward: as for `find_unended`.
        trained: the handles of the variables that the step trains.

    Returns:
        Type, name, no layer and source line of the first sum of a reward and a discounted value of another state by the
        network that is to learn it, with nothing between that ends the gradient, and ``unstopped``: True.
    """
    if any(op.type == "StopGradient" for op in forward):  # whoever knows of it may mean this
        return []
    for op in forward:
        for learned, asked in (op.inputs, tuple(reversed(op.inputs))) if op.type in DIFFERENCES else ():
            for counted, given, later in _find_sums(behind([asked.op], through=MOVING | ADDING, most=WAY_MAX)):
                states, others = given_of(later), given_of(learned)
                is_between_two = bool(states - others) and bool(others - states) and given.outputs[0].name not in others
                if is_between_two and _is_discounted(later) and _kernels_moved(later, trained) & _kernels(learned):
                    place = {"layer": "", "source": source_of(counted)}
                    return [{"type": counted.type, "name": counted.name, **place, "unstopped": True}]
    return []


def _is_discounted(tensor: Tensor) -> bool:
    """Whether it is multiplied by a number that a discount may be."""
    products = (one for one in behind([tensor.op], through=MOVING, most=WAY_MAX) if one.type == "Mul")
    return any((parts := parted(one)) is not None and DISCOUNT_MIN <= parts[0] < 1 for one in products)


def _kernels_moved(tensor: Tensor, trained: Set[int]) -> set[int | None]:
    """The trained kernels that make a tensor and have a gradient through it."""
    made = [one for one in behind([tensor.op], through=MOVING, most=WAY_MAX) if one.type in MADE]
    users = ((one, user) for one in made for user in one.inputs[0].consumers())
    moved = [one for one, user in users if user.type in MADE and user.name.startswith(GRADIENT_SCOPE)]
    return {handle for one in moved for handle in _handles_of(one) if handle in trained}


def _kernels(tensor: Tensor) -> set[int | None]:
    made = (one for one in behind([tensor.op], through=None, most=WAY_MAX) if one.type in MADE)
    return {handle for one in made for handle in _handles_of(one)}


def _handles_of(product: Any) -> Iterator[int | None]:
    """The variable that a product's second input is, if it is one."""
    read = passed(product.inputs[1])
    if read.type == "ReadVariableOp":
        yield find_handle(read.inputs[0])


def find_returns(forward: Sequence[Any]) -> Any:
    """The first sum of an argument and what a network gives, of which something is subtracted; None if there is none.

    Args:
        forward: as for `find_unended`.
    """
    for op in forward:
        if op.type in DIFFERENCES:
            for one in op.inputs:
                ways = behind([one.op], through=SAME | ADDING, most=WAY_MAX)
                for counted, _, later in _find_sums(ways):
                    if _is_of_network(later):
                        return counted
    return None


def _has_gradient(largest: Any) -> bool:
    """Whether a tape went back through a maximum: it asks which of the numbers it is."""
    users = largest.inputs[0].consumers()
    return any(user.type == "Equal" and user.name.startswith(GRADIENT_SCOPE) for user in users)


def _is_return(tensor: Tensor) -> bool:
    """Whether a reward and what a network gives are added up in it."""
    sums = _find_sums(behind([tensor.op], through=None, most=WAY_MAX))
    return any(_is_of_network(later) for *_, later in sums)


def _is_of_network(tensor: Tensor) -> bool:
    """Whether a tensor is made of what a network gives."""
    return any(one.type in MADE for one in behind([tensor.op], through=None, most=WAY_MAX))


def is_of_return(given: Tensor) -> bool:
    """Whether an argument of a step is a reward, or what tells how to count on after it, in a graph.

    A reward is added as it is to what a network makes of the next state. The world has it that it belongs to a state:
    no network is asked to give it.
    """
    for _, reward, later in _find_sums(beyond(given.op)):
        ways = list(behind([later.op], through=None, most=WAY_MAX))
        if any(one.type in MADE for one in ways) and given.op in (reward, *ways):
            return True
    return False


def _find_sums(ops: Iterable[Any]) -> Iterator[tuple[Any, Any, Tensor]]:
    """Sums of an argument of the step and something else: the sum, the operation that is the argument, the other."""
    for op in ops:
        if op.type in ADDING:
            for one, other in (op.inputs, tuple(reversed(op.inputs))):
                given = passed(one, SAME)
                if _is_argument(given):
                    yield op, given, other


def _is_argument(op: Any) -> bool:
    return bool(op.type == "Placeholder" and op.outputs[0].dtype != tf.resource and op.outputs[0].shape.rank)


def _is_discounted_value(tensor: Tensor) -> bool:
    """Whether something is a constant below 1 times what a network gives, and nothing that depends on the sample."""
    parts = factor(passed(tensor, SAME))
    if parts is None or not DISCOUNT_MIN <= parts[0] < 1:
        return False
    return any(one.type in MADE for one in behind([parts[1].op], through=PICKING, most=WAY_MAX))


def _unread(graph: Any, beside: Any) -> Iterator[str]:
    """The names of a function's arguments, of one number for each sample as one of them, that no operation reads."""
    size = beside.outputs[0].shape
    for one in _arguments(graph):
        if not one.consumers() and one.shape.rank in (1, 2) and one.shape.is_compatible_with(size):
            yield str(one.op.name)


def _arguments(graph: Any) -> list[Tensor]:
    """What a function is given, without what it takes from around it."""
    captured = {id(inner) for _, inner in graph.captures} if hasattr(graph, "captures") else set()
    return [one for one in getattr(graph, "inputs", ()) if id(one) not in captured and one.dtype != tf.resource]

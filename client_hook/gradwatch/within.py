"""Activation functions that the user's own code calls: within a layer of their own, or between a model's layers.

What a layer of Keras gives is seen where it arises (`gradwatch.layer`); a gate, an attention's softmax or a relu that
is called by hand is an operation of the graph, found on the way to the loss. Owns no state, adds no ops.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Final, NamedTuple

from gradwatch.origin import is_own, is_users, layer_of, source_of

__all__ = ["FUNCTIONS", "FUNCTIONS_MAX", "Function", "find_functions"]

FUNCTIONS: Final = {"Relu": "relu", "Relu6": "relu6", "Sigmoid": "sigmoid", "Softmax": "softmax", "Tanh": "tanh"}
"""Keras' names of the functions that have an end, by TensorFlow's types of operations."""
FUNCTIONS_MAX: Final = 32
"""Of one step, the first ones: each is a tensor more to measure."""
_COMPOSED: Final = frozenset(
    {"gelu", "glu", "hard_silu", "log_sigmoid", "mish", "silu", "softplus", "swish", "swish_impl"}
)
"""Functions of which a sigmoid or tanh is a part, and which go on where that is at its end."""
Tensor = Any  # tensorflow ships no types


class Function(NamedTuple):
    """One call of an activation function.

    Attributes:
        name: Keras' name of it.
        layer: the Keras path of the layer in which it is called.
        output: what it gives.
        source: file, line and code of the call, None where the user's code has none.
    """

    name: str
    layer: str
    output: Tensor
    source: dict[str, Any] | None


def find_functions(learned: Sequence[Any], layer_paths: Sequence[str], tapped: Set[int]) -> list[Function]:
    """The functions that are taken of what is learned, and are not what a layer gives.

    Args:
        learned: the operations on the way to a loss that depend on what is trained, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.
        tapped: the ids of the tensors that layers give.

    Returns:
        In that order, those called by the user's own code in one of these layers: the first `FUNCTIONS_MAX`.
    """
    found: list[Function] = []
    for op in learned:
        if op.type in FUNCTIONS and id(op.outputs[0]) not in tapped and is_own(op) and not _is_composed(op):
            layer = layer_of(op.name, layer_paths)
            if layer:
                found.append(Function(FUNCTIONS[op.type], layer, op.outputs[0], source_of(op)))
    return found[:FUNCTIONS_MAX]


def _is_composed(op: Any) -> bool:
    """Whether it is made by a function such as gelu, of a framework's or of the user's own."""
    for frame in reversed(op.traceback):
        if frame.name in _COMPOSED:
            return True
        if is_users(frame.filename):
            return False
    return False

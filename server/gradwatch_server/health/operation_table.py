"""The risky operations of one stream, as the hook announced them (docs/contract.md, "operations"). Owns no numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gradwatch.protocol import OPERATION_STATISTICS

__all__ = ["ARCS", "ENTROPIES", "EXPONENTIALS", "OPERATION_COLUMN", "Operation", "find_lone_softmax"]

OPERATION_COLUMN: Final = {name: place for place, name in enumerate(OPERATION_STATISTICS)}

ARCS: Final = frozenset({"Acos", "Asin", "Atanh"})
ENTROPIES: Final = ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
NEAR_ONE: Final = 1e-3
"""An epsilon beside 1 is no larger."""
EXPONENTIALS: Final = frozenset({"Exp", "Expm1", "Sinh", "Cosh", "BesselI0", "BesselI1"})
_BOUNDS: Final = frozenset({"Maximum", "Minimum", "ClipByValue"})
_SUMS: Final = frozenset({"Add", "AddV2"})
_LOGARITHMS: Final = frozenset({"Log", "Log1p"})
_FADING: Final = frozenset({"Softmax", "Sigmoid", "Exp"})


@dataclass(frozen=True)
class Operation:
    """One risky operation.

    Attributes:
        place: its place in execution order among the stream's risky ones, -1 where it is none of them.
        type: TensorFlow's type of it.
        name: its name in the graph.
        layer: the Keras path of its layer, or None where it is in none.
        is_gradient: whether the tape added it.
        forward_type: for a gradient operation, the type of the operation that it differentiates, or None.
        forward_name: and its name.
        forward_place: and its place, -1 where it is not in the table.
        source: file, line and code of the user's own call, or None.
        input_type: the type of the operation that makes the input that counts, or None where that is not told.
        input_constant: the number that one adds, subtracts from or bounds by, or None.
        input_least: what is left at least where it subtracts what is bounded, or None.
        input_from: what that one's own input subtracts from, where it only adds a constant or bounds by one, or None.
        is_of_exponential: whether that is made of exponentials, added up or multiplied.
        is_lost: whether what is to keep it from 0 is 0 itself in half precision.
        dtype: what its output is, such as ``float16``, or None where that is not told.
        inside: of a call, loop or condition, the user's risky operations in it.
    """

    place: int
    type: str
    name: str
    layer: str | None
    is_gradient: bool
    forward_type: str | None
    forward_name: str | None
    forward_place: int
    source: Mapping[str, Any] | None
    input_type: str | None = None
    input_constant: float | None = None
    input_least: float | None = None
    input_from: float | None = None
    is_of_exponential: bool = False
    is_lost: bool = False
    dtype: str | None = None
    inside: tuple[Operation, ...] = ()

    @classmethod
    def table(cls, operations: Sequence[Mapping[str, Any]]) -> tuple[Operation, ...]:
        """Reads the field ``operations`` of a ``tensors`` message."""
        places = {str(operation["name"]): place for place, operation in enumerate(operations)}
        return tuple(cls.read(operation, places) for operation in operations)

    @classmethod
    def read(cls, operation: Mapping[str, Any], places: Mapping[str, int]) -> Operation:
        """Reads one operation of a message; ``places`` are those of the stream's risky operations by name."""
        forward, made_by = operation.get("forward") or {}, operation.get("input") or {}
        inside = tuple(cls._read_inner(operation, inner) for inner in operation.get("inside") or ())
        source = operation.get("source")
        if len(inside) == 1 or (inside and source is None):
            source = inside[0].source
        return cls(
            place=places.get(str(operation["name"]), -1),
            type=str(operation["type"]),
            name=str(operation["name"]),
            layer=str(operation["layer"]) if operation.get("layer") else None,
            is_gradient=bool(operation.get("is_gradient")),
            forward_type=forward.get("type"),
            forward_name=forward.get("name"),
            forward_place=places.get(str(forward.get("name")), -1),
            source=source,
            input_type=made_by.get("type"),
            input_constant=None if made_by.get("constant") is None else float(made_by["constant"]),
            input_least=None if made_by.get("least") is None else float(made_by["least"]),
            input_from=None if made_by.get("from") is None else float(made_by["from"]),
            is_of_exponential=bool(made_by.get("exponential")),
            is_lost=bool(made_by.get("lost")),
            dtype=operation.get("dtype"),
            inside=inside,
        )

    @classmethod
    def _read_inner(cls, outer: Mapping[str, Any], inner: Mapping[str, Any]) -> Operation:
        return cls(
            place=-1,
            type=str(inner["type"]),
            name=str(outer["name"]),
            layer=str(outer["layer"]) if outer.get("layer") else None,
            is_gradient=False,
            forward_type=None,
            forward_name=None,
            forward_place=-1,
            source=inner["source"],
        )

    @property
    def function(self) -> str:
        """The type of what the user wrote: of the forward operation, where this is its gradient."""
        return self.forward_type or self.type

    @property
    def is_held(self) -> bool:
        """Whether a constant in the graph keeps its input away from the singular point: an epsilon, a bound."""
        made_by, constant = self.input_type, self.input_constant
        if made_by is None or constant is None:
            return False
        if self.function in ARCS:
            return made_by in _BOUNDS and abs(constant) < 1
        if self.function in EXPONENTIALS:
            return made_by == "Minimum"
        return self.floor is not None

    @property
    def floor(self) -> float | None:
        """What a constant in the graph adds to its input, or does not let it fall below: above 0, or None."""
        if self.input_least is not None:
            return self.input_least
        constant = self.input_constant
        return constant if self.input_type in {*_SUMS, "Maximum"} and constant is not None and constant > 0 else None

    @property
    def norm_floor(self) -> float | None:
        """What is added in a square root: where its input is no larger, it is the norm of zeros, whose slope is 0."""
        is_norm = self.function == "Sqrt" and self.input_type in _SUMS and self.is_held
        return self.input_constant if is_norm else None

    @property
    def is_entropy(self) -> bool:
        """Whether it takes the softmax and the logarithm of scores in one."""
        return self.type in ENTROPIES

    @property
    def is_from_one(self) -> bool:
        """Whether its input is the difference of 1 and something, which rounds to 0 long before numbers end."""
        return self.input_type == "Sub" and self.input_constant == 1

    @property
    def is_of_rest(self) -> bool:
        """Whether it is the logarithm of what a probability leaves of 1, whatever holds it above 0."""
        if self.type == "Log1p":
            return self.input_type == "Neg"
        from_ = self.input_constant if self.input_type == "Sub" else self.input_from
        return self.type == "Log" and from_ is not None and abs(from_ - 1) <= NEAR_ONE

    @property
    def is_free(self) -> bool:
        """Whether its input is known to have no epsilon in it: it comes straight from a function that fades to 0."""
        return self.input_type in _FADING

    @property
    def code(self) -> str:
        """The user's line, empty where it is not known."""
        return str((self.source or {}).get("code") or "")


def find_lone_softmax(operations: Sequence[Operation]) -> Operation | None:
    """A softmax in the user's own lines, outside all layers, where no logarithm stands in such a line, or None.

    What becomes a loss without a logarithm of its own goes to one that takes both, a softmax once more and a logarithm.
    """
    own = [one for one in operations if not one.is_gradient and not one.layer and one.code]
    if any(one.type in _LOGARITHMS for one in own):
        return None
    return next((one for one in own if one.type == "Softmax"), None)

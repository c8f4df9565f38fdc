"""The risky operations of one stream, as the hook announced them (docs/contract.md, "operations"). Owns no numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gradwatch.protocol import OPERATION_STATISTICS

__all__ = ["OPERATION_COLUMN", "Operation"]

OPERATION_COLUMN: Final = {name: place for place, name in enumerate(OPERATION_STATISTICS)}


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

    @classmethod
    def table(cls, operations: Sequence[Mapping[str, Any]]) -> tuple[Operation, ...]:
        """Reads the field ``operations`` of a ``tensors`` message."""
        places = {str(operation["name"]): place for place, operation in enumerate(operations)}
        return tuple(cls.read(operation, places) for operation in operations)

    @classmethod
    def read(cls, operation: Mapping[str, Any], places: Mapping[str, int]) -> Operation:
        """Reads one operation of a message; ``places`` are those of the stream's risky operations by name."""
        forward = operation.get("forward") or {}
        return cls(
            place=places.get(str(operation["name"]), -1),
            type=str(operation["type"]),
            name=str(operation["name"]),
            layer=str(operation["layer"]) if operation.get("layer") else None,
            is_gradient=bool(operation.get("is_gradient")),
            forward_type=forward.get("type"),
            forward_name=forward.get("name"),
            forward_place=places.get(str(forward.get("name")), -1),
            source=operation.get("source"),
        )

    @property
    def function(self) -> str:
        """The type of what the user wrote: of the forward operation, where this is its gradient."""
        return self.forward_type or self.type

    @property
    def code(self) -> str:
        """The user's line, empty where it is not known."""
        return str((self.source or {}).get("code") or "")

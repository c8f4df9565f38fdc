"""The risky operations of one stream: which they are, and the rows in which one of them went wrong. Words nothing.

A hook takes the numbers of the operations at some steps, and at every step whose gradient or loss is not finite
(docs/contract.md, "operations").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gradwatch.protocol import OPERATION_STATISTICS
from gradwatch_server.health.block import Block
from gradwatch_server.health.episode import EPISODES_LIMIT, RECOVERY_ROWS

__all__ = ["OPERATION_COLUMN", "Account", "Operation", "OperationRecord", "OperationRule", "find_account"]

OPERATION_COLUMN: Final = {name: place for place, name in enumerate(OPERATION_STATISTICS)}
_OUT, _IN = OPERATION_COLUMN["n_nonfinite"], OPERATION_COLUMN["n_nonfinite_in"]

Bool = npt.NDArray[np.bool_]
Float32 = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Operation:
    """One risky operation.

    Attributes:
        place: its place in execution order.
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
        result = []
        for place, operation in enumerate(operations):
            forward = operation.get("forward") or {}
            result.append(
                cls(
                    place=place,
                    type=str(operation["type"]),
                    name=str(operation["name"]),
                    layer=str(operation["layer"]) if operation.get("layer") else None,
                    is_gradient=bool(operation.get("is_gradient")),
                    forward_type=forward.get("type"),
                    forward_name=forward.get("name"),
                    forward_place=places.get(str(forward.get("name")), -1),
                    source=operation.get("source"),
                )
            )
        return tuple(result)

    @property
    def function(self) -> str:
        """The type of what the user wrote: of the forward operation, where this is its gradient."""
        return self.forward_type or self.type


@dataclass(frozen=True, eq=False)
class OperationRecord:
    """One row in which an operation had non-finite outputs that it usually has not.

    Attributes:
        stream: the stream's number.
        step: the row's step.
        previous_step: the step of the captured row before it, -1 if there is none.
        operations: the stream's operations.
        row: ``[n_operations, 6]``.
        is_usual_out: ``[n_operations]`` whether each had non-finite outputs while the gradient was finite (a mask).
        is_usual_in: ``[n_operations]`` likewise for its inputs.
    """

    stream: int
    step: int
    previous_step: int
    operations: tuple[Operation, ...]
    row: Float32
    is_usual_out: Bool
    is_usual_in: Bool


@dataclass(frozen=True)
class Account:
    """What a record says about where non-finite values came from.

    Attributes:
        step: the record's step.
        culprit: the first operation that made non-finite values of finite ones, or None.
        carrier: where there is no such: the first that had non-finite values already in its inputs, or None.
        numbers: the culprit's (or carrier's) numbers, by name; NaN where unknown. Of a gradient operation that has no
            singular point of its own, its forward operation's.
        n_broken: operations with unusual non-finite outputs.
    """

    step: int
    culprit: Operation | None
    carrier: Operation | None
    numbers: Mapping[str, float]
    n_broken: int

    @property
    def is_forward_finite(self) -> bool:
        """Whether nothing on the way to the loss was seen to break."""
        first = self.culprit or self.carrier
        return first is not None and first.is_gradient


class OperationRule:
    """Watches one stream's operations, and keeps the rows in which something began to break.

    Args:
        stream: the stream's number.
        operations: its operations.
    """

    def __init__(self, stream: int, operations: tuple[Operation, ...]) -> None:
        self._stream, self._operations = stream, operations
        self._is_usual_out = np.zeros(len(operations), bool)
        self._is_usual_in = np.zeros(len(operations), bool)
        self._previous_step = -1
        self._is_broken = False
        self.records: list[OperationRecord] = []

    def feed(self, block: Block) -> None:
        """Takes rows; one in which no operation was looked at changes nothing."""
        if not self._operations:
            return
        n_out, n_in = block.operations[:, :, _OUT], block.operations[:, :, _IN]
        is_captured = ~np.isnan(n_out).all(axis=1)
        is_out, is_in = n_out > 0, n_in > 0
        if not self._is_broken and not is_out.any() and not is_in.any():
            if is_captured.any():
                self._previous_step = int(block.steps[is_captured][-1])
            return
        is_healthy = ~block.has_nonfinite_gradient & block.is_loss_finite
        for row in np.flatnonzero(is_captured):
            self._take(int(block.steps[row]), block.operations[row], is_out[row], is_in[row], bool(is_healthy[row]))

    def _take(self, step: int, row: Float32, is_out: Bool, is_in: Bool, is_healthy: bool) -> None:
        is_broken = bool((is_out & ~self._is_usual_out).any())
        if is_broken and not self._is_broken and len(self.records) < EPISODES_LIMIT:
            self.records.append(
                OperationRecord(
                    self._stream,
                    step,
                    self._previous_step,
                    self._operations,
                    row.copy(),
                    self._is_usual_out.copy(),
                    self._is_usual_in.copy(),
                )
            )
        if is_healthy:
            self._is_usual_out |= is_out
            self._is_usual_in |= is_in
        self._is_broken = is_broken
        self._previous_step = step


def find_account(records: Sequence[OperationRecord], stream: int, step: int) -> Account | None:
    """What is known of the operations when a NaN or Inf began.

    Args:
        records: of all streams.
        stream: the stream in which it began, -1 for any.
        step: the step at which it began.

    Returns:
        The account of that step. Where no operation was looked at in it, that of the next row, if an operation broke
        there although its inputs were finite. None where neither tells anything.
    """
    for record in records:
        if (stream < 0 or record.stream == stream) and record.previous_step < step <= record.step:
            account = _judge(record)
            is_late = record.step > step
            if is_late and (record.step - step > RECOVERY_ROWS or account.culprit is None):
                continue
            return account
    return None


def _judge(record: OperationRecord) -> Account:
    is_broken = (record.row[:, _OUT] > 0) & ~record.is_usual_out
    is_fed = (record.row[:, _IN] > 0) & ~record.is_usual_in
    makers, broken = np.flatnonzero(is_broken & ~is_fed), np.flatnonzero(is_broken)
    culprit = record.operations[int(makers[0])] if len(makers) else None
    carrier = record.operations[int(broken[0])] if len(broken) else None
    if culprit is not None and culprit.is_gradient and carrier is not None and not carrier.is_gradient:
        culprit = None  # the forward pass was broken before it
    named = culprit or carrier
    return Account(
        step=record.step,
        culprit=culprit,
        carrier=None if culprit is not None else carrier,
        numbers={} if named is None else _read_numbers(record, named),
        n_broken=len(broken),
    )


def _read_numbers(record: OperationRecord, operation: Operation) -> dict[str, float]:
    own = dict(zip(OPERATION_STATISTICS, record.row[operation.place].tolist(), strict=True))
    if operation.forward_place >= 0 and not own["n_singular"] > 0:
        forward = dict(zip(OPERATION_STATISTICS, record.row[operation.forward_place].tolist(), strict=True))
        own |= {name: forward[name] for name in ("margin", "amplification", "n_singular", "n_in")}
    return own

"""Which operation broke first: the rows in which a risky one did, a hook's search, and what they say. Words nothing.

A hook takes the numbers of the risky operations at some steps, and at every step whose gradient or loss is not finite;
it may also compute such a step again and tell the operation of any type that broke (docs/contract.md, "operations" and
"Origin").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gradwatch.protocol import OPERATION_STATISTICS
from gradwatch_server.health.block import Block
from gradwatch_server.health.episode import EPISODES_LIMIT, RECOVERY_ROWS
from gradwatch_server.health.operation_table import OPERATION_COLUMN, Operation

__all__ = ["Account", "OperationRecord", "OperationRule", "Origin", "find_account"]

_OUT, _IN = OPERATION_COLUMN["n_nonfinite"], OPERATION_COLUMN["n_nonfinite_in"]

Bool = npt.NDArray[np.bool_]
Float32 = npt.NDArray[np.float32]


RECORDS_LIMIT: Final = 8 * EPISODES_LIMIT
"""An episode of broken rows, a few of which are good in between, has several."""


@dataclass(frozen=True, eq=False)
class OperationRecord:
    """One row in which the gradient broke, or an operation had non-finite outputs that it usually has not.

    Attributes:
        stream: the stream's number.
        step: the row's step.
        previous_step: the step of the captured row before it, -1 if there is none.
        operations: the stream's operations.
        row: ``[n_operations, 6]``.
        is_usual_out: ``[n_operations]`` whether each had non-finite outputs while the gradient was finite (a mask).
        is_usual_in: ``[n_operations]`` likewise for its inputs.
        has_past: whether a row had been seen before in which loss and gradient were finite.
    """

    stream: int
    step: int
    previous_step: int
    operations: tuple[Operation, ...]
    row: Float32
    is_usual_out: Bool
    is_usual_in: Bool
    has_past: bool


@dataclass(frozen=True, eq=False)
class Origin:
    """What a hook found by computing a bad step again.

    Attributes:
        stream: the stream's number.
        step: the step.
        operation: the operation that made the first non-finite values.
        n_nonfinite: non-finite elements of its output.
        n_nonfinite_in: and of its inputs (an Inf that 0 was multiplied with).
        n_elements: elements of its output.
        chain: the way from it to the gradients, as plain JSON values, itself first.
        numbers: its margin, amplification, inputs at the singular point and inputs at all, where the hook told them.
    """

    stream: int
    step: int
    operation: Operation
    n_nonfinite: float
    n_nonfinite_in: float
    n_elements: float
    chain: tuple[Mapping[str, Any], ...]
    numbers: Mapping[str, float]

    @classmethod
    def read(cls, stream: int, message: Mapping[str, Any], operations: Sequence[Operation]) -> Origin:
        """Reads one entry of the field ``origins`` of a ``rows`` message."""
        numbers = message.get("numbers") or {}
        places = {operation.name: operation.place for operation in operations}
        return cls(
            stream=stream,
            step=int(message["step"]),
            operation=Operation.read(message["operation"], places),
            n_nonfinite=float(message["n_nonfinite"]),
            n_nonfinite_in=float(message["n_nonfinite_in"]),
            n_elements=float(message["n_elements"]),
            chain=tuple(dict(link) for link in message.get("chain") or ()),
            numbers={name: float(number) for name, number in numbers.items() if number is not None},
        )

    def leads_to(self, operation: Operation) -> bool:
        """Whether the way from here to the gradients passes an operation."""
        return any(link.get("name") == operation.name for link in self.chain)


@dataclass(frozen=True)
class Account:
    """What is known about where non-finite values came from.

    Attributes:
        step: the record's step.
        culprit: the first operation that made non-finite values of finite ones, or None.
        carrier: where there is no such: the first that had non-finite values already in its inputs, or None (then no
            operation that was looked at broke).
        numbers: the culprit's (or carrier's) numbers, by name; NaN where unknown. Of a gradient operation that has no
            singular point of its own, its forward operation's.
        n_broken: operations with unusual non-finite outputs.
        n_seen: operations that were looked at.
        origin: what the hook found by computing the step again, if the culprit is known from there.
        also: another operation that broke independently, by the other witness.
        dtype: what the culprit's layer computes in, as far as known.
    """

    step: int
    culprit: Operation | None
    carrier: Operation | None
    numbers: Mapping[str, float]
    n_broken: int
    n_seen: int
    origin: Origin | None = None
    also: Operation | None = None
    dtype: str | None = None


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
        self._is_broken = self._has_past = False
        self.records: list[OperationRecord] = []

    def feed(self, block: Block) -> None:
        """Takes rows; one in which no operation was looked at changes nothing."""
        if not self._operations:
            return
        n_out, n_in = block.operations[:, :, _OUT], block.operations[:, :, _IN]
        is_captured = ~np.isnan(n_out).all(axis=1)
        is_out, is_in = n_out > 0, n_in > 0
        is_gradient_broken = block.has_nonfinite_gradient
        if not (self._is_broken or is_out.any() or is_in.any() or is_gradient_broken.any()):
            if is_captured.any():
                self._previous_step = int(block.steps[is_captured][-1])
                self._has_past |= bool(block.is_loss_finite[is_captured].any())
            return
        for row in np.flatnonzero(is_captured):
            is_broken = bool(is_gradient_broken[row] or (is_out[row] & ~self._is_usual_out).any())
            if is_broken and not self._is_broken:
                self._keep(block, int(row))
            if block.is_loss_finite[row] and not is_gradient_broken[row]:
                self._is_usual_out |= is_out[row]
                self._is_usual_in |= is_in[row]
                self._has_past = True
            self._is_broken, self._previous_step = is_broken, int(block.steps[row])

    def _keep(self, block: Block, row: int) -> None:
        if len(self.records) >= RECORDS_LIMIT:
            if not block.is_scaled[row]:
                return
            del self.records[0]  # loss scaling provokes an overflow now and then; what matters is the last one
        self.records.append(
            OperationRecord(
                stream=self._stream,
                step=int(block.steps[row]),
                previous_step=self._previous_step,
                operations=self._operations,
                row=block.operations[row].copy(),
                is_usual_out=self._is_usual_out.copy(),
                is_usual_in=self._is_usual_in.copy(),
                has_past=self._has_past,
            )
        )

    def began_forward(self, step: int) -> bool:
        """Whether what broke at a step began with an operation of the forward pass that is finite as a rule."""
        record = next((record for record in reversed(self.records) if record.step == step), None)
        culprit = None if record is None or not record.has_past else _judge(record).culprit
        return culprit is not None and not culprit.is_gradient


def find_account(
    records: Sequence[OperationRecord], origins: Sequence[Origin], stream: int, step: int
) -> Account | None:
    """What is known of the operations when a NaN or Inf began.

    Args:
        records: of all streams.
        origins: of all streams.
        stream: the stream in which it began, -1 for any.
        step: the step at which it began.

    Returns:
        The account of that step. Where no operation was looked at in it, that of the next row, if an operation broke
        there although its inputs were finite. None where neither tells anything.
    """
    tapped = _find_tapped(records, stream, step)
    origin = next((o for o in origins if (stream < 0 or o.stream == stream) and o.step == step), None)
    if origin is None:
        return tapped
    culprit = None if tapped is None or tapped.step != step else tapped.culprit
    if tapped is None or culprit is None:
        return _account_of(origin, tapped)
    if culprit.name == origin.operation.name:
        return replace(tapped, origin=origin)
    if origin.leads_to(culprit):
        return _account_of(origin, tapped)
    if _is_before(culprit, origin):
        return tapped if origin.n_nonfinite_in > 0 else replace(tapped, also=origin.operation)
    return replace(_account_of(origin, tapped), also=culprit)


def _is_before(operation: Operation, origin: Origin) -> bool:
    """Whether an operation that was seen to break runs before an origin that it does not come from."""
    other = origin.operation
    if operation.is_gradient != other.is_gradient:
        return other.is_gradient
    # An Inf went into the origin: it came from somewhere before.
    return origin.n_nonfinite_in > 0 or 0 <= operation.place < other.place


def _account_of(origin: Origin, tapped: Account | None) -> Account:
    unknown = dict.fromkeys(OPERATION_STATISTICS, float("nan"))
    found = {"n_nonfinite": origin.n_nonfinite, "n_nonfinite_in": origin.n_nonfinite_in}
    return Account(
        step=origin.step,
        culprit=origin.operation,
        carrier=None,
        numbers=unknown | found | dict(origin.numbers),
        n_broken=0 if tapped is None else tapped.n_broken,
        n_seen=0 if tapped is None else tapped.n_seen,
        origin=origin,
    )


def _find_tapped(records: Sequence[OperationRecord], stream: int, step: int) -> Account | None:
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
        n_seen=int((~np.isnan(record.row[:, _OUT])).sum()),
    )


def _read_numbers(record: OperationRecord, operation: Operation) -> dict[str, float]:
    own = dict(zip(OPERATION_STATISTICS, record.row[operation.place].tolist(), strict=True))
    if operation.forward_place >= 0 and not own["n_singular"] > 0:
        forward = dict(zip(OPERATION_STATISTICS, record.row[operation.forward_place].tolist(), strict=True))
        own |= {name: forward[name] for name in ("margin", "amplification", "n_singular", "n_in")}
    return own

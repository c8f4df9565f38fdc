"""What may run out of numbers: channels, each a quantity over the rows with the limit at which its type ends.

Owns which quantities are followed, and how they are read from a block. Judges nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.nonfinite import LOSS_SCALE_FLOOR
from gradwatch_server.health.operation_table import ARCS, EXPONENTIALS, OPERATION_COLUMN, Operation
from gradwatch_server.health.steep import REACHES_ZERO, is_judged
from gradwatch_server.health.table import TensorTable

__all__ = ["Channel", "FullChannels", "list_frequent", "read_frequent"]

LARGEST: Final = {"float16": 65_504.0, "float32": 3.4028235e38, "bfloat16": 3.3895314e38}
"""Where a type of numbers ends (IEEE 754, table 3.5; bfloat16: 8 bits of exponent as float32)."""
SMALLEST: Final = {"float16": 5.96e-8, "float32": 1.18e-38, "bfloat16": 1.18e-38}
"""Where it rounds to 0 (float32's subnormal numbers are flushed by XLA and by most kernels; float16's are kept)."""
ROUNDING: Final = {"float16": 4.88e-4, "float32": 5.96e-8, "bfloat16": 3.91e-3}
"""Half the distance between 1 and the next number: a difference of 1 and something nearer than that is exactly 0."""
HELD_LIMIT: Final = 1e-13
"""Below every epsilon in common use (1e-12 and above) an input is held by nothing; above, it may be."""
LOW_SHARE: Final = 0.9
"""Of the way from 1 to overflow. What is exponentiated with more of it left is as often something that never rises much
above 0: the logarithm of a probability or of a density, minus a distance."""
SEARCH_ROWS: Final = 100
"""Dynamic loss scaling finds its scale by halving it step after step, 15 times at most; a fall over more rows is
another thing."""

_WRITTEN_EXP: Final = re.compile(r"\bexp|sinh|cosh|bessel")
_GUARD: Final = re.compile(r"clip|\b(?:min|max)imum\b")

Float = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Channel:
    """One quantity that is followed.

    Attributes:
        quantity: as in `gradwatch_server.health.episode.Trend`.
        limit: where its numbers end.
        is_log: whether its logarithm is followed, else itself.
        column: its tensor, -1 for none.
        operation: its operation, of a margin.
        dtype: its type of numbers, "" where it has none.
        gate: it counts only at or below this value.
        n_rows_min: and only in windows of at least so many rows.
    """

    quantity: str
    limit: float
    is_log: bool = True
    column: int = -1
    operation: Operation | None = None
    dtype: str = ""
    gate: float = math.inf
    n_rows_min: int = 0

    @property
    def end(self) -> float:
        """The limit on the scale on which it is followed."""
        return math.log(self.limit) if self.is_log else self.limit

    def read(self, value: float) -> float:
        """A followed value as a number of the quantity."""
        return math.exp(value) if self.is_log else value


def list_frequent() -> tuple[Channel, ...]:
    """What is captured at (nearly) every row: the gradient's norm, the loss, the loss scale."""
    largest = LARGEST["float32"]
    return (
        Channel("gradient", largest, dtype="float32"),
        Channel("loss", largest, dtype="float32"),
        Channel("loss_scale", LOSS_SCALE_FLOOR, n_rows_min=SEARCH_ROWS),
    )


def read_frequent(block: Block) -> Float:
    """``[n, 3]`` their logarithms; NaN where not captured, not finite or not positive."""
    scale = np.where(block.is_scaled, block.loss_scale, np.nan)
    return _log(np.stack([block.global_norm, block.loss, scale], axis=1))


class FullChannels:
    """The largest |value| of outputs, backprop and weights, and the margins of operations in the user's own lines.

    Args:
        table: the stream's tensor table.
        operations: its operations.
    """

    def __init__(self, table: TensorTable, operations: Sequence[Operation]) -> None:
        half = [column for column in table.gradient if table.dtypes[column] == "float16"]
        self._columns = np.array([*table.activation, *table.backprop, *table.weight, *half], np.int64)
        peaks = [
            Channel(table.kinds[column], LARGEST[table.dtypes[column]], column=int(column), dtype=table.dtypes[column])
            for column in self._columns
            if table.dtypes[column] in LARGEST
        ]
        self._columns = np.array([channel.column for channel in peaks], np.int64)
        # The scale is on what comes back from the loss: there an overflow is its own doing.
        self._is_scaled = np.array([channel.quantity in {"backprop", "gradient"} for channel in peaks], bool)
        margins = [channel for o in operations if (channel := _margin_of(o, table)) is not None]
        self._places = np.array([c.operation.place for c in margins if c.operation is not None], np.int64)
        self._is_log = np.array([channel.is_log for channel in margins], bool)
        self.channels: tuple[Channel, ...] = (*peaks, *margins)

    def read(self, block: Block) -> tuple[npt.NDArray[np.int64], Float]:
        """Rows in which any of it was captured, and its followed values ``[n_rows, n_channels]``."""
        ends = block.statistics[:, self._columns, COLUMN["min"] : COLUMN["max"] + 1]
        margin = block.operations[:, self._places, OPERATION_COLUMN["margin"]]
        is_seen = np.concatenate([~np.isnan(ends[:, :, 0]), ~np.isnan(margin)], axis=1).any(axis=1)
        rows = np.flatnonzero(is_seen)
        if not len(rows):
            return rows, np.zeros((0, len(self.channels)))
        peak = np.abs(ends[rows]).max(axis=2)
        peak[block.is_nonfinite[rows][:, self._columns]] = np.nan
        if block.is_scaled[rows].any():
            peak[np.ix_(block.is_scaled[rows], self._is_scaled)] = np.nan
        near = margin[rows].astype(np.float64)
        near[:, self._is_log] = _log(near[:, self._is_log])
        return rows, np.concatenate([_log(peak), near], axis=1)


def _margin_of(operation: Operation, table: TensorTable) -> Channel | None:
    """The channel of an operation's distance from its singular point, None where it cannot or need not be followed."""
    dtype = table.dtype_of_layer(operation.layer) or "float32"
    if operation.is_gradient or operation.is_held or dtype not in LARGEST:
        return None
    if operation.type in EXPONENTIALS and _WRITTEN_EXP.search(operation.code):
        gate = LOW_SHARE * math.log(LARGEST[dtype])
        return Channel("margin", 0.0, is_log=False, operation=operation, dtype=dtype, gate=gate)
    # Whether something holds an arc inside of ±1 is to be read in the line, where the hook does not say.
    is_arc = operation.type in ARCS and (operation.input_type is not None or not _GUARD.search(operation.code))
    if not is_judged(operation) or not (is_arc or operation.type in REACHES_ZERO):
        return None
    if is_arc or operation.is_from_one:
        return Channel("margin", ROUNDING[dtype], operation=operation, dtype=dtype)
    gate = math.inf if operation.is_free else HELD_LIMIT
    return Channel("margin", SMALLEST[dtype], operation=operation, dtype=dtype, gate=gate)


def _log(values: npt.NDArray[np.float32] | Float) -> Float:
    values = values.astype(np.float64)
    return np.asarray(np.log(values, out=np.full(values.shape, np.nan), where=(values > 0) & (values < np.inf)))

"""The messages between hook and server, and their codec. Owns no socket and no clock.

Every message is a msgpack map with a ``type``. Numbers travel as raw little-endian blocks beside their
shape, so that a thousand tensors cost one ``memcpy``. ``docs/contract.md`` has the table of messages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import msgpack
import numpy as np
import numpy.typing as npt

from gradwatch.errors import ProtocolError

__all__ = [
    "ALIKE_PLACE",
    "BLANK_PLACE",
    "COLUMN_STATISTICS",
    "FIRST_STATISTICS",
    "KINDS",
    "LEAKED_PLACES",
    "MASKED_PLACE",
    "NEXT_PLACE",
    "N_BAD_ROWS",
    "OPERATION_STATISTICS",
    "PADDED_PLACE",
    "PROTOCOL_VERSION",
    "ROUNDED_PLACE",
    "SAME_PLACE",
    "STATISTICS",
    "TRUNCATED_PLACE",
    "TWICE_PLACE",
    "columns_message",
    "decode",
    "decode_columns",
    "decode_rows",
    "decode_scalars",
    "encode",
    "find_correlated",
    "is_loss",
    "name_correlation",
    "rows_message",
    "scalars_message",
]

PROTOCOL_VERSION: Final = 1
KINDS: Final = ("gradient", "weight", "update", "activation", "backprop", "input", "slot", "operation")
STATISTICS: Final = (
    "norm",
    "min",
    "max",
    "mean",
    "std",
    "n_nan",
    "n_pos_inf",
    "n_neg_inf",
    "n_zero",
    "n_elements",
    "n_saturated",
    "cosine_distance",
)
FIRST_STATISTICS: Final = STATISTICS[:10]
"""What a tensor table means that does not name its statistics: those of the first hooks."""
OPERATION_STATISTICS: Final = ("n_nonfinite", "n_nonfinite_in", "margin", "amplification", "n_singular", "n_in")
"""What is known of a risky operation at a step, in this order on the wire."""
COLUMN_STATISTICS: Final = ("n_nonfinite", "min", "max")
"""What is known of a feature column of an input, in this order on the wire."""
N_BAD_ROWS: Final = 8
"""The first rows of a batch with a non-finite element that are named; all are counted."""
LEAKED_PLACES: Final = 4_096
"""The scalar ``leaked`` is so many times the number of an input, plus the number of its column that is the target,
counted from 1; negative where the column is that of a sequence's last time. Where it is `LEAKED_PLACES` itself, all of
a sequence of integers, or of ones among zeros, is its own target; negative where it is not known whether the model
keeps each time of it."""
NEXT_PLACE: Final = LEAKED_PLACES - 1
"""In place of the column: each target of a sequence of integers is its next number, and the model sees that."""
SAME_PLACE: Final = LEAKED_PLACES - 2
"""Likewise: the input and another one, or a target, hold the same numbers, and the step needs two that differ."""
BLANK_PLACE: Final = LEAKED_PLACES - 3
"""Likewise: a sequence of labels begins with 0, and that is the blank of the loss."""
PADDED_PLACE: Final = LEAKED_PLACES - 4
"""Likewise: the sequences of the input end in padding, and the end is what a recurrent layer hands on."""
ROUNDED_PLACE: Final = LEAKED_PLACES - 5
"""In place of all: of most variances, as differences of two large numbers, nothing but rounding is left."""
TWICE_PLACE: Final = LEAKED_PLACES - 6
"""In place of the column: the targets of a sequence of integers are its next numbers, and the loss moves them again."""
MASKED_PLACE: Final = LEAKED_PLACES - 7
"""Likewise: 0 stands among the numbers of sequences, and is masked as padding."""
TRUNCATED_PLACE: Final = LEAKED_PLACES - 8
"""In place of the column, the input being the cast of that number: ids with fractions of which 0 and 1 are left."""
ALIKE_PLACE: Final = LEAKED_PLACES - 9
"""In place of all: the samples of a batch are one and the same in all that a model is given, with different targets."""
TARGET_CORRELATION: Final = "target_correlation"
"""The scalar that tells how far outputs follow the target; that of ``target/NAME`` is ``target_correlation/NAME``."""
_TARGET: Final = "target"

MESSAGE_SIZE_LIMIT_BYTES: Final = 64 * 1024 * 1024
"""Larger than 128 rows of 10,000 tensors; a peer that sends more is broken."""

Message = dict[str, Any]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


def is_loss(name: str) -> bool:
    """Whether a scalar is a loss of training, by its name: ``loss``, ``d_loss``, ``loss/critic``, not ``val_loss``."""
    words = set(re.split(r"[^a-z]+", name.lower()))
    return "loss" in words and not {"val", "validation", "test", "scale"} & words and find_correlated(name) is None


def name_correlation(target: str) -> str:
    """The scalar that tells how far outputs follow a target, by the target's name in the tensor table."""
    return TARGET_CORRELATION + target.removeprefix(_TARGET)


def find_correlated(scalar: str) -> str | None:
    """The name of the target that a scalar tells that of; None: it is no such scalar."""
    return _TARGET + scalar.removeprefix(TARGET_CORRELATION) if scalar.startswith(TARGET_CORRELATION) else None


def encode(message: Message) -> bytes:
    """Packs one message.

    Args:
        message: a map with at least ``type``; values of msgpack's own types.

    Returns:
        The bytes of one binary websocket message.

    Raises:
        ProtocolError: a value has a type that msgpack does not know.
    """
    try:
        packed: bytes = msgpack.packb(message, use_bin_type=True)
    except (TypeError, ValueError, OverflowError) as error:
        raise ProtocolError(f"cannot encode a {message.get('type')!r} message: {error}") from error
    return packed


def decode(data: bytes | str) -> Message:
    """Unpacks one message.

    Args:
        data: the bytes of one binary websocket message.

    Returns:
        The message, a map that has a text ``type``.

    Raises:
        ProtocolError: text, broken msgpack, no map, or no ``type``.
    """
    if isinstance(data, str):
        raise ProtocolError(f"expected a binary msgpack message, got text starting {data[:40]!r}")
    try:
        message = msgpack.unpackb(data, raw=False, strict_map_key=True)
    except Exception as error:  # msgpack raises many unrelated types on broken input
        raise ProtocolError(f"expected a msgpack map, got {len(data)} bytes that do not decode: {error}") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ProtocolError(f"expected a map with a text 'type', got {type(message).__name__}")
    return message


def rows_message(
    *,
    seq: int,
    stream: int,
    steps: Int64,
    times: Float64,
    statistics: Float32,
    scalars: Float32,
    scalars_present: npt.NDArray[np.uint8],
    n_lost: int,
    cost: float | None,
    n_skipped: int = 0,
    operations: Float32 | None = None,
    origins: Sequence[Message] = (),
    assigned: Sequence[Message] = (),
) -> Message:
    """Builds a ``rows`` message.

    Args:
        seq: the message's place in the run's log.
        stream: the optimizer's stream.
        steps: ``[n_rows]`` int64.
        times: ``[n_rows]`` float64, unix seconds.
        statistics: ``[n_rows, n_tensors, 12]`` float32, in the order of `STATISTICS`; NaN is "not captured".
        scalars: ``[n_rows, n_scalars]`` float32, possibly non-finite.
        scalars_present: ``[n_rows, n_scalars]`` uint8, 1 where a scalar was captured.
        n_lost: rows overwritten before they could be read, since the last message.
        cost: the hook's share of wall time since the last message, 0 to 1, or None when not yet measured.
        n_skipped: steps among these whose update was skipped because a gradient was not finite.
        operations: ``[n_rows, n_operations, 6]`` float32, in the order of `OPERATION_STATISTICS`; None for none.
        origins: the operations that made the first non-finite values of bad steps.
        assigned: what somebody else made of weights between steps.

    Returns:
        The message as a map.
    """
    return {
        "type": "rows",
        "seq": seq,
        "stream": stream,
        "n_rows": len(steps),
        "steps": np.ascontiguousarray(steps, "<i8").tobytes(),
        "times": np.ascontiguousarray(times, "<f8").tobytes(),
        "statistics": np.ascontiguousarray(statistics, "<f4").tobytes(),
        "scalars": np.ascontiguousarray(scalars, "<f4").tobytes(),
        "scalars_present": np.ascontiguousarray(scalars_present, "u1").tobytes(),
        "n_lost": n_lost,
        "cost": cost,
        "n_skipped": n_skipped,
        "operations": b"" if operations is None else np.ascontiguousarray(operations, "<f4").tobytes(),
        "origins": list(origins),
        "assigned": list(assigned),
    }


def scalars_message(*, seq: int, name: str, steps: Int64, times: Float64, values: Float32) -> Message:
    """Builds a ``scalars`` message, one scalar's values over some steps (all arrays ``[n_rows]``)."""
    return {
        "type": "scalars",
        "seq": seq,
        "name": name,
        "n_rows": len(steps),
        "steps": np.ascontiguousarray(steps, "<i8").tobytes(),
        "times": np.ascontiguousarray(times, "<f8").tobytes(),
        "values": np.ascontiguousarray(values, "<f4").tobytes(),
    }


def columns_message(
    *,
    seq: int,
    stream: int,
    tensor: str,
    steps: Int64,
    times: Float64,
    columns: Float32,
    bad_rows: Int64,
    n_bad_rows: Int64,
    n_lost: int = 0,
) -> Message:
    """Builds a ``columns`` message: the feature columns and bad rows of one input over some steps.

    Args:
        seq: the message's place in the run's log.
        stream: the stream whose tensor table has the input.
        tensor: the input's name there.
        steps: ``[n_rows]`` int64: those with full statistics or a non-finite input.
        times: ``[n_rows]`` float64, unix seconds.
        columns: ``[n_rows, n_columns, 3]`` float32, in the order of `COLUMN_STATISTICS`; no columns where there are too
            many to tell.
        bad_rows: ``[n_rows, 8]`` int64, the first rows of the batch with a non-finite element, -1 for none.
        n_bad_rows: ``[n_rows]`` int64, how many there are.
        n_lost: how many steps were overwritten before they could be read, since the last message.

    Returns:
        The message as a map.
    """
    return {
        "type": "columns",
        "seq": seq,
        "stream": stream,
        "tensor": tensor,
        "n_rows": len(steps),
        "n_columns": int(columns.shape[1]),
        "steps": np.ascontiguousarray(steps, "<i8").tobytes(),
        "times": np.ascontiguousarray(times, "<f8").tobytes(),
        "columns": np.ascontiguousarray(columns, "<f4").tobytes(),
        "bad_rows": np.ascontiguousarray(bad_rows, "<i8").tobytes(),
        "n_bad_rows": np.ascontiguousarray(n_bad_rows, "<i8").tobytes(),
        "n_lost": n_lost,
    }


def decode_rows(
    message: Message,
    *,
    n_tensors: int,
    n_scalars: int,
    n_operations: int = 0,
    statistics: Sequence[str] = STATISTICS,
) -> Message:
    """Replaces the raw blocks of a ``rows`` message by arrays.

    Args:
        message: a decoded ``rows`` message.
        n_tensors: the length of the stream's tensor table.
        n_scalars: the number of the stream's scalars.
        n_operations: the number of the stream's operations.
        statistics: the names of the message's statistics, as the stream's tensor table gives them.

    Returns:
        A copy with ``steps`` ``[n]`` int64, ``times`` ``[n]`` float64, ``statistics`` ``[n, n_tensors, 12]`` float32
        in the order of `STATISTICS` (NaN for those that the message does not have),
        ``scalars`` ``[n, n_scalars]`` float32, ``scalars_present`` ``[n, n_scalars]`` bool and ``operations``
        ``[n, n_operations, 6]`` float32.

    Raises:
        ProtocolError: a field is missing, or a block's size disagrees with ``n_rows`` and the tensor table.
    """
    n = _count(message)
    message = {"operations": b"", **message}  # a hook that captures none may leave them out
    steps = _block(message, "steps", "<i8", (n,))
    block = _block(message, "statistics", "<f4", (n, n_tensors, len(statistics)))
    return message | {
        "steps": steps,
        "times": _block(message, "times", "<f8", (n,)),
        "operations": _block(message, "operations", "<f4", (n, n_operations, len(OPERATION_STATISTICS))),
        "statistics": block if tuple(statistics) == STATISTICS else _in_order(block, statistics),
        "scalars": _block(message, "scalars", "<f4", (n, n_scalars)),
        "scalars_present": _block(message, "scalars_present", "u1", (n, n_scalars)).astype(bool),
    }


def _in_order(block: Float32, statistics: Sequence[str]) -> Float32:
    """A block ``[n, n_tensors, len(statistics)]`` with its columns as in `STATISTICS`."""
    ordered = np.full((*block.shape[:2], len(STATISTICS)), np.nan, np.float32)
    for column, name in enumerate(statistics):
        if name in STATISTICS:
            ordered[..., STATISTICS.index(name)] = block[..., column]
    return ordered


def decode_scalars(message: Message) -> Message:
    """Replaces the raw blocks of a ``scalars`` message by arrays ``[n_rows]``; errors as `decode_rows`."""
    n = _count(message)
    return message | {
        "steps": _block(message, "steps", "<i8", (n,)),
        "times": _block(message, "times", "<f8", (n,)),
        "values": _block(message, "values", "<f4", (n,)),
    }


def decode_columns(message: Message) -> Message:
    """Replaces the raw blocks of a ``columns`` message by arrays as in `columns_message`; errors as `decode_rows`."""
    n, n_columns = _count(message), _count(message, "n_columns")
    return message | {
        "steps": _block(message, "steps", "<i8", (n,)),
        "times": _block(message, "times", "<f8", (n,)),
        "columns": _block(message, "columns", "<f4", (n, n_columns, len(COLUMN_STATISTICS))),
        "bad_rows": _block(message, "bad_rows", "<i8", (n, N_BAD_ROWS)),
        "n_bad_rows": _block(message, "n_bad_rows", "<i8", (n,)),
    }


def _count(message: Message, name: str = "n_rows") -> int:
    n = message.get(name)
    if not isinstance(n, int) or isinstance(n, bool) or n < 0:
        raise ProtocolError(f"{message['type']}: expected {name} to be a count, got {n!r}")
    return n


def _block(message: Message, name: str, dtype: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    data = message.get(name)
    if not isinstance(data, bytes):
        raise ProtocolError(f"{message['type']}: expected {name} to be bytes, got {type(data).__name__}")
    expected = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if len(data) != expected:
        raise ProtocolError(f"{message['type']}: expected {name} {list(shape)} to be {expected} bytes, got {len(data)}")
    return np.frombuffer(data, dtype).reshape(shape)

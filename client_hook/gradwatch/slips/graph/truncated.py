"""Ids that are cut to whole numbers before they look up a table, in the graph. Owns no state.

Ids that come as floating-point numbers are whole ones. Where they were scaled with the columns beside them, to between
0 and 1 or by their deviation, all become 0 or next to it, and one row of the table stands for all. Whether they were is
seen when the step runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import tensorflow as tf
from tensorflow.python.ops.handle_data_util import get_resource_handle_data

from gradwatch.origin import slip_of
from gradwatch.walk import PASSING, is_given, passed

__all__ = ["are_scaled", "find_given", "find_truncated"]

HANDING: Final = frozenset({"Cast", "Identity"})
FITTING: Final = frozenset({*PASSING, "Maximum", "Minimum"}) - {"Cast"}
"""What stands between ids and the table that is read with them; a `SelectV2` there counts from the table's end."""
DATA: Final = frozenset({*PASSING, "GatherV2", "RealDiv", "Split", "SplitV", "Sub", "Unpack"}) - {"StopGradient"}
"""What stands between a step's arguments and ids: parts of a table, and what standardises it."""
ROWS_MIN: Final = 4
"""Of a table: -1, 0 and 1 may be all that there are of fewer."""
CASTS_MAX: Final = 4
DEPTH_MAX: Final = 8
NUMBERS_MIN: Final = 8
WHOLE: Final = 1e-3
"""What a whole number of float32 misses one by, at the most."""
SCALED_SHARE: Final = 0.5
"""Of the numbers that are not 0, those with a fraction."""
Tensor = Any  # tensorflow ships no types


def find_truncated(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Casts of what a step was given to whole numbers that look up a table; no slip, unless these had fractions.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Cast``), name, layer and source line of each, the first `CASTS_MAX`, ``truncates``: its place among
        them, from 1, and ``rows``: how many the table has.
    """
    found: dict[str, dict[str, Any]] = {}
    for op in forward:
        cast = _cast_before(op)
        rows = 0 if cast is None else _rows_of(op)
        if cast is not None and rows >= ROWS_MIN and is_given(cast.inputs[0], DATA):
            found.setdefault(cast.name, {**slip_of(cast, layer_paths), "rows": rows})
    return [slip | {"truncates": place} for place, slip in enumerate(list(found.values())[:CASTS_MAX], 1)]


def find_given(graphs: Sequence[Any], names: Sequence[str]) -> list[Tensor | None]:
    """What the casts of these names are given, in the first of these graphs that has them; None where none has."""
    ops = {op.name: op for graph in reversed(graphs) for op in graph.get_operations()}
    casts = [ops.get(name) for name in names]
    return [None if one is None or one.type != "Cast" else one.inputs[0] for one in casts]


def are_scaled(given: Tensor) -> Tensor:
    """Whether most numbers have fractions, and nothing but -1, 0 and 1 is left without them: a scalar truth."""
    values = tf.reshape(given, [-1])
    is_known, has_fraction = values != 0, tf.abs(values - tf.round(values)) > WHOLE
    n_known, n_cut = (tf.reduce_sum(tf.cast(one, tf.float32)) for one in (is_known, has_fraction))
    is_left = tf.reduce_all(tf.abs(values) < 2)  # not so of a NaN
    return is_left & (n_known >= NUMBERS_MIN) & (n_cut > SCALED_SHARE * n_known)


def _cast_before(op: Any) -> Any | None:
    """What makes whole numbers of floating-point ones that an operation reads rows by; None for anything else."""
    if op.type not in ("GatherV2", "OneHot", "ResourceGather"):
        return None
    index = op.inputs[0 if op.type == "OneHot" else 1]
    for _ in range(DEPTH_MAX):
        made = index.op
        if made.type == "Cast" and made.inputs[0].dtype.is_floating:
            return made
        if made.type not in FITTING | {"Cast", "SelectV2"}:
            return None
        index = made.inputs[2 if made.type == "SelectV2" else 0]
    return None


def _rows_of(op: Any) -> int:
    """How many rows a table has that is read from a variable, or how many ids are told apart; 0 if that is unknown."""
    if op.type == "OneHot":
        return int(tf.get_static_value(op.inputs[1]) or 0)
    if op.type == "GatherV2":
        table, axis = passed(op.inputs[0], HANDING), tf.get_static_value(op.inputs[2])
        shape = table.outputs[0].shape if table.type == "ReadVariableOp" and axis == 0 else tf.TensorShape(None)
    else:
        data = get_resource_handle_data(op.inputs[0])
        shape = tf.TensorShape(data.shape_and_type[0].shape if data.is_set and data.shape_and_type else None)
    return int(shape[0] or 0) if shape.rank else 0

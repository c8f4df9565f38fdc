"""Quantile losses of the error with the other sign, in the graph. Owns no state.

``max(q e, (q - 1) e)`` of ``e = target - prediction`` is lowest at the quantile q, and of ``prediction - target`` at
1 - q. ``max((1 - q) e, -q e)`` is right for the latter, and has the same numbers for another quantile: the user's lines
tell them apart. What costs more where too much is predicted has these numbers, too: a file that speaks of no quantile
may ask for that.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.origin import layer_of, slip_of
from gradwatch.slips.graph.signs import signs_in
from gradwatch.walk import reads_variable

__all__ = ["find_quantile"]

CHOOSING: Final = frozenset({"Select", "SelectV2"})
ABOVE: Final = frozenset({"Greater", "GreaterEqual"})
MEDIAN: Final = 0.5
ROUNDING: Final = 1e-5
LESS_ONE: Final = re.compile(r"\w\s*-\s*1(\.0*)?\s*\)")
ONE_LESS: Final = re.compile(r"(?<![\w.])1(\.0*)?\s*-\s*\w")
WORDS: Final = re.compile(r"(?i)quantile|pinball|percentile")
JOINING: Final = frozenset({"ConcatV2"})
Tensor = Any  # tensorflow ships no types


def find_quantile(forward: Sequence[Any], loss: Tensor | None, layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first quantile loss of a prediction less its target, where it is written for a target less its prediction.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        loss: what is made small; None where it is not known.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Maximum`` or ``SelectV2``), name, layer and source line, and ``quantile``: the one that the line asks
        for, the largest of several; 1 less it is learned.
    """
    for op in forward if loss is not None else ():
        if op.type != "Maximum" and not (op.type in CHOOSING and op.inputs[0].op.type in ABOVE):
            continue
        parts = [_scaled(one.op) for one in op.inputs[-2:]]
        first, second = parts
        if first is None or second is None or first[1] is not second[1] or layer_of(op.name, layer_paths):
            continue
        (one, error), other = first, second[0]
        if one.shape != other.shape or not error.dtype.is_floating:
            continue
        if op.type in CHOOSING and (not (one > other).all() or op.inputs[0].op.inputs[0] is not error):
            continue
        asked = float(np.maximum(one, other).max(initial=0.0))
        is_apart = bool((np.abs(np.abs(one - other) - 1) < ROUNDING).all())
        is_pinball = is_apart and 0 < asked < 1 and abs(asked - MEDIAN) > ROUNDING
        if is_pinball and _is_of_prediction(error.op) and set(signs_in(op.outputs[0], loss, JOINING)) == {1}:
            slip = slip_of(op, layer_paths)
            if _is_for_targets(slip["source"]):
                return [slip | {"quantile": asked}]
    return []


def _is_for_targets(source: dict[str, Any] | None) -> bool:
    """Whether a line of a quantile loss is written for a target less its prediction."""
    if source is None or not LESS_ONE.search(source["code"]):
        return False
    around = (source.get("excerpt") or {}).get("lines", [])
    is_turned = any(ONE_LESS.search(line) for line in (source["code"], *around))
    return not is_turned and WORDS.search("".join(linecache.getlines(source["file"]))) is not None


def _scaled(op: Any) -> tuple[Any, Tensor] | None:
    """The numbers that an operation multiplies by, which are known while the step is traced, and what."""
    if op.type != "Mul":
        return None
    both = zip(op.inputs, reversed(op.inputs), strict=True)
    values = [(tf.get_static_value(one), other) for one, other in both]
    known = [(np.asarray(value), other) for value, other in values if value is not None]
    return known[0] if len(known) == 1 else None


def _is_of_prediction(error: Any) -> bool:
    """Whether an error is a prediction less its target."""
    return error.type == "Sub" and [reads_variable(one, None) for one in error.inputs] == [True, False]

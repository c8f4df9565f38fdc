"""Gradients that a script adds up in variables of its own, and whether it ever sets them back.

Owns which variables were assigned to while something is watched, and by which calls. Of the sums only this is known:
what a step reads them from, how often another number was written into them since, and from which line.
"""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow.python.ops.control_flow_v2_func_graphs import CondBranchFuncGraph
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

from gradwatch.origin import GRADIENT_SCOPE, frames, is_users, source_at
from gradwatch.tap import find_handle

__all__ = [
    "are_from_tape",
    "around_function",
    "cleared_from",
    "count_cleared",
    "find_sums",
    "is_cleared",
    "note_added",
    "note_assigned",
]

Tensor = Any  # tensorflow ships no types

_PASSING: Final = {"Identity", "Cast", "Mul", "RealDiv", "ReadVariableOp", "Reshape"}
"""Operations that a sum passes on its way to the optimizer: it is read, averaged, clipped."""
OPS_MAX: Final = 20
"""On that way."""

SAME: Final = 1e-6
"""By how much of itself a number may differ from a multiple of another, for rounding."""


PLACED_MAX: Final = 4
"""Calls of a function whose line is looked for: it is run in every step, perhaps."""


@dataclass(eq=False)
class _Writer:
    """What assigns to variables, or subtracts from them: a compiled function, or what runs eagerly.

    Attributes:
        handles: of the variables.
        is_known: whether these are all; not of a function that was traced before anything was watched.
        n: how often it was called.
        place: the user's file and line that called it, of its first calls the last.
        time: when, as a number that grows.
    """

    handles: set[int] = field(default_factory=set)
    is_known: bool = True
    n: int = 0
    place: tuple[str, int] | None = None
    time: int = 0

    def note(self) -> None:
        """It was called now."""
        self.n += 1
        self.time = _clock[0] = _clock[0] + 1
        if self.n <= PLACED_MAX:
            here = (one for one in frames() if is_users(one.f_code.co_filename))
            self.place = next(((one.f_code.co_filename, one.f_lineno) for one in here), None)


_clock: Final = [0]
_functions: weakref.WeakKeyDictionary[Any, _Writer] = weakref.WeakKeyDictionary()
_at_once: dict[int, _Writer] = {}
"""By the handle of a variable what assigns to it eagerly."""
_in_functions: set[int] = set()
"""The handles of variables that were assigned to, or subtracted from, in a function: whenever that is called."""
_uncounted: set[int] = set()
"""Those of them where a call of the function may do so more than once, or the call is not seen."""
_before: dict[frozenset[int], tuple[int, int]] = {}
"""How often sums had been cleared when they were found: eagerly, and in all."""


class _Running(threading.local):
    """The functions that are being called in a thread, the innermost last."""

    def __init__(self) -> None:
        self.functions: list[_Writer] = []


_running = _Running()
_added: dict[int, weakref.ref[Any]] = {}
"""By their handles the variables of floats that were added to, the newest last."""


def find_sums(gradients: Sequence[Any]) -> frozenset[int]:
    """The handles of the variables that gradients are read from; none unless all of them are.

    Args:
        gradients: as an optimizer is given them: None, a tensor, or the variable itself. An eager tensor does not tell
            where it was read: it is known by its numbers, which are those of a variable that was added to, or all of
            them in the same ratio.
    """
    known = [one for one in gradients if one is not None]
    found = _find_by_numbers(known) if _are_eager(known) else [_find_variable(one) for one in known]
    sums = frozenset() if None in found else frozenset(handle for handle in found if handle is not None)
    if sums:
        _before[sums] = (_count_eager(sums), _count(sums))  # what was set to 0 before the first step may never be again
    return sums


def are_from_tape(gradients: Sequence[Any]) -> bool:
    """Whether each gradient, as an optimizer is given it in a graph, is what a tape made of this very step."""
    found = [getattr(one, "values", one) for one in gradients if one is not None]
    return bool(found) and all(tf.is_symbolic_tensor(one) and GRADIENT_SCOPE in one.op.name for one in found)


def is_cleared(sums: frozenset[int]) -> bool:
    """Whether anything was written into one of these variables since they were found, or is by a function."""
    return not sums.isdisjoint(_in_functions) or _count_eager(sums) > _before.get(sums, (0, 0))[0]


def count_cleared(sums: frozenset[int], steps: npt.NDArray[np.int64]) -> Any:
    """0 where nothing was written into these variables since they were found, nor is by a function.

    Else 1 and how often something was: a call that may have written counts, and where calls cannot be counted it was
    at each of the steps.
    """
    if not is_cleared(sums):
        return 0
    _, before = _before.get(sums, (0, 0))
    return 1 + steps if sums & _uncounted else 1 + _count(sums) - before


def cleared_from(sums: frozenset[int]) -> dict[str, Any] | None:
    """The user's line that had something written into these variables last, or called the function that did."""
    writers = [*(_at_once[one] for one in sums & _at_once.keys()), *_functions_of(sums)]
    newest = max((one for one in writers if one.is_known), key=lambda one: one.time, default=None)
    return None if newest is None or newest.place is None else source_at([newest.place])


def around_function(original: Callable[..., Any], function: Any, *args: Any, **kwargs: Any) -> Any:
    """In place of a compiled function's ``__call__``: what it assigns to is known from when it was traced."""
    writer = _functions.get(function)
    if writer is None:
        writer = _functions[function] = _Writer(is_known=not function.experimental_get_tracing_count())
    stack = _running.functions
    stack.append(writer)
    try:
        return original(function, *args, **kwargs)
    finally:
        stack.pop()
        if not writer.is_known or writer.handles:
            _note_called(writer, stack)


def _note_called(writer: _Writer, around: list[_Writer]) -> None:
    if tf.executing_eagerly():
        writer.note()
    elif around:
        around[-1].is_known &= writer.is_known
        _note_traced(writer.handles)


def note_assigned(variable: tf.Variable) -> None:
    """A variable is about to be assigned to, or subtracted from."""
    handle = variable.handle._id
    if tf.executing_eagerly():
        _at_once.setdefault(handle, _Writer({handle})).note()
    else:
        _note_traced({handle})


def _note_traced(handles: set[int]) -> None:
    """These variables are assigned to in the graph that is being built: once in each call of its function, or not."""
    stack, n, graph = _running.functions, 0, tf.compat.v1.get_default_graph()
    _in_functions.update(handles)
    while hasattr(graph, "outer_graph"):
        n += not isinstance(graph, CondBranchFuncGraph)
        graph = graph.outer_graph
    if stack:
        stack[-1].handles |= handles
    if n != len(stack):  # within a loop, or a function of a data set
        _uncounted.update(handles)


def _functions_of(sums: frozenset[int]) -> list[_Writer]:
    """The functions that write into such variables, as far as is known."""
    return [one for one in list(_functions.values()) if not one.is_known or one.handles & sums]


def _count_eager(sums: frozenset[int]) -> int:
    return max((_at_once[one].n for one in sums & _at_once.keys()), default=0)


def _count(sums: frozenset[int]) -> int:
    return _count_eager(sums) + sum(one.n for one in _functions_of(sums))


def note_added(variable: tf.Variable) -> None:
    """A variable is about to be added to."""
    if variable.dtype.is_floating:
        _added.pop(variable.handle._id, None)
        _added[variable.handle._id] = weakref.ref(variable)


def _are_eager(gradients: Sequence[Any]) -> bool:
    is_eager = all(isinstance(one, tf.Tensor) and not tf.is_symbolic_tensor(one) for one in gradients)
    return bool(gradients) and is_eager and tf.executing_eagerly()


def _find_by_numbers(gradients: Sequence[Tensor]) -> list[int | None]:
    """For each eager gradient the handle of a variable that holds its numbers in the ratio of all; None for none."""
    added = {handle: one for handle, ref in list(_added.items()) if (one := ref()) is not None}
    for handle in _added.keys() - added.keys():
        del _added[handle]
    ratio = math.nan
    found: list[int | None] = []
    for gradient in gradients:
        same = [(h, one) for h, one in added.items() if one.shape == gradient.shape and one.dtype == gradient.dtype]
        ratios = ((handle, _ratio_of(one, gradient, ratio)) for handle, one in reversed(same))  # the newest first
        match = next(((handle, own) for handle, own in ratios if not math.isnan(own)), None)
        if match is None:
            return [None]
        found.append(match[0])
        ratio = match[1]
    return found


def _ratio_of(variable: Any, gradient: Tensor, ratio: float) -> float:
    """What a gradient's numbers are to be multiplied by to be a variable's; NaN if by nothing, or not by ``ratio``."""
    sums, values = (one.numpy().astype(np.float64).ravel() for one in (variable, gradient))
    place = int(np.argmax(np.abs(sums))) if sums.size else 0
    if not np.isfinite(sums).all() or not np.isfinite(values).all():
        return math.nan
    if not sums.size or not sums[place] or not values[place]:  # of zeros nothing is known
        return math.nan
    with np.errstate(all="ignore"):
        own = float(sums[place] / values[place])
        is_same = np.allclose(own * values, sums, rtol=SAME, atol=SAME * abs(float(sums[place])))
    is_of_all = math.isnan(ratio) or abs(own - ratio) <= 10 * SAME * abs(ratio)
    return own if is_same and is_of_all else math.nan


def _find_variable(gradient: Any) -> int | None:
    """The handle of the variable that a gradient is read from, on a way that keeps its shape."""
    variable = getattr(gradient, "value", None) if hasattr(gradient, "path") else gradient
    if isinstance(variable, BaseResourceVariable):
        return int(variable.handle._id)
    if not tf.is_symbolic_tensor(gradient):
        return None
    tensor: Tensor = gradient
    for _ in range(OPS_MAX):
        if tensor.op.type == "ReadVariableOp":
            return find_handle(tensor.op.inputs[0])
        sources = [one for one in tensor.op.inputs if one.shape == gradient.shape]
        if tensor.op.type not in _PASSING or len(sources) != 1:
            return None
        tensor = sources[0]
    return None

"""Data sets that begin anew where they are to go on, or keep what is to change, in the user's own files. Runs none."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.origin import frames, frames_of, is_fit, locals_of
from gradwatch.slips.script.fed import (
    chain_of,
    data_slip,
    draws_in_map,
    first_of,
    held_as,
    is_within,
    slip_by_method,
    trained_on,
)
from gradwatch.syntax import last_name, names_in, nodes_in, nodes_of, nodes_of_type

__all__ = ["find_restarted"]

LOOPS: Final = (ast.For, ast.While)
SEEN_MAX: Final = 0.9
"""Of a data set's elements: fewer are seen by who begins it anew again and again."""
MAKING_GENERATORS: Final = frozenset({"Random", "RandomState", "default_rng"})


def find_restarted(files: Sequence[str]) -> list[dict[str, Any]]:
    """Data sets of which a part is never seen, or whose randomness is the same in each epoch.

    Args:
        files: the user's files that are looked at.

    Returns:
        Each with type (``Data``), no name, no layer and the source line, the first of each kind: ``n_seen`` and
        ``n_rows``, of a `tf.data.Dataset` whose iterator is made in each turn of the loop that is being run: how many
        of its elements can be seen, of how many, or, with ``reseeded`` (True), of a generator that is begun anew in
        each epoch and draws from the same state; ``cached`` (True): a data set that keeps what a random map made of its
        samples the first time.
    """
    return first_of(
        (
            _restarted,
            _reseeded,
            _cached,
        ),
        files,
    )


def _restarted(file: str) -> Iterator[dict[str, Any]]:
    for frame in frames_of(file):
        loops = [node for node in nodes_of(file) if isinstance(node, LOOPS) and is_within(node, frame.f_lineno)]
        inner = (loop for loop in loops if any(_is_around(other, loop) for other in loops))
        calls = (node for loop in loops for one in loop.body for node in nodes_in(one))
        begun: list[tuple[Any, tuple[str | None, int]]] = [(one, _taken(one)) for one in inner]
        named = ((one, name) for one in calls if (name := _begun(one)) is not None)
        begun += [(one, (name, 1)) for one, name in named if _is_fed(one, loops, frame.f_lineno)]
        for node, (name, n_batches) in begun:
            seen = None if name is None else _seen_of(held_as(name, frame), n_batches)
            if seen is not None and seen[0] < SEEN_MAX * seen[1]:
                yield data_slip(file, node.lineno, n_seen=seen[0], n_rows=seen[1])


def _reseeded(file: str) -> Iterator[dict[str, Any]]:
    """The lines by which a generator that is begun anew in each epoch draws the same few rows in each."""
    functions = {node.name: node for node in nodes_of_type(file, ast.FunctionDef)}
    calls = (node for node in nodes_of_type(file, ast.Call) if last_name(node) == "from_generator")
    given = [functions.get(node.args[0].id) for node in calls if node.args and isinstance(node.args[0], ast.Name)]
    found = [_seeded(one) for one in given if one is not None]
    if len(given) != 1 or not found or found[0] is None or not _are_epochs(file):
        return
    parts = (
        node.value for one in given if one is not None for node in nodes_in(one) if isinstance(node, ast.Subscript)
    )
    held = [held_as(part.id, frame) for part in parts if isinstance(part, ast.Name) for frame in frames_of(file)]
    n_rows = max((len(one) for one in held if isinstance(one, np.ndarray) and one.ndim), default=0)
    for n_seen in filter(None, map(_taken_of, trained_on(file))):
        if n_seen < SEEN_MAX * n_rows:
            yield data_slip(file, found[0].lineno, n_seen=n_seen, n_rows=n_rows, reseeded=True)


def _seeded(function: ast.FunctionDef) -> ast.Assign | None:
    """The statement of a generator that makes what it draws from, each time in the same state."""
    if not any(isinstance(node, ast.Yield) for node in nodes_in(function)):
        return None
    own = {one.arg for one in function.args.args}
    for node in (one for one in function.body if isinstance(one, ast.Assign)):
        made = node.value
        if not isinstance(made, ast.Call) or last_name(made) not in MAKING_GENERATORS or len(made.args) != 1:
            continue
        drawing = [one for one in nodes_in(function) if isinstance(one, ast.Call) and one is not made]
        to = ast.unparse(node.targets[0])
        is_drawn = any(isinstance(one.func, ast.Attribute) and ast.unparse(one.func.value) == to for one in drawing)
        is_fixed = isinstance(made.args[0], (ast.Constant, ast.Name)) and not own & {one.id for one in names_in(made)}
        if is_drawn and is_fixed:
            return node
    return None


def _are_epochs(file: str) -> bool:
    """Whether the step that is being run stands in a loop within a loop, or in a `fit` of several epochs."""
    for frame in frames():
        loops = [node for node in nodes_of_type(file, ast.For) if is_within(node, frame.f_lineno)]
        if frame.f_code.co_filename == file and len(loops) > 1:
            return True
        if is_fit(frame):
            return int(locals_of(frame).get("epochs") or 1) > 1
    return False


def _taken_of(data: Any) -> int | None:
    """How many rows one pass over a data set gives of a generator; None where that is not known."""
    chain = chain_of(data)
    kinds = [type(one).__name__ for one in chain]
    place = next((i for i, kind in enumerate(kinds) if "TakeDataset" in kind), None)
    if place is None or not any("FlatMap" in kind for kind in kinds):
        return None
    spec = tf.nest.flatten(chain[place].element_spec)[0]
    shape = spec.shape.as_list() if isinstance(spec, tf.TensorSpec) and spec.shape.rank else []
    is_batched_later = any("Batch" in kind for kind in kinds[:place])
    size = 1 if is_batched_later else (shape or [None])[0]
    count = tf.get_static_value(chain[place]._count)
    return None if size is None or count is None or count < 0 else int(count) * int(size)


def _is_around(loop: Any, inner: Any) -> bool:
    return loop is not inner and bool(loop.lineno <= inner.lineno and inner.end_lineno <= loop.end_lineno)


def _taken(loop: ast.AST) -> tuple[str | None, int]:
    """The name of which a loop goes over the first so many batches; None where it goes over anything else."""
    call = loop.iter if isinstance(loop, ast.For) else None
    if isinstance(call, ast.Call) and last_name(call) == "take" and isinstance(call.func, ast.Attribute):
        of, n = call.func.value, call.args[0] if call.args else None
        if isinstance(of, ast.Name) and isinstance(n, ast.Constant) and isinstance(n.value, int):
            return of.id, n.value
    return None, 0


def _begun(node: ast.AST) -> str | None:
    """The name of which ``next(iter(name))`` is asked; None for anything else."""
    if not isinstance(node, ast.Call) or last_name(node) != "next" or not node.args:
        return None
    inner = node.args[0]
    is_begun = isinstance(inner, ast.Call) and last_name(inner) == "iter" and len(inner.args) == 1
    of = inner.args[0] if is_begun and isinstance(inner, ast.Call) else None
    return of.id if isinstance(of, ast.Name) else None


def _is_fed(call: ast.AST, loops: Sequence[Any], line: int) -> bool:
    """Whether the line that is being run takes what a call gives, itself or by a name."""
    statements = [one for loop in loops for one in nodes_in(loop) if _is_simple(one)]
    own = [one for one in statements if any(node is call for node in nodes_in(one))]
    running = [one for one in statements if is_within(one, line)]
    given = {node.id for one in own if isinstance(one, ast.Assign) for to in one.targets for node in names_in(to)}
    used = {node.id for one in running for node in names_in(one)}
    return bool(given & used) or any(one in running for one in own)


def _is_simple(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt) and not hasattr(node, "body")


def _seen_of(data: Any, n_batches: int) -> tuple[int, int] | None:
    """How many rows of a data set its first batches may hold, and how many there are; None where that is not known."""
    if not isinstance(data, tf.data.Dataset):
        return None
    n_batch, n_buffer, n_rows = n_batches, 0, 0
    chain = chain_of(data)
    for part in chain:
        sizes = [getattr(part, name, None) for name in ("_batch_size", "_buffer_size")]
        n_of_batch, n_of_buffer = (0 if one is None else int(one) for one in sizes)
        if "Batch" in type(part).__name__ and n_of_batch > 0:
            n_batch *= n_of_batch
            n_buffer *= n_of_batch  # of a shuffle after this: it was counted in batches
        if "Shuffle" in type(part).__name__:
            n_buffer = max(n_buffer, n_of_buffer)
    if getattr(chain[-1], "_input_dataset", None) is None:
        n_rows = int(chain[-1].cardinality())
    return (n_buffer + n_batch, n_rows) if n_rows > 0 else None


def _cached(file: str) -> Iterator[dict[str, Any]]:
    return slip_by_method(file, "cache", _keeps_draws, cached=True)


def _keeps_draws(data: Any) -> bool:
    """Whether a data set keeps what random numbers have made of its samples."""
    chain = chain_of(data)
    cached = next((place for place, one in enumerate(chain) if "Cache" in type(one).__name__), len(chain))
    # Numbers of which all is drawn are data that are made, not changed.
    is_of_samples = any((spec.shape.rank or 0) > 0 for spec in tf.nest.flatten(chain[-1].element_spec))
    return is_of_samples and any(map(draws_in_map, chain[cached + 1 :]))

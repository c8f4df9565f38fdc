"""Dropouts that a training step goes through and that drop nothing, in the graph. Owns no state.

`fit` calls a model in training; in a loop of one's own Keras takes a call for evaluation unless it is told otherwise.
Nor can Keras 3 tell a model of the user's own class whose `call` has no argument for it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any, Final

import keras

from gradwatch.origin import is_users, layer_of, source_at
from gradwatch.syntax import is_taped, nodes_of, nodes_of_type
from gradwatch.target import is_read, path_of, walk

__all__ = ["dropouts_of", "find_undropped"]

DROPPING: Final = (keras.layers.Dropout, keras.layers.AlphaDropout, keras.layers.GaussianDropout)
"""Layers that drop, those of whole maps among them."""
CALLS: Final = frozenset({"If", "StatelessIf", "PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile"})
"""Operations that call a function, which the walk cannot enter."""
LOOPING: Final = (keras.layers.RNN, keras.layers.Bidirectional)
FUNCTIONS: Final = (ast.FunctionDef, ast.Lambda)


def dropouts_of(models: Iterable[Any], trained: Set[int]) -> list[str]:
    """The paths, or names, of the dropouts of models that a step trains.

    None of a model with a batch normalisation: what its running statistics tell of such a call is told of them.

    Args:
        models: the watched models.
        trained: the handles of the variables that the step trains.
    """
    found: list[str] = []
    for model in models:
        parts = list(walk([model]))
        is_trained = is_read(getattr(model, "trainable_variables", ()), trained)
        if is_trained and not any(isinstance(one, keras.layers.BatchNormalization) for one in parts):
            found += [path_of(one) for one in reversed(parts) if _drops(one)]
    return list(dict.fromkeys(found))


def _drops(part: Any) -> bool:
    return isinstance(part, DROPPING) and part.rate > 0


def find_undropped(
    forward: Sequence[Any], models: Sequence[Any], dropouts: Sequence[str], layer_paths: Sequence[str]
) -> list[dict[str, Any]]:
    """Dropouts of trained models where none drops, and the user's call within a tape does not say how it is meant.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        models: the watched models.
        dropouts: those of `dropouts_of`.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        One entry, type ``Dropout``, name and layer of the first dropout, source line of the call, and ``undropped``:
        how many there are; none where anything is drawn in a layer, or where a function is called that may draw. In
        `fit`, with ``untold`` (true), the line of a `call` that has no argument `training`.
    """
    if not dropouts:
        return []
    loops = {str(one.path) for one in walk(models) if isinstance(one, LOOPING)}
    first = None
    for op in forward:
        layer = layer_of(op.name, layer_paths)
        if ("Random" in op.type and layer) or (op.type in CALLS and layer not in loops):
            return []
        first = op if first is None and layer else first
    way = [] if first is None else _way_of(first)
    if any(_is_told(file, line) for file, line in way):
        return []
    place = way[0] if way else _find_untold(models)
    if place is None:
        return []
    where = {"name": dropouts[0], "layer": dropouts[0], "source": source_at([place])}
    return [{"type": "Dropout", **where, "undropped": len(dropouts), **({} if way else {"untold": True})}]


def _way_of(op: Any) -> list[tuple[str, int]]:
    """Files and lines of the user's calls that an operation of a layer comes of, from one within a tape on."""
    lines = [(one.filename, one.lineno) for one in op.traceback if is_users(one.filename)]
    taped = [place for place, (file, line) in enumerate(lines) if _is_within_tape(file, line)]
    return lines[taped[0] :] if taped else []


def _find_untold(models: Iterable[Any]) -> tuple[str, int] | None:
    """File and line of the user's `call` of a model with dropouts that takes no `training`, which Keras 3 hands on."""
    for model in models:
        call = inspect.unwrap(getattr(type(model), "call", find_undropped))
        code = getattr(call, "__code__", None)
        is_untold = getattr(model, "_call_has_training_arg", True) is False
        if is_untold and code is not None and is_users(code.co_filename) and any(map(_drops, walk([model]))):
            return code.co_filename, code.co_firstlineno
    return None


def _is_within_tape(file: str, line: int) -> bool:
    blocks = nodes_of_type(file, ast.With)
    return any(is_taped(node) and node.lineno < line <= (node.end_lineno or 0) for node in blocks)


def _is_told(file: str, line: int) -> bool:
    """Whether a call on a line is told whether it is one in training, by anything but an argument's own default."""
    for call in _calls_on(file, line):
        told = [one.value for one in call.keywords if one.arg in ("training", None)]
        told += [one for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, bool)]
        if any(not _is_default(one, file, line) for one in told):
            return True
    return False


def _calls_on(file: str, line: int) -> Iterator[ast.Call]:
    nodes = nodes_of_type(file, ast.Call)
    return (node for node in nodes if node.lineno <= line <= (node.end_lineno or 0))


def _is_default(value: ast.expr, file: str, line: int) -> bool:
    """Whether a value is an argument of the function around a line that need not be given, as ``training=False``."""
    functions = [node for node in nodes_of(file) if isinstance(node, FUNCTIONS)]
    around = [node.args for node in functions if node.lineno <= line <= (node.end_lineno or 0)]
    names = {one.arg for args in around for one in args.args[len(args.args) - len(args.defaults) :]}
    names |= {one.arg for args in around for one in args.kwonlyargs}
    return isinstance(value, ast.Name) and value.id in names

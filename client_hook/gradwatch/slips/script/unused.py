"""What a script makes and never uses: changed data, outputs of layers, terms of a loss, gradients. Runs none of it.

A tensor, an array or a data set is not changed by what is asked of it: what comes back is the changed one. Where
nothing reads that, the line has no effect. Owns no state.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import re
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any, Final, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from gradwatch.origin import frames_of, locals_of, source_at
from gradwatch.syntax import (
    functions_around,
    is_taped,
    last_name,
    names_in,
    nodes_below,
    nodes_in,
    nodes_of,
    read_in,
    root_name,
    stored_names,
)
from gradwatch.target import walk

__all__ = ["find_unused"]

DATA_SETS: Final = frozenset({"batch", "filter", "map", "padded_batch", "repeat", "shuffle", "unbatch"})
"""Methods of `tf.data.Dataset` that change what a training is given."""
MAKING: Final = re.compile(
    r"data\.Dataset\.|dataset_from_|TFRecordDataset|\.prefetch\(|drop_remainder=|num_parallel_calls=|reshuffle_each_iteration="
)
ARRAYS: Final = frozenset({"astype", "clip", "reshape", "transpose"})
TABLES: Final = frozenset({"drop", "drop_duplicates", "dropna", "fillna", "sample"})
"""Methods that leave an array, or a table, as it is."""
IN_PLACE: Final = frozenset({"inplace", "out"})
CHANGING: Final = frozenset({"cast", "clip_by_value", "one_hot", "stop_gradient", "to_categorical"})
PACKAGES: Final = frozenset({"keras", "nn", "ops", "tf", "utils"})
OTHERS: Final = re.compile(r"(train|update)_(?!state)")
"""Calls that train another network, of two that take turns."""
CELL: Final = re.compile(r"# ?(%%|In ?\[)")
"""What a notebook's cell begins with, where it is saved as a script."""
SCALING: Final = (ast.Div, ast.Mult, ast.Sub)
APPLYING: Final = frozenset({"apply", "apply_gradients"})
SHOWING: Final = frozenset({"eval", "exec", "globals", "locals"})
"""Calls that may read any name."""
COUNTING: Final = frozenset(
    {"argmax", "argmin", "argsort", "cast", "equal", "numpy", "round", "shape", "sign", "top_k"}
)
"""Functions without a gradient: what is made by them is looked at, not learned."""
TERM: Final = re.compile(r"(^|_)(cost|divergence|entropy|gp|kl|loss|penalty|reg|regularization)(_|$)")
TRAINED: Final = frozenset({"trainable_variables", "trainable_weights"})
KEPT: Final = frozenset({"activations", "cache", "features", "hidden", "last_hidden", "losses", "outputs", "state"})
"""Attributes in which a model may hold what it gave when it was last called."""
LOSSES: Final = frozenset(one for one in dir(keras.losses) if one[0] != "_") | {"mae", "mse"}
LAYERS: Final = frozenset(one for one in dir(keras.layers) if one[0].isupper()) - {"Input", "InputLayer", "Layer"}
VARIABLES: Final = TRAINED | {"variables", "weights"}
_Found = tuple[str, ast.stmt | ast.expr, str, ast.stmt | None]


def find_unused(files: Sequence[str], models: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """The lines whose results nothing reads, where a training was to be changed by them.

    Args:
        files: the user's files that are looked at.
        models: the models that are trained; what they hold tells which calls are those of layers.

    Returns:
        The first of each kind, with type (``Line``), the name that it gives its result or whose change is lost, no
        layer, the source line, and ``unused``: ``result``, a data set, an array or a table that is to be changed;
        ``tensor``, a layer's output or a term of a loss; ``overwritten``, a layer's output whose name is given to that
        of another layer, with ``lost``, the source of the first; ``rebound``, the new value of a variable that a loop
        gives to its own name; ``turns``, gradients of a loop, of which those of the
        last turn alone are applied.
    """
    layers = {name for one in walk(models) for name, held in vars(one).items() if isinstance(held, keras.layers.Layer)}
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        for kind, node, name, lost in _in_file(file, frozenset(layers)):
            known = {} if lost is None else {"lost": source_at([(file, lost.lineno)])}
            source = source_at([(file, node.lineno)])
            found.setdefault(
                kind, {"type": "Line", "name": name, "layer": "", "source": source, "unused": kind, **known}
            )
    return list(found.values())


class _Scope(NamedTuple):
    """A function or a module: its own nodes, what is read in it or within, and which calls make what is trained."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
    own: Sequence[ast.AST]
    read: Set[str]
    attributes: Set[str]
    """Of an object, those that are called as layers."""
    models: Set[str]
    """Names that are called as models or layers."""
    losses: Set[str]

    @property
    def functional(self) -> Set[str]:
        """The names of a model's inputs, and of what its layers give."""
        found: set[str] = set()
        for one in self.own:
            call = one.value if isinstance(one, ast.Assign) else None
            if isinstance(one, ast.Assign) and isinstance(call, ast.Call):
                is_new = isinstance(call.func, ast.Call) and last_name(call.func) in LAYERS
                found |= stored_names(one) if is_new or last_name(call) == "Input" else set()
        return found


def _in_file(file: str, layers: Set[str]) -> Iterator[_Found]:
    nodes = nodes_of(file)
    blocks = [block for node in nodes for block in _blocks_of(node)]
    yield from _thrown_away(file)
    for block in blocks:
        yield from _of_turns(block)
    yield from itertools.chain.from_iterable(_rebound(node) for node in nodes if isinstance(node, ast.For))
    held = [node.value for node in nodes if isinstance(node, ast.Attribute) and node.attr in TRAINED]
    models = {one.id for one in held if isinstance(one, ast.Name)} - {"self"} - _asked_of(nodes)
    attributes = layers | {one.attr for one in held if isinstance(one, ast.Attribute)}
    losses: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            models |= stored_names(node) if last_name(node.value) in LAYERS else set()
            losses |= stored_names(node) if last_name(node.value) in LOSSES else set()
    for scope in nodes:
        if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            own = nodes_below(scope)
            if getattr(scope, "name", "") == "call" or any(is_taped(one) or _is_model(one) for one in own):
                read = read_in(scope)
                if SHOWING.isdisjoint(read):
                    yield from _unread(_Scope(scope, own, read, attributes, models, losses))


def _asked_of(nodes: Sequence[ast.AST]) -> Set[str]:
    """The names of models that keep what they give: what a call has left in their losses, say, is read later."""
    return {
        node.value.id
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in KEPT
    }


def _is_model(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node) == "Model" and bool(node.args + node.keywords)


def _blocks_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def _unread(scope: _Scope) -> Iterator[_Found]:
    """Outputs of layers and terms of a loss that nothing reads, of a step, of a `call` or where a model is built."""
    within = {id(one) for block in _blocks_in(scope.node, scope.own) for one in _of_step(block, scope)}
    taped = {id(one) for block in scope.own if is_taped(block) for one in nodes_below(block)}
    functional = scope.functional if any(map(_is_model, scope.own)) else frozenset[str]()
    is_call = getattr(scope.node, "name", "") == "call"
    if not within and not functional and not is_call:
        return

    def is_made(node: ast.stmt) -> bool:
        if not isinstance(node, ast.Assign) or not _only_name(node) or _is_counted(node.value):
            return False
        is_of_layer = (is_call or id(node) in within) and _is_of_layer(node.value, scope)
        return is_of_layer or bool(functional and _is_functional(node.value, functional))

    for node in scope.own:
        name = _only_name(node)
        if name and name not in scope.read and isinstance(node, ast.Assign):
            is_term = id(node) in taped and _is_term(node.value, name, scope)
            if is_term or is_made(node):
                yield "tensor", node, name, None
    for block in _blocks_in(scope.node, scope.own):
        yield from _overwritten(block, is_made)


def _blocks_in(scope: ast.AST, own: Sequence[ast.AST]) -> Iterator[list[ast.stmt]]:
    return (block for node in (scope, *own) for block in _blocks_of(node))


def _of_step(block: Sequence[ast.stmt], scope: _Scope) -> Iterator[ast.AST]:
    """What stands in a block that has a tape, where it is a function's or a loop's."""
    is_body = block is scope.node.body and not isinstance(scope.node, ast.Module)
    is_turn = any(isinstance(one, (ast.For, ast.While)) and block is one.body for one in scope.own)
    for one in block if any(map(is_taped, block)) else ():
        if is_body or is_turn or is_taped(one):
            yield one
            yield from nodes_below(one)


def _overwritten(block: Sequence[ast.stmt], is_made: Callable[[ast.stmt], bool]) -> Iterator[_Found]:
    """The lines that give a name another layer's output before any line has read the one that it had."""
    waiting: dict[str, ast.stmt] = {}
    for node in block:
        name = _only_name(node) if is_made(node) else ""
        for one in names_in(node.value if name and isinstance(node, ast.Assign) else node):
            waiting.pop(one.id, None)
        if name:
            if name in waiting:
                yield "overwritten", node, name, waiting[name]
            waiting[name] = node


def _only_name(node: ast.AST) -> str:
    """The name that a statement gives all of its value to; empty where it is none, or begins with an underscore."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    return target.id if isinstance(target, ast.Name) and target.id[0] != "_" else ""


def _calls_in(node: ast.AST) -> Iterator[ast.Call]:
    return (one for one in nodes_in(node) if isinstance(one, ast.Call))


def _is_counted(value: ast.expr) -> bool:
    return any(last_name(call) in COUNTING for call in _calls_in(value))


def _is_of_layer(value: ast.expr, scope: _Scope) -> bool:
    """Whether a value is made of what a layer or a model gives."""
    for call in _calls_in(value):
        func = call.func
        is_own = isinstance(func, ast.Attribute) and getattr(func.value, "id", "") == "self"
        if (is_own and last_name(func) in scope.attributes) or getattr(func, "id", "") in scope.models:
            return True
    return False


def _is_functional(value: ast.expr, functional: Set[str]) -> bool:
    """Whether a value is the output of a new layer that is given an input of the model, or another one's output."""
    is_new = isinstance(value, ast.Call) and isinstance(value.func, ast.Call) and last_name(value.func) in LAYERS
    return is_new and any(one.id in functional for part in value.args for one in names_in(part))  # type: ignore[attr-defined]


def _is_term(value: ast.expr, name: str, scope: _Scope) -> bool:
    """Whether a value is a loss, or by its name and by how it is made a part of one."""
    calls = list(_calls_in(value))
    if _is_counted(value) or not calls:
        return False
    if any(last_name(call) in LOSSES or getattr(call.func, "id", "") in scope.losses for call in calls):
        return True
    roots = {one.id for call in calls for one in names_in(call.func)}
    return TERM.search(name.lower()) is not None and not roots.isdisjoint({"K", "keras", "ops", "self", "tf"})


def _of_turns(block: Sequence[ast.stmt]) -> Iterator[_Found]:
    """The lines behind a loop, or in every so many of its turns, that apply the gradients of one turn alone."""
    for place, loop in enumerate(block):
        if not isinstance(loop, (ast.For, ast.While)):
            continue
        inner = [one for one in nodes_below(loop) if isinstance(one, ast.Assign)]
        names = {_only_name(one) for one in inner if last_name(one.value) == "gradient"} - {""}
        if not names or any(isinstance(one, ast.Break) for one in nodes_below(loop)):
            continue
        read = {one.id for one in names_in(loop) if not isinstance(one.ctx, ast.Store)}
        for node in block[place + 1 :]:
            yield from (("turns", call, name, loop) for name in names - read for call in _applied(node, name))
        yield from _of_some_turns(loop, names)


def _rebound(loop: ast.For) -> Iterator[_Found]:
    """The lines that compute a variable's new value and give it to the loop's own name for it, which nothing reads."""
    for place, node in enumerate(loop.body):
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if (
            not isinstance(node, ast.Assign)
            or not isinstance(target, ast.Name)
            or not isinstance(node.value, ast.BinOp)
        ):
            continue
        is_new = any(one.id == target.id for one in names_in(node.value))
        later = {one.id for other in (*loop.body[place + 1 :], *loop.orelse) for one in names_in(other)}
        if is_new and target.id not in later and target.id in _variables_in(loop):
            yield "rebound", node, target.id, None


def _variables_in(loop: ast.For) -> set[str]:
    """The names that a loop gives to the variables of a model, in each turn to one."""
    call, names = loop.iter, loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
    lists = call.args if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "zip" else [call]
    pairs = zip(names, lists, strict=False)
    return {
        one.id
        for one, held in pairs
        if isinstance(one, ast.Name) and isinstance(held, ast.Attribute) and held.attr in VARIABLES
    }


def _of_some_turns(loop: ast.For | ast.While, names: Set[str]) -> Iterator[_Found]:
    turn = [
        one for block in loop.body if not isinstance(block, (ast.If, ast.For, ast.While)) for one in nodes_in(block)
    ]
    asked = {_only_name(one) for one in turn if isinstance(one, ast.Assign) and last_name(one.value) == "gradient"}
    read = {one.id for one in turn if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Store)}
    n_applied = sum(last_name(one) in APPLYING or OTHERS.match(last_name(one)) is not None for one in _calls_in(loop))
    for node in (one for one in loop.body if isinstance(one, ast.If) and n_applied == 1):
        is_some = any(isinstance(one, ast.Mod) for one in nodes_in(node.test)) and not node.orelse
        for name in (names & asked) - read if is_some else ():
            yield from (("turns", call, name, loop) for call in _applied(node, name))


def _applied(node: ast.AST, name: str) -> list[ast.Call]:
    """The calls that give an optimizer what has a name."""
    calls = [call for call in _calls_in(node) if last_name(call) in APPLYING]
    return [call for call in calls if any(one.id == name for part in call.args for one in names_in(part))]


def _thrown_away(file: str) -> Iterator[_Found]:
    """The lines that are nothing but an expression which gives something changed, and changes nothing in place."""
    nodes = nodes_of(file)
    lines = [node for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, (ast.BinOp, ast.Call))]
    lines = [node for node in lines if _changed_in(node.value)]
    if not lines:
        return
    tried = {
        id(one) for node in nodes if isinstance(node, (ast.Try, ast.With)) and _is_trial(node) for one in nodes_in(node)
    }
    around = functions_around(nodes)
    used = {ast.dump(node.value) for node in nodes if isinstance(node, (ast.Assign, ast.Return)) and node.value}
    shown = getattr(nodes[0], "body", [])[-1:] if "ipykernel" in file else []
    for node in lines:
        name = _changed_in(node.value)
        is_shown = node in shown or (node.col_offset == 0 and _ends_cell(file, node))
        if id(node) in tried or is_shown or ast.dump(node.value) in used:
            continue
        if _is_changing(node.value, name, file, around.get(id(node))):
            yield "result", node, name, None


def _ends_cell(file: str, node: ast.stmt) -> bool:
    """Whether a line is the last of a notebook's cell, which shows what it gives."""
    lines = linecache.getlines(file)
    if not any(CELL.match(line) for line in lines):
        return False
    later = (line for line in lines[node.end_lineno :] if line.strip())
    return CELL.match(next(later, "# %%")) is not None


def _is_trial(node: ast.Try | ast.With) -> bool:
    items = node.items if isinstance(node, ast.With) else []
    return isinstance(node, ast.Try) or any(last_name(one.context_expr) in ("assertRaises", "raises") for one in items)


def _changed_in(value: ast.expr) -> str:
    """The name of what an expression gives changed; empty where it may change anything in place, or nothing."""
    if isinstance(value, ast.BinOp):
        return root_name(value) if isinstance(value.op, SCALING) else ""
    if not isinstance(value, ast.Call) or any(one.arg in IN_PLACE for one in value.keywords):
        return ""
    name, given = last_name(value), value.args[0] if value.args else None
    if not isinstance(value.func, ast.Attribute):
        return given.id if name == "to_categorical" and isinstance(given, ast.Name) else ""
    root = root_name(value.func)
    if root in PACKAGES:
        is_changed = name in CHANGING or ast.unparse(value.func.value) in ("tf.image", "keras.ops.image")
        return given.id if is_changed and isinstance(given, ast.Name) else ""
    is_drawn = name == "sample" and not any(one.arg == "frac" for one in value.keywords)
    return root if name in DATA_SETS | ARRAYS | TABLES and not is_drawn else ""


def _is_changing(value: ast.expr, name: str, file: str, function: ast.FunctionDef | None) -> bool:
    """Whether what an expression is of is known to be what its methods leave as it is."""
    method = "" if isinstance(value, ast.BinOp) else last_name(value)
    if method == "astype" or (isinstance(value, ast.Call) and root_name(value) in PACKAGES | {"to_categorical"}):
        return True
    held, made = _held(name, file, function), list(_made(name, file, function))
    if method in DATA_SETS:
        is_own = any(root_name(one) == name and last_name(one) in DATA_SETS for one in made)
        is_made = MAKING.search(" ".join(map(ast.unparse, [value, *made]))) is not None
        return isinstance(held, tf.data.Dataset) or is_own or is_made
    if method in TABLES:
        return type(held).__module__.startswith("pandas") or any(root_name(one) in ("pandas", "pd") for one in made)
    parts = [part for one in made for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
    is_made = any(last_name(one) == "load_data" for one in made)
    is_made |= bool(parts) and all(root_name(part) in ("np", "numpy", "tf") for part in parts)
    inner = nodes_in(function) if function is not None else ()
    calls = (one for one in inner if isinstance(one, ast.Call) and root_name(one.func) in ("np", "numpy", "tf"))
    is_given = any(isinstance(one, ast.Name) and one.id == name for call in calls for one in call.args[:1])
    return isinstance(held, (np.ndarray, tf.Tensor)) or is_made or is_given


def _made(name: str, file: str, function: ast.FunctionDef | None) -> Iterator[ast.expr]:
    """What a function, or the module where that function has no such name, gives a name by its statements."""
    nodes = nodes_of(file)
    around = functions_around(nodes)
    assigned = [node for node in nodes if isinstance(node, ast.Assign) and name in stored_names(node)]
    own = [node.value for node in assigned if around.get(id(node)) is function]
    is_given = function is not None and any(one.arg == name for one in function.args.args)
    yield from own if own or is_given else (node.value for node in assigned if around.get(id(node)) is None)


def _held(name: str, file: str, function: ast.FunctionDef | None) -> Any:
    """What the running code holds by the name of a module or of a function; None for nothing."""
    for frame in frames_of(file):
        if function is None:
            return frame.f_globals.get(name)
        if frame.f_code.co_name == function.name:
            return locals_of(frame).get(name)
    return None

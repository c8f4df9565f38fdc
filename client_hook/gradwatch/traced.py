"""What of Python a compiled step goes on with as it was when it was traced: random numbers, and numbers that change.

TensorFlow runs a step's Python once, while it traces it. A number drawn by NumPy there is a constant of every step that
follows, and so is a number that the code reads from an attribute, a global or an enclosing function. Which of these a
step reads is told by the user's own functions on the stack that traces it, and those they call; no operation is added,
nothing is called. Owns no state beside the syntax trees of files it has read.
"""

from __future__ import annotations

import ast
import functools
import random
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any, Final, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from gradwatch.origin import frames, is_fit, is_users, source_at
from gradwatch.protocol import Message
from gradwatch.syntax import FILES_KEPT, last_name, nodes_in, nodes_of_type, parse, users_files
from gradwatch.target import walk

__all__ = ["TRACED_MAX", "Traced", "find_frozen", "find_outdated", "find_traced"]

TRACED_MAX: Final = 24
"""Of a step: as many as a float32 can tell apart by a bit each."""
FUNCTIONS_MAX: Final = 200
DATASETS_MAX: Final = 100
"""Parts of a pipeline."""
TRAINABLE: Final = "trainable"
NAME_MAX: Final = 200
"""Characters of what is named."""

_Generator = (np.random.Generator, np.random.RandomState, random.Random)
_MAKERS: Final = frozenset({"default_rng", "Generator", "RandomState", "Random", "SystemRandom"})
_NOT_DRAWN: Final = frozenset({"seed", "getstate", "setstate", "get_state", "set_state", "spawn"})
_APART: Final = frozenset({"Variable", "add_weight", "numpy_function", "py_function", "py_func", "init_scope"})
"""What is called for what shall be made once, or runs at each step whatever it is."""
_SAYING: Final = frozenset({"print", "str", "repr", "format", "isinstance", "len", "info", "debug", "warning", "log"})
_DECIDING: Final = frozenset({(ast.If, "test"), (ast.IfExp, "test"), (ast.While, "test"), (ast.Subscript, "slice")})
"""Where a number decides what is computed."""
_UNKNOWN: Final = object()


class Traced(NamedTuple):
    """One number of Python's that a step was traced with.

    Attributes:
        name: as the code has it: ``self.beta``, ``np.random.rand(batch)``.
        value: what it was when the step was traced; None for random numbers.
        source: file, line and code where it is read or drawn.
        read: reads it now; None for random numbers.
        changed_at: file, line and code where it is set last; None for random numbers.
    """

    name: str
    value: float | None
    source: dict[str, Any]
    read: Callable[[], Any] | None
    changed_at: dict[str, Any] | None = None

    @property
    def key(self) -> tuple[str, str, int]:
        """The same in each trace of a step."""
        return self.name, str(self.source["file"]), int(self.source["line"])

    def is_outdated(self) -> bool:
        """Whether it would be another number if the step were traced now; random numbers always are."""
        now = None if self.read is None else _as_number(self.read())
        return self.read is None or (now is not None and now != self.value)

    def to_message(self) -> Message:
        """An entry of ``traced`` in the ``tensors`` message."""
        return {"name": self.name, "value": self.value, "source": self.source, "changed_at": self.changed_at}


class _Bound(NamedTuple):
    """A function, and the object that it is a method of."""

    function: Any  # a NamedTuple's field that is a function is taken for its method
    owner: Any = None


def find_traced(models: Sequence[Any]) -> list[Traced]:
    """What the step that is being traced, further out on the stack, takes from Python.

    Args:
        models: the watched models, of which own layers and losses are looked into.

    Returns:
        Random numbers first, then numbers that the user's code can change: `TRACED_MAX` at the most.
    """
    on_stack = list(_on_stack())
    found = _look_into([*on_stack, *_of_models(models)])
    # What a pipeline reads is older than this trace, and is not known; what it drew was drawn once as well.
    functions = [one.function for one in on_stack if is_users(one.function.__code__.co_filename)]
    of_pipelines = _look_into([one for data in _datasets(functions) for one in _of_dataset(data)])
    draws = {(one.source["file"], one.source["line"]): one for one in (*found, *of_pipelines) if one.read is None}
    reads = {one.name: one for one in found if one.read is not None}
    return [*draws.values(), *reads.values()][:TRACED_MAX]


def find_frozen(models: Iterable[Any], files: Sequence[str], is_trained: Callable[[Any], bool]) -> list[Traced]:
    """Layers that the step being traced does not train, where the user's code sets any layer's ``trainable`` to True.

    Args:
        models: the models that are trained.
        files: the user's files that are looked at.
        is_trained: whether any optimizer trains a layer: then it may be frozen and thawed as one likes.

    Returns:
        For each outermost one its ``trainable``, 0 now and 1 once it is thawed, and the line where the code does so:
        no compiled step knows of that.
    """
    line = next((found for file in files for found in _thawing(file)), None)
    source = None if line is None else source_at([line])
    if source is None:
        return []
    return [_trainable_of(layer, source, is_trained) for layer in _frozen_in(models)]


def _thawing(file: str) -> Iterator[tuple[str, int]]:
    for node in (one for one in nodes_of_type(file, ast.Assign) if isinstance(one.value, ast.Constant)):
        is_set = any(isinstance(to, ast.Attribute) and to.attr == TRAINABLE for to in node.targets)
        if is_set and node.value.value is True:  # type: ignore[attr-defined]
            yield file, node.lineno


def _frozen_in(layers: Iterable[Any]) -> Iterator[Any]:
    for layer in layers:
        if not layer.trainable:
            yield from [layer] if layer.weights else []
        else:
            yield from _frozen_in(layer._layers)


def _trainable_of(layer: Any, source: dict[str, Any], is_trained: Callable[[Any], bool]) -> Traced:
    known = weakref.ref(layer)

    def read() -> bool:
        layer = known()
        return layer is not None and bool(layer.trainable) and not is_trained(layer)

    return Traced(f"{layer.name}.{TRAINABLE}", 0.0, source, read, source)


def _look_into(pending: list[_Bound]) -> list[Traced]:
    """What is drawn and read by those of some functions that are the user's, and by what these call."""
    seen: set[tuple[int, int]] = set()
    traced: list[Traced] = []
    files = users_files()
    while pending and len(seen) < FUNCTIONS_MAX:
        bound = pending.pop(0)
        key = id(bound.function.__code__), id(bound.owner)
        if key not in seen and is_users(bound.function.__code__.co_filename):
            seen.add(key)
            for one in _Body(bound, files).find():
                if isinstance(one, Traced):
                    traced.append(one)
                else:
                    pending.append(one)
    return traced


def _datasets(functions: Sequence[FunctionType]) -> Iterator[Any]:
    """The pipelines that ``fit`` is given, those of the functions that call the step, and those beside its own."""
    for frame in frames():
        if is_fit(frame):
            yield frame.f_locals.get("x")
            break  # what else lies about is not what it trains with
        if is_users(frame.f_code.co_filename):
            yield from list(frame.f_locals.values())
    for function in functions:
        yield from [*function.__globals__.values(), *map(_contents, function.__closure__ or ())]


def _of_dataset(given: Any) -> Iterator[_Bound]:
    """The user's functions in a pipeline, the last first."""
    pending = [given] if isinstance(given, tf.data.Dataset) else []
    for _ in range(DATASETS_MAX):
        if not pending:
            return
        dataset = pending.pop()
        pending += dataset._inputs()
        for wrapper in dataset._functions():
            yield from _unwrap(_held(wrapper, "_func"))


def find_outdated(traced: Iterable[Traced]) -> int:
    """The number whose bits tell which of these are outdated."""
    return sum(1 << place for place, one in enumerate(traced) if one.is_outdated())


def _on_stack() -> Iterator[_Bound]:
    """The functions that TensorFlow is tracing, innermost first: each stands in a frame of its own beside ours."""
    for frame in frames():
        if frame.f_code.co_name in _FRAMES and "tensorflow" in frame.f_code.co_filename:
            yield from _unwrap(frame.f_locals.get(_FRAMES[frame.f_code.co_name]))


_FRAMES: Final = {"converted_call": "f", "__call__": "self", "_call_unconverted": "f"}
"""Of autograph and of `tf.function`: the local variable that holds the user's function."""


def _of_models(models: Sequence[Any]) -> Iterator[_Bound]:
    """What a step calls of models, their layers and losses, where it is the user's own."""
    for layer in walk(models):
        for name in ("train_step", "compute_loss", "call"):
            yield from _method(layer, name)
        for loss in tf.nest.flatten(vars(layer).get("loss")) if isinstance(layer, keras.Model) else ():
            yield from _unwrap(loss)


def _method(owner: Any, name: str) -> Iterator[_Bound]:
    function = _static(type(owner), name)
    if isinstance(function, FunctionType):
        yield from (_Bound(one.function, owner) for one in _unwrap(function))


def _unwrap(given: Any) -> Iterator[_Bound]:
    """The function behind what can be called: a method, a `tf.function`, a decorated one, a layer, a loss."""
    owner: Any = None
    for _ in range(8):
        if isinstance(given, functools.partial):
            given = given.func
        elif isinstance(given, MethodType):
            given, owner = given.__func__, given.__self__
            if type(owner).__name__ == "TfMethodTarget":  # of a method that is a `tf.function`
                owner = owner.target
        elif isinstance(given, FunctionType):
            if "__wrapped__" not in vars(given):
                yield _Bound(given, owner)
                return
            given = vars(given)["__wrapped__"]
        elif (inner := _held(given, "_python_function", "fn")) is not None:
            given = inner
        else:
            break
    if isinstance(given, (keras.layers.Layer, keras.losses.Loss)):
        yield from _method(given, "call")


def _held(given: Any, *names: str) -> Any:
    """What an object holds under the first of these names."""
    held = getattr(given, "__dict__", {})
    return next((held[name] for name in names if name in held), None)


class _Body:
    """The code of one function, with what its names mean; it keeps neither the function nor what that belongs to."""

    def __init__(self, bound: _Bound, files: Sequence[str]) -> None:
        code = bound.function.__code__
        self._function = weakref.ref(bound.function)
        self._owner = _weakly(bound.owner)
        self._file, self._files = code.co_filename, files
        self._node = _definitions(self._file).get((code.co_name, code.co_firstlineno))
        first = code.co_varnames[:1] if code.co_argcount else ()
        self._self = first[0] if first and bound.owner is not None else None
        self._local = _local_names(self._node) - {self._self}

    def find(self) -> Iterator[_Bound | Traced]:
        """The functions it calls, the random numbers it draws, and the numbers it computes with."""
        if self._node is not None and not _runs_at_each_step(self._node):
            body = self._node.body if isinstance(self._node.body, list) else [self._node.body]
            for statement in body:
                yield from self._walk(statement, is_number=False)

    def _walk(self, node: ast.AST, *, is_number: bool) -> Iterator[_Bound | Traced]:
        if isinstance(node, ast.If) and _asks_whether_made(node.test):
            return
        if isinstance(node, ast.With) and any(last_name(item.context_expr) in _APART for item in node.items):
            return
        if isinstance(node, ast.Call):
            yield from self._walk_call(node)
            return
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            if is_number:
                yield from self._read(node)
            if isinstance(node, ast.Attribute):
                yield from self._walk(node.value, is_number=False)
            return
        is_number = isinstance(node, (ast.BinOp, ast.Compare, ast.UnaryOp, ast.IfExp)) or (
            is_number and isinstance(node, (ast.Tuple, ast.List, ast.BoolOp, ast.keyword, ast.Starred))
        )
        for name, child in _children(node):
            decides = (type(node), name) in _DECIDING
            yield from self._walk(child, is_number=is_number or decides)

    def _walk_call(self, node: ast.Call) -> Iterator[_Bound | Traced]:
        name = last_name(node)
        if name in _APART:
            return
        callee = self._resolve(node.func)
        if self._draws(node, callee):
            yield self._traced(node, None, None)
            return
        if callee is not _UNKNOWN:
            yield from _unwrap(callee)
        yield from self._walk(node.func, is_number=False)
        for argument in (*node.args, *node.keywords):
            yield from self._walk(argument, is_number=name not in _SAYING)

    def _draws(self, node: ast.Call, callee: Any) -> bool:
        if last_name(node) in _NOT_DRAWN | _MAKERS:
            return False
        if isinstance(getattr(callee, "__self__", None), _Generator):
            return True
        base = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(base, ast.Call):  # np.random.default_rng().normal()
            made = self._resolve(base.func)
            return last_name(base) in _MAKERS and str(getattr(made, "__module__", "")).startswith(("numpy", "random"))
        return False

    def _read(self, node: ast.Name | ast.Attribute) -> Iterator[Traced]:
        value = _as_number(self._resolve(node))
        if value is not None and (place := self._changed_at(node)) is not None:
            traced = self._traced(node, value, lambda: self._resolve(node))
            yield traced._replace(changed_at=source_at([place]))

    def _changed_at(self, node: ast.Name | ast.Attribute) -> tuple[str, int] | None:
        """Where it is set last: in the same file, or an attribute in any other of the user's."""
        if isinstance(node, ast.Attribute):
            places = [(self._file, node.attr), *((file, f".{node.attr}") for file in self._files)]
        else:
            places = [(self._file, node.id)]
        return next(((file, _changes(file)[name]) for file, name in places if name in _changes(file)), None)

    def _traced(self, node: ast.expr, value: float | None, read: Callable[[], Any] | None) -> Traced:
        source = source_at([(self._file, node.lineno)])
        return Traced(ast.unparse(node)[:NAME_MAX], value, source or {}, read)

    def _resolve(self, node: ast.expr) -> Any:
        """What an expression of names and attributes stands for; no code of the user's is run for it."""
        if isinstance(node, ast.Attribute):
            base = self._resolve(node.value)
            return _UNKNOWN if base is _UNKNOWN else _member(base, node.attr)
        if not isinstance(node, ast.Name):
            return _UNKNOWN
        if node.id == self._self:
            return self._owner()
        function = None if node.id in self._local else self._function()
        if function is None:
            return _UNKNOWN
        names = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        return _contents(names[node.id]) if node.id in names else function.__globals__.get(node.id, _UNKNOWN)


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is not yet set
        return _UNKNOWN


def _weakly(owner: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(owner)
    except TypeError:  # None, or what cannot be kept so
        return lambda: None


def _local_names(node: ast.AST | None) -> set[str | None]:
    """What a function, or one within it, sets or is given."""
    names: set[str | None] = set()
    outer: set[str | None] = set()
    for one in () if node is None else nodes_in(node):
        if isinstance(one, ast.arg):
            names.add(one.arg)
        elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            names.add(one.id)
        elif isinstance(one, (ast.Global, ast.Nonlocal)):
            outer |= set(one.names)
    return names - outer


def _children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield name, child


def _member(base: Any, name: str) -> Any:
    """An attribute that lies in an object, or a method of it; properties and the like are not run."""
    held = getattr(base, "__dict__", None)
    if held is not None and name in held:
        return held[name]
    if isinstance(base, _Generator) or (isinstance(base, ModuleType) and base is not tf):
        return getattr(base, name, _UNKNOWN)
    found = _static(type(base), name)
    if isinstance(found, FunctionType):
        return MethodType(found, base)
    return found if isinstance(found, (int, float)) else _UNKNOWN


def _static(cls: type, name: str) -> Any:
    return next((vars(one)[name] for one in cls.__mro__ if name in vars(one)), _UNKNOWN)


def _as_number(value: Any) -> float | None:
    """A number of Python's or NumPy's, as a float; None for anything else."""
    return float(value) if isinstance(value, (bool, int, float, np.number, np.bool_)) else None


def _runs_at_each_step(node: ast.FunctionDef | ast.Lambda) -> bool:
    """``@tf.numpy_function(Tout=...)``: a simulator's step, say, that the compiled one calls by the host each time."""
    return isinstance(node, ast.FunctionDef) and any(last_name(one) in _APART for one in node.decorator_list)


def _asks_whether_made(test: ast.expr) -> bool:
    """``if self.w is None``, ``if not self.built``: what follows runs once on purpose."""
    words = {last_name(one) for one in nodes_in(test) if isinstance(one, (ast.Name, ast.Attribute, ast.Call))}
    is_none = any(isinstance(one, (ast.Is, ast.IsNot)) for one in nodes_in(test))
    return is_none or bool(words & {"built", "hasattr"})


@functools.lru_cache(maxsize=FILES_KEPT)
def _definitions(file: str) -> dict[tuple[str, int], ast.FunctionDef | ast.Lambda]:
    """A file's functions by their name and the line at which their code begins; decorators are part of it."""
    found: dict[tuple[str, int], ast.FunctionDef | ast.Lambda] = {}
    tree = parse(file)
    for node in () if tree is None else nodes_in(tree):
        if isinstance(node, ast.Lambda):
            found.setdefault(("<lambda>", node.lineno), node)
        elif isinstance(node, ast.FunctionDef):
            found[node.name, min([node.lineno, *(one.lineno for one in node.decorator_list)])] = node
    return found


@functools.lru_cache(maxsize=FILES_KEPT)
def _changes(file: str) -> dict[str, int]:
    """Names and attributes that a file's code sets more than once, or not where an object is made: the last line.

    Attributes stand under ``name`` and under ``.name``.
    """
    tree = parse(file)
    found: dict[str, list[tuple[bool, int]]] = {}
    for name, is_later, line in [] if tree is None else _sets(tree, is_later=False):
        for key in {name, name.removeprefix(".")}:
            found.setdefault(key, []).append((is_later, line))
    return {name: max(places)[1] for name, places in found.items() if len(places) > 1 or places[0][0]}


def _sets(node: ast.AST, *, is_later: bool) -> Iterator[tuple[str, bool, int]]:
    """Each name that is set, whether in a loop, by a function that makes no object, or from outside, and its line."""
    for _, child in _children(node):
        inside = is_later or isinstance(child, (ast.For, ast.While, ast.AugAssign))
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside = child.name not in ("__init__", "build")
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id, is_later, child.lineno
        elif isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            is_own = isinstance(child.value, ast.Name) and child.value.id == "self"
            yield f".{child.attr}", is_later or not is_own, child.lineno
        elif isinstance(child, ast.Call) and last_name(child) == "setattr":
            names = [one.value for one in child.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            yield from ((f".{name}", True, child.lineno) for name in names)
        yield from _sets(child, is_later=inside)

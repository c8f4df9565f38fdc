"""The calls in the user's own files that made what is trained: layers, optimizer, loss, and those of compile and fit.

Whoever is told what to change wants to see their own line, changed. A layer does not know who made it, so the call is
looked for in the syntax trees of the user's files: one of its class, whose constants its configuration has too. Where
several could be meant none is told. Runs none of that code, and adds no operation. Owns no state.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import linecache
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import keras
import tensorflow as tf

from gradwatch.origin import EXCERPT_WIDTH, frames, is_users, running_fit
from gradwatch.protocol import Message
from gradwatch.slips.script.augmented import TURNING, find_turned
from gradwatch.slips.script.refitted import find_refitted
from gradwatch.slips.script.unapplied import find_unapplied
from gradwatch.syntax import FILES_KEPT, is_taped, last_name, names_in, nodes_in, nodes_of, nodes_of_type, users_files
from gradwatch.target import path_of, walk

__all__ = ["files_near", "find_script", "is_assigned", "is_to_train"]

LAYERS_MAX: Final = 500
"""Layers whose calls are looked for."""
NAMES_MIN: Final = 12
NAMES_MAX: Final = 10_000
LINES_MAX: Final = 12
"""Lines of a call; a longer one holds others, as a list of layers does."""
WINDOWS: Final = "timeseries_dataset_from_array"
N_OF_SCHEDULE: Final = 2
"""Arguments of a schedule function that is handed the rate as it is, after the epoch."""
_UNKNOWN: Final = object()


class _Call(NamedTuple):
    file: str
    node: ast.Call


class _Line(NamedTuple):
    file: str
    node: ast.expr


class _Made(NamedTuple):
    """A call of a class: what it gives by name, and whether it may give more than is seen."""

    call: _Call
    given: Mapping[str, Any]
    is_open: bool


def find_script(
    models: Sequence[Any], optimizer: Any, settings: Mapping[str, Any], untracked: Sequence[str] = ()
) -> Message:
    """The field ``script`` of a ``tensors`` message: calls of the user's code, and by which names it knows packages.

    Args:
        models: the models whose layers' calls are wanted.
        optimizer: the optimizer that applies their gradients.
        settings: what it was made with, by Keras' names.
        untracked: names of `tf.Variable` that layers hold, whose calls are wanted too.

    Returns:
        ``calls`` and ``imports``; empty where the user's code is not to be read.
    """
    near = files_near(models)
    files = list(dict.fromkeys([*near, *(file for file in users_files() if _has_code(file))]))
    if not files:
        return {"calls": [], "imports": {}}
    calls = [_Call(file, node) for file in files for node in _calls_in(file)]
    # What could be anyone's is looked for where the training is; a layer tells by its configuration which are its.
    beside = [call for call in calls if call.file in near]
    schedules, layers = keras.optimizers.schedules, list(_of_layers(calls, models))
    found = [
        _describe("optimizer", _only(_made_by(_calls_of(calls, type(optimizer)), type(optimizer), settings))),
        _describe("compile", _only([call for call in beside if _is_compile(call.node)])),
        _describe("fit", _find_fit(calls)),
        _describe("call", _only(_taped(near))),
        _describe("data", _only([call for call in beside if last_name(call.node) == "from_tensor_slices"])),
        _describe("files", _only([call for call in beside if _sorts_files(call.node)])),
        _describe("listing", _only(list(_unsorted(near)))),
        _describe("loss", _only(_of_classes(beside, keras.losses, keras.losses.Loss))),
        _describe("schedule", _only(_of_classes(beside, schedules, schedules.LearningRateSchedule))),
        _find_augment(near, layers),
        _describe("windows", _only([call for call in beside if last_name(call.node) == WINDOWS])),
        _describe("clone", next(_bare_clones(near), None)),
        _describe("monitor", next(_misdirected(beside), None)),
        _describe("compounded", next(_compounded(beside), None)),
        *(_describe("refit", _Line(one.file, one.node)) for one in itertools.islice(find_refitted(near), 1)),
        *(
            _describe("unapplied", _Line(one.file, one.node), layer=one.clipped)
            for one in itertools.islice(find_unapplied(near), 1)
        ),
        *(_describe("layer", made.call, layer=made.path, n=made.n) for made in layers),
        *(_describe("variable", _only(_held_as(files, name)), layer=name) for name in untracked),
    ]
    return {"calls": [one for one in found if one is not None], "imports": _imports(files[0])}


def files_near(models: Sequence[Any]) -> list[str]:
    """The user's files that are being run, and those of the classes of models and layers."""
    running = [frame.f_code.co_filename for frame in frames()]
    modules = (sys.modules.get(type(one).__module__) for one in walk(models))
    of_classes = [str(getattr(module, "__file__", None)) for module in modules if module is not None]
    return [file for file in dict.fromkeys([*running, *of_classes]) if is_users(file) and _has_code(file)]


def _has_code(file: str) -> bool:
    return len(nodes_of(file)) > 1


@functools.lru_cache(maxsize=FILES_KEPT)
def _calls_in(file: str) -> tuple[ast.Call, ...]:
    found = nodes_of_type(file, ast.Call)
    return tuple(sorted(found, key=lambda node: (node.lineno, node.col_offset)))


def _only(calls: Sequence[_Call]) -> _Call | None:
    """The one that can be meant, if there is but one."""
    first = _of_first_file(calls)
    return first[0] if len(first) == 1 else None


def _of_first_file(calls: Sequence[_Call]) -> list[_Call]:
    return [call for call in calls if call.file == calls[0].file]


def _is_compile(node: ast.Call) -> bool:
    names = {keyword.arg for keyword in node.keywords}
    return last_name(node) == "compile" and isinstance(node.func, ast.Attribute) and bool(names & {"optimizer", "loss"})


def _sorts_files(node: ast.Call) -> bool:
    """Whether a call sorts what a folder holds, or names with numbers that the running code holds, as text."""
    if last_name(node) != "sorted" or node.keywords:
        return False
    inner = {last_name(one) for argument in node.args for one in nodes_in(argument) if isinstance(one, ast.Call)}
    names = {one.id for argument in node.args for one in names_in(argument)}
    held = (value for frame in frames() for name in names if (value := frame.f_globals.get(name)) is not None)
    return bool(inner & _LISTING) or any(map(_are_numbered, held))


def _are_numbered(held: Any) -> bool:
    """Whether a list or table is of names that end in a number, and as text 10 stands before 2."""
    names = list(itertools.islice(held, NAMES_MAX)) if isinstance(held, (dict, list, set, tuple)) else []
    if len(names) < NAMES_MIN or not all(isinstance(one, str) for one in names):
        return False
    numbers = [re.findall(r"\d+", one)[-1:] for one in names]
    if not all(numbers):
        return False
    by_number = sorted(zip(numbers, names, strict=True), key=lambda one: int(one[0][0]))
    return [name for _, name in by_number] != sorted(names) and len({int(one[0]) for one in numbers}) == len(names)


def _unsorted(files: Sequence[str]) -> Iterator[_Call]:
    """The calls that list a folder's files in no order of their own, in a file that reads a table besides."""
    for file in files:
        calls = _calls_in(file)
        if not any(last_name(call) in _TABLES for call in calls):
            continue
        # What is sorted, here or by a name that holds it; a name is not followed any farther.
        ordering = [one for one in calls if last_name(one) in _SORTING]
        within = {id(node) for one in ordering for node in nodes_in(one)}
        names = {node.id for one in ordering for node in nodes_in(one) if isinstance(node, ast.Name)}
        assigned = nodes_of_type(file, ast.Assign)
        within |= {id(node) for one in assigned if names & _names_of(one) for node in nodes_in(one.value)}
        yield from (_Call(file, call) for call in calls if id(call) not in within and _lists_files(call))


def _names_of(node: ast.Assign) -> set[str]:
    return {one.id for to in node.targets for one in nodes_in(to) if isinstance(one, ast.Name)}


def _lists_files(node: ast.Call) -> bool:
    is_shuffled = last_name(node) == "list_files" and all(one.arg != "shuffle" for one in node.keywords)
    return is_shuffled or last_name(node) in _LISTING


_LISTING: Final = frozenset({"glob", "iglob", "rglob", "iterdir", "listdir", "scandir"})
_SORTING: Final = frozenset({"argsort", "natsorted", "sort", "sort_values", "sorted"})
_TABLES: Final = frozenset(
    {"DictReader", "genfromtxt", "load", "loadtxt", "read_csv", "read_text", "reader", "readlines", "splitlines"}
)
"""Calls that read what belongs to the files, such as their labels."""


def _of_classes(calls: Sequence[_Call], module: Any, base: type) -> list[_Call]:
    """The calls of a module's classes of a kind."""
    names = {name for name, one in vars(module).items() if inspect.isclass(one) and issubclass(one, base)}
    return [call for call in calls if last_name(call.node) in names]


_GIVING: Final = frozenset({"load_weights", "set_weights"})
"""Methods that give a model the weights of another."""


def _bare_clones(files: Sequence[str]) -> Iterator[_Call]:
    """The calls of ``clone_model`` whose result is never given weights by its name."""
    for file in files:
        nodes = nodes_of(file)
        held = (one.value for one in nodes if isinstance(one, ast.Attribute) and one.attr in _GIVING)
        given = {one.id for one in held if isinstance(one, ast.Name)}
        looped = (one.iter for one in nodes if isinstance(one, ast.For))
        given |= {one.id for each in looped for one in nodes_in(each) if isinstance(one, ast.Name)}
        for node in nodes:
            call = node.value if isinstance(node, ast.Assign) else None
            is_clone = isinstance(call, ast.Call) and last_name(call) == "clone_model" and not call.keywords
            if isinstance(node, ast.Assign) and isinstance(call, ast.Call) and is_clone:
                names = {one.id for one in node.targets if isinstance(one, ast.Name)}
                if names and names.isdisjoint(given):
                    yield _Call(file, call)


_SMALL: Final = re.compile(r"(^|_)(loss|error|mae|mse|mape|msle|rmse|perplexity|crossentropy)($|_)")
"""Names of what is to become small, and of what is to become large."""
_LARGE: Final = re.compile(r"(^|_)(acc|accuracy|auc|precision|recall|f1|iou|dice|r2)($|_)")


def _misdirected(calls: Sequence[_Call]) -> Iterator[_Call]:
    """The calls of callbacks that take a change for the worse for one for the better."""
    kinds = (keras.callbacks.ReduceLROnPlateau, keras.callbacks.EarlyStopping, keras.callbacks.ModelCheckpoint)
    for made in itertools.chain.from_iterable(_calls_of(calls, kind) for kind in kinds):
        name, mode = str(made.given.get("monitor", "val_loss")), made.given.get("mode")
        is_named = any(one.arg == "mode" for one in made.call.node.keywords)
        if is_named and mode in ("min", "max") and (_LARGE if mode == "min" else _SMALL).search(name):
            yield made.call


def _compounded(calls: Sequence[_Call]) -> Iterator[_Line]:
    """What a schedule function gives, where that is the rate as it is times, or over, something of the epoch."""
    for call in calls:
        if last_name(call.node) != "LearningRateScheduler" or not call.node.args:
            continue
        given = call.node.args[0]
        functions = [node for node in nodes_of(call.file) if isinstance(node, ast.FunctionDef)]
        named = [one for one in functions if isinstance(given, ast.Name) and one.name == given.id]
        function = given if isinstance(given, ast.Lambda) else next(iter(named), None)
        if function is None or len(function.args.args) != N_OF_SCHEDULE:
            continue
        epoch, rate = (one.arg for one in function.args.args)
        returned = [one.value for one in nodes_in(function) if isinstance(one, ast.Return)]
        for value in [function.body] if isinstance(function, ast.Lambda) else returned:
            factors = list(_factors(value))
            is_rate = any(isinstance(one, ast.Name) and one.id == rate for one in factors)
            if value is not None and is_rate and any(_counts(one, epoch) for one in factors):
                yield _Line(call.file, value)


def _factors(node: ast.expr | None) -> Iterator[ast.expr | None]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        yield from _factors(node.left)
        yield from _factors(node.right)
    else:
        yield node


def _counts(node: ast.AST | None, name: str) -> bool:
    """Whether an expression is larger or smaller by a name, and does not only ask for it."""
    if node is None or isinstance(node, ast.Compare):
        return False
    inner = ast.iter_child_nodes(node)
    return (isinstance(node, ast.Name) and node.id == name) or any(_counts(one, name) for one in inner)


def _find_fit(calls: Sequence[_Call]) -> _Call | None:
    """The call of ``fit`` that is being run."""
    fit = running_fit()
    if fit is None:
        return None
    return _only([call for call in calls if call.file == fit.file and _is_fit(call.node, fit.line)])


def _taped(files: Sequence[str]) -> list[_Call]:
    """The calls of a model within a `tf.GradientTape`: of ``self``, or of what its trainable variables are asked of."""
    found = []
    for file in files:
        nodes = nodes_of(file)
        trained = (node.value for node in nodes if isinstance(node, ast.Attribute) and node.attr in _TRAINED)
        names = {"self"} | {node.id for node in trained if isinstance(node, ast.Name)}
        for block in nodes:
            if isinstance(block, ast.With) and is_taped(block):
                calls = [node for one in block.body for node in nodes_in(one) if isinstance(node, ast.Call)]
                found += [_Call(file, node) for node in calls if getattr(node.func, "id", None) in names]
    return found


_TRAINED: Final = frozenset({"trainable_variables", "trainable_weights"})


def _held_as(files: Sequence[str], name: str) -> list[_Call]:
    """The calls of ``Variable`` whose result is the attribute that a name ends in."""
    attribute = name.rpartition("/")[2]
    found = []
    for file in files:
        for node in nodes_of(file):
            value = node.value if isinstance(node, ast.Assign) else None
            if isinstance(value, ast.Call) and last_name(value) == "Variable" and isinstance(node, ast.Assign):
                held = [one.attr for one in node.targets if isinstance(one, ast.Attribute)]
                found += [_Call(file, value)] * (attribute in held)
    return found


def is_to_train(files: Sequence[str], name: str) -> bool:
    """Whether the ``Variable`` that is held by a name is made with ``trainable=True``, in so many words."""
    words = (one for call in _held_as(files, name) for one in call.node.keywords if one.arg == "trainable")
    return any(isinstance(one.value, ast.Constant) and one.value.value is True for one in words)


def is_assigned(files: Sequence[str], name: str) -> bool:
    """Whether a line assigns the attribute in a variable's name, or what may be it under another name."""
    calls = (node.func for file in files for node in nodes_of_type(file, ast.Call))
    for function in calls:
        if isinstance(function, ast.Attribute) and function.attr.startswith(_ASSIGNING):
            held = function.value
            while isinstance(held, ast.Subscript):
                held = held.value
            if not isinstance(held, ast.Attribute) or held.attr in name.split("/"):
                return True
    return False


_ASSIGNING: Final = ("assign", "batch_scatter", "scatter")
"""How methods begin that change a variable."""


def _is_fit(node: ast.Call, line: int) -> bool:
    return last_name(node) == "fit" and node.lineno <= line <= (node.end_lineno or node.lineno)


class _Built(NamedTuple):
    """A layer, and the call that made it and others, ``n`` in all."""

    call: _Call
    layer: Any
    n: int

    @property
    def path(self) -> str:
        return path_of(self.layer)


def _find_augment(files: Sequence[str], layers: Sequence[_Built]) -> Message | None:
    """The call that turns images without what is asked of their places: of a data set, or a layer of the model."""
    turned = find_turned(files)
    if turned is not None:
        return _describe("augment", _Line(turned.file, turned.node), n=turned.n)
    within = next((made for made in layers if type(made.layer).__name__ in TURNING), None)
    return None if within is None else _describe("augment", within.call, layer=within.path, n=1)


def _of_layers(calls: Sequence[_Call], models: Sequence[Any]) -> Iterator[_Built]:
    """The calls of layers; of several that are alike those that follow one another in the same number as the layers."""
    layers = [one for one in walk(models) if isinstance(one, keras.layers.Layer) and not isinstance(one, keras.Model)]
    made_of = {kind: _calls_of(calls, kind) for kind in {type(layer) for layer in layers}}
    known = [layer for layer in layers if made_of[type(layer)]][:LAYERS_MAX]
    alike: dict[tuple[_Call, ...], list[Any]] = {}
    for layer in known:
        made = _made_by(made_of[type(layer)], type(layer), _config_of(layer))
        alike.setdefault(tuple(made), []).append(layer)
    certain = {calls[0] for calls in alike if len(calls) == 1}
    pairs: list[tuple[_Call, Any]] = []
    for possible, members in alike.items():
        # What has made others for certain is not needed to explain these, and the rest must have made something.
        places = possible if len(possible) <= 1 else [call for call in possible if call not in certain]
        if len(places) == len(members):
            pairs += zip(places, sorted(members, key=_number_of), strict=True)
        elif len(places) == 1:
            pairs += [(places[0], layer) for layer in members]
    counts = Counter(call for call, _ in pairs)
    for call, layer in pairs:
        yield _Built(call, layer, counts[call])


def _number_of(layer: Any) -> int:
    """Keras numbers the layers of a class in the order in which they are made."""
    number = re.search(r"_(\d+)$", layer.name)
    return int(number[1]) if number else 0


def _config_of(layer: Any) -> Mapping[str, Any]:
    try:
        with tf.init_scope():
            config: Mapping[str, Any] = layer.get_config()
    except Exception:  # a layer of the user's own may not know its configuration
        return {}
    return config


def _calls_of(calls: Sequence[_Call], kind: type) -> list[_Made]:
    """The calls of a class, with what they give."""
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]  # type: ignore[misc]
    places = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    defaults = {one.name: one.default for one in parameters if one.default is not one.empty}
    found = []
    for call in (call for call in calls if last_name(call.node) == kind.__name__):
        node = call.node
        given = dict(zip(places, map(_constant, node.args), strict=False))
        given |= {keyword.arg: _constant(keyword.value) for keyword in node.keywords if keyword.arg}
        is_starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        is_open = is_starred or any(keyword.arg is None for keyword in node.keywords)
        found.append(_Made(call, given if is_open else defaults | given, is_open))
    return found


def _made_by(options: Sequence[_Made], kind: type, config: Mapping[str, Any]) -> list[_Call]:
    """Those of a class's calls that may have made an object with such a configuration, all in one file."""
    return _of_first_file([one.call for one in options if _agrees(one, kind, config)])


def _agrees(made: _Made, kind: type, config: Mapping[str, Any]) -> bool:
    is_unnamed = not made.is_open and "name" in config and "name" not in made.given
    if is_unnamed and not _is_automatic(str(config["name"]), kind):
        return False
    return all(_may_be(name, value, config[name]) for name, value in made.given.items() if name in config)


def _is_automatic(name: str, kind: type) -> bool:
    return re.fullmatch(rf"{re.escape(_snake(kind.__name__))}(_\d+)?", name) is not None


def _snake(name: str) -> str:
    """A class's name as Keras makes a layer's of it: ``SimpleRNN`` becomes ``simple_rnn``."""
    name = re.sub(r"\W+", "", name)
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


def _constant(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _UNKNOWN


def _may_be(name: str, given: Any, known: Any) -> bool:
    """Whether an argument may have become this in a configuration; what cannot be compared may."""
    if given is None:  # of other arguments it stands for what Keras takes by itself
        return known in (None, "linear") or not name.endswith(("activation", "regularizer", "constraint"))
    if isinstance(given, str):
        if isinstance(known, Mapping):
            return _is_initializer(given, str(known.get("class_name", "")))
        return not isinstance(known, str) or given == known
    if isinstance(known, (list, tuple)):  # Keras makes (3, 3) of 3
        many = given if isinstance(given, (list, tuple)) else [given] * len(known)
        return len(many) == len(known) and all(_may_be(name, *pair) for pair in zip(many, known, strict=True))
    if isinstance(given, (int, float)) and isinstance(known, (int, float)):
        return math.isclose(given, known, rel_tol=1e-5)
    return True


def _is_initializer(given: str, class_name: str) -> bool:
    return _initializer_of(given) in (None, class_name)


@functools.lru_cache(maxsize=64)
def _initializer_of(word: str) -> str | None:
    """The class that a word stands for; None where it is the name of something else."""
    try:
        return type(keras.initializers.get(word)).__name__
    except ValueError:
        return None


def _describe(role: str, call: _Call | _Line | None, *, layer: str | None = None, n: int = 1) -> Message | None:
    """A call as the protocol has it, with the lines that it stands in; None where it is too long to be shown."""
    if call is None:
        return None
    node = call.node
    lines = [line.rstrip("\r\n") for line in linecache.getlines(call.file)[node.lineno - 1 : node.end_lineno]]
    if not 0 < len(lines) <= LINES_MAX or any(len(line) > EXCERPT_WIDTH for line in lines):
        return None
    return {
        "role": role,
        "layer": layer,
        "n": n,
        "file": call.file,
        "line": node.lineno,
        "begins": _begin(call),
        "lines": lines,
        "start": _column(lines[0], node.col_offset),
        "end": _column(lines[-1], node.end_col_offset or 0),
    }


def _begin(call: _Call | _Line) -> int:
    """The line where the innermost statement begins that a call is a part of."""
    line = call.node.lineno
    statements = (one for one in nodes_of(call.file) if isinstance(one, ast.stmt))
    begun = (one.lineno for one in statements if one.lineno <= line <= (one.end_lineno or one.lineno))
    return max(begun, default=line)  # one in a decorator stands before the statement that it decorates


def _column(line: str, n_bytes: int) -> int:
    """The place in a line's characters; `ast` counts bytes."""
    return len(line.encode()[:n_bytes].decode(errors="ignore"))


def _imports(file: str) -> dict[str, str]:
    """By which name a file knows TensorFlow, Keras and their modules: ``{"keras.layers": "layers"}``."""
    found: dict[str, str] = {}
    for node in nodes_of(file):
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.asname or "." not in one.name:
                    _note(found, one.name, one.asname or one.name)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for one in node.names:
                _note(found, f"{node.module}.{one.name}", one.asname or one.name)
    if "tensorflow" in found:
        found.setdefault("keras", f"{found['tensorflow']}.keras")
    return found


def _note(found: dict[str, str], module: str, name: str) -> None:
    module = module.removeprefix("tensorflow.") if module.startswith("tensorflow.keras") else module
    if module in _MODULES:
        found.setdefault(module, name)


_MODULES: Final = frozenset({"numpy", "tensorflow", "keras", "keras.layers", "keras.losses", "keras.optimizers"})

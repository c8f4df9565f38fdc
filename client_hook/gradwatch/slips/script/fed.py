"""How the user's own code prepares what it feeds a training, where that loses data on the way. Runs none of it.

The lines are looked for in the syntax trees of the user's files; what they work on is looked at, as it is, where the
running code holds it by that name. Owns no state.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any, Final

import keras
import numpy as np
import tensorflow as tf

from gradwatch.origin import frames, frames_of, is_fit, locals_of, running_fit, source_at, source_of
from gradwatch.syntax import (
    FILES_KEPT,
    assigned_before,
    assignments,
    functions_around,
    last_name,
    names_in,
    nodes_of,
    stored_names,
)
from gradwatch.target import has_keras_losses, has_keras_step, is_of_keras, losses_of, path_of, walk

__all__ = ["calls_of_method", "chain_of", "find_fed", "mapped_graph", "trained_on"]

LOOPS: Final = (ast.For, ast.While)
ITERATING: Final = (ast.For, ast.GeneratorExp, ast.ListComp)
SEEN_MAX: Final = 0.9
"""Of a data set's elements: fewer are seen by who begins it anew again and again."""
CALLS_MAX: Final = 3
"""Functions through which an argument is followed to what it was given."""
DATASETS_MAX: Final = 32
"""Data sets that one is made of, each of the one before it."""
PAIRING: Final = frozenset({"fit", "from_tensor_slices"})
SHARING: Final = PAIRING | {"train_test_split"}
DRAWING: Final = frozenset({"np.random", "numpy.random", "random", "tf.random"})
"""What draws from a state that all share."""
GENERATORS: Final = (np.random.Generator, np.random.RandomState, random.Random)
ROWS_COMPARED: Final = 16
"""Of two arrays that may be one."""
N_PARTS: Final = {"shuffle": 1, "train_test_split": 2}
"""Functions of scikit-learn's that put an array's rows into a random order, and how many arrays they make of it."""
OF_SKLEARN: Final = frozenset(N_PARTS)
MAKING_GENERATORS: Final = frozenset({"Random", "RandomState", "default_rng"})
SEEDING: Final = ("seed", "state")
LIKE: Final = frozenset({"empty_like", "full_like", "ones_like", "zeros_like"})
BETWEEN: Final = frozenset({"area", "bicubic", "bilinear", "gaussian", "lanczos3", "lanczos5", "mitchellcubic"})
"""How `tf.image.resize` makes new numbers of those around; "bilinear" where nothing is said."""
NOTHING: Final = "bilinear"
OF_CLASSES: Final = frozenset(
    {
        "SparseCategoricalCrossentropy",
        "sparse_categorical_crossentropy",
        "sparse_softmax_cross_entropy_with_logits",
    }
)
"""Losses that take numbers of classes, and cut them to whole ones."""
NO_LOSSES: Final = frozenset({"Loss", "deserialize", "get", "serialize"})
OTHER_LOSSES: Final = (
    frozenset({"mae", "mse"}) | {one for one in dir(keras.losses) if one[0] != "_"} - OF_CLASSES - NO_LOSSES
)
RESIZE_DEPTH: Final = 10
"""Statements and calls that a mask is followed through."""
LAYING: Final = frozenset({"concat", "concatenate", "vstack"})
COPYING: Final = frozenset({"repeat", "tile"}) | LAYING
KEEPING: Final = frozenset(
    {"array", "asarray", "constant", "convert_to_tensor", "expand_dims", "flatten", "ravel", "reshape", "squeeze"}
)
"""Calls that leave an array its numbers."""
SHARES_MAX: Final = 4096
"""Of an array, how many numbers are looked at."""
MOST: Final = 0.5
SEQUENCES_MAX: Final = 64
"""Of padded sequences, how many are looked at."""
LOST_MIN: Final = 0.3
"""Of the deviation of numbers, what their fractions have: with less, whole numbers tell nearly as much."""
INTEGERS: Final = frozenset({"int8", "int16", "int32", "int64"})
WHOLE: Final = INTEGERS | {"int", "uint8", "uint16", "uint32", "uint64"}
FLOATS: Final = frozenset({"float", "float16", "float32", "float64"})
TURNING: Final = frozenset(
    {"einsum", "matrix_transpose", "moveaxis", "permute_dims", "rollaxis", "swapaxes", "transpose"}
)
"""Functions that give an array's axes another order."""
PACKAGES: Final = frozenset({"np", "numpy", "tf", "tnp", "jnp", "ops"})
FRAMES_MAX: Final = 8
"""Frames of a series that are merged to one."""
RESETTING: Final = frozenset({"reset_state", "reset_states"})
CLASSES_MIN: Final = 3
"""Of two, the weights and labels of the batches tell."""
TABLE_RANK: Final = 2
LABELS_MAX: Final = 10_000_000
"""Numbers that labels are: more are not counted."""
COUNT_SLACK: Final = 1.2
"""Between what weights are of the labels' counts: some of the samples may be kept for the validation."""
UNEVEN: Final = 1.5
DISORDERED: Final = 2.0
"""Between the largest and the smallest product of weight and count, where each weight is another label's."""
ARRAYS: Final = (np.ndarray, tf.Tensor, list, tuple, dict)
"""What `fit` shuffles by itself."""
_MISSING: Final = object()


def find_fed(files: Sequence[str], models: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """What the lines that feed a training lose of its data: order, samples, classes, fractions.

    Args:
        files: the user's files that are looked at.
        models: the models that are trained.

    Returns:
        Each with type (``Data``), no name, a layer or none, and the source line, the first of each kind: ``n_seen`` and
        ``n_rows``, of a `tf.data.Dataset` whose iterator is made in each turn of the loop that is being run: how many
        of its elements can be seen, of how many, or, with ``reseeded`` (True), of a generator that is begun anew in
        each epoch and draws from the same state; ``resized``: the method by which an image is resized whose numbers are
        rounded to integers then, or, with ``uncast`` (True), that a loss of class numbers is given as they are;
        ``buffer``: the integer type of an array that was made like another one, and is fed as floating-point numbers;
        ``before`` and ``after``: the shapes of an array, or in the map of a data set (the batch's axis is -1), before
        and after a reshape that gives it the same axes in another order; ``wraps``: the unsigned type of two arrays of
        which the difference is taken;
        ``copies``: the copies of one of two arrays of a pair are made by ``repeat``, of the other by ``tile`` or end to
        end: which of ``repeat`` and ``tile`` the line has; ``unrolled`` (True): the other is laid out by a reshape that
        merges two axes; ``floored``: the type of whole numbers to which an array of fractions between 0 and 1 is cast,
        which it was ``scaled`` (True) to, or (``padded``, True) to which sequences of fractions are padded;
        ``filtered`` (True): of data sets of as many elements each that are put together by ``zip`` some are filtered,
        the others not; ``trimmed``: the name of an array that is cut to the length of another one, of which rows were
        ``picked``, and ``by`` what; ``moved``: the name of one of two arrays that are fed as pairs, whose rows were put
        into another order alone, or after that of its ``partner``, and by another order; or (``split_apart``, True) by
        a split or shuffle of scikit-learn's of each; ``unmatched`` (True): of two
        data sets that are put together by ``zip`` each is shuffled by itself, inputs and targets or two views of one;
        ``cached`` (True): a data set that keeps what a random map made of its samples the first time; ``stateful``
        (True), with the layer: one that keeps its state from batch to batch, where ``fit`` shuffles the
        samples, or (``of_set``, True) its data set does;
        and ``favours``, ``favoured``, ``rare`` and ``rarely``: of `fit`'s class weights, three and more, that
        grow with how often a label occurs, the commonest label and its weight, and the rarest and its, or, with ``due``
        (a weight), of balanced weights that are given to other labels, the one with most too much, and what it is due,
        and the one with least.
    """
    finders = (
        _restarted, _reseeded, _cached, _resized, _coarse, _turned, _turned_in_place, _turned_in_map, _wrapped, _parted,
        _both_moved, _moved_within, _split_apart, _copied, _floored, _floored_in_map, _padded, _filtered, _trimmed,
        _unmatched,
    )  # fmt: skip
    with tf.init_scope():  # a step may be under way, or being traced
        found = [next((one for file in files for one in find(file)), None) for find in finders]
    return [one for one in (*found, _shuffled(models), _counted()) if one is not None]


def _slip(file: str, line: int, layer: str = "", **known: Any) -> dict[str, Any]:
    return {"type": "Data", "name": "", "layer": layer, "source": source_at([(file, line)]), **known}


def _shuffled(models: Sequence[Any]) -> dict[str, Any] | None:
    keeping = [one for one in walk(models) if isinstance(one, keras.layers.RNN) and one.stateful]
    fit = running_fit() if keeping else None
    if fit is None or not fit.file:
        return None
    layer, x = path_of(keeping[0]), fit.known.get("x")
    if _is_shuffled(x):
        is_reset = _is_reset_in_batches(fit.file)
        return None if is_reset else _slip(fit.file, fit.line, layer, stateful=True, of_set=True)
    is_shuffled = fit.known.get("shuffle") is True and isinstance(x, ARRAYS)
    return _slip(fit.file, fit.line, layer, stateful=True) if is_shuffled else None


def _is_shuffled(data: Any) -> bool:
    """Whether a data set's samples are shuffled, and not sequences that are cut into windows only then."""
    kinds = [type(one).__name__ for one in chain_of(data)] if isinstance(data, tf.data.Dataset) else []
    place = next((place for place, kind in enumerate(kinds) if "ShuffleDataset" in kind), None)
    cutting = ("FlatMap", "Interleave", "Window", "Zip", "Directed")
    return place is not None and not any(word in kind for kind in kinds[:place] for word in cutting)


def _is_reset_in_batches(file: str) -> bool:
    """Whether a state may be set back at each batch, so that none is carried on."""
    functions = [node for node in nodes_of(file) if isinstance(node, ast.FunctionDef)]
    inner = [one for node in functions if "batch" in node.name or "step" in node.name for one in ast.walk(node)]
    return any(isinstance(one, ast.Attribute) and one.attr in RESETTING for one in inner)


def _counted() -> dict[str, Any] | None:
    fit = running_fit()
    weights = None if fit is None else fit.known.get("class_weight")
    if fit is None or weights is None or not fit.file:
        return None
    counts = _counts_of(weights, fit.known.get("y"))
    due = _due_of(weights, counts)
    ends = due or _ends_of(weights, counts)
    if ends is None:
        return None
    common, rare = ends
    known = {"favoured": float(weights[common]), "rarely": float(weights[rare])}
    if due is not None:
        place = sorted(counts, key=lambda one: -counts[one]).index(common)
        known["due"] = float(sorted(weights.values())[place])
    return _slip(fit.file, fit.line, "", favours=str(common), rare=str(rare), **known)


def _counts_of(weights: Any, labels: Any) -> dict[int, int]:
    """How often each label that has a weight occurs; of none where that is not known, or one never does."""
    size = math.prod(labels.shape) if isinstance(labels, (np.ndarray, tf.Tensor)) else 0
    if not isinstance(weights, Mapping) or len(weights) < CLASSES_MIN or not 0 < size <= LABELS_MAX:
        return {}
    array: Any = np.asarray(labels)
    if array.ndim == TABLE_RANK:
        array = array[:, 0] if array.shape[1] == 1 else array.argmax(axis=1)
    if array.ndim != 1:
        return {}
    held, numbers = np.unique(array, return_counts=True)
    of = dict(zip(held.tolist(), numbers.tolist(), strict=True))
    counts = {label: int(of.get(label, 0)) for label in weights}
    return counts if min(counts.values()) > 0 else {}


def _ends_of(weights: Any, counts: Mapping[int, int]) -> tuple[int, int] | None:
    """The commonest label and the rarest, where each label's weight is its share, times a number; None elsewhere."""
    if not counts:
        return None
    common, rare = max(counts, key=lambda one: counts[one]), min(counts, key=lambda one: counts[one])
    is_so = _are_equal([float(weights[one]) / n for one, n in counts.items()])
    is_given = _are_short(weights) and weights[common] != counts[common] and not math.isclose(sum(weights.values()), 1)
    return (common, rare) if is_so and not is_given and counts[common] >= UNEVEN * counts[rare] else None


def _due_of(weights: Any, counts: Mapping[int, int]) -> tuple[int, int] | None:
    """The labels with most and least too much weight, where the weights are balanced, each for another label's count.

    None elsewhere.
    """
    if not counts or _are_short(weights):
        return None
    given = {one: float(weights[one]) * n for one, n in counts.items()}
    falling = sorted(counts.values(), reverse=True)
    balanced = [float(one) * n for one, n in zip(sorted(weights.values()), falling, strict=True)]
    most, least = max(given, key=lambda one: given[one]), min(given, key=lambda one: given[one])
    return (most, least) if _are_equal(balanced) and given[most] >= DISORDERED * given[least] else None


def _are_equal(numbers: Sequence[float]) -> bool:
    return 0 < max(numbers) <= COUNT_SLACK * min(numbers)


def _are_short(weights: Mapping[Any, Any]) -> bool:
    """Whether weights are short numbers: these are someone's own, for what an error costs."""
    return all(round(float(one), 1) == float(one) for one in weights.values())


def _restarted(file: str) -> Iterator[dict[str, Any]]:
    for frame in frames_of(file):
        loops = [node for node in nodes_of(file) if isinstance(node, LOOPS) and _is_within(node, frame.f_lineno)]
        inner = (loop for loop in loops if any(_is_around(other, loop) for other in loops))
        calls = (node for loop in loops for one in loop.body for node in ast.walk(one))
        begun: list[tuple[Any, tuple[str | None, int]]] = [(one, _taken(one)) for one in inner]
        named = ((one, name) for one in calls if (name := _begun(one)) is not None)
        begun += [(one, (name, 1)) for one, name in named if _is_fed(one, loops, frame.f_lineno)]
        for node, (name, n_batches) in begun:
            seen = None if name is None else _seen_of(_held(name, frame), n_batches)
            if seen is not None and seen[0] < SEEN_MAX * seen[1]:
                yield _slip(file, node.lineno, n_seen=seen[0], n_rows=seen[1])


def _reseeded(file: str) -> Iterator[dict[str, Any]]:
    """The lines by which a generator that is begun anew in each epoch draws the same few rows in each."""
    functions = {node.name: node for node in nodes_of(file) if isinstance(node, ast.FunctionDef)}
    calls = (node for node in nodes_of(file) if isinstance(node, ast.Call) and last_name(node) == "from_generator")
    given = [functions.get(node.args[0].id) for node in calls if node.args and isinstance(node.args[0], ast.Name)]
    found = [_seeded(one) for one in given if one is not None]
    if len(given) != 1 or not found or found[0] is None or not _are_epochs(file):
        return
    parts = (
        node.value for one in given if one is not None for node in ast.walk(one) if isinstance(node, ast.Subscript)
    )
    held = [_held(part.id, frame) for part in parts if isinstance(part, ast.Name) for frame in frames_of(file)]
    n_rows = max((len(one) for one in held if isinstance(one, np.ndarray) and one.ndim), default=0)
    for n_seen in filter(None, map(_taken_of, trained_on(file))):
        if n_seen < SEEN_MAX * n_rows:
            yield _slip(file, found[0].lineno, n_seen=n_seen, n_rows=n_rows, reseeded=True)


def _seeded(function: ast.FunctionDef) -> ast.Assign | None:
    """The statement of a generator that makes what it draws from, each time in the same state."""
    if not any(isinstance(node, ast.Yield) for node in ast.walk(function)):
        return None
    own = {one.arg for one in function.args.args}
    for node in (one for one in function.body if isinstance(one, ast.Assign)):
        made = node.value
        if not isinstance(made, ast.Call) or last_name(made) not in MAKING_GENERATORS or len(made.args) != 1:
            continue
        drawing = [one for one in ast.walk(function) if isinstance(one, ast.Call) and one is not made]
        to = ast.unparse(node.targets[0])
        is_drawn = any(isinstance(one.func, ast.Attribute) and ast.unparse(one.func.value) == to for one in drawing)
        is_fixed = isinstance(made.args[0], (ast.Constant, ast.Name)) and not own & {one.id for one in names_in(made)}
        if is_drawn and is_fixed:
            return node
    return None


def _are_epochs(file: str) -> bool:
    """Whether the step that is being run stands in a loop within a loop, or in a `fit` of several epochs."""
    for frame in frames():
        loops = [node for node in nodes_of(file) if isinstance(node, ast.For) and _is_within(node, frame.f_lineno)]
        if frame.f_code.co_filename == file and len(loops) > 1:
            return True
        if is_fit(frame):
            return int(locals_of(frame).get("epochs") or 1) > 1
    return False


def trained_on(file: str) -> list[Any]:
    """The data sets that the running `fit` was given to train on, or else that the innermost running loop goes over."""
    if known := _fitted():
        return [known["x"]] if isinstance(known.get("x"), tf.data.Dataset) else []
    for frame in frames_of(file):
        loops = [node for node in nodes_of(file) if isinstance(node, ITERATING) and _is_within(node, frame.f_lineno)]
        for loop in sorted(loops, key=lambda one: one.lineno, reverse=True):
            over = [loop.iter] if isinstance(loop, ast.For) else [one.iter for one in loop.generators]
            held = (_held(one.id, frame) for node in over for one in names_in(node))
            if found := [one for one in held if isinstance(one, tf.data.Dataset)]:
                return found
    return []


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


def _is_within(node: Any, line: int) -> bool:
    return bool(node.lineno <= line <= node.end_lineno)


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
    statements = [one for loop in loops for one in ast.walk(loop) if _is_simple(one)]
    own = [one for one in statements if any(node is call for node in ast.walk(one))]
    running = [one for one in statements if _is_within(one, line)]
    given = {node.id for one in own if isinstance(one, ast.Assign) for to in one.targets for node in names_in(to)}
    used = {node.id for one in running for node in names_in(one)}
    return bool(given & used) or any(one in running for one in own)


def _is_simple(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt) and not hasattr(node, "body")


def _held(name: str, frame: Any) -> Any:
    """What the running code holds by a name, `_MISSING` for nothing."""
    code = frame.f_code
    # All that a frame holds is copied: only where it has this one.
    if name in code.co_varnames or name in code.co_cellvars or name in code.co_freevars:
        return locals_of(frame).get(name, _MISSING)
    return frame.f_globals.get(name, _MISSING)


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


def chain_of(data: Any) -> list[Any]:
    """A data set and those that it is made of, each of the next; the first `DATASETS_MAX`."""
    chain = [data]
    while len(chain) < DATASETS_MAX and (before := getattr(chain[-1], "_input_dataset", None)) is not None:
        chain.append(before)
    return chain


def _cached(file: str) -> Iterator[dict[str, Any]]:
    return _by_method(file, "cache", _keeps_draws, cached=True)


def _by_method(file: str, name: str, is_so: Callable[[Any], bool], **known: Any) -> Iterator[dict[str, Any]]:
    """The line that calls a data set's method, where any data set that is held is so.

    Of several lines, the one that makes what the training goes over, if that is so.
    """
    lines = calls_of_method(file, name)
    trained = trained_on(file) if len(lines) > 1 else []
    if any(map(is_so, trained)):
        made = [node for node in nodes_of(file) if isinstance(node, ast.Assign) and _gives(node, trained, file)]
        lines = [call for call in lines if any(call is part for node in made for part in ast.walk(node.value))]
    if len(lines) == 1 and any(map(is_so, _data_sets())):
        func: Any = lines[0].func
        yield _slip(file, func.end_lineno, **known)


def _gives(node: ast.Assign, trained: Sequence[Any], file: str) -> bool:
    """Whether a statement gives a name to one of these data sets."""
    held = [_held(to.id, frame) for to in node.targets if isinstance(to, ast.Name) for frame in frames_of(file)]
    return any(one is data for one in held for data in trained)


def calls_of_method(file: str, name: str) -> list[ast.Call]:
    """The calls in a file of anything's method of that name."""
    calls = (node for node in nodes_of(file) if isinstance(node, ast.Call))
    return [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == name]


def _keeps_draws(data: Any) -> bool:
    """Whether a data set keeps what random numbers have made of its samples."""
    chain = chain_of(data)
    cached = next((place for place, one in enumerate(chain) if "Cache" in type(one).__name__), len(chain))
    # Numbers of which all is drawn are data that are made, not changed.
    is_of_samples = any((spec.shape.rank or 0) > 0 for spec in tf.nest.flatten(chain[-1].element_spec))
    return is_of_samples and any(map(_draws, chain[cached + 1 :]))


def mapped_graph(data: Any) -> Any:
    """The graph of what a data set maps; None for one that maps nothing."""
    return getattr(getattr(getattr(data, "_map_func", None), "function", None), "graph", None)


def _draws(data: Any) -> bool:
    mapped = mapped_graph(data)
    if mapped is None:
        return False
    graph = mapped.as_graph_def()
    nodes = itertools.chain(graph.node, *(one.node_def for one in graph.library.function))
    return any("Random" in node.op and "Shuffle" not in node.op for node in nodes)


def _resized(file: str) -> Iterator[dict[str, Any]]:
    for function in nodes_of(file):
        if not isinstance(function, (ast.FunctionDef, ast.Lambda)):
            continue
        inner = list(ast.walk(function))
        made = {
            to.id: one.value
            for one in inner
            if isinstance(one, ast.Assign) and _method_of(one.value)
            for to in one.targets
            if isinstance(to, ast.Name)
        }
        for node in inner:
            if isinstance(node, ast.Call) and _asks(node, INTEGERS, ("cast",)):
                given = node.args[0] if node.args else node
                call = made.get(given.id, given) if isinstance(given, ast.Name) else given
                if (method := _method_of(call)) is not None:
                    yield _slip(file, call.lineno, resized=method)
    yield from _uncast(file)


def _uncast(file: str) -> Iterator[dict[str, Any]]:
    """The same of the second of a pair, where a loss of class numbers is to take them as they are."""
    nodes = nodes_of(file)
    if not _is_loss_of_classes(file):
        return
    maps = [node for node in nodes if isinstance(node, ast.Call) and last_name(node) == "map" and node.args]
    mapped = {one.args[0].id for one in maps if isinstance(one.args[0], ast.Name)}
    for function in (node for node in nodes if isinstance(node, ast.FunctionDef) and node.name in mapped):
        returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
        for pair in (one for one in returned if isinstance(one, ast.Tuple) and len(one.elts) == 2):
            call = _resize_behind(pair.elts[1], file)
            if call is not None and (method := _method_of(call)) is not None:
                yield _slip(file, call.lineno, resized=method, uncast=True)


def _is_loss_of_classes(file: str) -> bool:
    """Whether the model that is fitted has losses of class numbers alone; where none is, the file names no others."""
    if losses := losses_of(_fitted().get("self")):
        names = [one if isinstance(one, str) else getattr(one, "__name__", type(one).__name__) for one in losses]
        return OF_CLASSES.issuperset(names)
    named = {_named(node) for node in nodes_of(file) if isinstance(node, (ast.Attribute, ast.Constant, ast.Name))}
    return not named.isdisjoint(OF_CLASSES) and named.isdisjoint(OTHER_LOSSES)


def _resize_behind(node: ast.expr | None, file: str, depth: int = RESIZE_DEPTH) -> ast.Call | None:
    """The call of `tf.image.resize` that makes the numbers of an expression; None where it is not known."""
    if node is None or not depth or (isinstance(node, ast.Call) and _method_of(node) is not None):
        return node if isinstance(node, ast.Call) and depth else None
    before: ast.expr | None = None
    if isinstance(node, ast.Name):
        before = assigned_before(node, file)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        before = node.left
    elif isinstance(node, ast.Call) and last_name(node) in KEEPING | {"cast", "round"} and node.args:
        before = node.args[0]
    elif isinstance(node, ast.Subscript):
        before = node.value
    return _resize_behind(before, file, depth - 1)


def _method_of(node: ast.AST) -> str | None:
    """How a call of `tf.image.resize` makes new numbers; None where it takes those that are there, or for no call."""
    is_resize = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("image.resize")
    if not isinstance(node, ast.Call) or not is_resize:
        return None
    given = node.args[2] if len(node.args) > 2 else _keyword(node, "method") or _keyword(node, "interpolation")
    if given is None:
        return NOTHING
    method = str(given.value) if isinstance(given, ast.Constant) else last_name(given).lower()
    return method if method in BETWEEN else None


def _keyword(node: ast.Call, name: str) -> ast.expr | None:
    return next((one.value for one in node.keywords if one.arg == name), None)


def _asks(node: ast.Call, types: frozenset[str], functions: Sequence[str]) -> bool:
    """Whether a function is called with one of these types."""
    given = [*node.args, *(one.value for one in node.keywords if one.arg == "dtype")]
    return last_name(node) in functions and not types.isdisjoint(map(_named, given))


def _named(node: ast.expr) -> str:
    """The last name of an expression, or what a constant holds: ``int32`` of ``np.int32`` and of ``"int32"``."""
    return str(node.value) if isinstance(node, ast.Constant) else last_name(node)


def _coarse(file: str) -> Iterator[dict[str, Any]]:
    nodes = nodes_of(file)
    made = {
        to.id: node
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and last_name(node.value) in LIKE
        for to in node.targets
        if isinstance(to, ast.Name) and _keyword(node.value, "dtype") is None
    }
    if not made:
        return
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    casting = [node for node in calls if _asks(node, FLOATS, ("constant", "cast", "convert_to_tensor", "astype"))]
    fed = {one.id for node in casting for one in names_in(node)}
    stored = {
        one.value.id
        for one in nodes
        if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store) and isinstance(one.value, ast.Name)
    }
    for name in made.keys() & fed & stored:
        for frame in frames_of(file):
            array = _held(name, frame)
            if isinstance(array, np.ndarray) and array.dtype.kind in "iu":
                yield _slip(file, made[name].lineno, buffer=str(array.dtype))
                break


def _turned(file: str) -> Iterator[dict[str, Any]]:
    running, calls = list(frames_of(file)), _Calls.of(file)
    for node in nodes_of(file):
        targets = [one.id for one in node.targets if isinstance(one, ast.Name)] if isinstance(node, ast.Assign) else []
        name = _reshaped(node.value) if isinstance(node, ast.Assign) else None
        for frame in running if targets and name is not None and name not in targets else ():
            before, after = (np.shape(_array(_held(str(one), frame))) for one in (name, targets[0]))
            if _is_other_order(before, after):
                yield _slip(file, node.lineno, before=list(before), after=list(after))  # type: ignore[attr-defined]
        function = calls.around.get(id(node))
        if function is None or not isinstance(node, ast.Call) or _reshaped(node) is None or calls.turns(function):
            continue
        for frame in running:
            before = np.shape(_array(calls.find(str(_reshaped(node)), node, frame)))
            after = _asked_shape(node, math.prod(before), frame)
            if after is not None and _is_other_order(before, after):
                yield _slip(file, node.lineno, before=list(before), after=after)


def _turned_in_place(file: str) -> Iterator[dict[str, Any]]:
    """The lines that give an array another shape under its own name, where its memory tells what shape it had."""
    held = [(frame, value) for frame in frames_of(file) for value in locals_of(frame).values()]
    turned = [(frame, value) for frame, value in held if isinstance(value, np.ndarray) and _is_turned_view(value)]
    for node in nodes_of(file) if turned else ():
        name = _reshaped(node.value) if isinstance(node, ast.Assign) else None
        if not isinstance(node, ast.Assign) or name not in [getattr(to, "id", "") for to in node.targets]:
            continue
        for frame, array in turned:
            whole: Any = array.base
            asked = _asked_shape(node.value, whole.size, frame)  # type: ignore[arg-type]
            if asked is not None and asked[1:] == list(array.shape[1:]) and asked[0] == len(whole):
                yield _slip(file, node.lineno, before=list(whole.shape), after=asked)


def _is_turned_view(array: Any) -> bool:
    """Whether rows of an array are those of another one, with their axes in another order and no transpose."""
    whole = array.base
    if not isinstance(whole, np.ndarray) or not (array.flags.c_contiguous and whole.flags.c_contiguous):
        return False
    shapes = whole.shape[1:], array.shape[1:]
    return whole.dtype == array.dtype and _is_other_order(*shapes) and not _is_of_frames(*shapes)


def _turned_in_map(file: str) -> Iterator[dict[str, Any]]:
    """The lines of a data set's map that reshape what they are given where its axes should change places."""
    for data in _data_sets():
        graphs = filter(None, map(mapped_graph, chain_of(data)))
        for op in (op for graph in graphs for op in graph.get_operations()):
            shapes = [one.shape for one in (*op.inputs[:1], *op.outputs)] if op.type == "Reshape" else []
            if any(shape.rank is None for shape in shapes) or not shapes:
                continue
            before, after = ([-1 if n is None else n for n in shape] for shape in shapes)
            is_mixed = _is_other_order(before, after) and _is_known(before, after) and not _is_of_frames(before, after)
            source = source_of(op) if is_mixed else None
            if source is not None and source["file"] == file:
                yield _slip(file, source["line"], before=before, after=after)


def _is_known(*shapes: Sequence[int]) -> bool:
    """Whether no length is open but that of the batch, in the first place of all."""
    starts = {shape[0] for shape in shapes}
    return all(-1 not in shape[1:] for shape in shapes) and (len(starts) == 1 or -1 not in starts)


def _data_sets() -> Iterator[Any]:
    """The data sets that the running code holds."""
    return (value for frame in frames() for value in locals_of(frame).values() if isinstance(value, tf.data.Dataset))


def _is_other_order(before: Sequence[int], after: Sequence[int]) -> bool:
    """Whether two shapes have the same axes in another order."""
    axes = [[length for length in shape if length != 1] for shape in (before, after)]
    return axes[0] != axes[1] and sorted(axes[0]) == sorted(axes[1])


def _is_of_frames(before: Sequence[int], after: Sequence[int]) -> bool:
    """Whether of two lengths that change places one is a few times the other: frames are merged then, or split."""
    axes = [[length for length in shape if length != 1] for shape in (before, after)]
    moved = {length for one, other in zip(*axes, strict=True) if one != other for length in (one, other)}
    pairs = itertools.permutations((length for length in moved if length > 0), 2)
    return any(one % other == 0 and one // other <= FRAMES_MAX for one, other in pairs)


def _is_of_package(call: ast.Call) -> bool:
    """Whether a call is one of a package's functions, and no method of an array."""
    return isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") in PACKAGES


def _subject(call: ast.Call) -> ast.expr | None:
    """What a package's function is called with first, or what a method is of; None where there is no such."""
    return next(iter(call.args), None) if _is_of_package(call) else getattr(call.func, "value", None)


def _asked_shape(call: ast.Call, size: int, frame: Any) -> list[int] | None:
    """The shape that a reshape asks for of an array of so many elements; None where a length is not known."""
    given = call.args[1:] if _is_of_package(call) else call.args
    if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)):
        given = given[0].elts
    lengths = [_length(one, frame) for one in given]
    if lengths.count(None) + lengths.count(-1) > 1 or not lengths:
        return None
    # One that is not known in a place of its own, such as `len(x)`, is what is left as well.
    known = math.prod(one for one in lengths if one is not None and one >= 0)
    if known <= 0 or size % known:
        return None
    return [size // known if one is None or one < 0 else one for one in lengths]


def _length(node: ast.expr, frame: Any) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _length(node.operand, frame)
        return None if value is None else -value
    known: Any = _held(node.id, frame) if isinstance(node, ast.Name) else getattr(node, "value", None)
    return int(known) if isinstance(known, (int, np.integer)) else None


class _Calls:
    """What a file's functions are called with, by name."""

    def __init__(self, file: str) -> None:
        nodes = nodes_of(file)
        self.around = functions_around(nodes)
        self._calls: dict[str, list[ast.Call]] = defaultdict(list)
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self._calls[node.func.id].append(node)

    @staticmethod
    @functools.lru_cache(maxsize=FILES_KEPT)
    def of(file: str) -> _Calls:
        """Those of a file, read once as its tree is."""
        return _Calls(file)

    def given(self, name: str, function: ast.FunctionDef) -> list[ast.expr] | None:
        """What the calls give for an argument of a function, call by call; None for a name that is none."""
        names = [one.arg for one in function.args.args]
        if name not in names:
            return None
        place = names.index(name)
        return [call.args[place] for call in self._calls[function.name] if len(call.args) > place]

    def turns(self, function: ast.FunctionDef) -> bool:
        """Whether a function gives anything's axes another order, as it should."""
        return any(isinstance(one, ast.Call) and last_name(one) in TURNING for one in ast.walk(function))

    def find(self, name: str, node: ast.AST, frame: Any, depth: int = CALLS_MAX) -> Any:
        """What running code holds by a name that stands within a function, through the calls that give it an argument.

        `_MISSING` where that is not known.
        """
        function = self.around.get(id(node))
        given = None if function is None else self.given(name, function)
        if given is None:
            return _held(name, frame)
        for one in given if depth > 0 else ():
            value = self.find(one.id, one, frame, depth - 1) if isinstance(one, ast.Name) else _MISSING
            if value is not _MISSING:
                return value
        return _MISSING


def _reshaped(node: ast.expr) -> str | None:
    """The name of the array that a call gives another shape; None for anything else."""
    if not isinstance(node, ast.Call) or last_name(node) != "reshape" or not isinstance(node.func, ast.Attribute):
        return None
    of = _subject(node)
    return of.id if isinstance(of, ast.Name) and of.id not in PACKAGES else None


def _array(value: Any) -> Any:
    """A value, where it is an array of a known shape; a step that is traced may not know its batch's length."""
    is_known = isinstance(value, np.ndarray) or (isinstance(value, tf.Tensor) and value.shape.is_fully_defined())
    return value if is_known else ()


def _wrapped(file: str) -> Iterator[dict[str, Any]]:
    running, calls = list(frames_of(file)), _Calls.of(file)
    for node in nodes_of(file):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
            continue
        names = [_whole(one) for one in (node.left, node.right)]
        if None in names or ast.dump(node.left) == ast.dump(node.right):
            continue
        given = [(str(name), _given_to(str(name), calls.around.get(id(node)), calls)) for name in names]
        for frame in running:
            arrays = [_held(own if outer is None else outer, frame) for own, outer in given]
            if all(isinstance(one, np.ndarray) and one.dtype.kind == "u" for one in arrays):
                yield _slip(file, node.lineno, wraps=str(arrays[0].dtype))


def _whole(node: ast.expr) -> str | None:
    """The name of an array, whole or in part; None for anything else."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _given_to(name: str, function: ast.FunctionDef | None, calls: _Calls) -> str | None:
    """The name of what is given for an argument of a function; None for a name that is none of its arguments.

    Empty where that is not known, as where the function gives the name to something else.
    """
    given = None if function is None else calls.given(name, function)
    if function is None or given is None:
        return None
    inner = (node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    if any(node.id == name for node in inner):
        return ""
    return next((own for one in given if (own := _whole(one)) is not None), "")


def _parted(file: str) -> Iterator[dict[str, Any]]:
    made, moved = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    orders = _orders_of_one(file)
    for node in nodes_of(file):
        if (name := _moved(node) or _moved_by(node, orders)) is not None:
            moved[name].append(node.lineno)  # type: ignore[attr-defined]
        elif isinstance(node, ast.Assign):
            for one in (one for to in node.targets for one in names_in(to) if isinstance(one.ctx, ast.Store)):
                made[one.id].append(node.lineno)
    assigned = (one for node in nodes_of(file) if isinstance(node, ast.Assign) for one in assignments(node))
    roots = {to.id: (_root(value), to.lineno) for to, value in assigned if isinstance(to, ast.Name)}
    for call in (node for node in nodes_of(file) if isinstance(node, ast.Call) and last_name(node) in PAIRING):
        for pair in _pairs_of(call):
            # Parts that are made behind the move, of the training and of the validation, are moved with the whole.
            (of_one, line), (of_other, at) = (roots.get(name, (None, 0)) for name in pair)
            for (alone, other), before in ((pair, call.lineno), ((str(of_one), str(of_other)), min(line, at))):
                is_alone = len(moved[alone]) == 1 and not moved[other] and made[alone] and made[other]
                is_between = is_alone and max(min(made[alone]), *made[other]) < moved[alone][0] < before
                if is_between and _is_array(alone, other, file):
                    yield _slip(file, moved[alone][0], moved=alone)


def _orders_of_one(file: str) -> set[str]:
    """The names of random orders by which a file puts the rows of one array, and which it reads for nothing else."""
    nodes = nodes_of(file)
    shuffled = [name for node in nodes if isinstance(node, ast.Expr) and (name := _moved(node)) is not None]
    drawn = [node for node in nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    permuted = [to for node in drawn if last_name(node.value) == "permutation" for to in node.targets]
    reads = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    names = {*shuffled, *(to.id for to in permuted if isinstance(to, ast.Name))}
    return {name for name in names if reads[name] - shuffled.count(name) == 1}


def _moved_by(node: ast.AST, orders: Set[str]) -> str | None:
    """The array whose rows a statement puts into one of these orders; None for any other statement."""
    value, to = (node.value, node.targets[0]) if isinstance(node, ast.Assign) else (None, None)
    if not isinstance(value, ast.Subscript) or not isinstance(value.slice, ast.Name) or value.slice.id not in orders:
        return None
    of = value.value
    return of.id if isinstance(of, ast.Name) and isinstance(to, ast.Name) and of.id == to.id else None


def _moved_within(file: str) -> Iterator[dict[str, Any]]:
    """The lines by which a data set of the user's own puts what it gives as pairs into two random orders."""
    for made in (node for node in nodes_of(file) if isinstance(node, ast.ClassDef)):
        pairs = {pair for node in ast.walk(made) if isinstance(node, ast.Return) and (pair := _parts_of_self(node))}
        for function in (node for node in ast.walk(made) if isinstance(node, ast.FunctionDef)):
            moves = [(i, *move) for i, node in enumerate(function.body) if (move := _moved_of_self(node)) is not None]
            for (first, one, by), (second, other, by_other) in itertools.combinations(moves, 2):
                seeds = any(_may_seed(node, by) for node in function.body[first + 1 : second])
                if by == by_other and not seeds and pairs & {(one, other), (other, one)}:
                    line = function.body[second].lineno
                    yield _slip(file, line, moved=f"self.{other}", partner=f"self.{one}")


def _moved_of_self(node: ast.stmt) -> tuple[str, str] | None:
    """The attribute whose rows a statement puts into a random order, and what draws that; None for any other statement.

    What a call makes, such as ``RandomState(0)``, may draw the same order each time.
    """
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or last_name(call) != "shuffle" or len(call.args) != 1 or call.keywords:
        return None
    name = _of_self(call.args[0])
    if name is None or not isinstance(call.func, ast.Attribute):
        return None
    by = call.func.value
    return None if any(isinstance(part, ast.Call) for part in ast.walk(by)) else (name, ast.unparse(by))


def _of_self(node: ast.expr) -> str | None:
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if is_own else None  # type: ignore[attr-defined]


def _parts_of_self(node: ast.Return) -> tuple[str, str] | None:
    """The two attributes of which a function gives back the same rows; None where it gives back anything else."""
    given = node.value.elts if isinstance(node.value, ast.Tuple) else []
    parts = [one for one in given if isinstance(one, ast.Subscript)]
    names = [name for one in parts if (name := _of_self(one.value))]
    is_pair = len(names) == len(given) == 2 and ast.dump(parts[0].slice) == ast.dump(parts[1].slice)
    return (names[0], names[1]) if is_pair and names[0] != names[1] else None


def _both_moved(file: str) -> Iterator[dict[str, Any]]:
    nodes, running = nodes_of(file), list(frames_of(file))
    blocks = [getattr(node, part, None) for node in nodes for part in ("body", "orelse")]
    for block in (one for one in blocks if isinstance(one, list)):
        moves = [(place, name, by) for place, one in enumerate(block) for name, by in _moves(one, running)]
        for (first, one, by), (second, other, by_other) in itertools.combinations(moves, 2):
            between = block[first + 1 : second]
            if one == other or by != by_other or any(_may_seed(node, by) for node in between):
                continue
            line = block[second].lineno
            if any(_are_fed(names, block[first].lineno, line, file) for names in ((one, other), (other, one))):
                yield _slip(file, line, moved=other, partner=one)


def _moves(node: ast.stmt, running: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """The arrays whose rows a statement puts into a random order, and what draws that, where that is known."""
    parts: list[ast.stmt] = [node]
    to, value = (node.targets[0], node.value) if isinstance(node, ast.Assign) else (None, None)
    if isinstance(to, ast.Tuple) and isinstance(value, ast.Tuple) and len(to.elts) == len(value.elts):
        parts = [ast.Assign([one], given) for one, given in zip(to.elts, value.elts, strict=True)]
    for part in parts:
        name, call = _moved(part), getattr(part, "value", None)
        call = call.slice if isinstance(call, ast.Subscript) else call
        if name is None or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
            continue
        by = ast.unparse(call.func.value)
        if by in DRAWING or any(isinstance(_held(by, frame), GENERATORS) for frame in running):
            yield name, by


def _split_apart(file: str) -> Iterator[dict[str, Any]]:
    """The lines that split or shuffle targets by themselves, as the inputs were before, in another random order."""
    nodes = nodes_of(file)
    imports = (node for node in nodes if isinstance(node, ast.ImportFrom) and str(node.module).startswith("sklearn"))
    known = {alias.asname or alias.name for node in imports for alias in node.names} & OF_SKLEARN
    blocks = [getattr(node, part, None) for node in nodes for part in ("body", "orelse")] if known else []
    for block in (one for one in blocks if isinstance(one, list)):
        splits = [(place, *one) for place, node in enumerate(block) if (one := _split(node, known)) is not None]
        for (first, parts, call), (second, others, other) in itertools.combinations(splits, 2):
            if _whole(call.args[0]) == _whole(other.args[0]) or not _are_apart(call, other, block[first + 1 : second]):
                continue
            pairs = [pair for one in zip(parts, others, strict=False) for pair in itertools.permutations(one)]
            if any(_are_fed_behind(pair, block[second].lineno, file) for pair in pairs):  # type: ignore[arg-type]
                yield _slip(file, block[second].lineno, moved=others[0], partner=parts[0], split_apart=True)


def _split(node: ast.stmt, known: set[str]) -> tuple[list[str], ast.Call] | None:
    """What a statement makes of one array by a split or a shuffle, and its call; None for any other statement."""
    call = node.value if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in known:
        return None
    to = node.targets[0]  # type: ignore[attr-defined]
    names = [one.id for one in (to.elts if isinstance(to, ast.Tuple) else [to]) if isinstance(one, ast.Name)]
    is_usual = len(call.args) == 1 and _whole(call.args[0]) is not None and None not in {k.arg for k in call.keywords}
    is_ordered = _keyword(call, "shuffle") is not None  # or is not: that is not known
    return (names, call) if is_usual and not is_ordered and len(names) == N_PARTS[call.func.id] else None


def _are_apart(call: ast.Call, other: ast.Call, between: Sequence[ast.stmt]) -> bool:
    """Whether two calls cannot draw the same order."""
    if last_name(call) != last_name(other):
        return False
    if (_keyword(call, "stratify") is None) != (_keyword(other, "stratify") is None):
        return True
    seeds = [one or ast.Constant(None) for one in (_keyword(call, "random_state"), _keyword(other, "random_state"))]
    values = [one.value for one in seeds if isinstance(one, ast.Constant)]
    if values == [None, None]:
        return not any(_may_seed(node, "") for node in between)
    return len(values) == 2 and values[0] != values[1]  # else by a name


def _may_seed(node: ast.stmt, by: str) -> bool:
    """Whether a statement may put what draws back into a state in which it was."""
    calls = [node.value] if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else []
    is_call = any(isinstance(one.func, ast.Name) and one.func.id != "print" for one in calls)
    is_made = any(one.id == by and isinstance(one.ctx, ast.Store) for one in names_in(node))
    return is_call or is_made or any(word in ast.unparse(node) for word in SEEDING)


def _are_fed(names: tuple[str, str], first: int, last: int, file: str) -> bool:
    """Whether inputs and targets that were made before these lines, and are no others behind them, are fed as pairs."""
    given = [node for node in nodes_of(file) if isinstance(node, ast.Assign) and node.lineno < first]
    before = {to.id for node in given for target in node.targets for to in names_in(target)}
    return before.issuperset(names) and _are_fed_behind(names, last, file)


def _are_fed_behind(names: tuple[str, str], last: int, file: str) -> bool:
    """Whether inputs and targets are fed as pairs behind a line, and are no others there."""
    given = [node for node in nodes_of(file) if isinstance(node, ast.Assign)]
    assigned = [(to.id, one) for one in given for target in one.targets for to in names_in(target)]
    others = {
        name for name, node in assigned if node.lineno > last and all(one.id != name for one in names_in(node.value))
    }
    if others & set(names):
        return False
    parts = {to.id: _root(value) for node in given for to, value in assignments(node) if isinstance(to, ast.Name)}
    for call in (node for node in nodes_of(file) if isinstance(node, ast.Call) and node.lineno > last):
        record = {one if one in names else str(parts.get(one)) for one in _recorded(call)}
        if record.issuperset(names):
            others = record.difference(names)
            return any(_are_of_records([_held(one, frame) for one in (*names, *others)]) for frame in frames_of(file))
        fed = _fed_by(call)
        if fed is None or tuple(one if one in names else parts.get(one) for one in fed) != names:
            continue
        for frame in frames_of(file):
            rows = [_held(one, frame) for one in fed]
            is_fitted = last_name(call) == "fit" and not _are_alike(*rows)
            if all(map(_is_of_rows, rows)) and (is_fitted or _is_of_labels(*rows)):
                # A loss of the user's own may compare the two as wholes, in whatever order they are.
                model = _fitted().get("self")
                return not losses_of(model) or has_keras_losses(model)
    return False


def _root(node: ast.expr | None) -> str | None:
    """The name of the array that an expression is a part of, or the numbers of; None for anything else."""
    while node is not None and not isinstance(node, ast.Name):
        if isinstance(node, ast.Call):
            node = _subject(node)
        elif isinstance(node, ast.BinOp):
            node = node.left
        else:
            node = node.value if isinstance(node, ast.Subscript) else None
    return None if node is None else node.id


def _fed_by(call: ast.Call) -> tuple[str, str] | None:
    """The names of inputs and targets that a call takes as pairs: whole arrays, or the same rows of both."""
    given = call.args[0].elts if len(call.args) == 1 and isinstance(call.args[0], ast.Tuple) else call.args
    parts = [one.slice for one in given[:2] if isinstance(one, ast.Subscript)]
    is_alike = len(parts) == 2 and ast.dump(parts[0]) == ast.dump(parts[1])
    names = [_whole(one) for one in given[:2]]
    if len(names) != 2 or None in names or not (is_alike or last_name(call) in SHARING):
        return None
    return str(names[0]), str(names[1])


def _recorded(call: ast.Call) -> set[str]:
    """The names of arrays that a call takes as the parts of each sample, by keys."""
    if last_name(call) not in PAIRING:
        return set()
    given = [one for part in call.args for one in (part.elts if isinstance(part, ast.Tuple) else [part])]
    values = [value for one in given if isinstance(one, ast.Dict) for value in one.values]
    return {name for value in values if (name := _whole(value)) is not None}


def _are_of_records(values: Sequence[Any]) -> bool:
    """Whether the first two of some arrays hold a part of each sample: as many rows, one of them a number or word each.

    Of images, or the like, there may be two kinds that are no pairs. What holds the numbers of another one in another
    order is drawn from it, as what a user did not choose is.
    """
    arrays = [np.asarray(_array(value)) for value in values]
    (n_rows, *_), (n_others, *_) = (one.shape or (0,) for one in arrays[:2])
    if n_rows != n_others or not n_rows or min(one.ndim for one in arrays[:2]) > 1:
        return False
    flat = [np.sort(one) for one in arrays if one.ndim == 1]
    return not any(np.array_equal(*pair) for pair in itertools.combinations(flat, 2))


def _is_of_rows(value: Any) -> bool:
    return isinstance(value, list) or len(np.shape(_array(value))) > 0


def _are_alike(inputs: Any, targets: Any) -> bool:
    """Whether two arrays hold images, or the like, of one shape: these may be of two kinds, and no pairs."""
    shapes = [np.shape(_array(one))[1:] for one in (inputs, targets)]
    return shapes[0] == shapes[1] and len(shapes[0]) > 1


def _is_of_labels(inputs: Any, targets: Any) -> bool:
    """Whether of two arrays the second holds a number, or a class, for each row of the first."""
    if isinstance(inputs, list) or isinstance(targets, list):
        return False
    wide, narrow = np.shape(inputs), np.shape(targets)
    return len(wide) > 1 and math.prod(wide[1:]) > 1 and narrow in ((wide[0],), (wide[0], 1))


def _unmatched(file: str) -> Iterator[dict[str, Any]]:
    model = _fitted().get("self")
    is_so = _are_shuffled_apart if has_keras_step(model) and has_keras_losses(model) else _are_views_apart
    yield from _by_method(file, "zip", is_so, unmatched=True)


def _fitted() -> dict[str, Any]:
    """What a `fit` of Keras' that is being run holds by its names: itself, ``x``, ``y``; nothing where none is."""
    fit = running_fit()
    return {} if fit is None else fit.known


def _are_shuffled_apart(data: Any) -> bool:
    """Whether a data set is made of inputs and targets, and each was shuffled in an order of its own."""
    return bool(_find_apart(data))


def _are_views_apart(data: Any) -> bool:
    """Whether a data set is made of two views of one, each changed at random and shuffled in an order of its own."""
    chains = _find_apart(data)
    if len({str(chain[0].element_spec) for chain in chains}) != 1:
        return False
    sources = [list(getattr(chain[-1], "_tensors", ())) for chain in chains]
    is_one = all(len(some) == 1 for some in sources) and _are_same(*(some[0] for some in sources))
    # What is put together before it is changed may be meant so: each sample beside any other.
    return is_one and all(any(map(_draws, chain)) for chain in chains)


def _are_same(one: Any, other: Any) -> bool:
    """Whether two tensors have the same first rows."""
    return one.shape == other.shape and np.array_equal(one[:ROWS_COMPARED], other[:ROWS_COMPARED])


def _find_apart(data: Any) -> list[list[Any]]:
    """What the two parts of a data set are made of, each shuffled in an order of its own; nothing for other ones."""
    *behind, zipped = chain_of(data)
    parts = getattr(zipped, "_datasets", ())
    if not isinstance(parts, tuple) or len(parts) != 2 or any("Map" in type(one).__name__ for one in behind):
        return []
    specs = [one.element_spec for one in parts]
    if not all(isinstance(spec, tf.TensorSpec) and spec.shape.rank is not None for spec in specs):
        return []
    chains = [chain_of(part) for part in parts]
    shuffles = [[one for one in chain if "ShuffleDataset" in type(one).__name__] for chain in chains]
    # Numbers that are counted, such as the steps of a diffusion, may meet any sample.
    if not all(shuffles) or any("RangeDataset" in type(chain[-1]).__name__ for chain in chains):
        return []
    seeds = [{_seed_of(one) for one in some} for some in shuffles]
    return chains if seeds[0].isdisjoint(seeds[1]) or seeds == [{(0, 0)}] * 2 else []


def _seed_of(data: Any) -> tuple[int, int]:
    """The seeds by which a data set is shuffled; of none two zeros."""
    return int(getattr(data, "_seed", 0)), int(getattr(data, "_seed2", 0))


def _copied(file: str) -> Iterator[dict[str, Any]]:
    running, given = list(frames_of(file)), _Calls.of(file)
    for function in nodes_of(file):
        if not isinstance(function, (ast.FunctionDef, ast.Module)):
            continue
        inner = list(ast.walk(function))
        assigned = [(to, one.value) for one in inner if isinstance(one, ast.Assign) for to in one.targets]
        made = {to.id: value for to, value in assigned if isinstance(to, ast.Name)}
        for pair in (one for one in inner if isinstance(one, ast.Tuple) and len(one.elts) == 2):
            copies = [_made_of(one, made) for one in pair.elts]
            calls = {last_name(one): one for one in copies if isinstance(one, ast.Call)}
            if "repeat" in calls and "tile" in calls:
                yield _slip(file, calls["tile"].lineno, copies="tile")
            elif "repeat" in calls and any(_is_end_to_end(one, made) for one in calls.values()):
                yield _slip(file, calls["repeat"].lineno, copies="repeat")
            elif len(calls.keys() & {"repeat", "tile"}) == 1 and "reshape" in calls:
                name = "tile" if "tile" in calls else "repeat"
                if any(_is_across(calls["reshape"], calls[name], given, frame) for frame in running):
                    yield _slip(file, calls[name].lineno, copies=name, unrolled=True)


def _is_across(unrolled: ast.Call, copied: ast.Call, calls: _Calls, frame: Any) -> bool:
    """Whether a reshape lays the samples of an array out in one order, and their targets are copied in the other.

    Of ``[n, k, ...]`` a reshape makes k rows of the first of n samples, then k of the second; `tile` begins anew.
    """
    of = _subject(copied)
    name, targets = _reshaped(unrolled), None if of is None else _whole(of)
    if name is None or targets is None:
        return False
    before = np.shape(_array(calls.find(name, unrolled, frame)))
    asked = np.shape(_array(calls.find(targets, copied, frame)))
    after = _asked_shape(unrolled, math.prod(before), frame) if len(before) > 1 and asked else None
    if after is None or after[0] != math.prod(before[:2]) or before[0] == before[1]:
        return False
    return bool(asked[0] > 1 and asked[0] == before[0 if last_name(copied) == "tile" else 1])


def _made_of(node: ast.expr, made: Mapping[str, ast.expr]) -> ast.expr:
    """The call that makes what an expression is of, so far as it is of one alone."""
    if any(isinstance(one, ast.Call) and last_name(one) in COPYING for one in ast.walk(node)):
        return node
    calls = [made[one.id] for one in names_in(node) if isinstance(made.get(one.id), ast.Call)]
    return calls[0] if len(calls) == 1 else node


def _is_end_to_end(call: ast.Call, made: Mapping[str, ast.expr]) -> bool:
    """Whether a call lays an array and what is made of it, such as its mirror images, one behind the other."""
    if last_name(call) not in LAYING or not call.args:
        return False
    parts = call.args[0].elts if isinstance(call.args[0], (ast.List, ast.Tuple)) else []
    first = parts[0].id if parts and isinstance(parts[0], ast.Name) else None
    others = [made.get(one.id, one) if isinstance(one, ast.Name) else one for one in parts[1:]]
    return bool(others) and all(any(name.id == first for name in names_in(one)) for one in others)


def _floored(file: str) -> Iterator[dict[str, Any]]:
    running, calls = list(frames_of(file)), _Calls.of(file)
    stores: dict[str, list[ast.Assign | ast.AugAssign]] = defaultdict(list)
    for node in nodes_of(file):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for to in stored_names(node):
                stores[to].append(node)
    for node in nodes_of(file) if running else ():
        name, dtype, scale = _cast_to_whole(node) or ("", "", None)
        function = calls.around.get(id(node))
        is_given = bool(name) and function is not None and calls.given(name, function) is not None
        # What is given another value then, here or below, is not what was cast.
        later = [one for one in stores.get(name, []) if (one.end_lineno or 0) >= node.lineno]  # type: ignore[attr-defined]
        for frame in running if name else ():
            factor, array = _factor(scale, frame), _array(calls.find(name, node, frame))
            if factor is None:
                continue
            is_own = len(later) == 1 and _is_within(later[0], node.lineno) and not is_given  # type: ignore[attr-defined]
            is_there = scale is None or is_given or not later
            if (scale is not None and is_own and _is_of_zeros(array)) or (is_there and _is_of_shares(array, factor)):
                yield _slip(file, node.lineno, floored=dtype, **_scaled(factor))  # type: ignore[attr-defined]


def _scaled(factor: float) -> dict[str, Any]:
    return {} if factor == 1 else {"scaled": True}


def _cast_to_whole(node: ast.AST) -> tuple[str, str, ast.BinOp | None] | None:
    """The name of an array that a call casts, reshaped or not, the type of whole numbers, and what scales it before."""
    if not isinstance(node, ast.Call) or last_name(node) not in ("astype", "cast"):
        return None
    is_method = last_name(node) == "astype"
    asked = next(iter(node.args[0 if is_method else 1 :]), _keyword(node, "dtype"))
    dtype = "" if asked is None else _named(asked)
    of = _kept(node.func.value if is_method and isinstance(node.func, ast.Attribute) else next(iter(node.args), None))
    scale = of if isinstance(of, ast.BinOp) and isinstance(of.op, (ast.Div, ast.Mult)) else None
    name = _whole(_kept(of if scale is None else scale.left) or node)
    return None if name is None or dtype not in WHOLE else (name, dtype, scale)


def _kept(node: ast.expr | None) -> ast.expr | None:
    """The array of whose numbers an expression is made, each as it is."""
    while isinstance(node, ast.Call) and (last_name(node) in KEEPING or _asks(node, FLOATS, ("astype", "cast"))):
        node = _subject(node)
    return node


def _factor(scale: ast.BinOp | None, frame: Any) -> float | None:
    """By what an array is multiplied; None where that is not known."""
    if scale is None:
        return 1.0
    node = scale.right
    value: Any = _held(node.id, frame) if isinstance(node, ast.Name) else getattr(node, "value", None)
    if not isinstance(value, (int, float, np.number)) or not value > 0:
        return None
    return float(1 / value if isinstance(scale.op, ast.Div) else value)


def _is_of_zeros(array: Any) -> bool:
    """Whether an array of whole numbers holds nothing but 0: what was cut under its own name is gone."""
    dtype = getattr(array, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind in "iu" and np.size(array) > 1 and not np.any(array)


def _is_of_shares(array: Any, factor: float = 1.0) -> bool:
    """Whether an array, times a factor, holds numbers from 0 to 1, most of which are neither."""
    dtype = getattr(array, "dtype", None)
    dtype = getattr(dtype, "as_numpy_dtype", dtype)
    if dtype is None or not np.issubdtype(dtype, np.floating if factor == 1 else np.number) or not np.size(array):
        return False
    values = np.ravel(array)[:: max(1, np.size(array) // SHARES_MAX)] * factor
    is_between = (values > 0) & (values < 1)
    return bool(((values >= 0) & (values <= 1)).all() and is_between.mean() > MOST)


def _floored_in_map(file: str) -> Iterator[dict[str, Any]]:
    """The lines of a data set's map that scale what it was made of to shares, and cast these to whole numbers."""
    for data in _data_sets():
        chain = chain_of(data)
        for place, part in enumerate(chain):
            graph, arrays = mapped_graph(part), _slices(chain[place + 1 :])
            if graph is None or len(graph.inputs) != len(arrays):
                continue
            for op in (op for op in graph.get_operations() if _is_cut(op)):
                number, factor = _scaled_in(op, graph)
                source = source_of(op) if number >= 0 and _is_of_shares(arrays[number], factor) else None
                if source is not None and source["file"] == file:
                    yield _slip(file, source["line"], floored=op.outputs[0].dtype.name, **_scaled(factor))


def _padded(file: str) -> Iterator[dict[str, Any]]:
    """The lines that pad sequences of fractions, which Keras casts to int32 where no type is asked for."""
    running, calls, nodes = list(frames_of(file)), _Calls.of(file), nodes_of(file)
    for node in nodes if running else ():
        if not isinstance(node, ast.Call) or last_name(node) != "pad_sequences" or len(node.args) not in (1, 2):
            continue
        name, function = _whole(node.args[0]), calls.around.get(id(node))
        if name is None or any(one.arg in (None, "dtype") for one in node.keywords):
            continue
        is_given = function is not None and calls.given(name, function) is not None
        stores = [one for one in nodes if isinstance(one, (ast.Assign, ast.AugAssign, ast.For))]
        is_later = any(name in stored_names(one) and one.lineno >= node.lineno for one in stores)
        for frame in running if is_given or not is_later else ():
            if _is_of_keras_by_name(node.func, frame) and _loses_much(calls.find(name, node, frame)):
                yield _slip(file, node.lineno, floored="int32", padded=True)


def _is_of_keras_by_name(node: ast.expr, frame: Any) -> bool:
    """Whether what running code calls by a name is a function of Keras'."""
    first, *parts = ast.unparse(node).split(".")
    value = _held(first, frame)
    for part in parts:
        value = getattr(value, part, None)
    return callable(value) and is_of_keras(value)


def _loses_much(sequences: Any) -> bool:
    """Whether sequences are of numbers that are not much any more once their fractions are cut off."""
    if not isinstance(sequences, (list, tuple, np.ndarray)):
        return False
    try:
        arrays = [np.ravel(np.asarray(one)) for one in sequences[:SEQUENCES_MAX]]
    except ValueError:  # of other lengths within one
        return False
    arrays = [one for one in arrays if one.size]
    if not arrays or any(one.dtype.kind != "f" for one in arrays):
        return False
    values = np.concatenate(arrays).astype(np.float64)
    values = values[np.isfinite(values)]
    lost = values - np.trunc(values)
    return values.size > 1 and bool((lost != 0).mean() > MOST and lost.std() > LOST_MIN * values.std() > 0)


def _slices(chain: Sequence[Any]) -> list[Any]:
    """The arrays that a data set is made of, if nothing but their order changes on the way."""
    is_plain = not any(hasattr(one, "_map_func") or hasattr(one, "_datasets") for one in chain)
    return list(getattr(chain[-1], "_tensors", ())) if chain and is_plain else []


def _is_cut(op: Any) -> bool:
    return bool(op.type == "Cast" and op.inputs[0].dtype.is_floating and op.outputs[0].dtype.is_integer)


def _scaled_in(op: Any, graph: Any) -> tuple[int, float]:
    """Which input of a graph an operation is given, and times what; -1 where it is more than that."""
    tensor, factor, inputs = op.inputs[0], 1.0, [one.name for one in graph.inputs]
    while tensor.name not in inputs:
        made, by = tensor.op, 1.0
        if made.type in ("Mul", "RealDiv"):
            given = tf.get_static_value(made.inputs[1])
            if given is None or np.size(given) != 1 or not np.all(given > 0):
                return -1, factor
            by = float(np.ravel(given)[0]) ** (1 if made.type == "Mul" else -1)
        elif made.type not in ("Cast", "ExpandDims", "Identity", "Reshape", "Squeeze"):
            return -1, factor
        tensor, factor = made.inputs[0], factor * by
    return inputs.index(tensor.name), factor


def _filtered(file: str) -> Iterator[dict[str, Any]]:
    return _by_method(file, "filter", _is_partly_filtered, filtered=True)


def _is_partly_filtered(data: Any) -> bool:
    """Whether a data set is made of others, as long as one another and in their order, some of which are filtered."""
    chains = [chain_of(one) for one in tf.nest.flatten(getattr(chain_of(data)[-1], "_datasets", ()))]
    kinds = [{type(one).__name__.strip("_") for one in chain} for chain in chains]
    sizes = {int(chain[-1].cardinality()) for chain in chains}
    is_aligned = len(sizes) == 1 and min(sizes) > 0 and not any("ShuffleDataset" in kind for kind in kinds)
    return is_aligned and len({"FilterDataset" in kind for kind in kinds}) > 1


def _trimmed(file: str) -> Iterator[dict[str, Any]]:
    nodes = [node for node in nodes_of(file) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript)]
    functions = [node for node in nodes_of(file) if isinstance(node, ast.FunctionDef)]
    picked_in: dict[int, dict[str, str]] = {}
    for node in sorted(nodes, key=lambda one: one.lineno):
        value: Any = node.value
        within = max((one.lineno for one in functions if _is_within(one, node.lineno)), default=0)
        picked = picked_in.setdefault(within, {})  # a name is another one's in another function
        name = value.value.id if isinstance(value.value, ast.Name) else None
        if name is None or [one.id for one in node.targets if isinstance(one, ast.Name)] != [name]:
            continue
        if isinstance(value.slice, (ast.Name, ast.UnaryOp)) and not _is_number(value.slice, file):
            picked[name] = ast.unparse(value.slice)
        elif isinstance(value.slice, ast.Slice) and value.slice.lower is None:
            end = value.slice.upper
            of = _whole(end.args[0]) if isinstance(end, ast.Call) and last_name(end) == "len" and end.args else None
            if of in picked and name not in picked:
                yield _slip(file, node.lineno, trimmed=name, picked=of, by=picked[of])


def _is_number(node: ast.expr, file: str) -> bool:
    """Whether the running code holds a single number by a name."""
    running = frames_of(file) if isinstance(node, ast.Name) else iter(())
    return any(isinstance(_held(node.id, frame), (int, np.integer)) for frame in running)  # type: ignore[attr-defined]


def _moved(node: ast.AST) -> str | None:
    """The array whose rows a statement puts into a random order, by itself; None for any other statement."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and last_name(node.value) == "shuffle":
        given = node.value.args
        return given[0].id if len(given) == 1 and isinstance(given[0], ast.Name) else None
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return None
    name, value = node.targets[0].id, node.value
    if isinstance(value, ast.Call) and last_name(value) in ("permutation", "shuffle") and value.args:
        return name if isinstance(value.args[0], ast.Name) and value.args[0].id == name else None
    is_drawn = isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Call)
    if isinstance(value, ast.Subscript) and is_drawn and last_name(value.slice) == "permutation":
        return name if _whole(value) == name else None
    return None


def _pairs_of(call: ast.Call) -> Iterator[tuple[str, str]]:
    """The names of two arrays that a call takes as pairs, in either order."""
    given = list(call.args)
    if len(given) == 1 and isinstance(given[0], ast.Tuple):
        given = given[0].elts
    names = [name for one in given[:2] if (name := _whole(one)) is not None]
    return itertools.permutations(names) if len(names) == 2 else iter(())  # type: ignore[return-value]


def _is_array(one: str, other: str, file: str) -> bool:
    return any(all(len(np.shape(_array(_held(name, frame)))) > 0 for name in (one, other)) for frame in frames_of(file))

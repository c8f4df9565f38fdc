"""What can be watched, and what is known of it without asking. Owns no state."""

from __future__ import annotations

import inspect
import itertools
import math
import os
import platform
import re
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Final

import keras
import numpy as np
import tensorflow as tf

from gradwatch import legacy
from gradwatch.errors import ConfigurationError, TargetError
from gradwatch.origin import is_users

__all__ = [
    "LooseVariables",
    "are_variables",
    "copies_as_made",
    "describe_environment",
    "describe_targets",
    "file_of",
    "frozen_as_made",
    "has_frozen",
    "has_keras_losses",
    "has_keras_step",
    "is_of_keras",
    "is_read",
    "layer_paths",
    "left_as_made",
    "losses_of",
    "module_paths",
    "name_of",
    "optimizer_settings",
    "parts_within",
    "path_of",
    "running_momenta",
    "running_states",
    "sort_targets",
    "trainable_variables",
    "untracked_variables",
    "walk",
]


def sort_targets(targets: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Sorts what was given to `gradwatch.watch` into models, optimizers, and modules that are none of Keras'.

    Models and optimizers are of Keras 3 or of Keras 2 (``tf_keras``); among the models are single layers, and what
    layers and models a `tf.Module` holds. Each `tf.Variable`, alone or in containers, is one of `LooseVariables`, the
    last of the modules.

    Raises:
        TargetError: none given, another type, or models of which none has anything to train. One of several may be
            frozen for the moment, as a discriminator is while its generator learns.
        ConfigurationError: Keras runs on another backend than TensorFlow.
    """
    expected = "a Keras model, layer or optimizer, a tf.Module, or variables, e.g. gradwatch.watch(model)"
    if not targets:
        raise TargetError("watch()", "no target", expected)
    if keras.backend.backend() != "tensorflow":
        raise ConfigurationError("the Keras backend", keras.backend.backend(), "'tensorflow' (set KERAS_BACKEND)")
    model_classes = (keras.layers.Layer, *legacy.model_classes())
    optimizer_classes = (keras.optimizers.Optimizer, *legacy.optimizer_classes())
    models: list[Any] = [target for target in targets if isinstance(target, model_classes)]
    optimizers: list[Any] = [target for target in targets if isinstance(target, optimizer_classes)]
    loose = [target for target in targets if are_variables(target)]
    known = {id(target) for target in (*models, *optimizers, *loose)}
    modules: list[Any] = [target for target in targets if id(target) not in known]
    for target in modules:
        if not isinstance(target, tf.Module):
            raise TargetError("watch()", _shown(target), expected)
        models += [held for _, held in _held_by(target, model_classes) if id(held) not in map(id, models)]
    if loose:
        modules.append(LooseVariables(tf.nest.flatten(loose)))
    if not optimizers and not modules and all(_is_whole(model) and not model.trainable_variables for model in models):
        raise TargetError(
            "watch()",
            f"model {models[0].name!r} without trainable weights",
            "a model with something to train; is every layer frozen (layer.trainable = False)?",
        )
    return models, optimizers, modules


class LooseVariables(tf.Module):  # type: ignore[misc]
    """Variables that nothing holds, by the names that TensorFlow gave them, numbered where several have one.

    Args:
        variables: those.
    """

    def __init__(self, variables: Sequence[tf.Variable]) -> None:
        super().__init__(name="variables")
        self.by_name: dict[str, tf.Variable] = {}
        for variable in dict(zip(map(id, variables), variables, strict=True)).values():
            stem = str(variable.name).split(":")[0]
            names = itertools.chain([stem], (f"{stem}_{n}" for n in itertools.count(1)))
            self.by_name[next(name for name in names if name not in self.by_name)] = variable


def are_variables(target: Any) -> bool:
    """Whether something is a `tf.Variable`, or a container of nothing else."""
    found = tf.nest.flatten(target) if isinstance(target, (list, tuple, dict)) else [target]
    return bool(found) and all(isinstance(one, tf.Variable) for one in found)


def _held_by(module: Any, classes: type | tuple[type, ...]) -> list[tuple[str, Any]]:
    """What a `tf.Module` and those within it hold of some classes, with the path of its attribute."""
    found = module._flatten(predicate=lambda one: isinstance(one, classes), with_path=True)
    return [("/".join(map(str, path)), one) for path, one in found]


def module_paths(modules: Sequence[Any]) -> dict[int, str]:
    """Of each variable that modules hold, by its id, the module's name and the path of its attribute: ``mlp/first/w``.

    The names that TensorFlow gives are often all the same.
    """
    found: dict[int, str] = {}
    for module in modules:
        if isinstance(module, LooseVariables):
            found |= {id(variable): name for name, variable in module.by_name.items()}
            continue
        for path, variable in _held_by(module, tf.Variable):
            found.setdefault(id(variable), f"{name_of(module)}/{path}")
    return found


def _shown(target: Any) -> str:
    if isinstance(target, type):
        return f"the class {target.__name__} (an instance of it is needed)"
    return f"{type(target).__name__} {target!r}"[:200]


def path_of(layer: Any) -> str:
    """A layer's Keras path, or its name, where it has none yet."""
    return str(layer.path or layer.name)


def name_of(target: Any) -> str:
    """The name of a model or an optimizer; the older optimizers of Keras 2 keep theirs to themselves."""
    return str(getattr(target, "name", None) or getattr(target, "_name", None) or type(target).__name__)


def trainable_variables(model: Any) -> list[Any]:
    """What a model can train now; nothing before it is built."""
    try:
        return list(model.trainable_variables)
    except ValueError:  # what Keras 2 says of a model whose weights do not exist yet
        return []


def untracked_variables(models: Sequence[Any], is_meant: Callable[[str], bool] | None = None) -> dict[str, Any]:
    """What layers hold as a trainable `tf.Variable` of their own, which Keras 3 does not know of, by a name.

    Args:
        models: the watched models.
        is_meant: whether the variable of that name is made to be trained in so many words. Only then a number alone is
            one of them: counters, averages and settings are kept so too.
    """
    known = {id(variable.value) for model in models for variable in model.variables if hasattr(variable, "path")}
    found: dict[str, Any] = {}
    for layer in _layers(models):
        own = {name: one for name, one in vars(layer).items() if not name.startswith("_self_")}
        for name, variable in _variables_in(own, path_of(layer)):
            is_learned = variable.trainable and variable.dtype.is_floating and id(variable) not in known
            if is_learned and (variable.shape.rank or (is_meant is not None and is_meant(name))):
                found.setdefault(name, variable)
    return found


CONTAINER_MAX: Final = 1_000
"""Of a longer list, data perhaps, no element is looked at."""


def _variables_in(held: Any, name: str, depth: int = 3) -> Iterator[tuple[str, Any]]:
    """Each `tf.Variable` in containers within containers, with its name."""
    if isinstance(held, tf.Variable):
        yield name, held
    elif depth and isinstance(held, (list, tuple, dict)) and len(held) <= CONTAINER_MAX:
        for key, one in held.items() if isinstance(held, dict) else enumerate(held):
            yield from _variables_in(one, f"{name}/{key}", depth - 1)
    elif depth and _is_plain(held):
        yield from _variables_in(dict(vars(held)), name, depth)


def parts_within(held: Any) -> list[Any]:
    """What a container holds, a function, a method, or an object of a class of the user's own, none of Keras'."""
    if isinstance(held, (dict, list, tuple)):
        found = list(held.values() if isinstance(held, dict) else held)
        return found if len(found) <= CONTAINER_MAX else []
    if inspect.ismethod(held):
        return [held.__self__]
    if inspect.isfunction(held) and is_users(held.__code__.co_filename):
        return [value for value in map(_content_of, held.__closure__ or ()) if value is not None]
    return list(vars(held).values()) if _is_plain(held) else []


def _content_of(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing yet
        return None


def file_of(cls: type) -> str:
    """The file of a class; empty where it has none, as those of C have."""
    return str(getattr(sys.modules.get(cls.__module__), "__file__", None) or "")


def _is_plain(held: Any) -> bool:
    """Whether an object is of a class of the user's own, and of none of Keras'."""
    file = file_of(type(held))
    is_own = bool(file) and is_users(file) and hasattr(held, "__dict__") and not isinstance(held, type)
    return is_own and not any(is_of_keras(base) for base in type(held).__mro__)


STATE_SIZE_MAX: Final = 65_536
"""Elements of a state that is captured: a statistic of each unit, not a table or a frozen kernel."""


def running_states(models: Sequence[Any]) -> dict[str, Any]:
    """What the layers of models keep beside their weights, by Keras path.

    These are BatchNormalization's moving mean and variance and their like: float variables that the step itself
    assigns. What a frozen layer holds is no such thing.
    """
    found: dict[str, Any] = {}
    for model in models:
        if legacy.is_model(model):
            continue
        frozen = {id(variable) for layer in walk([model]) if not layer.trainable for variable in layer.variables}
        for variable in model.non_trainable_weights:
            resource = variable.value
            if (
                id(variable) not in frozen
                and resource.dtype.is_floating
                and math.prod(variable.shape) <= STATE_SIZE_MAX
            ):
                found.setdefault(str(variable.path), resource)
    return found


def running_momenta(models: Sequence[Any]) -> dict[str, float]:
    """Of a layer's running mean and variance, by Keras path, the share that each batch leaves of them.

    Keras takes any number for it; what is no share is not told.
    """
    layers = [one for one in walk(models) if isinstance(one, keras.layers.BatchNormalization) and one.built]
    states = [(one.momentum, variable) for one in layers for variable in (one.moving_mean, one.moving_variance)]
    return {str(variable.path): float(momentum) for momentum, variable in states if 0 <= momentum <= 1}


UNTAUGHT_MAX: Final = 4
"""Weights that stand for all that nothing has taught."""
UNTAUGHT_SIZE: Final = 4
"""Units of a bias that says something: a few may have come out as 0."""
TABLE_SIZES: Final = range(64, 2**20)
"""Elements of an embedding that is looked at: enough to know their distribution, and not too many to read."""
FIXED: Final = re.compile(r"echo_|fixed(?!_?effect)|fourier|frozen|random(?!_?(effect|intercept|slope))|reservoir")
"""What is random to stay so, by its name or its layer's."""
DRAWN_SIZES: Final = range(17, 2**20)
"""Likewise of what is held unknown to Keras, of which the numbers alone tell how it was made."""
DRAWN_SHARE: Final = 0.5
"""What these are at the most, of the variance, where a few numbers leave much to chance."""
DRAWN_SOME: Final = 2_048
ROUNDED: Final = 1e-5
"""Numbers that are looked at, and how far they are apart, in deviations: of more some are this near by chance."""
DRAWN_ERRORS: Final = 4.0
"""Standard errors that the mean of what is drawn about 0, and of products of neighbours, is from 0 at the most."""
TABLE_FILLS: Final = 0.9
"""Of a range that 64 numbers are drawn from evenly, they leave a tenth uncovered once in a hundred times."""


def frozen_as_made(models: Sequence[Any]) -> dict[str, Any]:
    """Weights that tell that frozen layers are as they were made, by Keras path; none where any tells otherwise.

    A bias begins with zeros (an LSTM's with ones too, for its forget gate), an embedding within a narrow range, and any
    training moves them out of that. A layer with neither, as a normalisation is, says nothing of it.
    """
    return _as_made((layer, _own(layer)) for layer in _frozen(models))


def has_frozen(models: Sequence[Any]) -> bool:
    """Whether a layer with a kernel is frozen: what it makes of an input was learned for something else."""
    return any(len(variable.shape) > 1 for layer in _frozen(models) for variable in _own(layer).values())


def _frozen(models: Sequence[Any]) -> Iterator[Any]:
    """The frozen layers that hold no others."""
    return (layer for layer in _layers(models) if not layer.trainable and not list(layer._layers))


def left_as_made(
    models: Sequence[Any],
    given: Sequence[Any],
    read: Set[int],
    *,
    is_learned: Callable[[str, Any], bool],
    is_meant: Callable[[str], bool],
    are_whole: bool = False,
) -> dict[str, Any]:
    """The same of layers that could be trained, and of which no optimizer is given anything, Keras' or their own.

    Args:
        models: the watched models.
        given: what optimizers are given.
        read: the handles of the variables that a step reads. What it does not read may have its turn later, and so may
            a copy of what is trained (in a model of its own, with the same layers).
        is_learned: whether the loss has a gradient for a `tf.Variable` of that name, and no line assigns it.
        is_meant: as `untracked_variables` takes it.
        are_whole: whether none of them is a copy, as their layers together have other shapes.
    """
    ids = set(map(id, given))
    shapes = {(_parent(str(one.path)), tuple(one.shape)) for one in given if hasattr(one, "path")}
    left: list[tuple[Any, dict[str, Any]]] = []
    for layer in reversed(list(_layers(models))):  # which begin with the last
        own = [] if list(layer._layers) or not layer.trainable else layer.trainable_weights
        if own and not ids.intersection(map(id, own)):
            left.append((layer, _own(layer)))
    own_turn = [(layer, own) for layer, own in left if is_read(own.values(), read)]
    found = _as_made((layer, own) for layer, own in own_turn if are_whole or not _is_copy(own, shapes))
    unknown: dict[str, dict[str, Any]] = {}
    numbers: dict[str, Any] = {}
    for name, variable in untracked_variables(models, is_meant).items():
        if id(variable) not in ids and not FIXED.search(name.lower()) and is_learned(name, variable):
            of = unknown.setdefault(name.rpartition("/")[0], {}) if variable.shape.rank else numbers
            of[name] = variable
    for own in unknown.values():  # each tells of itself: what Keras does not know is never trained beside the rest
        found |= _as_made([(None, own)])
    return _largest(found | numbers)


def copies_as_made(trained: Sequence[Any], kept: Mapping[str, Any], others: Sequence[Any]) -> dict[str, Any]:
    """Of variables that a step reads, kernels of a copy of all that it trains, under names of their own.

    And what layers of the copy keep beside their weights, as running means: these have one axis.

    Empty unless each trained weight has its equal among the others, to the last digit, and what is trained is as it was
    made: its biases hold nothing but 0 and 1. So a target network begins, and an average of the weights.

    Args:
        trained: the variables of Keras that the step trains.
        kept: what the same models keep beside them, by Keras path (`running_states`).
        others: the `tf.Variable`s that it reads beside them.
    """
    own = {str(one.path): one.value for one in trained if hasattr(one, "path") and len(one.shape)}
    left = sorted((one for one in others if len(one.shape)), key=lambda one: not one.trainable)
    found: dict[str, Any] = {}
    with tf.init_scope():
        for path, variable in own.items():
            if len(variable.shape) == 1 and not np.isin(variable, (0, 1)).all():
                return {}
            copy = _take_equal(left, variable)
            if copy is None:
                return {}
            found[f"copy/{path}"] = copy
        states = _equals_of(kept, [one for one in left if not one.trainable])
    sizes = {path: math.prod(one.shape) for path, one in found.items() if len(one.shape) > 1}
    kernels = sorted((path for path, size in sizes.items() if size <= STATE_SIZE_MAX), key=lambda path: -sizes[path])
    return {path: found[path] for path in kernels[:UNTAUGHT_MAX]} | states


def _equals_of(kept: Mapping[str, Any], others: Sequence[Any]) -> dict[str, Any]:
    """Of each of some variables of 0 or 1 alone its equal among others, a number of them at the most."""
    left, found = list(others), dict[str, Any]()
    for path, variable in kept.items():
        if len(found) == UNTAUGHT_MAX or len(variable.shape) != 1 or not np.isin(variable, (0, 1)).all():
            continue
        copy = _take_equal(left, variable)
        if copy is not None:
            found[f"copy/{path}"] = copy
    return found


def _take_equal(left: list[Any], variable: Any) -> Any:
    """Takes out of some variables the first that equals one; None where none does."""
    place = next((place for place, one in enumerate(left) if _are_equal(one, variable)), None)
    return None if place is None else left.pop(place)


def _are_equal(one: Any, other: Any) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype and bool(tf.reduce_all(tf.equal(one, other)))


def _own(layer: Any) -> dict[str, Any]:
    return {str(one.path): one.value for one in layer.weights if hasattr(one, "path")}


def _parent(path: str) -> str:
    """The path of what holds the layer that a variable belongs to."""
    return "/".join(path.split("/")[:-2])


def is_read(variables: Iterable[Any], read: Set[int]) -> bool:
    """Whether any of these variables, Keras' or TensorFlow's, is among those with these handles."""
    return any((one if hasattr(one, "handle") else one.value).handle._id in read for one in variables)


def _is_copy(own: Mapping[str, Any], shapes: Set[tuple[str, tuple[int, ...]]]) -> bool:
    """Whether there are variables of the same shapes elsewhere than beside these."""
    return all(
        any(at != _parent(path) and shape == tuple(variable.shape) for at, shape in shapes)
        for path, variable in own.items()
    )


def _as_made(layers: Iterable[tuple[Any, Mapping[str, Any]]]) -> dict[str, Any]:
    """Of layers and their own variables, by name."""
    found: dict[str, Any] = {}
    for layer, own in layers:
        tables = _tables_in(layer, own)
        biases = {name: one for name, one in _biases_in(own).items() if name not in tables}
        with tf.init_scope():
            are_zero = all(np.isin(one, (0, 1)).all() for one in biases.values())
            is_made = are_zero and all(layer is None or _fills(layer, one) for one in tables.values())
        if not is_made:
            return {}
        found |= biases | tables
    return _largest(found)


def _largest(found: Mapping[str, Any]) -> dict[str, Any]:
    largest = set(sorted(found, key=lambda path: -math.prod(found[path].shape))[:UNTAUGHT_MAX])
    return {path: variable for path, variable in found.items() if path in largest}


def _tables_in(layer: Any, own: Mapping[str, Any]) -> dict[str, Any]:
    if layer is None:  # of what Keras does not know, the numbers alone tell how it was made
        with tf.init_scope():
            return {name: one for name, one in own.items() if _looks_drawn(one)}
    is_table = isinstance(layer, keras.layers.Embedding)
    if not is_table or not isinstance(layer.embeddings_initializer, keras.initializers.RandomUniform):
        return {}
    return {name: one for name, one in own.items() if math.prod(one.shape) in TABLE_SIZES and len(one.shape) == 2}


def _looks_drawn(table: Any) -> bool:
    """Whether numbers are as different, as evenly about their middle and as little like their neighbours as drawn ones.

    Their middle is 0, or 0.5 where all lie between 0 and 1.
    """
    if math.prod(table.shape) not in DRAWN_SIZES:
        return False
    values = np.asarray(table, np.float64).reshape(-1, table.shape[-1])
    values = values - 0.5 if values.min() >= 0 and values.max() <= 1 else values
    sides = [part for part in (values, values.T) if len(part) > 1]
    means = [values.mean() * values.std(), *((part[1:] * part[:-1]).mean() for part in sides)]
    slack = min(DRAWN_ERRORS / math.sqrt(values.size), DRAWN_SHARE)
    is_even = all(abs(mean) <= slack * values.var() for mean in means)
    # Of sines some are the same, but for their sign and the last digit.
    some = np.sort(np.abs(values.ravel()[:DRAWN_SOME]))
    n_apart = np.count_nonzero(np.diff(some) > ROUNDED * values.std())
    return bool(is_even and n_apart >= TABLE_FILLS * (len(some) - 1) and values.std() > 0)


def _fills(layer: Any, table: Any) -> bool:
    """Whether a table holds numbers of all the range that it was drawn from, and none out of it."""
    made = layer.embeddings_initializer
    low, high, values = made.minval, made.maxval, np.asarray(table, np.float64)
    rounding = 1e-3 * (high - low)  # of a short type
    is_within = low - rounding <= values.min() and values.max() <= high + rounding
    return bool(is_within and np.ptp(values) >= TABLE_FILLS * (high - low))


def _biases_in(own: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a layer's float variables that have a number for each unit of a kernel among them."""
    floats = {name: one for name, one in own.items() if one.dtype.is_floating}
    kernels = [tuple(one.shape) for one in floats.values() if len(one.shape) > 1]
    biases = {kernel[-n:] for kernel in kernels for n in range(1, len(kernel))}
    if len(floats) == 3:  # a GRU has two, side by side
        biases |= {(2, kernel[-1]) for kernel in kernels}
    sizes = range(UNTAUGHT_SIZE, STATE_SIZE_MAX + 1)
    return {name: one for name, one in floats.items() if tuple(one.shape) in biases and math.prod(one.shape) in sizes}


def optimizer_settings(optimizer: Any) -> dict[str, Any]:
    """What an optimizer was made with, as far as it is a number, a word or a yes or no; not its name."""
    try:
        with tf.init_scope():  # it may read a variable
            config = optimizer.get_config()
    except Exception:  # a custom optimizer may not know its own configuration
        return {}
    return {key: value for key, value in config.items() if key != "name" and isinstance(value, (bool, int, float, str))}


def describe_targets(models: Sequence[Any], optimizers: Sequence[Any]) -> dict[str, Any]:
    """What is known of the run without asking: the optimizer and its settings, the model's size."""
    known = list(optimizers) + [model.optimizer for model in models if getattr(model, "optimizer", None) is not None]
    config: dict[str, Any] = {}
    for optimizer in known[:1]:
        config["optimizer"] = type(optimizer).__name__
        config |= {f"optimizer.{key}": value for key, value in optimizer_settings(optimizer).items()}
    for model in models[:1]:
        config["model"] = name_of(model)
        if hasattr(model, "count_params") and _is_whole(model):
            config["model.n_parameters"] = int(model.count_params())
    return config


def describe_environment(version: str) -> dict[str, Any]:
    """Versions, host, devices and script of this process; ``version`` is gradwatch's own."""
    return {
        "gradwatch": version,
        "tensorflow": tf.__version__,
        "keras": keras.__version__,
        **({} if legacy.version() is None else {"tf_keras": legacy.version()}),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "script": " ".join(sys.argv)[:500],
        "devices": [device.name for device in tf.config.list_physical_devices()],
    }


def layer_paths(models: Sequence[Any]) -> list[str]:
    """The Keras paths of all layers of some models, nested ones included."""
    older = [path for model in models if legacy.is_model(model) for path in legacy.layer_paths(model)]
    # What was never called has no path.
    paths = [str(layer.path) for layer in _layers(models) if layer.path]
    return list(dict.fromkeys([*older, *paths]))


def _is_whole(model: Any) -> bool:
    """Whether all weights exist. Keras calls a model built whose ``build`` did nothing, with layers that are not."""
    return all(layer.built for layer in walk([model]))


def _layers(models: Iterable[Any]) -> Iterator[Any]:
    """`walk` those of Keras 3."""
    return walk([model for model in models if not legacy.is_model(model)])


def walk(models: Iterable[Any]) -> Iterator[Any]:
    """Models and all their layers, nested ones included."""
    pending = list(models)
    while pending:
        layer = pending.pop()
        yield layer
        # Keras shows a model's layers, but not those that a layer holds.
        pending.extend(getattr(layer, "layers", ()) or getattr(layer, "_layers", ()))


def losses_of(model: Any) -> list[Any]:
    """What a model is compiled with as its losses, as they were given: names, functions, objects."""
    given = getattr(model, "loss", None)
    return [one for one in tf.nest.flatten(given) if one is not None]


def has_keras_losses(model: Any) -> bool:
    """Whether a model is compiled with losses by their names, or of Keras' own, which compare sample by sample."""
    losses = losses_of(model)
    # One of Keras' classes may be made of the user's function.
    made = [getattr(one, "fn", one) for one in losses]
    return bool(losses) and all(isinstance(one, str) or is_of_keras(one) for one in (*losses, *made))


def has_keras_step(model: Any) -> bool:
    """Whether `fit` trains a model by Keras' own step, of inputs and targets: one of the user's may take any two."""
    return isinstance(model, keras.Model) and type(model).train_step is keras.Model.train_step


def is_of_keras(value: Any) -> bool:
    """Whether a function, a class or an object is of Keras' own making."""
    module = value.__module__ if callable(value) and hasattr(value, "__name__") else type(value).__module__
    return str(module).partition(".")[0] in ("keras", "tf_keras")


def leaves(part: Any) -> Iterator[Any]:
    """The layers that a model is made of, in its own order; of a layer of the user's own, its parts."""
    inner = getattr(part, "layers", ()) or getattr(part, "_layers", ())
    if not inner:
        yield part
    for one in inner:
        yield from leaves(one)

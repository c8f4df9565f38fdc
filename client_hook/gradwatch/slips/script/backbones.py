"""Which numbers the pretrained networks of `keras.applications` that a script makes were trained on. Runs no training.

Each family has a range of its own, which its ``preprocess_input`` gives; some scale by themselves. What enters the
model tells whether a script kept to it. Owns no state.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import keras
import numpy as np

from gradwatch.origin import source_at
from gradwatch.slips.script.scaled import LEVELS, scaling_in
from gradwatch.syntax import assigned_before, last_name, nodes_of, nodes_of_type
from gradwatch.target import leaves

__all__ = ["PREPARE", "find_backbones", "made_in"]

PACKAGE: Final = "applications"
LEVEL_MAX: Final = 255.0
AS_THEY_ARE: Final = (0.0, LEVEL_MAX)
PREPARE: Final = "preprocess_input"
WIDE: Final = 30.0
"""Images that are scaled have no such range."""
KERNELS_MIN: Final = 10
"""Layers with weights: the least of these networks has more."""
PREPARING: Final = frozenset({"per_image_standardization", PREPARE})
LOADING: Final = frozenset({"KerasLayer", "load_model", "load_weights"})
CHANGING: Final = (keras.layers.Lambda, keras.layers.Normalization, keras.layers.Rescaling)


class _Backbone(NamedTuple):
    """A call that makes a pretrained network, the least and the largest number of its training, and whose weights."""

    file: str
    line: int
    name: str
    module: str
    low: float
    high: float
    is_imagenet: bool


def find_backbones(models: Iterable[Any], files: Sequence[str]) -> list[dict[str, Any]]:
    """The only call that makes a pretrained network which does not scale its images by itself.

    Args:
        models: the watched models.
        files: the user's files that are looked at.

    Returns:
        One entry, type ``Data``, the name of the function, no layer, the source line, ``wants``: the least and the
        largest number that the network was trained on, ``prepared``: whether a layer or line may bring images to it
        behind the inputs, ``module``: where its ``preprocess_input`` is, ``within``: whether the model calls that on
        what enters, and ``by``: the module whose ``preprocess_input`` the files take in its place, which gives other
        numbers, or none. None where there is no such call, or several, or one of a network that does scale, and no
        ``by``. It is a slip where other numbers enter, and with ``by`` where images do.
    """
    made = [one for file in files for one in made_in(file)]
    by = _foreign(made[0].module, files) if len(made) == 1 and made[0].is_imagenet else ""
    made = [one for one in made if by or (one.low, one.high) != AS_THEY_ARE]
    layers = [part for model in models for part in leaves(model)]
    if len(made) != 1 or sum(bool(part.weights) for part in layers) < KERNELS_MIN:
        return []
    one = made[0]
    is_wide = one.high - one.low > WIDE
    is_prepared = any(isinstance(part, CHANGING) for part in layers) or any(_is_prepared(f, is_wide) for f in files)
    source = source_at([(one.file, one.line)])
    known = {"wants": [one.low, one.high], "prepared": is_prepared, "module": one.module, "by": by}
    known["within"] = any(_prepares_inputs(file) for file in files)
    return [{"type": "Data", "name": one.name, "layer": "", "source": source, **known}]


def made_in(file: str) -> Iterator[_Backbone]:
    """The calls of a file that make a pretrained network."""
    nodes = nodes_of(file)
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and PACKAGE in (node.module or "")]
    imported = {alias.asname or alias.name: alias.name for node in imports for alias in node.names}
    for node in nodes:
        if not isinstance(node, ast.Call) or not _is_trained(node, file):
            continue
        parts = ast.unparse(node.func).split(".")
        name = imported.get(parts[-1], parts[-1]) if len(parts) == 1 else parts[-1]
        if PACKAGE not in parts[:-1] and parts[0] not in imported:
            continue
        wanted = _wanted(name)
        if wanted is not None:
            yield _Backbone(file, node.lineno, name, *wanted, _is_imagenet(node))


def _is_trained(call: ast.Call, file: str) -> bool:
    """Whether a call is given weights, which are ImageNet's by default."""
    given = [assigned_before(one, file) if isinstance(one, ast.Name) else one for one in _weights_of(call)]
    return not any(isinstance(one, ast.Constant) and one.value is None for one in given)


def _weights_of(call: ast.Call) -> list[ast.expr]:
    return [one.value for one in call.keywords if one.arg == "weights"] or call.args[1:2]


def _is_imagenet(call: ast.Call) -> bool:
    """Whether a call is known to give ImageNet's weights: a user's own may want anything."""
    is_known = all(isinstance(one, ast.Constant) and one.value == "imagenet" for one in _weights_of(call))
    return is_known and all(one.arg is not None for one in call.keywords)


def _wanted(name: str) -> tuple[str, float, float] | None:
    """The module of a network, and what its ``preprocess_input`` makes of black and of white.

    None of what is no network.
    """
    made = getattr(keras.applications, name, None)
    module = str(getattr(made, "__module__", ""))
    prepare = getattr(sys.modules.get(module), PREPARE, None)
    if prepare is None or not callable(made):
        return None
    given = _prepared_by(prepare)
    return module.rpartition(".")[2], float(np.min(given)), float(np.max(given))


def _prepared_by(prepare: Any) -> Any:
    """What a ``preprocess_input`` makes of black, of white, and of a colour."""
    levels = np.array([[0, 0, 0], [LEVEL_MAX, LEVEL_MAX, LEVEL_MAX], [10, 60, 200]], np.float32)
    return prepare(levels.reshape(3, 1, 1, 3), data_format="channels_last")


def _foreign(module: str, files: Sequence[str]) -> str:
    """The module of the ``preprocess_input`` that files use, where none of these gives what a network's own does."""
    used = {name for file in files for name in _prepares_of(file)}
    own = getattr(getattr(keras.applications, module, None), PREPARE, None)
    others = [getattr(getattr(keras.applications, name, None), PREPARE, None) for name in used]
    if own is None or None in others or "imagenet_utils" in used:
        return ""
    # Where images are scaled by hand, or another network is read, it may be meant for something else.
    if any(_is_of_several(file) or any(scaling_in(file)) for file in files):
        return ""
    wanted = _prepared_by(own)
    is_one = any(np.allclose(_prepared_by(one), wanted) for one in others)
    return "" if is_one else min(used, default="")


def _is_of_several(file: str) -> bool:
    """Whether a file has weights read, or keeps its functions in a table."""
    nodes = nodes_of(file)
    kept = [one for node in nodes if isinstance(node, ast.Dict) for one in node.values]
    is_kept = any(PREPARE in ast.unparse(one) for one in kept)
    return is_kept or any(last_name(node) in LOADING for node in nodes if isinstance(node, ast.Call))


def _prepares_of(file: str) -> Iterator[str]:
    """The modules of `keras.applications` whose ``preprocess_input`` a file uses; empty for one that is not known."""
    nodes = nodes_of(file)
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    read = {node.id for node in nodes if isinstance(node, ast.Name)}
    for node in imports:
        module = (node.module or "").rpartition(".")[2] if PACKAGE in (node.module or "") else ""
        yield from (module for one in node.names if one.name == PREPARE and (one.asname or one.name) in read)
    modules = {alias.asname or alias.name: alias.name for node in imports for alias in node.names}
    for held in nodes:
        if isinstance(held, ast.Attribute) and held.attr == PREPARE:
            parts = ast.unparse(held.value).split(".")
            yield parts[-1] if PACKAGE in parts[:-1] else modules.get(parts[-1], "")


def _prepares_inputs(file: str) -> bool:
    """Whether a model is made that calls ``preprocess_input`` on what enters it, as it is or augmented."""
    calls = [node for node in nodes_of_type(file, ast.Call) if last_name(node) == PREPARE]
    return any(_is_input(call.args[0], file) for call in calls if call.args)


def _is_input(node: ast.expr, file: str, depth: int = 3) -> bool:
    given = assigned_before(node, file) if isinstance(node, ast.Name) else node
    if not isinstance(given, ast.Call) or not depth:
        return False
    made = assigned_before(given.func, file) if isinstance(given.func, ast.Name) else None
    if isinstance(made, ast.Call) and last_name(made) == "Sequential" and "Rescaling" not in ast.unparse(made):
        return bool(given.args) and _is_input(given.args[0], file, depth - 1)
    return last_name(given) == "Input"


def _is_prepared(file: str, is_wide: bool) -> bool:
    """Whether a file has a line that scales images down, or up to a wide range."""
    if is_wide:
        products = [node for node in nodes_of_type(file, ast.BinOp) if isinstance(node.op, ast.Mult)]
        sides = [side for node in products for side in (node.left, node.right)]
        return any(isinstance(side, ast.Constant) and side.value in LEVELS for side in sides)
    calls = nodes_of_type(file, ast.Call)
    return any(last_name(node) in PREPARING for node in calls) or any(scaling_in(file))

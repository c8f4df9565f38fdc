"""Validation images that are flipped, turned or made lighter at random, as `fit` is given them. Runs none of it.

Images are changed at random for a training. Those that it is validated with are to be what the model will see, the same
each time. Owns no state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.origin import Fit, running_fit, source_at, source_of
from gradwatch.slips.script.fed import chain_of, mapped_graph
from gradwatch.syntax import assigned_before, last_name, nodes_of
from gradwatch.walk import behind

__all__ = ["find_jittered"]

RANGES: Final = (
    *("rotation_range", "width_shift_range", "height_shift_range", "brightness_range", "shear_range"),
    *("zoom_range", "channel_shift_range", "horizontal_flip", "vertical_flip"),
)
"""Of an `ImageDataGenerator`."""
OF_LABELS: Final = frozenset({"binary", "categorical", "sparse"})
IMAGES_RANK: Final = 3
LABELS_RANK: Final = 2
LAYERS: Final = "image_preprocessing"
FUNCTIONS: Final = "image_ops_impl.py"
"""Where Keras, and TensorFlow, has what changes images at random."""


def find_jittered() -> list[dict[str, Any]]:
    """What changes the images at random that the running `fit` validates with, where it is asked for their labels.

    Returns:
        One entry, type ``Data``, no name, no layer, the source line, and ``jittered``: the names of the settings of the
        `ImageDataGenerator` that gives them, or of what a data set's map calls; none where neither does.
    """
    fit = running_fit()
    held = None if fit is None else fit.known.get("validation_data")
    if fit is None or not fit.file or held is None:
        return []
    with tf.init_scope():  # a step may be being traced
        found = _drawn_in_map(held) if isinstance(held, tf.data.Dataset) else _drawn_by_generator(held, fit)
        return [{"type": "Data", "name": "", "layer": "", "source": at, "jittered": what} for at, what in found][:1]


def _drawn_by_generator(held: Any, fit: Fit) -> Iterator[tuple[dict[str, Any] | None, list[str]]]:
    generator = getattr(held, "image_data_generator", None)
    is_of_labels = getattr(held, "class_mode", None) in OF_LABELS or _is_of_labels(getattr(held, "y", None))
    what = [name for name in RANGES if _is_drawn(name, getattr(generator, name, None))] if is_of_labels else []
    if what:
        yield source_at([(fit.file, _made_in(fit))]), what


def _is_drawn(name: str, value: Any) -> bool:
    """Whether a setting leaves anything to chance: `zoom_range` is kept as the least and the largest factor."""
    if value is None or value is False:
        return False
    ends = np.ravel(value)
    return bool((ends != (1 if name == "zoom_range" else 0)).any())


def _is_of_labels(y: Any) -> bool:
    return isinstance(y, np.ndarray) and 1 <= y.ndim <= LABELS_RANK


def _made_in(fit: Fit) -> int:
    """The line that makes what `fit` validates with, where it has a name; else the line of `fit`."""
    calls = [node for node in nodes_of(fit.file) if isinstance(node, ast.Call) and last_name(node) == "fit"]
    calls = [node for node in calls if node.lineno <= fit.line <= (node.end_lineno or node.lineno)]
    given = [one.value for call in calls for one in call.keywords if one.arg == "validation_data"]
    made = assigned_before(given[0], fit.file) if len(given) == 1 and isinstance(given[0], ast.Name) else None
    return fit.line if made is None else made.lineno


def _drawn_in_map(data: Any) -> Iterator[tuple[dict[str, Any] | None, list[str]]]:
    if not _gives_labels(data):
        return
    for graph in filter(None, map(mapped_graph, chain_of(data))):
        drawn = [(op, name) for op in graph.get_operations() if _is_drawn_anew(op) and (name := _drawing(op))]
        if drawn:
            yield source_of(drawn[0][0]), list(dict.fromkeys(name for _, name in drawn))


def _is_drawn_anew(op: Any) -> bool:
    """Whether an operation draws other numbers each time: by a given seed it draws the same ones."""
    if "Random" not in op.type:
        return False
    return not op.type.startswith("Stateless") or any(one.op_def.is_stateful for one in behind([op], through=None))


def _gives_labels(data: Any) -> bool:
    """Whether a data set gives images, and of each what has no places."""
    spec = data.element_spec
    if not isinstance(spec, tuple) or len(spec) not in (2, 3):
        return False
    images, labels = (one.shape.rank if isinstance(one, tf.TensorSpec) else None for one in spec[:2])
    return images is not None and labels is not None and images >= IMAGES_RANK and labels <= LABELS_RANK


def _drawing(op: Any) -> str:
    """The function, or layer, that changes an image and draws by an operation; empty where none does."""
    frames: Sequence[Any] = op.traceback
    for frame in frames:
        is_function = frame.filename.endswith(FUNCTIONS) and frame.name.startswith(("random_", "stateless_random_"))
        if is_function:
            return f"tf.image.{frame.name}"
        if LAYERS in frame.filename and "random_" in frame.filename:
            file = frame.filename.replace("\\", "/").rpartition("/")[2]
            return "".join(map(str.capitalize, file.removesuffix(".py").split("_")))
    return ""

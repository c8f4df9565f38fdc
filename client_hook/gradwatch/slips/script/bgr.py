"""Images that OpenCV reads, blue first, where a network wants red first, in the user's own files. Runs none of them.

`cv2.imread` gives the channels in the order blue, green, red. All else that reads images gives red first, and so were
the images of nearly all pretrained networks. Owns no state.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gradwatch.origin import source_at
from gradwatch.slips.script.backbones import PREPARE, made_in
from gradwatch.syntax import (
    functions_around,
    last_name,
    names_in,
    nodes_below,
    nodes_in,
    nodes_of,
    nodes_of_type,
    stored_names,
)

__all__ = ["find_bgr"]

READING: Final = frozenset({"cv2", "cv"})
COLOUR: Final = frozenset({"1", "cv2.IMREAD_COLOR", "cv.IMREAD_COLOR"})
OTHERS: Final = frozenset(
    {
        *("decode_image", "decode_jpeg", "decode_png", "flow_from_dataframe", "flow_from_directory"),
        *("image_dataset_from_directory", "load_img"),
    }
)
"""Calls that read images with red first."""
ANY: Final = OTHERS | {"imageio", "imread_v2", "load", "load_data", "open", "plt", "skimage"}
"""And such as may."""
TURNING: Final = frozenset(
    {"blobFromImage", "cvtColor", "dstack", "flip", "gather", "merge", "reverse", "split", "take", "unstack"}
)
"""Calls that may give channels another order."""
COLOURLESS: Final = re.compile(
    r"chest|grayscale|greyscale|infrared|mammogra|mnist|mri(?![a-z])|pneumonia|radiogra|thermal|"
    r"tomogra|ultrasound|x-?ray"
)
"""Words of images whose channels are all the same."""
MASKS: Final = re.compile(r"annotation|mask|segmentation|ground_?truth")
CAFFE_LOW: Final = -100.0
"""The least number that a network wants for which ``preprocess_input`` exchanges red and blue itself."""


def find_bgr(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first line that reads images blue first for a network that knows them red first.

    Args:
        files: the user's files that are looked at.

    Returns:
        One entry, type ``Line``, the name of the pretrained network, or empty where it is what else reads the images to
        train on (``by``), no layer, the source line and ``blue`` (True); none where anything may exchange channels.
    """
    if any(map(_may_turn, files)):
        return []
    reads = [(file, call) for file in files for call in _reads_in(file)]
    if any(MASKS.search(ast.unparse(one).lower()) for file, call in reads for one in _around(file, call)):
        return []  # images may be read by something else
    names = {name for file in files for name in _called_in(file)}
    found: tuple[str, ast.Call, str, str] | None = None
    if reads and not names & OTHERS:
        made = [one for file in files for one in made_in(file)]
        is_prepared = any(
            PREPARE in (getattr(node, "id", ""), getattr(node, "attr", "")) for f in files for node in nodes_of(f)
        )
        wanting = [one for one in made if one.is_imagenet and (one.low > CAFFE_LOW or is_prepared)]
        many = [(file, call) for file, call in reads if not _is_of_one(call) or _is_predicted(file, call)]
        if many and len(made) == len(wanting) == 1 and not names & ANY:
            found = (*many[0], wanting[0].name, "")
    elif reads and "fit" in names:
        shown = [(file, call) for file, call in reads if _is_predicted(file, call)]
        found = (*shown[0], "", min(names & OTHERS)) if len(shown) == len(reads) else None
    if found is None:
        return []
    file, call, name, by = found
    place = {"type": "Line", "name": name, "layer": "", "source": source_at([(file, call.lineno)])}
    return [{**place, "blue": True, "by": by}]


def _reads_in(file: str) -> Iterator[ast.Call]:
    """The calls of `cv2.imread` that read colours."""
    for node in nodes_of(file):
        if isinstance(node, ast.Call) and last_name(node) == "imread" and isinstance(node.func, ast.Attribute):
            flags = [ast.unparse(one) for one in (*node.args[1:], *(one.value for one in node.keywords))]
            if last_name(node.func.value) in READING and COLOUR.issuperset(flags):
                yield node


def _around(file: str, call: ast.Call) -> Iterator[ast.stmt]:
    """The plain statement that a call stands in."""
    nodes = (one for one in nodes_of_type(file, ast.stmt) if not hasattr(one, "body"))
    return (one for one in nodes if one.lineno <= call.lineno <= (one.end_lineno or one.lineno))


def _is_of_one(call: ast.Call) -> bool:
    """Whether a call reads a file of one name, as a picture to be shown."""
    return bool(call.args) and isinstance(call.args[0], ast.Constant)


def _called_in(file: str) -> Iterator[str]:
    for node in nodes_of(file):
        if isinstance(node, ast.Call):
            yield last_name(node)
            yield from (one.id for one in names_in(node.func) if one.id in ANY)


def _may_turn(file: str) -> bool:
    """Whether anything in a file may give channels another order, or none."""
    for node in nodes_of(file):
        step = node.step if isinstance(node, ast.Slice) else None
        if isinstance(step, ast.UnaryOp) or (isinstance(node, ast.Call) and last_name(node) in TURNING):
            return True
        if isinstance(node, (ast.List, ast.Tuple)) and [getattr(one, "value", None) for one in node.elts] == [2, 1, 0]:
            return True
        if isinstance(node, (ast.Attribute, ast.Constant)):
            text = str(node.attr if isinstance(node, ast.Attribute) else node.value)
            if any(word in text for word in ("BGR", "GRAY", "bgr")) or COLOURLESS.search(text.lower()):
                return True
    return False


def _is_predicted(file: str, call: ast.Call) -> bool:
    """Whether what a call reads is made into what `predict` is asked for, in the same function."""
    nodes = nodes_of(file)
    around: Any = functions_around(nodes).get(id(call)) or nodes[0]
    own = nodes_below(around)
    made: set[str] = set()
    for node in sorted((one for one in own if isinstance(one, ast.Assign)), key=lambda one: one.lineno):
        if any(one is call for one in nodes_in(node.value)) or any(one.id in made for one in names_in(node.value)):
            made |= stored_names(node)
    asked = [one for one in own if isinstance(one, ast.Call) and last_name(one) in ("predict", "predict_on_batch")]
    return any(one.id in made for part in asked for given in part.args[:1] for one in names_in(given))

"""Where an operation of a graph comes from: the layer it runs in, and the user's own line. Adds no ops."""

from __future__ import annotations

import functools
import inspect
import itertools
import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from types import FrameType
from typing import Any, Final, NamedTuple

import tensorflow as tf

__all__ = [
    "EXCERPT_REACH",
    "GRADIENT_SCOPE",
    "Fit",
    "find_source",
    "frames",
    "frames_of",
    "gradient_frames",
    "is_fit",
    "is_own",
    "is_users",
    "layer_of",
    "locals_of",
    "running_fit",
    "slip_of",
    "source_at",
    "source_here",
    "source_of",
]

GRADIENT_SCOPE: Final = "gradient_tape/"
"""`tf.GradientTape` names what it adds to a graph ``gradient_tape/<scope of the forward operation>/...``."""

EXCERPT_REACH: Final = 2
"""Lines before and behind the one that is meant: enough to know the place again."""
EXCERPT_WIDTH: Final = 200
"""Characters of each of them; a longer line is data, not code."""


_REDUCING: Final = frozenset({"Cast", "DivNoNan", "Identity", "Mean", "Mul", "RealDiv", "Reshape", "Squeeze", "Sum"})
"""What Keras makes a scalar of a loss with."""
_WAY_MAX: Final = 16
_ASKING: Final = "imperative_grad.py"
"""Where TensorFlow calls the gradient of each operation, and adds up those of one tensor."""


def gradient_frames(op: Any) -> list[Any]:
    """The frames, the outermost first, from where a tape that was asked for gradients made an operation; or none."""
    return list(itertools.dropwhile(lambda frame: not frame.filename.endswith(_ASKING), op.traceback))


def layer_of(name: str, layer_paths: Sequence[str]) -> str:
    """The path of the innermost layer among an operation's scopes, or "".

    A layer that was built before its model does not have the model in its path, so the place of a path's end among the
    scopes counts first. Keras enters a layer's scope twice at each call, so that the operations of the first call of
    ``dense`` stand in ``dense_1``, and those of ``dense_1`` in ``dense_1_1``: a number counts the calls, if it can.
    """
    while name.startswith(GRADIENT_SCOPE):
        name = name[len(GRADIENT_SCOPE) :]
    scopes = name.split("/")[:-1]
    best, best_rank = "", (0, 0, 0)
    for path in layer_paths:
        parts = path.split("/")
        for end in range(len(parts), len(scopes) + 1):
            window = scopes[end - len(parts) : end]
            if all(map(_is_call_of, window, parts)):
                n_numbered = sum(scope != part for scope, part in zip(window, parts, strict=True))
                if (end, len(parts), n_numbered) > best_rank:
                    best, best_rank = path, (end, len(parts), n_numbered)
    return best


def _is_call_of(scope: str, name: str) -> bool:
    return re.fullmatch(re.escape(name) + r"(_\d+)?", scope) is not None


def source_of(op: Any) -> dict[str, Any] | None:
    """The innermost frame of the user's own code in the stack that made an operation.

    None where Keras' own training loop made it without any code of the user's in between: the line that calls ``fit``
    says nothing about the operation.
    """
    return source_at((frame.filename, frame.lineno) for frame in reversed(op.traceback))


def find_source(tensor: Any) -> dict[str, Any] | None:
    """`source_of` the first operation on the way back that is the user's, behind means and scales of Keras' own."""
    op = tensor.op
    for _ in range(_WAY_MAX):
        source = source_of(op)
        if source is not None or op.type not in _REDUCING:
            return source
        op = op.inputs[0].op
    return None


def source_at(frames: Iterable[tuple[str, int]]) -> dict[str, Any] | None:
    """`source_of` what was called from these files and lines, the innermost first."""
    for filename, line in frames:
        is_trainer, is_framework = _classify(filename)
        if is_trainer:
            return None
        if not is_framework:
            place = {"file": filename, "line": line, "code": linecache.getline(filename, line).strip()}
            return place | {"excerpt": _read_excerpt(filename, line)}
    return None


def locals_of(frame: FrameType) -> dict[str, Any]:
    """What a frame holds by its names, with no copy that stays there and keeps all of it as long as the frame runs."""
    known = frame.f_locals
    found = dict(known)
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED and isinstance(known, dict):  # a function's, before Python 3.13
        known.clear()  # a snapshot, which is made anew whenever it is asked for
    return found


def frames() -> Iterator[FrameType]:
    """What is being run, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def frames_of(file: str) -> Iterator[FrameType]:
    """The frames of a file's code that are being run, the innermost first."""
    return (frame for frame in frames() if frame.f_code.co_filename == file)


def is_fit(frame: FrameType) -> bool:
    """Whether a frame is that of Keras' own `fit`."""
    return frame.f_code.co_name == "fit" and "keras" in frame.f_code.co_filename


class Fit(NamedTuple):
    """A `fit` that is being run: what it holds by its names, such as ``self``, ``x`` and ``y``, and who called it.

    Attributes:
        known: what it holds.
        file: the user's file that called it; empty where none did.
        line: the line there.
    """

    known: dict[str, Any]
    file: str
    line: int


def running_fit() -> Fit | None:
    """The innermost `fit` of Keras' that is being run; None where none is."""
    running = frames()
    for frame in running:
        if is_fit(frame):
            known = locals_of(frame)
            caller = next((one for one in running if is_users(one.f_code.co_filename)), None)
            return Fit(known, "", 0) if caller is None else Fit(known, caller.f_code.co_filename, caller.f_lineno)
    return None


def source_here() -> dict[str, Any] | None:
    """`source_of` what is being run."""
    return source_at((frame.f_code.co_filename, frame.f_lineno) for frame in frames())


def is_users(filename: str) -> bool:
    """Whether a file is the user's own, and no part of a framework."""
    return not _classify(filename)[1]


def is_own(op: Any) -> bool:
    """Whether the user's own code asked for an operation, not a layer, loss or metric of Keras that it calls."""
    for frame in reversed(op.traceback):
        if is_users(frame.filename):
            return True
        if _LAYERS.search(frame.filename):
            return False
    return False


def slip_of(op: Any, layer_paths: Sequence[str]) -> dict[str, Any]:
    """An operation as ``slips`` tells of it: type, name, layer, and its source line where it is the user's own."""
    return {
        "type": op.type,
        "name": op.name,
        "layer": layer_of(op.name, layer_paths),
        "source": source_of(op) if is_own(op) else None,
    }


@functools.lru_cache(maxsize=1024)
def _classify(filename: str) -> tuple[bool, bool]:
    """Whether a file is Keras' own training loop, and whether it is no code of the user's."""
    return _TRAINER.search(filename) is not None, _is_framework(filename)


def _read_excerpt(filename: str, line: int) -> dict[str, Any] | None:
    """The line with those around it; None where the text is not known, as for code that was typed in or is gone."""
    lines = linecache.getlines(filename)
    if not 1 <= line <= len(lines):
        return None
    first = max(1, line - EXCERPT_REACH)
    shown = lines[first - 1 : line + EXCERPT_REACH]
    return {"first": first, "lines": [text.rstrip()[:EXCERPT_WIDTH] for text in shown]}


_LAYERS: Final = re.compile(r"[/\\]keras[/\\]src[/\\](layers|losses|metrics|optimizers)[/\\](?!layer\.py)")
_TRAINER: Final = re.compile(r"[/\\]keras[/\\]src[/\\](backend[/\\]tensorflow[/\\]trainer|trainers[/\\]\w+)\.py$")
_FRAMEWORK_FOLDERS: Final = tuple(
    {
        *(
            os.path.join(sysconfig.get_path(name), package)
            for name in ("purelib", "platlib")
            for package in ("tensorflow", "keras", "tf_keras")
        ),
        os.path.dirname(tf.__file__),
        sysconfig.get_path("stdlib"),
        os.path.dirname(os.path.abspath(__file__)),
        os.path.join(sys.prefix, "bin"),
    }
)


def _is_framework(filename: str) -> bool:
    if "site-packages" in filename or "dist-packages" in filename or filename.startswith("<frozen"):
        return True
    return filename.startswith(_FRAMEWORK_FOLDERS) or "__autograph_generated_file" in filename

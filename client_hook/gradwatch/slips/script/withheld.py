"""What is made for a training and never handed over, in the user's own source: callbacks, schedules, class weights.

A name that nothing reads is found in the syntax trees of the user's files. Runs none of their code, owns no state.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from typing import Any, Final

import keras

from gradwatch.origin import source_at
from gradwatch.syntax import last_name, nodes_of, readers_of

__all__ = ["find_withheld"]

CALLBACKS: Final = frozenset({"EarlyStopping", "LearningRateScheduler", "ModelCheckpoint", "ReduceLROnPlateau"})
"""Those that change what comes out of a training."""
SCHEDULES: Final = frozenset(
    name
    for name, one in vars(keras.optimizers.schedules).items()
    if inspect.isclass(one) and issubclass(one, keras.optimizers.schedules.LearningRateSchedule)
)
WEIGHTS: Final = "class_weight"
WEIGHING: Final = frozenset({"compute_class_weight"})
LOOKING: Final = frozenset({"eval", "exec", "getattr", "globals", "locals", "vars"})
"""What may read a name that does not stand there."""


def find_withheld(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first callback, schedule or weights of classes that have a name which nothing reads.

    Args:
        files: the user's files that are looked at.

    Returns:
        Type (``Data``), what it is (its class, or ``class_weight``) as name, no layer, the source line, and
        ``withheld``: the name that it was given.
    """
    for file in files:
        nodes = [node for one in readers_of(file) for node in nodes_of(one)]
        calls = {last_name(node) for node in nodes if isinstance(node, ast.Call)}
        if calls & LOOKING:
            continue
        read = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)}
        read |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        read |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
        read |= {one.name for node in nodes if isinstance(node, ast.ImportFrom) for one in node.names}
        for line, name, what in _made_in(file, "fit" in calls):
            if name not in read:
                known = {"withheld": name}
                return [{"type": "Data", "name": what, "layer": "", "source": source_at([(file, line)]), **known}]
    return []


def _made_in(file: str, is_fit: bool) -> Iterator[tuple[int, str, str]]:
    """The lines that give such a thing a name: the line, the name, and what it is."""
    nodes = nodes_of(file)
    held = {id(one) for node in nodes if isinstance(node, ast.ClassDef) for one in node.body}
    for node in nodes:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or id(node) in held:
            continue
        to = node.targets[0]
        what = _what_is(node.value, to.id) if isinstance(to, ast.Name) and not to.id.startswith("_") else ""
        if what and (is_fit or what in SCHEDULES):
            yield node.lineno, to.id, what  # type: ignore[attr-defined]


def _what_is(value: ast.expr, name: str) -> str:
    made = last_name(value) if isinstance(value, ast.Call) else ""
    if made in CALLBACKS | SCHEDULES:
        return made
    is_table = isinstance(value, (ast.Dict, ast.DictComp)) or made == "dict"
    is_of_classes = is_table and name in (WEIGHTS, f"{WEIGHTS}s")
    return WEIGHTS if is_of_classes or made in WEIGHING else ""

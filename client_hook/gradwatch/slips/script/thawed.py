"""Lines of fine-tuning in the wrong order, in the user's own source: what freezes is undone by what thaws. Runs none.

Setting a model's ``trainable`` sets that of all its layers, and a step that is compiled goes on as it was. Only
statements that follow one another in one block are looked at. Owns no state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from gradwatch.origin import source_at
from gradwatch.syntax import last_name, nodes_in, nodes_of, nodes_of_type
from gradwatch.target import leaves

__all__ = ["find_thawed"]

TRAINABLE: Final = "trainable"
ALONE: Final = frozenset({"compile", "fit", "predict", "train_on_batch"})
"""Methods of a model that is used by itself."""
PLAIN: Final = frozenset({"evaluate", "len", "predict", "print", "round", "summary"})
"""Calls that neither train nor compile a model, nor make one."""


def find_thawed(models: Iterable[Any], files: Sequence[str]) -> list[dict[str, Any]]:
    """Layers that are frozen and thawed again before anything is trained, or frozen where nobody looks any more.

    Args:
        models: the watched models.
        files: the user's files that are looked at.

    Returns:
        The first line, type ``Data``, no name and no layer: with ``thawed`` the text of what it thaws, whose layers a
        loop above has frozen, where none of the models' is frozen now; or with ``frozen`` the text of what it freezes
        between two calls of ``fit`` of one model, of which the second goes on with the step of the first.
    """
    # TensorFlow leaves out an assignment that changes nothing: only a model that was frozen as a whole is thawed so.
    is_open = all(part.trainable for model in models for part in leaves(model))
    for file in files:
        for node in nodes_of(file):
            for block in (getattr(node, name, None) for name in ("body", "orelse")):
                if isinstance(block, list):
                    undone = _undone_in(block) if is_open else ()
                    for line, known in (*undone, *_unseen_in(block, file)):
                        source = source_at([(file, line)])
                        return [{"type": "Data", "name": "", "layer": "", "source": source, **known}]
    return []


def _undone_in(block: Sequence[ast.stmt]) -> Iterator[tuple[int, dict[str, Any]]]:
    """A model thawed as a whole behind a loop that froze some of its layers, with nothing trained or made between."""
    frozen = set[str]()
    for statement in block:
        looped, (model, value) = _frozen_by(statement), _sets(statement)
        if looped is not None:
            frozen.add(looped)
        elif model in frozen and value is True:
            yield statement.lineno, {"thawed": model}
        elif not _is_plain(statement):
            frozen.clear()


def _frozen_by(statement: ast.stmt) -> str | None:
    """The model of which a loop freezes some layers: ``base`` of ``for l in base.layers[:9]: l.trainable = False``."""
    if not isinstance(statement, ast.For) or not isinstance(statement.target, ast.Name) or len(statement.body) != 1:
        return None
    layers = statement.iter.value if isinstance(statement.iter, ast.Subscript) else None
    if not isinstance(layers, ast.Attribute) or layers.attr != "layers":
        return None
    held, value = _sets(statement.body[0])
    return ast.unparse(layers.value) if held == statement.target.id and value is False else None


def _sets(statement: ast.stmt) -> tuple[str, object]:
    """Whose ``trainable`` a statement sets, and to which constant."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
        return "", None
    held = [one for one in statement.targets if isinstance(one, ast.Attribute) and one.attr == TRAINABLE]
    return (ast.unparse(held[0].value), statement.value.value) if held else ("", None)


def _unseen_in(block: Sequence[ast.stmt], file: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """A part frozen between two calls of ``fit`` of one model, none of ``compile`` among all that stands between."""
    fitted, frozen = "", (0, "")
    for statement in block:
        calls = [one for one in nodes_in(statement) if isinstance(one, ast.Call)]
        part, value = _sets(statement)
        fits = [ast.unparse(one.func.value) for one in calls if isinstance(one.func, ast.Attribute) and _is_fit(one)]
        if fits:
            line, model = frozen
            if line and fits == [fitted] and _is_of(model, fitted, file):
                yield line, {"frozen": model}
            fitted, frozen = fits[0] if len(fits) == 1 else "", (0, "")
        elif part and value is False and fitted and not frozen[0]:
            frozen = statement.lineno, part
        elif not _is_plain(statement):
            fitted, frozen = "", (0, "")


def _is_of(part: str, fitted: str, file: str) -> bool:
    """Whether what is frozen looks like a part of the model that is fitted: it is called, and no model by itself."""
    if part.split(".", maxsplit=1)[0].split("[", maxsplit=1)[0] == fitted.split(".", maxsplit=1)[0]:
        return True
    calls = nodes_of_type(file, ast.Call)
    owners = [node.func for node in calls if isinstance(node.func, ast.Attribute) and node.func.attr in ALONE]
    if any(ast.unparse(one.value) == part for one in owners):
        return False
    given = [one for node in calls for one in [node.func, *node.args]]
    listed = [node for one in given if isinstance(one, ast.List) for node in one.elts]
    return any(ast.unparse(one) == part for one in given + listed)


def _is_fit(call: ast.Call) -> bool:
    return last_name(call) == "fit"


def _is_plain(statement: ast.stmt) -> bool:
    """Whether a statement between two stages neither trains nor compiles a model, so far as is seen."""
    calls = (one for one in nodes_in(statement) if isinstance(one, ast.Call))
    return isinstance(statement, (ast.Assign, ast.Expr)) and all(last_name(one) in PLAIN for one in calls)

"""Images that are rotated by turns where degrees are meant, in the user's own source and by layers. Runs none of it.

The factor of Keras' `RandomRotation` is a share of a whole turn: of what is above 1 nothing is left but some angle or
other. Owns no state.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from gradwatch.origin import source_at
from gradwatch.syntax import last_name, nodes_of
from gradwatch.target import leaves, path_of

__all__ = ["find_rotated"]

ROTATION: Final = "RandomRotation"
FACTOR_MIN: Final = 2.0
"""Up to here some angle or other may be meant."""
RADIANS: Final = (math.pi, 2 * math.pi)
"""Who gives these means any angle, and gets it."""
TURN: Final = 360.0
"""Degrees. Who means all of them gets them."""


class _Line(NamedTuple):
    """A call that makes a layer which rotates, and between which factors; None where these are no plain numbers."""

    file: str
    line: int
    factor: tuple[float, float] | None


def find_rotated(models: Iterable[Any], files: Sequence[str]) -> list[dict[str, Any]]:
    """The first layer that rotates images by more than a whole turn, which looks like degrees.

    Args:
        models: the watched models.
        files: the user's files that are looked at.

    Returns:
        Type (``RandomRotation``), name and layer (its Keras path; both empty of one that is outside of the models), the
        source line where that is clear, and ``rotates``: from which factor to which.
    """
    lines = [one for file in files for one in _lines_in(file)]
    for part in (one for model in models for one in leaves(model)):
        if type(part).__name__ == ROTATION and (factor := _ends(getattr(part, "factor", None))) and _is_degrees(factor):
            alike = [one for one in lines if one.factor in (factor, None)]
            source = source_at([(alike[0].file, alike[0].line)]) if len(alike) == 1 else None
            path = path_of(part)
            return [{"type": ROTATION, "name": path, "layer": path, "source": source, "rotates": list(factor)}]
    for one in lines:
        if one.factor is not None and _is_degrees(one.factor):
            source = source_at([(one.file, one.line)])
            return [{"type": ROTATION, "name": "", "layer": "", "source": source, "rotates": list(one.factor)}]
    return []


def _is_degrees(factor: tuple[float, float]) -> bool:
    low, high = factor
    most = max(abs(low), abs(high))
    is_any = any(math.isclose(most, one, rel_tol=1e-2) for one in RADIANS)
    return most >= FACTOR_MIN and not is_any and high - low < TURN


def _lines_in(file: str) -> Iterator[_Line]:
    nodes = nodes_of(file)
    foreign = _foreign_in(nodes)
    for node in (one for one in nodes if isinstance(one, ast.Call) and last_name(one) == ROTATION):
        if ast.unparse(node.func).partition(".")[0] not in foreign:
            given = [*node.args[:1], *(one.value for one in node.keywords if one.arg == "factor")]
            yield _Line(file, node.lineno, _ends(_literal(given[0])) if given else None)


def _foreign_in(nodes: Sequence[ast.AST]) -> set[str]:
    """The names of what is no Keras': other libraries have a layer of that name, too, which takes degrees."""
    found = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            of = str(getattr(node, "module", None) or "")
            names = {one.asname or one.name.partition(".")[0]: f"{of}.{one.name}" for one in node.names}
            found |= {name for name, path in names.items() if "keras" not in path and "tensorflow" not in path}
    return found


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _ends(factor: Any) -> tuple[float, float] | None:
    """The smallest and the largest of what a factor allows, which may be one number or two."""
    ends = factor if isinstance(factor, (list, tuple)) else [factor]
    if not ends or not all(isinstance(one, (int, float)) for one in ends):
        return None
    both = [float(one) for one in ends]
    return (-abs(both[0]), abs(both[0])) if len(both) == 1 else (min(both), max(both))

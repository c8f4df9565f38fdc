"""Images that are turned without their masks, in the user's own source: by `tf.image`, by layers, in arrays. Runs none.

What is flipped, cropped or rotated at random must be so together with what is asked of each place of it. Two draws, one
for each of the two, fit in half of the samples at best.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gradwatch.slips.script.flipped import find_flipped
from gradwatch.syntax import last_name, names_in, nodes_in, nodes_of

__all__ = ["TURNING", "Turned", "find_turned"]

TURNING: Final = frozenset(
    {
        "random_crop",
        "random_flip_left_right",
        "random_flip_up_down",
        "RandomCrop",
        "RandomElasticTransform",
        "RandomFlip",
        "RandomPerspective",
        "RandomRotation",
        "RandomShear",
        "RandomTranslation",
        "RandomZoom",
    }
)
"""What moves an image's places by a draw."""


class Turned(NamedTuple):
    """The first call that turns one of the two that are a pair; ``n``: how many are turned, each by itself."""

    file: str
    node: ast.expr
    n: int


def find_turned(files: Sequence[str]) -> Turned | None:
    """What turns the two of a pair apart, in the `map` of a data set or in arrays: the first; None for none.

    Args:
        files: the user's files that are looked at.
    """
    in_maps = (found for file in files for found in _turned_in(file))
    in_arrays = (Turned(file, node, 1) for file in files for node in find_flipped(file))
    return next(itertools.chain(in_maps, in_arrays), None)


def _turned_in(file: str) -> Iterator[Turned]:
    nodes = nodes_of(file)
    functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    made: dict[str, bool] = {}
    """Names of layers, and of the user's own functions of one thing, that turn; and whether they have a seed."""
    for node in nodes:
        if isinstance(node, ast.Assign) and (inner := [one for one in nodes_in(node.value) if _turns(one)]):
            made |= {target.id: any(map(_is_seeded, inner)) for target in node.targets if isinstance(target, ast.Name)}
    for name, helper in functions.items():
        if len(helper.args.args) == 1 and (inner := [one for one in nodes_in(helper) if _turns(one)]):
            made[name] = any(map(_is_seeded, inner))
    for call in nodes:
        if not (isinstance(call, ast.Call) and last_name(call) == "map" and call.args):
            continue
        given = call.args[0]
        function = functions.get(given.id) if isinstance(given, ast.Name) else given
        if isinstance(function, (ast.FunctionDef, ast.Lambda)) and len(function.args.args) == 2:
            yield from _turned_by(file, function, made)


def _turned_by(file: str, function: ast.FunctionDef | ast.Lambda, made: Mapping[str, bool]) -> Iterator[Turned]:
    names = [argument.arg for argument in function.args.args]
    origins = _origins_in(function, names)
    turned: dict[str, ast.Call] = {}
    seeded: dict[str, bool] = {}
    for node in nodes_in(function):
        name = getattr(getattr(node, "func", None), "id", "")
        if isinstance(node, ast.Call) and node.args and (_turns(node) or name in made):
            both = _made_of(node.args[0], origins)
            if len(both) == len(names):
                return  # together, as they should be
            for one in both:
                turned.setdefault(one, node)
                seeded[one] = made[name] if name in made else _is_seeded(node)
    # Two that have a seed may be drawn alike.
    if turned and not (len(turned) == len(names) and all(seeded.values())):
        first = min(turned.values(), key=lambda node: (node.lineno, node.col_offset))
        yield Turned(file, first, len(turned))


def _origins_in(function: ast.FunctionDef | ast.Lambda, names: Sequence[str]) -> dict[str, set[str]]:
    """Of each name in a function of a pair, which of the two what it holds is made of, in the end.

    Of a call that gives a pair the first is taken to be made of the first.
    """
    origins = {name: {name} for name in names}
    nodes = [node for node in nodes_in(function) if isinstance(node, ast.Assign)]
    for node in sorted(nodes, key=lambda one: one.lineno):
        of = [_made_of(one, origins) for one in getattr(node.value, "elts", [node.value])]
        for target in node.targets:
            to = getattr(target, "elts", [target])
            if len(of) != len(to):
                of = [{name} for name in names] if len(to) == len(names) else [set().union(*of)] * len(to)
            origins |= {one.id: made for one, made in zip(to, of, strict=True) if isinstance(one, ast.Name)}
    return origins


def _made_of(node: ast.expr, origins: Mapping[str, set[str]]) -> set[str]:
    return set[str]().union(*(origins.get(one.id, ()) for one in names_in(node)))


def _turns(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node) in TURNING


def _is_seeded(node: ast.AST) -> bool:
    return any(keyword.arg == "seed" for keyword in getattr(node, "keywords", []))

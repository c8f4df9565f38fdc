"""Results that are taken apart in another order than they are given in, in the user's own files. Runs none of them.

A function that ends in ``return mean, log_variance`` is called as ``log_variance, mean = encode(x)``. Owns no state.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gradwatch.origin import source_at
from gradwatch.syntax import functions_around, last_name, nodes_in, nodes_of, parse

__all__ = ["find_unpacked"]

MODELS: Final = frozenset({"Functional", "Model"})
SIDES: Final = re.compile(r"\d+|(?<![a-z])(a|b|left|right)(?![a-z])")
"""What tells apart two that may well be exchanged: the halves of a coupling layer, a pair and its mirror image."""


def find_unpacked(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first line that gives two results of a function, or outputs of a model, one another's name.

    Args:
        files: the user's files that are looked at.

    Returns:
        One entry, type ``Data``, the name of what is called, no layer, the source line, and ``unpacked``: the two names
        in the order in which they are given; none where there is no such line.
    """
    for file in files:
        given = _given_in(file)
        plain = {one.name for one in getattr(parse(file), "body", []) if isinstance(one, ast.FunctionDef)}
        for node in nodes_of(file) if given else ():
            call = node.value if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
            name = _called(call) if isinstance(call, ast.Call) else ""
            if not isinstance(node, ast.Assign) or name not in given:
                continue
            if name in plain and isinstance(call, ast.Call) and not isinstance(call.func, ast.Name):  # another's method
                continue
            exchanged = _exchanged(given[name], _names_of(node.targets[0]))
            if exchanged is not None:
                source = source_at([(file, node.lineno)])
                return [{"type": "Data", "name": name, "layer": "", "source": source, "unpacked": list(exchanged)}]
    return []


def _called(call: ast.Call) -> str:
    """The function or model that a call is of: ``encoder`` of ``encoder(x)``, and of ``encoder.predict(x)``."""
    name = last_name(call)
    return last_name(call.func.value) if name == "predict" and isinstance(call.func, ast.Attribute) else name


def _given_in(file: str) -> dict[str, list[str]]:
    """What functions of a file return, and models give, by name; of those alone that are made once."""
    nodes = nodes_of(file)
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    within = functions_around(nodes)
    returned: dict[int, list[list[str]]] = {id(one): [] for one in functions}
    for node in nodes:
        if isinstance(node, ast.Return) and id(node) in within:
            returned[id(within[id(node)])].append(_names_of(node.value))
    found = [(one.name, returned[id(one)][0]) for one in functions if _is_plain(one, returned[id(one)])]
    found += list(_models_in(nodes))
    n_made = Counter([*(one.name for one in functions), *(name for name, _ in _models_in(nodes))])
    return {name: names for name, names in found if n_made[name] == 1 and len(set(names)) == len(names) > 1}


def _is_plain(function: ast.FunctionDef, returned: Sequence[list[str]]) -> bool:
    """Whether a function returns names of its own, the same wherever it ends."""
    arguments = {one.arg for one in nodes_in(function.args) if isinstance(one, ast.arg)}
    return bool(returned) and all(one == returned[0] for one in returned) and not arguments & set(returned[0])


def _models_in(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, list[str]]]:
    for node in nodes:
        call = node.value if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if not isinstance(node, ast.Assign) or not isinstance(call, ast.Call) or last_name(call) not in MODELS:
            continue
        outputs = [*call.args[1:2], *(one.value for one in call.keywords if one.arg == "outputs")]
        name = last_name(node.targets[0])
        if name and outputs:
            yield name, _names_of(outputs[0])


def _names_of(node: ast.expr | None) -> list[str]:
    """The names in a tuple or list, within others too, in their order; what is none has one that no other has."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return [name for one in node.elts for name in _names_of(one)]
    return [node.id] if isinstance(node, ast.Name) else [f"={id(node)}"]


def _exchanged(given: Sequence[str], taken: Sequence[str]) -> tuple[str, str] | None:
    """The first two names that stand in each other's place."""
    if len(given) != len(taken):
        return None
    pairs = [(one, other) for one, other in zip(given, taken, strict=True) if one != other]
    found = next(((one, other) for one, other in pairs if (other, one) in pairs), None)
    is_side = found is not None and SIDES.sub("", found[0]) == SIDES.sub("", found[1])
    return None if is_side else found

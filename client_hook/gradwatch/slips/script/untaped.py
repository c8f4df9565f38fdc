"""What a tape is to differentiate and has not seen, in the user's own files. Runs none of them.

A tape knows what is computed within its block. Of what is made behind it the gradient is None, or 0 without a word
where ``unconnected_gradients="zero"`` is asked for: so a second derivative is lost whose first one is taken outside of
the outer tape. Owns no state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gradwatch.origin import source_at
from gradwatch.syntax import last_name, nodes_below, nodes_in, nodes_of, root_name

__all__ = ["find_untaped"]

TAKING: Final = frozenset({"batch_jacobian", "gradient", "jacobian"})
"""What a tape is asked by; the first argument is what it is to differentiate."""
PACKAGES: Final = frozenset({"K", "keras", "ops", "tf"})
"""Whose functions compute: any other may give back what a tape has seen."""


def find_untaped(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first line that asks a tape for the gradient of what is computed outside of its block.

    Args:
        files: the user's files that are looked at.

    Returns:
        One entry, type ``Line``, the name of what is differentiated, no layer, the source line, ``untaped`` (the tape's
        name) and ``made`` (the source of the line that computes it); none where there is no such line.
    """
    for file in files:
        for scope in (node for node in nodes_of(file) if isinstance(node, (ast.FunctionDef, ast.Module))):
            for call, tape, made in _of_scope(scope):
                source, of = (source_at([(file, node.lineno)]) for node in (call, made))
                name = ast.unparse(call.args[0])
                return [{"type": "Line", "name": name, "layer": "", "source": source, "untaped": tape, "made": of}]
    return []


def _of_scope(scope: ast.FunctionDef | ast.Module) -> Iterator[tuple[ast.Call, str, ast.Assign]]:
    """The calls in question, with the tape's name and the line that computes what they are given."""
    own = nodes_below(scope)
    blocks = [(name, node) for node in own if isinstance(node, ast.With) for name in _tapes_of(node)]
    for call in own if blocks else ():
        tape = _tape_of(call)
        known = [node for name, node in blocks if name == tape]
        if not isinstance(call, ast.Call) or not known or not call.args or not isinstance(call.args[0], ast.Name):
            continue
        name, within = call.args[0].id, {id(one) for node in known for one in nodes_in(node)}
        stores = [one for one in nodes_in(scope) if isinstance(one, ast.Name) and one.id == name and _is_store(one)]
        made = [node for node in own if isinstance(node, ast.Assign) and stores and node.targets == stores[:1]]
        is_between = len(stores) == 1 and known[0].lineno < stores[0].lineno < call.lineno
        if made and is_between and id(stores[0]) not in within and _computes(made[0].value, blocks):
            yield call, tape, made[0]


def _is_store(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _tapes_of(node: ast.With) -> Iterator[str]:
    for item in node.items:
        if last_name(item.context_expr) == "GradientTape" and isinstance(item.optional_vars, ast.Name):
            yield item.optional_vars.id
        elif isinstance(item.context_expr, ast.Name):  # entered again
            yield item.context_expr.id


def _tape_of(node: ast.AST) -> str:
    """The tape that a call asks for a gradient; empty where it is none."""
    func = node.func if isinstance(node, ast.Call) else None
    is_taking = isinstance(func, ast.Attribute) and func.attr in TAKING and isinstance(func.value, ast.Name)
    return func.value.id if is_taking and isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) else ""


def _computes(value: ast.expr, blocks: Sequence[tuple[str, ast.With]]) -> bool:
    """Whether a line makes something new: a gradient of another tape, a sum or product, what TensorFlow computes."""
    if isinstance(value, ast.BinOp):
        return True
    if not isinstance(value, ast.Call):
        return False
    return _tape_of(value) in {name for name, _ in blocks} or root_name(value.func) in PACKAGES

"""Validation data that are prepared by what was fitted to themselves, in the user's own files. Runs none of it.

A scaler, an encoder, a mean or an index of classes that is made anew of the validation data is another one than that of
the training data: the same number then stands for something else. Owns no state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from gradwatch.origin import source_at
from gradwatch.syntax import last_name, names_in, nodes_in, nodes_of, nodes_of_type, stored_names

__all__ = ["Refit", "find_refitted", "find_renumbered"]

FITTING: Final = frozenset({"factorize", "fit_transform", "get_dummies"})
"""Calls that fit and apply at once."""
MEASURES: Final = frozenset({"amax", "amin", "max", "mean", "median", "min", "ptp", "std"})
"""Numbers of a whole array, if no axis of a sample's own is asked for."""
PACKAGES: Final = frozenset({"keras", "np", "numpy", "tf"})
ASKING: Final = frozenset({"evaluate", "fit"})


class Refit(NamedTuple):
    """The expression of a file that fits to validation data."""

    file: str
    node: ast.expr


class _Fed(NamedTuple):
    training: set[str]
    validation: set[str]


def find_refitted(files: Sequence[str]) -> Iterator[Refit]:
    """The expressions that fit what prepares the validation data to these, where the training data are others.

    Args:
        files: the user's files that are looked at.
    """
    for file in files:
        fed = _fed_in(file)
        functions = {node.name: node for node in nodes_of_type(file, ast.FunctionDef)}
        for node in nodes_of(file) if fed.training and fed.validation else ():
            if isinstance(node, ast.Call) and (_is_fit_to(node, fed) or any(map(_fits, _held_out(node)))):
                yield Refit(file, node)
            to = stored_names(node) if isinstance(node, ast.Assign) else set()
            if not isinstance(node, ast.Assign) or not fed.validation & to or fed.training & to:
                continue
            if _fits(node.value) or _is_indexed_by_itself(node, fed, file):
                yield Refit(file, node.value)
            function = functions.get(last_name(node.value)) if isinstance(node.value, ast.Call) else None
            if function is not None and _prepares_both(function, fed, file):
                yield from (Refit(file, one) for one in _fitted_within(function))


def _fed_in(file: str) -> _Fed:
    """The names of arrays that a file trains on, and those that it only validates with."""
    calls = [node for node in nodes_of_type(file, ast.Call) if last_name(node) in ASKING]
    training, validation = set[str](), set[str]()
    for call in calls:
        own = [*call.args[:2], *(one.value for one in call.keywords if one.arg in ("x", "y"))]
        names = {one.id for part in own for one in names_in(part)}
        if last_name(call) == "evaluate":
            validation |= names
        elif call.keywords:  # what prepares is fitted without any
            training |= names
        validation |= {one.id for part in _held_out(call) for one in names_in(part)}
    training, validation = _with_parts(training, file), _with_parts(validation, file)
    return _Fed(training, validation - training)


def _held_out(call: ast.Call) -> list[ast.expr]:
    return [one.value for one in call.keywords if one.arg == "validation_data"]


def _is_fit_to(call: ast.Call, fed: _Fed) -> bool:
    """Whether a call fits what prepares data to the validation data."""
    is_fit = last_name(call) == "adapt" or (last_name(call) == "fit" and not call.keywords)
    return is_fit and bool(fed.validation & {one.id for part in call.args for one in names_in(part)})


def _with_parts(names: set[str], file: str) -> set[str]:
    """Names, and those of the arrays that they are put together of."""
    found = set(names)
    for node in nodes_of(file):
        value = node.value if isinstance(node, ast.Assign) and names & stored_names(node) else None
        calls = [] if value is None else [one for one in nodes_in(value) if isinstance(one, ast.Call)]
        slices = [one for one in calls if last_name(one) == "from_tensor_slices"]
        if isinstance(value, ast.Tuple) and isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Tuple):
            slices = [ast.Call(ast.Name(""), [value], [])]
        found |= {one.id for call in slices for part in call.args for one in names_in(part)}
    return found


def _fits(value: ast.expr) -> bool:
    """Whether an expression is made of an array and of what is measured, or fitted, of the same one."""
    for call in (node for node in nodes_in(value) if isinstance(node, ast.Call)):
        is_inverse = last_name(call) == "unique" and any(one.arg == "return_inverse" for one in call.keywords)
        if last_name(call) in FITTING or is_inverse:
            return True
    return any(_is_scaled(node) for node in nodes_in(value))


def _is_scaled(node: ast.AST) -> bool:
    """Whether an array is less, or over, a number that is measured of itself."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Sub, ast.Div)):
        return False
    names = {one.id for call in _measured(node.right) if _is_of_all(call) for one in names_in(call)} - PACKAGES
    within = {id(one) for call in _measured(node.left) for one in names_in(call)}
    return bool(names & {one.id for one in names_in(node.left) if id(one) not in within})


def _measured(node: ast.expr) -> list[ast.Call]:
    return [one for one in nodes_in(node) if isinstance(one, ast.Call) and last_name(one) in MEASURES]


def _is_of_all(call: ast.Call) -> bool:
    """Whether a measure is taken over the samples, and not of each."""
    is_method = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") not in PACKAGES
    given = [*call.args[0 if is_method else 1 :], *(one.value for one in call.keywords if one.arg == "axis")]
    axes = [one for part in given for one in nodes_in(part) if isinstance(one, (ast.Constant, ast.UnaryOp))]
    first = axes[0] if axes else None
    return first is None or (isinstance(first, ast.Constant) and first.value in (0, None))


def _is_indexed_by_itself(node: ast.Assign, fed: _Fed, file: str) -> bool:
    """Whether classes get their numbers by an index that is made of the validation data alone."""
    used = {one.id for one in names_in(node.value)}
    assigned = nodes_of_type(file, ast.Assign)
    for index in (one for one in assigned if stored_names(one) & used and _is_index(one.value)):
        others = [one for one in assigned if fed.training & stored_names(one)]
        is_shared = any(stored_names(index) & {name.id for name in names_in(one.value)} for one in others)
        own = {one.id for one in names_in(index.value)} - PACKAGES
        if not is_shared and own & used & _arrays(assigned):
            return True
    return False


def _arrays(assigned: Sequence[ast.Assign]) -> set[str]:
    return {name for one in assigned for name in stored_names(one)}


def _is_index(value: ast.expr) -> bool:
    """Whether an expression gives each of some classes a number."""
    calls = {last_name(one) for one in nodes_in(value) if isinstance(one, ast.Call)}
    return isinstance(value, ast.DictComp) and "enumerate" in calls and bool(calls & {"set", "unique"})


def _prepares_both(function: ast.FunctionDef, fed: _Fed, file: str) -> bool:
    assigned = (one for one in nodes_of_type(file, ast.Assign) if fed.training & stored_names(one))
    return any(isinstance(one.value, ast.Call) and last_name(one.value) == function.name for one in assigned)


def _fitted_within(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """What a function fits to its own arguments."""
    for node in nodes_in(function):
        value = node.value if isinstance(node, (ast.Assign, ast.Return)) else None
        if value is not None and (_fits(value) or _is_index(value)):
            yield value


NUMBERING: Final = frozenset({"CountVectorizer", "TextVectorization", "TfidfVectorizer", "Tokenizer"})
"""Classes that number words by what they are fitted to."""
NUMBERING_CALLS: Final = frozenset({"adapt", "fit", "fit_on_texts", "fit_transform"})


def find_renumbered(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first line that numbers the words of the validation texts by themselves, where the training's are others.

    Args:
        files: the user's files that are looked at.

    Returns:
        At most one entry, type ``Data``, no name, no layer, the source line, and ``renumbers``: the name of what
        numbers the words.
    """
    for file in files:
        for call, name in _numbering(file):
            source = source_at([(file, call.lineno)])
            return [{"type": "Data", "name": "", "layer": "", "source": source, "renumbers": name}]
    return []


def _numbering(file: str) -> Iterator[tuple[ast.Call, str]]:
    nodes = nodes_of(file)
    made = (one for one in nodes if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call))
    owners = {name for one in made if last_name(one.value) in NUMBERING for name in stored_names(one)}
    fed = _fed_in(file) if owners else _Fed(set(), set())
    if not fed.training or not fed.validation:
        return
    training, validation = _making(fed.training, file), _making(fed.validation, file)
    trained_of = {one.id for node in training for one in names_in(node.value)} - owners
    for call in (one for one in nodes if isinstance(one, ast.Call) and last_name(one) in NUMBERING_CALLS):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if not isinstance(owner, ast.Name) or owner.id not in owners or not call.args:
            continue
        texts = {one.id for one in names_in(call.args[0])}
        uses = [{one.id for one in names_in(node.value)} for node in validation]
        is_used = any(owner.id in names and texts & names for names in uses)
        # What is numbered anew before the training texts are looked up is one index for both.
        is_shared = any(owner.id in {o.id for o in names_in(n.value)} and n.lineno > call.lineno for n in training)
        if texts and is_used and not is_shared and not texts & trained_of:
            yield call, owner.id


def _making(names: set[str], file: str) -> list[ast.Assign]:
    """The statements that arrays are made by, and those that these are made of."""
    assigned = nodes_of_type(file, ast.Assign)
    wanted, found = set(names), list[ast.Assign]()
    for node in sorted(assigned, key=lambda one: -one.lineno):
        if wanted & stored_names(node):
            found.append(node)
            wanted |= {one.id for one in names_in(node.value)}
    return found

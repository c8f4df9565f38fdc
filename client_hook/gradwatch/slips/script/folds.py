"""Models that are made on the wrong side of a loop: before that over folds, or within that over epochs. Runs none.

In a cross-validation each fold needs a model of its own, or all but the first are validated with what was trained on.
Owns no state.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gradwatch.origin import source_at
from gradwatch.syntax import assigned_before, is_taped, last_name, names_in, nodes_in, nodes_of_type, stored_names

__all__ = ["find_folds"]

SPLITTERS: Final = frozenset(
    {
        *("GroupKFold", "KFold", "RepeatedKFold", "RepeatedStratifiedKFold", "ShuffleSplit"),
        *("StratifiedGroupKFold", "StratifiedKFold", "StratifiedShuffleSplit"),
    }
)
"""Of scikit-learn; one that goes along a series may well train on."""
OF_KERAS: Final = frozenset({"batch_size", "callbacks", "epochs", "validation_data"})
"""What no other `fit` is given."""
MODELS: Final = frozenset({"Functional", "Model", "Sequential"})
FEW: Final = re.compile(r"few|label|small")
TRAINING: Final = re.compile(r"^fit$|^apply_gradients$|train")
TRAINED: Final = frozenset({"trainable_variables", "trainable_weights"})
COPYING: Final = frozenset({"clone_model", "copy", "deepcopy"})
KEEPING: Final = frozenset({"append", "save"})
ASKING: Final = frozenset({"compile", "evaluate", "fit", "predict", "summary", "watch"})
"""What leaves a model its weights, or is a training."""


def find_folds(files: Sequence[str]) -> list[dict[str, Any]]:
    """What loops over folds, or over epochs, do with the model that they train.

    Args:
        files: the user's files that are looked at.

    Returns:
        The first of each kind, type ``Data``, no name, no layer, the source line, ``folds``: ``shared`` where each fold
        trains the same model on, ``swapped`` where it trains on what is held out, ``epoch`` where each epoch makes a
        new one, ``compiled`` where each compiles it again with a new optimizer, and ``model``: its name.
    """
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        for loop in nodes_of_type(file, ast.For):
            for how, line, name in (*_of_folds(loop, file), *_of_epochs(loop)):
                source = source_at([(file, line)])
                slip = {"type": "Data", "name": "", "layer": "", "source": source, "folds": how, "model": name}
                found.setdefault(how, slip)
    return list(found.values())


def _of_folds(loop: ast.For, file: str) -> Iterator[tuple[str, int, str]]:
    pair = _parts_of(loop, file)
    if pair is None:
        return
    nodes = [node for one in loop.body for node in nodes_in(one)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    is_one = any(isinstance(one, ast.Break) for one in nodes)  # the first fold alone
    is_meant = FEW.search(pair[1].lower()) is not None  # who learns of few labels trains on the smaller part
    trained: set[str] = set()
    for call in (one for one in calls if _is_fit(one) and not is_one):
        name = call.func.value.id  # type: ignore[attr-defined]
        if name not in trained and _is_as_before(name, loop, nodes, file):
            yield "shared", call.lineno, name
        trained.add(name)
        rows = _rows_of(call.args[0], file) if call.args else None
        if rows != pair[1] or is_meant:
            continue
        asked = [*(one for one in calls if last_name(one) == "evaluate" and one.args), *_held_in(call)]
        held = {_rows_of(one.args[0] if isinstance(one, ast.Call) else one, file) for one in asked}
        if held == {pair[0]}:
            yield "swapped", call.lineno, name


def _parts_of(loop: ast.For, file: str) -> tuple[str, str] | None:
    """The names of the rows to train on, and of those held out, of a loop over folds; None for any other."""
    over, to = loop.iter, loop.target
    if isinstance(over, ast.Call) and last_name(over) == "enumerate" and over.args and isinstance(to, ast.Tuple):
        over, to = over.args[0], to.elts[-1]
    if not isinstance(over, ast.Call) or not isinstance(over.func, ast.Attribute) or over.func.attr != "split":
        return None
    by: ast.expr | None = over.func.value
    by = assigned_before(by, file) if isinstance(by, ast.Name) else by
    names = [one.id for one in to.elts if isinstance(one, ast.Name)] if isinstance(to, ast.Tuple) else []
    is_splitter = isinstance(by, ast.Call) and last_name(by) in SPLITTERS
    return (names[0], names[1]) if is_splitter and len(names) == 2 else None


def _is_fit(call: ast.Call) -> bool:
    is_method = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    return is_method and last_name(call) == "fit" and any(one.arg in OF_KERAS for one in call.keywords)


def _is_as_before(name: str, loop: ast.For, nodes: Sequence[ast.AST], file: str) -> bool:
    """Whether a loop trains a model that was made before it, and does nothing else to it by its name."""
    made = [one for one in nodes_of_type(file, ast.Assign) if name in stored_names(one)]
    own = {id(node) for node in nodes}
    if any(id(one) in own for one in made) or not any(one.lineno < loop.lineno for one in made):
        return False
    if not all(isinstance(one.value, ast.Call) and _may_make(one.value, file) for one in made):
        return False
    stores = [one for one in nodes if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)]
    allowed = 0
    for call in (one for one in nodes if isinstance(one, ast.Call) and last_name(one) in ASKING):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        allowed += int(isinstance(owner, ast.Name) and owner.id == name)
        allowed += sum(isinstance(one, ast.Name) and one.id == name for one in call.args)
    read = sum(isinstance(one, ast.Name) and one.id == name for one in nodes)
    return not any(one.id == name for one in stores) and read == allowed


def _may_make(call: ast.Call, file: str) -> bool:
    """Whether a call makes a model of Keras; an estimator's `fit`, or a wrapper's, begins anew each time."""
    name = last_name(call)
    if not name[:1].isupper() or name in MODELS:
        return True
    classes = [node for node in nodes_of_type(file, ast.ClassDef) if node.name == name]
    bases = {last_name(one) for node in classes for one in node.bases}
    has_fit = any(isinstance(one, ast.FunctionDef) and one.name == "fit" for node in classes for one in node.body)
    return bool(bases & MODELS) and not has_fit


def _held_in(call: ast.Call) -> list[ast.expr]:
    held = [one.value for one in call.keywords if one.arg == "validation_data"]
    return [one.elts[0] for one in held if isinstance(one, ast.Tuple) and one.elts]


def _rows_of(node: ast.expr, file: str) -> str | None:
    """The name by which rows of an array are picked; None where they are not."""
    node = (assigned_before(node, file) or node) if isinstance(node, ast.Name) else node
    return node.slice.id if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) else None


def _of_epochs(loop: ast.For) -> Iterator[tuple[str, int, str]]:
    is_range = isinstance(loop.iter, ast.Call) and last_name(loop.iter) == "range"
    if not is_range or not isinstance(loop.target, ast.Name) or "epoch" not in loop.target.id.lower():
        return
    made = {name: one for one in loop.body if isinstance(one, ast.Assign) for name in stored_names(one)}
    calls = [node for one in loop.body for node in nodes_in(one) if isinstance(node, ast.Call)]
    if any("weights" in last_name(call) or "load" in last_name(call) for call in calls):
        return
    trained = {ast.unparse(call.func) for call in calls if TRAINING.search(last_name(call))}
    if len(trained) > 1:  # one is trained on, and looked at by another one that is made for it
        return
    nodes = [node for one in loop.body for node in nodes_in(one)]
    inner = [one.iter for one in nodes if isinstance(one, ast.For)]
    if any(one.id == loop.target.id for over in inner for one in names_in(over)):  # how many epochs, and none of them
        return
    yield from _in_turns(loop, made)
    for call in (one for one in calls if last_name(one) == "fit" and isinstance(one.func, ast.Attribute)):
        name = getattr(call.func.value, "id", "")  # type: ignore[attr-defined]
        value = made[name].value if name in made else None
        epochs = [one.value for one in call.keywords if one.arg == "epochs"]
        is_one = all(isinstance(one, ast.Constant) and one.value == 1 for one in epochs)
        is_of_loop = any(one.id == loop.target.id for one in names_in(call))
        is_anew = isinstance(value, ast.Call) and not any(one.id == name for one in names_in(value))
        is_of_keras = any(one.arg in {*OF_KERAS, "verbose"} for one in call.keywords)
        is_used = any(isinstance(one, ast.Call) and _hands_on(one, name) for one in nodes) or _feeds(call, name, loop)
        if is_anew and is_one and not is_of_loop and is_of_keras and not is_used:
            yield "epoch", made[name].lineno, name
        elif name not in made and is_one and is_of_keras and _recompiles(loop, name, calls):
            yield "compiled", next(one.lineno for one in calls if last_name(one) == "compile"), name


def _in_turns(loop: ast.For, made: Mapping[str, ast.Assign]) -> Iterator[tuple[str, int, str]]:
    """The models that each turn makes, and trains by a tape of its own."""
    nodes = [node for one in loop.body for node in nodes_in(one)]
    is_left = any(isinstance(one, ast.Break) for one in loop.body)
    asked = [one.value for one in nodes if isinstance(one, ast.Attribute) and one.attr in TRAINED]
    for name in dict.fromkeys(one.id for one in asked if isinstance(one, ast.Name) and one.id in made):
        value, kept = made[name].value, [one for one in nodes if isinstance(one, ast.Call) and _hands_on(one, name)]
        is_anew = isinstance(value, ast.Call) and last_name(value) not in COPYING
        is_of_loop = any(one.id in (name, loop.target.id) for one in names_in(value))  # type: ignore[attr-defined]
        is_of_loop |= any(_is_of_object(one) for one in getattr(value, "args", ()))  # as of another's weights
        if is_anew and not is_of_loop and not is_left and not kept and any(map(is_taped, nodes)):
            yield "epoch", made[name].lineno, name


def _is_of_object(node: ast.expr) -> bool:
    """Whether an argument is what a method gives."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def _feeds(call: ast.Call, name: str, loop: ast.For) -> bool:
    """Whether what a model predicts is learned in the next turn, as a student's labels are."""
    nodes = [node for one in loop.body for node in nodes_in(one)]
    made = [one for one in nodes if isinstance(one, ast.Assign) and any(n.id == name for n in names_in(one.value))]
    given = {one.id for part in (*call.args, *(k.value for k in call.keywords)) for one in names_in(part)}
    return any(given & stored_names(one) for one in made)


def _hands_on(call: ast.Call, name: str) -> bool:
    """Whether a call keeps a model, as one of several."""
    return last_name(call) in KEEPING and any(one.id == name for part in call.args for one in names_in(part))


def _recompiles(loop: ast.For, name: str, calls: Sequence[ast.Call]) -> bool:
    """Whether each turn compiles a model again, with a new optimizer of the same kind, and changes nothing of it."""
    compiled = [one for one in calls if last_name(one) == "compile"]
    own = [one.value for one in loop.body if isinstance(one, ast.Expr)]
    nodes = [node for one in loop.body for node in nodes_in(one)]
    is_changed = any(isinstance(one, ast.Attribute) and not isinstance(one.ctx, ast.Load) for one in nodes)
    if len(compiled) != 1 or compiled[0] not in own or is_changed or sum(last_name(one) == "fit" for one in calls) > 1:
        return False
    (call,) = compiled
    given = [*call.args[:1], *(one.value for one in call.keywords if one.arg == "optimizer")]
    stored = {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    stored |= {loop.target.id}  # type: ignore[attr-defined]
    is_same = not any(one.id in stored for one in names_in(call))
    is_new = [(isinstance(one, ast.Constant) and one.value != "sgd") or _is_made(one) for one in given] == [True]
    return is_new and is_same and isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == name


def _is_made(node: ast.expr) -> bool:
    """Whether an optimizer with averages is made."""
    is_plain = last_name(node) == "SGD" and not any(one.arg == "momentum" for one in getattr(node, "keywords", ()))
    return isinstance(node, ast.Call) and last_name(node)[:1].isupper() and not is_plain

"""Terms of a loss that a step computes, and at the most reports: its gradients are of the rest. Runs none of it.

The lines are looked for in the user's own files. A number that is only looked at may be reported beside a loss, too:
told are a sum of the loss and another term, terms with a weight of their own, what layers add, and the divergence of
codes that are drawn. Owns no state.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, Final, NamedTuple

from gradwatch.origin import source_at
from gradwatch.syntax import is_taped, last_name, names_in, nodes_below, nodes_in, nodes_of, nodes_of_type, stored_names

__all__ = ["find_reported"]

TERM: Final = re.compile(
    r"(^|_)(aux|cost|div|divergence|elbo|kl|kld|l1|l2|loss|objective|penalty|reg|regularization|sparsity|total|tv)(_|$)"
)
WEIGHT: Final = re.compile(r"(^|_)(beta|coef|coeff|coefficient|lam|lambda|lambd|reg|strength|w|weight)s?(_|$)")
OWN_TERM: Final = re.compile(
    r"(^|_)(aux|divergence|elbo|kl|kld|loss|objective|penalty|reg|regularization|sparsity|tv)(_|$)|(^|_)(l1|l2)$"
)
"""Of these a term with a weight of its own is one: a sum, a cost or a mean error may be given in other units."""
MEASURED: Final = re.compile(r"(^|_)(avg|ema|err|error|metric|ma|running|scaled|smooth|smoothed|unscaled)(_|$)")
DENSITY: Final = re.compile(r"log_?(normal|p|prob|q|w)([a-z]?_|[xz]|$)|logsumexp")
"""Of densities of the code itself a divergence may be estimated, whatever else is reported of it."""
TEACHING: Final = frozenset({"fit", "learn", "train", "train_on_batch", "train_step", "update"})
DECAY: Final = re.compile(r"weight_decay|AdamW|SGDW|decoupled", re.IGNORECASE)
"""What makes weights smaller beside the loss: a penalty is reported as a part of what is made small then."""
SEEDING: Final = frozenset({"get_scaled_loss", "gradient", "jacobian", "minimize", "scale_loss"})
"""Calls whose first argument is what is differentiated."""
APPLYING: Final = frozenset({"apply", "apply_gradients", "minimize"})
ADDING: Final = frozenset({"add_loss", "extend", "insert"})
COMPILED: Final = frozenset({"compiled_loss", "compute_loss"})
"""Methods of Keras' that add what layers do."""
DRAWING: Final = frozenset({"normal", "randn", "random_normal", "standard_normal"})
SMALL: Final = 0.1
"""A number up to this, by which a term is multiplied, is a weight."""
Statement = ast.stmt


def find_reported(files: Sequence[str]) -> list[dict[str, Any]]:
    """The first term of a loss that a step leaves out of what it differentiates.

    Args:
        files: the user's files that are looked at.

    Returns:
        One entry, type (``Line``), the name that the line gives the term or the sum, no layer, the source line,
        ``unused``: ``reported``, ``of``: what is differentiated, and ``missing``: the name of the term that this leaves
        out; none where there is no such line.
    """
    for file in files:
        steps = [step for node in nodes_of(file) if (step := _step_of(node, file)) is not None]
        trained = {name for step in steps for name in step.trained}
        for step in steps:
            for line, name, left in _left_out(step, trained, file):
                place = {"type": "Line", "name": name, "layer": "", "source": source_at([(file, line)])}
                return [{**place, "unused": "reported", "of": step.loss, "missing": left}]
    return []


class _Term(NamedTuple):
    """What a statement under a tape gives a name: by itself, or by a function of the file that ends in several."""

    name: str
    value: ast.expr
    line: int
    beside: Sequence[ast.AST]
    """What else stands where it is computed."""


class _Step(NamedTuple):
    """A function, or a module, that trains: what it differentiates, and what that is made of."""

    scope: ast.FunctionDef | ast.Module
    own: Sequence[ast.AST]
    loss: str
    trained: Set[str]
    """The names that the loss is made of, and the objects whose attributes it is made of, as they are written."""
    terms: Mapping[str, _Term]
    """What is computed under a tape, by name."""
    n_gradients: int


def _step_of(scope: ast.AST, file: str) -> _Step | None:
    if not isinstance(scope, (ast.FunctionDef, ast.Module)):
        return None
    own = nodes_below(scope)
    blocks = [node for node in own if is_taped(node)]
    calls = [node for node in own if isinstance(node, ast.Call)]
    seeds = [one for call in calls if last_name(call) in SEEDING for one in _seed(call)]
    if not blocks or not seeds or not any(last_name(call) in APPLYING for call in calls):
        return None
    if any(isinstance(node, (ast.Lambda, ast.Yield)) for one in seeds for node in nodes_in(one)):
        return None
    taped = [one for block in blocks for one in nodes_below(block) if isinstance(one, ast.Assign)]
    terms = {term.name: term for one in taped if len(one.targets) == 1 for term in _terms_in(one, own, file)}
    loss = next((one.id for one in seeds if isinstance(one, ast.Name)), "")
    return _Step(scope, own, loss, _made_of(seeds, own), terms, len({ast.unparse(one) for one in seeds}))


def _terms_in(node: ast.Assign, own: Sequence[ast.AST], file: str) -> Iterator[_Term]:
    to = node.targets[0]
    if isinstance(to, ast.Name):
        yield _Term(to.id, node.value, node.lineno, own)
    if not isinstance(to, ast.Tuple) or not isinstance(node.value, ast.Call):
        return
    made = [one for one in nodes_of_type(file, ast.FunctionDef) if one.name == last_name(node.value)]
    inner = nodes_below(made[0]) if len(made) == 1 else []
    returned = [one.value.elts for one in inner if isinstance(one, ast.Return) and isinstance(one.value, ast.Tuple)]
    if len(returned) != 1 or len(returned[0]) != len(to.elts):
        return
    stored = [one for one in inner if isinstance(one, ast.Assign)]
    for name, given in zip(to.elts, returned[0], strict=True):
        of = [one.value for one in stored if isinstance(given, ast.Name) and given.id in stored_names(one)]
        # One of the others may be the sum of all.
        held = _made_of([one for one in returned[0] if one is not given], inner)
        if isinstance(name, ast.Name) and len(of) == 1 and getattr(given, "id", "") not in held:
            yield _Term(name.id, of[0], node.lineno, inner)


def _seed(call: ast.Call) -> list[ast.expr]:
    return [*call.args[:1], *(one.value for one in call.keywords if one.arg in ("loss", "target"))]


def _made_of(seeds: Sequence[ast.expr], own: Sequence[ast.AST]) -> set[str]:
    """All names that some expressions are made of, by the statements of a scope."""
    stores: dict[str, list[ast.AST]] = defaultdict(list)
    for node in own:
        to, value = getattr(node, "targets", None) or [getattr(node, "target", None)], getattr(node, "value", None)
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and value is not None:
            for name in {one.id for target in to for one in names_in(target)}:
                stores[name].append(value)
    found, pending = set[str](), list[ast.AST](seeds)
    while pending:
        value = pending.pop()
        found |= {ast.unparse(one) for one in nodes_in(value) if isinstance(one, ast.Attribute)}
        new = {one.id for one in names_in(value)} - found
        found |= new
        pending += [one for name in new for one in stores[name]]
    return found


def _left_out(step: _Step, trained: Set[str], file: str) -> Iterator[tuple[int, str, str]]:
    """The lines that give a term, or a sum of terms, a name that is no part of any loss."""
    for name, term in step.terms.items():
        if name in trained or not _is_reported(name, step, set()):
            continue
        added = _terms_of(term.value)
        left = [one or name for one in added if (not one or one in step.terms) and one not in trained]
        is_sum = step.loss in added or _alias(step) in added
        is_read = _is_read(name, step)
        if is_sum and left and (is_read or name not in left) and _is_meant(name, left[0], step, file):
            yield term.line, name, left[0]
        elif is_read and _is_of_loss(term, step, file):
            yield term.line, name, name


def _is_meant(name: str, left: str, step: _Step, file: str) -> bool:
    """Whether a sum, or the term in it that the loss leaves out, has the name of a loss, and nothing else trains it."""
    is_named = any(TERM.search(one.lower()) for one in (name, left))
    return is_named and not _decays(file) and not _is_taught(left, step)


def _is_taught(left: str, step: _Step) -> bool:
    """Whether a step calls what trains by itself an object of the term's own: ``critic.fit`` beside ``critic_loss``."""
    owners = {one.id for one in names_in(step.terms[left].value)} if left in step.terms else set[str]()
    owners = (owners | set(left.lower().split("_"))) - {"self", "tf"}
    calls = [one for one in step.own if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)]
    taught = [one for one in calls if last_name(one) in TEACHING and not any(n.id == left for n in names_in(one))]
    words = {word for one in taught for word in last_name(one.func.value).lower().split("_")}  # type: ignore[attr-defined]
    return bool(owners & (words | {last_name(one.func.value) for one in taught}))  # type: ignore[attr-defined]


def _alias(step: _Step) -> str:
    """The name that a loss has got all of its value from; empty where it has none."""
    term = step.terms.get(step.loss)
    return term.value.id if term is not None and isinstance(term.value, ast.Name) else ""


def _terms_of(node: ast.expr) -> list[str]:
    """The names that a sum adds up, each times a weight or not, "" for a call; none of what is no sum."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return []
    found: list[str] = []
    for part in (node.left, node.right):
        one = part
        if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult):
            one = one.right if _is_weight(one.left) else one.left
        name = getattr(one, "id", "") if isinstance(one, (ast.Call, ast.Name)) else None
        found += _terms_of(part) if name is None else [name]
    return found


def _is_weight(node: ast.expr) -> bool:
    is_number = isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
    return is_number or WEIGHT.search(last_name(node).lower()) is not None


def _decays(file: str) -> bool:
    nodes = nodes_of(file)
    named = {str(getattr(node, key)) for node in nodes for key in ("attr", "id", "arg") if hasattr(node, key)}
    return any(map(DECAY.search, named)) or any(map(_decays_by_hand, nodes))


def _decays_by_hand(node: ast.AST) -> bool:
    """Whether a line makes a weight smaller by a part of itself, or adds to each gradient: ``w.assign(w * 0.99)``."""
    if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        return isinstance(node.elt, ast.BinOp) and isinstance(node.elt.op, ast.Add) and _is_zipped(node)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or len(node.args) != 1:
        return False
    own, (value,) = ast.unparse(node.func.value), node.args
    if node.func.attr == "assign_sub":
        return own in {ast.unparse(one) for one in nodes_in(value)}
    is_less = isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Mult, ast.Sub))
    sides = {ast.unparse(one) for one in (value.left, value.right)} if is_less else set[str]()  # type: ignore[attr-defined]
    return node.func.attr == "assign" and own in sides


def _is_zipped(node: ast.GeneratorExp | ast.ListComp) -> bool:
    over = node.generators[0].iter
    return last_name(over) == "zip" and any("grad" in ast.unparse(one) for one in getattr(over, "args", ()))


def _is_read(name: str, step: _Step) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load) for one in step.own)


def _is_of_loss(term: _Term, step: _Step, file: str) -> bool:
    """Whether a term, which is reported, can be meant for nothing but a loss."""
    value, inner = term.value, nodes_in(term.value)
    if any(isinstance(one, ast.Attribute) and one.attr == "losses" for one in inner):
        asked = [one for one in nodes_of_type(file, ast.Attribute) if one.attr == "losses"]
        calls = {last_name(one) for one in nodes_of_type(file, ast.Call)}
        asked = [one for one in asked if last_name(one.value) not in ("keras", "tf")]
        return len(asked) == 1 and COMPILED.isdisjoint(calls) and not _regularizes(file)
    if not TERM.search(name := term.name.lower()):
        return False
    is_term = OWN_TERM.search(name) and not MEASURED.search(name)
    if is_term and isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult) and not _decays(file):
        sides = [(value.left, value.right), (value.right, value.left)]
        if any(_is_own_weight(one) and isinstance(other, ast.Call) for one, other in sides):
            return True
    losses = [step.terms[name].value for name in (step.loss, _alias(step)) if name in step.terms]
    is_sole = step.n_gradients == 1 and not any(map(_terms_of, losses))
    is_drawn = any(isinstance(one, ast.Call) and last_name(one) in DRAWING for one in (*step.own, *term.beside))
    return is_sole and is_drawn and _is_divergence(value) and not _may_hold(losses, value, file)


def _may_hold(losses: Sequence[ast.expr], divergence: ast.expr, file: str) -> bool:
    """Whether a loss may have a divergence of the same code in it, by a function that is given it, or of densities."""
    named = (getattr(node, "id", getattr(node, "attr", "")) for node in nodes_of(file))
    if any(DENSITY.search(one) for one in named if isinstance(one, str)):
        return True
    code = {one.id for one in names_in(divergence)} - {"tf"}
    given = [nodes_in(part) for one in losses for part in nodes_in(one) if isinstance(part, ast.Call)]
    return any(isinstance(one, ast.Name) and one.id in code for inner in given for one in inner)


def _regularizes(file: str) -> bool:
    """Whether layers are given regularizers of their weights: `find_unpenalised` tells of these."""
    given = {str(node.arg) for node in nodes_of_type(file, ast.keyword)}
    return any(one.endswith("_regularizer") for one in given - {"activity_regularizer"})


def _is_own_weight(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float) and 0 < node.value <= SMALL
    return isinstance(node, (ast.Attribute, ast.Name)) and WEIGHT.search(last_name(node).lower()) is not None


def _is_divergence(value: ast.expr) -> bool:
    """Whether an expression has one name's exponential and the name itself, and another one's square."""
    inner = nodes_in(value)
    powers = {ast.unparse(call.args[0]) for call in inner if isinstance(call, ast.Call) and _is(call, "exp")}
    squares = {ast.unparse(call.args[0]) for call in inner if isinstance(call, ast.Call) and _is(call, "square")}
    squares |= {ast.unparse(one.left) for one in inner if isinstance(one, ast.BinOp) and _is_square(one)}
    bare = {
        ast.unparse(side)
        for one in inner
        if isinstance(one, ast.BinOp) and isinstance(one.op, (ast.Add, ast.Sub))
        for side in (one.left, one.right)
    }
    return bool(powers & bare) and bool(squares - powers)


def _is(call: ast.Call, name: str) -> bool:
    return last_name(call) == name and len(call.args) == 1


def _is_square(node: ast.BinOp) -> bool:
    return isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) and node.right.value == 2


def _is_reported(name: str, step: _Step, seen: set[str]) -> bool:
    """Whether a name is read for nothing but to be shown, kept in a table, or made into what is."""
    if name in seen:
        return True
    seen.add(name)
    inner = {id(one) for one in step.own}
    everywhere = [one for one in nodes_in(step.scope) if isinstance(one, ast.Name) and one.id == name]
    if any(id(one) not in inner for one in everywhere):  # a function within has it
        return False
    around = _statements(step)
    read = [one for one in everywhere if not isinstance(one.ctx, ast.Store)]
    return all(id(one) in around and _shows(around[id(one)], step, seen) for one in read)


def _statements(step: _Step) -> dict[int, Statement]:
    """The statement without others in it that each node of a scope stands in, by the node's id."""
    plain = [one for one in step.own if isinstance(one, ast.stmt) and not hasattr(one, "body")]
    return {id(part): one for one in plain for part in nodes_in(one)}


def _shows(node: Statement, step: _Step, seen: set[str]) -> bool:
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        return last_name(call) not in ADDING and owner not in step.trained - {"self", "tf"}
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Name) and _is_reported(node.target.id, step, seen)
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False
    to = node.targets[0]
    if isinstance(to, ast.Subscript):
        return isinstance(to.value, ast.Name) and to.value.id not in step.trained
    return isinstance(to, ast.Name) and to.id not in step.trained and _is_reported(to.id, step, seen)

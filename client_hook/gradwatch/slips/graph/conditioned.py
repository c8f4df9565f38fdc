"""Conditions that a generator was given and its judge was not, in the graph. Owns no state.

A generator makes a sample for a label; whether it fits is asked of a discriminator, which gets both. If the label is
another sample's, the generator learns nothing of what it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Final, NamedTuple

import tensorflow as tf

from gradwatch.origin import slip_of, source_of
from gradwatch.slips.graph.repeated import is_same
from gradwatch.tap import find_handle
from gradwatch.walk import ADDING, GIVEN, SHAPES, behind, reads_variable, users_of

__all__ = ["find_conditions"]

PASSING: Final = frozenset({"Cast", "Identity", "Reshape"})
JOINING: Final = ADDING | {"ConcatV2", "Mul"}
"""How a network takes a condition in."""
SAME: Final = PASSING | {"ExpandDims", "OneHot", "Squeeze"}
"""Forms of one label."""
READS: Final = frozenset({"ReadVariableOp", "ResourceGather"})
ROOTS_MAX: Final = 16
"""Tensors without weights that something is made of."""
Tensor = Any  # tensorflow ships no types


class _Made(NamedTuple):
    """What a tensor is made of: the handles of weights, and by their names what they meet that is made of none."""

    weights: frozenset[int | None]
    roots: dict[str, Tensor]


def find_conditions(forward: Sequence[Any], trained: Set[int], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first place where what is trained meets data in a network that is not, and was made with others.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        trained: the handles of the variables that the step trains.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``ConcatV2``, or how else the two meet), name, layer and the line of the user's that calls for it, and
        ``conditions``: the shape of both, [1] of numbers of classes.
    """
    found = _of_vectors(forward, trained) or _of_labels(forward, trained)
    if found is None:
        return []
    op, shape = found
    return [slip_of(op, layer_paths) | {"source": source_of(op), "conditions": shape}]


def _of_vectors(forward: Sequence[Any], trained: Set[int]) -> tuple[Any, list[int]] | None:
    """Where what a network made of noise and another vector, joined, is joined with one of that form, as it is."""
    ids = {id(op) for op in forward}
    joins = [op for op in forward if op.type == "ConcatV2" and len(op.inputs) == 3]
    for op in joins:
        parts = list(op.inputs[:-1])
        reads = [reads_variable(one, None) for one in parts]
        if sum(reads) != 1 or _is_trained(op, ids, trained):
            continue
        made, given = parts if reads[0] else reversed(parts)
        asked = _asked_of(made, joins)
        kin = [one for one in asked if one.shape == given.shape and one.dtype == given.dtype]
        if len(kin) == 1 and not _is_drawn(kin[0]) and not any(is_same(one, given) for one in asked):
            return op, given.shape.as_list()[1:]
    return None


def _of_labels(forward: Sequence[Any], trained: Set[int]) -> tuple[Any, list[int]] | None:
    """Where what a network made of noise and a label meets another label, in whatever form.

    A judge may be asked for the same sample with a wrong label besides (Reed et al., "Generative adversarial text to
    image synthesis", 2016).
    """
    made_of, ids = _all_made_of(forward), {id(op) for op in forward}
    strange: list[tuple[Any, Tensor]] = []
    fitting: set[str] = set()
    for op in forward:
        parts = list(op.inputs[:-1] if op.type == "ConcatV2" else op.inputs)
        if op.type not in JOINING or len(parts) != 2:
            continue
        known = [made_of.get(one.op.name, _Made(frozenset(), {one.name: one})) for one in parts]
        known.sort(key=lambda one: one.weights.isdisjoint(trained))
        made, given = known
        wanted, judged = _label_in(made), _label_in(given)
        if made.weights.isdisjoint(trained) or not given.weights.isdisjoint(trained) or wanted is None:
            continue
        is_judged = bool(given.weights) or (op.type == "ConcatV2" and not _is_trained(op, ids, trained))
        if judged is None or not is_judged or not any(map(_is_noise, made.roots.values())):
            continue
        if _are_kin(wanted, judged):
            fitting.add(wanted.name)
        elif wanted.shape[1:] == judged.shape[1:]:
            strange.append((op, wanted))
    return next(((op, wanted.shape.as_list()[1:] or [1]) for op, wanted in strange if wanted.name not in fitting), None)


def _all_made_of(forward: Sequence[Any]) -> dict[str, _Made]:
    """Of each operation that is made of weights, by its name, of which, and of what else."""
    found: dict[str, _Made] = {}
    for op in forward:
        is_read = op.type in READS and op.outputs[0].dtype.is_floating
        data = list(op.inputs[1:] if is_read else op.inputs)
        known = [found[one.op.name] for one in data if one.op.name in found]
        if op.type in SHAPES or not (is_read or known):
            continue
        roots = {one.name: one for one in data if one.op.name not in found and one.dtype != tf.resource}
        for one in known:
            roots |= one.roots if len(roots) < ROOTS_MAX else {}
        own = frozenset({find_handle(op.inputs[0])} if is_read else ())
        found[op.name] = _Made(own.union(*(one.weights for one in known)), roots)
    return found


def _label_in(made: _Made) -> Tensor | None:
    """The one label among what something is made of."""
    forms = {one.name: one for one in map(_label_of, made.roots.values()) if one is not None}
    return next(iter(forms.values())) if len(forms) == 1 else None


def _label_of(tensor: Tensor) -> Tensor | None:
    """The whole numbers, given or drawn, that a tensor is another form of; None where it is none of such."""
    while tensor.op.type in SAME:
        before = tensor.op.inputs[0]
        if tensor.op.type == "Cast" and before.dtype.is_floating and tensor.dtype.is_integer:
            break
        tensor = before
    return tensor if tensor.dtype.is_integer and tensor.shape.rank and _sources_of(tensor) else None


def _sources_of(tensor: Tensor) -> set[str]:
    """The names of what is given and drawn that a tensor is made of; what is shuffled is drawn."""
    pending, found, seen = [tensor], set[str](), set[str]()
    while pending:
        one = pending.pop()
        if one.name in seen or one.op.type in SHAPES:
            continue
        seen.add(one.name)
        if one.op.type in GIVEN or "Random" in one.op.type or "Multinomial" in one.op.type:
            found.add(one.name)
        else:
            pending += one.op.inputs
    return found


def _are_kin(one: Tensor, other: Tensor) -> bool:
    return is_same(one, other) or not _sources_of(one).isdisjoint(_sources_of(other))


def _is_noise(tensor: Tensor) -> bool:
    return tensor.dtype.is_floating and bool(tensor.shape.rank) and _is_drawn(tensor)


def _asked_of(made: Tensor, joins: Sequence[Any]) -> list[Tensor]:
    """What a network was given that made a tensor: noise, and what it was to make."""
    own = {id(op) for op in behind([made.op], through=None)}
    firsts = [op for op in joins if id(op) in own and not any(reads_variable(one, None) for one in op.inputs)]
    return list(firsts[0].inputs[:-1]) if len(firsts) == 1 else []


def _is_trained(join: Any, forward: Set[int], trained: Set[int]) -> bool:
    """Whether the kernels that what was joined goes into are trained; also where none is known."""
    pending, users = users_of(join.outputs[0], forward), list[Any]()
    while pending:
        user = pending.pop()
        if user.type in PASSING:
            pending += users_of(user.outputs[0], forward)
        else:
            users.append(user)
    read = [one for user in users for part in user.inputs for one in behind([part.op], through=PASSING)]
    handles = [find_handle(one.inputs[0]) for one in read if one.type == "ReadVariableOp"]
    return not handles or any(handle in trained for handle in handles)


def _is_drawn(tensor: Tensor) -> bool:
    """Whether it is noise itself."""
    return any("Random" in op.type for op in behind([tensor.op], through=PASSING | ADDING | {"Mul"}))

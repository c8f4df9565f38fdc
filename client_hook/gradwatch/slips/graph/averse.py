"""Policy losses with the sign turned round, in the graph. Owns no state.

REINFORCE and its kin make ``-log p(action) * return`` small. Without the minus the policy avoids what paid off. What
the step knows of a return are numbers of either sign, as costs would be: that the user's line calls it a return, a
reward or an advantage tells them apart.

Where a critic tells what an action is worth, its value of the policy's own action is made large, by a minus as well.

Beside it the entropy of the policy is made large, so that it goes on trying things: ``loss - weight * entropy``.
And what has no policy makes a likelihood large, by the minus of its logarithm.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import Any, Final

from gradwatch.constants import constant, factor
from gradwatch.origin import slip_of, source_of
from gradwatch.slips.graph.bootstrap import find_returns
from gradwatch.slips.graph.ratio import is_ratio
from gradwatch.slips.graph.signs import signs_in
from gradwatch.tap import find_handle
from gradwatch.walk import ADDING, DIFFERENCES, ENTROPIES, PICKING, behind, passed

__all__ = ["find_averse", "find_belittled", "find_certain", "find_unnegated", "is_of_trained"]

KEEPING: Final = frozenset({"Cast", "ExpandDims", "Identity", "Reshape", "Squeeze", "StridedSlice", "Transpose"})
CHOOSING: Final = PICKING | {"Sum"}
BOUNDING: Final = frozenset({*ADDING, "ClipByValue", "Maximum"})
SHARES: Final = frozenset({"Sigmoid", "Softmax"})
WAY_MAX: Final = 16
NAME: Final = re.compile(r"[^\W\d]\w*")
WORTH: Final = frozenset(
    {"adv", "advantage", "advantages", "advs", "gae", "ret", "return", "returns", "reward", "rewards"}
)
WORTHLESS: Final = frozenset({"cost", "costs", "minus", "neg", "negative", "penalties", "penalty", "regret", "regrets"})
Tensor = Any  # tensorflow ships no types


def find_averse(forward: Sequence[Any], loss: Tensor | None, layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Log-probabilities times what was gained, where a loss makes their product small.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        loss: what is made small; None where it is not known.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (of the product), name, layer and source line of the first, and ``averse``: what the line calls the gain.
    """
    if loss is None:
        return []
    for op in forward:
        sign = _sign_of_policy(op)
        if not sign or {sign * way for way in signs_in(op.outputs[0], loss)} != {1}:
            continue
        slip = slip_of(op, layer_paths)
        gain = _gain_named(slip["source"])
        if gain is not None:
            return [slip | {"averse": gain}]
    return []


def find_belittled(
    forward: Sequence[Any], loss: Tensor | None, trained: Set[int], layer_paths: Sequence[str]
) -> list[dict[str, Any]]:
    """Means of what a critic says of a policy's actions, where the policy's loss makes them small.

    Args:
        forward: as for `find_averse`.
        loss: likewise.
        trained: the handles of the variables that the step trains.
        layer_paths: as for `find_averse`.

    Returns:
        Type (``Mean``), name, layer and source line of the first, and ``belittles``: what the line of the critic's
        return calls the gain. None unless the same graph compares that critic, which this loss does not train, with a
        return: a judge of real and made samples may have either sign.
    """
    if loss is None or not trained:
        return []
    for op in forward:
        if op.type == "Mean" and set(signs_in(op.outputs[0], loss)) == {1}:
            value = passed(op.inputs[0], KEEPING)
            judge = _weights_of(value)
            if judge and judge.isdisjoint(trained) and is_of_trained(value, trained):
                gain = _gain_learned(loss.graph, judge)
                if gain is not None:
                    return [slip_of(op, layer_paths) | {"belittles": gain}]
    return []


def _weights_of(op: Any) -> set[int | None]:
    """The variables that an operation itself adds or multiplies by."""
    read = [passed(one, KEEPING) for one in op.inputs]
    return {find_handle(one.inputs[0]) for one in read if one.type == "ReadVariableOp"} - {None}


def is_of_trained(op: Any, trained: Set[int]) -> bool:
    """Whether what an operation gives is made of variables that are trained, by their handles."""
    ways = behind([op], through=None)
    return any(one.type == "ReadVariableOp" and find_handle(one.inputs[0]) in trained for one in ways)


def _gain_learned(graph: Any, judge: set[int | None]) -> str | None:
    """What the line calls a gain that makes the return with which a network's output is compared."""
    for op in graph.get_operations():
        if op.type in DIFFERENCES and any(_weights_of(passed(one, KEEPING)) == judge for one in op.inputs):
            counted = find_returns([op])
            if counted is not None:
                return _gain_named(source_of(counted))
    return None


def find_certain(forward: Sequence[Any], loss: Tensor | None, layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Entropies that a policy's loss makes small.

    Args:
        forward: as for `find_averse`.
        loss: likewise.
        layer_paths: likewise.

    Returns:
        Type (of ``p * log(p)``), name, layer and source line of the first, and ``certain``: True. None in a loss that
        is no policy's.
    """
    if loss is None or not any(is_ratio(op) or _weighs_gain(op, layer_paths) for op in forward):
        return []
    for op in forward:
        sign = _sign_of_entropy(op) if op.type == "Mul" else 0
        if sign and {sign * way for way in signs_in(op.outputs[0], loss)} == {1}:
            return [slip_of(op, layer_paths) | {"certain": True}]
    return []


def find_unnegated(forward: Sequence[Any], loss: Tensor | None, layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Logarithms of probabilities that a loss makes small, which is no slip of one player of a game.

    Args:
        forward: as for `find_averse`.
        loss: likewise.
        layer_paths: likewise.

    Returns:
        Type (``Log``, ``LogSoftmax`` or, of a log-sigmoid, ``Neg``), name, layer and source line of the first, and
        ``unnegated``: True.
    """
    for op in forward if loss is not None else ():
        if _is_log_of_share(op) and set(signs_in(op.outputs[0], loss)) == {1}:
            return [slip_of(op, layer_paths) | {"unnegated": True}]
    return []


def _is_log_of_share(op: Any) -> bool:
    if op.type == "Neg":  # what `tf.math.log_sigmoid` ends in
        return bool(op.inputs[0].op.type == "Softplus")
    return op.type == "LogSoftmax" or (op.type == "Log" and _is_share(op.inputs[0]))


def _sign_of_policy(op: Any) -> int:
    """With which sign an operation multiplies log-probabilities by what was gained; 0 if it does something else."""
    if op.type != "Mul":
        return 0
    one, other = op.inputs
    return _sign_of_log(one) * _sign_of_gain(other) or _sign_of_log(other) * _sign_of_gain(one)


def _weighs_gain(op: Any, layer_paths: Sequence[str]) -> bool:
    return bool(_sign_of_policy(op)) and _gain_named(slip_of(op, layer_paths)["source"]) is not None


def _sign_of_entropy(product: Any) -> int:
    """With which sign ``p * log(p)``, of one p, is a part of an entropy; 0 if it is something else."""
    for share, log in (product.inputs, tuple(reversed(product.inputs))):
        of_share, of_log = passed(share, KEEPING), _scores_of(log)
        is_share = of_share.type == "Exp" or _is_share(share)
        if is_share and of_log and _scores_of(share) == of_log:
            return -_sign_of_log(log)
    return 0


def _scores_of(tensor: Tensor) -> set[str]:
    """What the softmaxes of a probability, or of its logarithm, are taken of."""
    ways = behind([tensor.op], through=KEEPING | BOUNDING | {"Exp", "Log", "Neg"})
    return {op.inputs[0].name for op in ways if op.type in ("LogSoftmax", "Softmax")}


def _sign_of_log(tensor: Tensor) -> int:
    """With which sign a tensor is the log-probability of what was chosen; 0 if it is none."""
    sign, op = 1, tensor.op
    for _ in range(WAY_MAX):
        if op.type in ENTROPIES:
            return -sign
        if op.type == "LogSoftmax":
            return sign
        if op.type == "Log":
            return sign if _is_share(op.inputs[0]) else 0
        scale = factor(op)
        if op.type == "Neg" or (scale is not None and scale[0] < 0):
            sign = -sign
        if scale is not None:
            op = scale[1].op
        elif op.type == "Mul":  # with what marks the choice
            read = [one for one in op.inputs if _is_learned(one)]
            if len(read) != 1:
                return 0
            op = read[0].op
        elif op.type == "Neg" or op.type in KEEPING | CHOOSING:
            op = op.inputs[0].op
        else:
            return 0
    return 0


def _is_share(tensor: Tensor) -> bool:
    """Whether a tensor is a probability, one of several perhaps, and held from 0."""
    op = tensor.op
    for _ in range(WAY_MAX):
        if op.type in SHARES:
            return True
        if op.type in BOUNDING:
            parts = [one for one in op.inputs if constant(one) is None]
        elif op.type == "Mul":
            parts = [one for one in op.inputs if _is_learned(one)]
        else:
            parts = [op.inputs[0]] if op.type in KEEPING | CHOOSING else []
        if not parts:
            return False
        op = parts[0].op
    return False


def _sign_of_gain(tensor: Tensor) -> int:
    """With which sign a tensor is what data says of each sample; 0 if it is learned by this loss, or one for all."""
    if tensor.shape.rank == 0 or constant(tensor) is not None or _is_learned(tensor):
        return 0
    sign, op = 1, tensor.op
    for _ in range(WAY_MAX):
        scale = factor(op)
        if op.type == "Neg" or (scale is not None and scale[0] < 0):
            sign = -sign
        if scale is not None:
            op = scale[1].op
        elif op.type == "Neg" or op.type in KEEPING | {"StopGradient"}:
            op = op.inputs[0].op
        else:
            break
    return sign


def _is_learned(tensor: Tensor) -> bool:
    """Whether a gradient leads from a tensor to a variable."""
    pending, seen = [tensor.op], set[int]()
    while pending:
        op = pending.pop()
        if op.type == "ReadVariableOp":
            return True
        if id(op) not in seen and op.type != "StopGradient":
            seen.add(id(op))
            pending.extend(one.op for one in op.inputs)
    return False


def _gain_named(source: dict[str, Any] | None) -> str | None:
    """What a line calls a gain, unless it speaks of a cost as well."""
    line = "" if source is None else re.sub(r"#.*|\breturn\b|^\s*\w+\s*=(?!=)", "", source["code"])
    names = [(name, set(name.lower().split("_"))) for name in NAME.findall(line)]
    if any(WORTHLESS & words for _, words in names):
        return None
    return next((name for name, words in names if WORTH & words), None)

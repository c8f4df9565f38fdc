"""Temperatures that only one of a teacher and a student has, and teachers that are trained too. Owns no state.

A student that is to give a teacher's softened probabilities is softened by as much. Probabilities that are made sharper
on one side alone are meant so, and a teacher that is calibrated is divided by a number as well: where the teacher alone
is softened, that the loss is multiplied by the square of the temperature tells that both were to be.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence, Set
from typing import Any, Final

from gradwatch.constants import factor
from gradwatch.origin import GRADIENT_SCOPE, layer_of, slip_of, source_of
from gradwatch.slips.graph.averse import is_of_trained
from gradwatch.tap import find_handle
from gradwatch.walk import ENTROPIES, behind, given_of, reads_variable, users_of

__all__ = ["find_one_tempered", "find_taught"]

SHARES: Final = frozenset({"LogSoftmax", "Softmax"})
ENTROPY: Final = "SoftmaxCrossEntropyWithLogits"
MEETING: Final = frozenset({"Mul", "RealDiv", "SquaredDifference", "Sub", "Xlogy"})
BETWEEN: Final = frozenset(
    {"AddV2", "Cast", "Identity", "Log", "Maximum", "Minimum", "Neg", "RealDiv", "Reshape", "StopGradient", "Sub"}
)
"""Operations between probabilities and where those of both meet."""
LOGARITHMS: Final = frozenset({"Log", "LogSoftmax"})
KEEPING: Final = frozenset({"Cast", "Identity", "Reshape", "Squeeze", "StopGradient"})
WAY_MAX: Final = 16
NEAR: Final = 64
TEMPERATURE_MIN: Final = 1.5
SAME: Final = 1e-4
Tensor = Any  # tensorflow ships no types


def find_one_tempered(forward: Sequence[Any], trained: Set[int], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first place where softened probabilities meet those of the same kind that are not, of a teacher or a student.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        trained: the handles of the variables that the step trains.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Temperature``), name, layer and source line of the softmax that is not softened; ``tempered``: the
        temperature of the other, and ``whose``: ``student`` or ``teacher``, which is softened.
    """
    numbers = {round(one[0], 6) for one in map(factor, forward) if one is not None}
    for one, other in _pairs(forward):
        is_student = [is_of_trained(side.inputs[0].op, trained) for side in (one, other)]  # a teacher's may be given
        if sum(is_student) != 1:
            continue
        student, teacher = (one, other) if is_student[0] else (other, one)
        scale, of_teacher = (_scale_of(side.inputs[0]) for side in (student, teacher))
        for soft, hard, whose, op in ((scale, of_teacher, "student", teacher), (of_teacher, scale, "teacher", student)):
            if hard != 1 or not 0 < soft <= 1 / TEMPERATURE_MIN:
                continue
            temperature = 1 / soft
            if whose == "student" or any(math.isclose(number, temperature**2, rel_tol=SAME) for number in numbers):
                place = {"type": "Temperature", "source": source_of(op)}
                return [slip_of(op, layer_paths) | place | {"tempered": temperature, "whose": whose}]
    return []


def find_taught(forward: Sequence[Any], trained: Set[int], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first teacher that a step trains to be like its student: labels are asked of the student alone.

    Args:
        forward: as for `find_one_tempered`.
        trained: likewise.
        layer_paths: likewise.

    Returns:
        Type (``Teacher``), name, layer and source line of what gives its scores, and ``taught``: the layer that gives
        the student's.
    """
    labelled = [_labelled_in(op) for op in forward]
    scores = {id(made) for made in labelled if made is not None}
    for pair in _pairs(forward):
        ends = [_scores_of(one.inputs[0])[1].op for one in pair]
        asked = [id(one) in scores for one in ends]
        kernels = [_kernels_behind(one) for one in ends]
        is_apart = all(one and one <= trained for one in kernels) and not kernels[0] & kernels[1]
        student, teacher = ends if asked[0] else reversed(ends)
        if sum(asked) == 1 and is_apart and all(map(_is_moved, ends)) and _is_but_compared(teacher, forward):
            known = {"type": "Teacher", "taught": layer_of(student.name, layer_paths)}
            return [slip_of(teacher, layer_paths) | {"source": source_of(teacher)} | known]
    return []


def _labelled_in(op: Any) -> Any:
    """What gives the scores of a cross-entropy with what a step was given; None for anything else."""
    pairs = [tuple(op.inputs)] if op.type in ENTROPIES else []
    if op.type == "Mul":
        pairs = [(one, label) for one, label in itertools.permutations(op.inputs) if one.op.type in LOGARITHMS]
    tensor = next((one for one, label, *_ in pairs if given_of(label) and not reads_variable(label, None)), None)
    if tensor is None:
        return None
    for _ in range(WAY_MAX):  # a loss of probabilities takes their logarithms for scores
        before = next((one for one in tensor.op.inputs if one.op.type != "Const"), None)
        if tensor.op.type not in BETWEEN | SHARES or tensor.op.type == "AddV2" or before is None:
            break
        tensor = before
    return tensor.op


def _is_but_compared(op: Any, forward: Sequence[Any]) -> bool:
    """Whether probabilities are all that is made of scores."""
    ids, pending = {id(one) for one in forward}, [op]
    for _ in range(WAY_MAX):
        if not pending:
            break
        for user in users_of(pending.pop().outputs[0], ids):
            if user.type in KEEPING or factor(user) is not None:
                pending.append(user)
            elif user.type not in SHARES | {ENTROPY}:
                return False
    return not pending


def _kernels_behind(op: Any) -> set[int]:
    reads = (one for one in behind([op], through=None) if one.type == "ReadVariableOp")
    handles = (find_handle(one.inputs[0]) for one in reads if (one.outputs[0].shape.rank or 0) > 1)
    return {handle for handle in handles if handle is not None}


def _is_moved(op: Any) -> bool:
    """Whether a tape went back through an operation."""
    start = f"{GRADIENT_SCOPE}{op.name}"
    return any(
        one.name == start or one.name.startswith((f"{start}/", f"{start}_")) for one in op.graph.get_operations()
    )


def _pairs(forward: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Operations that make probabilities, or take those of scores themselves, of which the numbers meet."""
    for op in forward:
        if op.type == ENTROPY:
            made = _shares_behind(op.inputs[1])
            yield from ((op, one) for one in made)
        elif op.type in MEETING and len(op.inputs) == 2:
            first, second = map(_shares_behind, op.inputs)
            yield from ((one, other) for one in first for other in second if one is not other)


def _shares_behind(tensor: Tensor) -> list[Any]:
    return [op for op in behind([tensor.op], through=BETWEEN, most=NEAR) if op.type in SHARES]


def _scale_of(tensor: Tensor) -> float:
    """The number that scores are multiplied by; 0 where these are made of nothing that is given."""
    scale, scores = _scores_of(tensor)
    return scale if given_of(scores) else 0.0


def _scores_of(tensor: Tensor) -> tuple[float, Tensor]:
    """What a tensor is of other scores, and these."""
    scale = 1.0
    for _ in range(WAY_MAX):
        own = factor(tensor.op)
        if own is None and tensor.op.type not in KEEPING:
            break
        number, tensor = (1.0, tensor.op.inputs[0]) if own is None else own
        scale *= number
    return scale, tensor

"""Causes and cures of an operation that broke, by its type, with the user's own line mended where it is understood."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from gradwatch_server.health.episode import Steep
from gradwatch_server.health.finding import Hypothesis
from gradwatch_server.health.operation import Account
from gradwatch_server.health.operation_table import ENTROPIES, EXPONENTIALS, Operation
from gradwatch_server.health.verdict.advice_arithmetic import advise_arithmetic, advise_product
from gradwatch_server.health.verdict.advice_growth import DEFAULT_RECURRENCE, LOOPS, RECURRENCE_CODE
from gradwatch_server.health.verdict.operation import (
    CONTAINERS,
    DIVISIONS,
    is_arithmetic,
    is_exact,
    is_norm,
    say_exactly,
    say_noun,
    say_place,
)
from gradwatch_server.health.verdict.rewrite import guard_where, rewrite_line, say_change, sum_of_logs
from gradwatch_server.health.verdict.spelling import say_count, say_number

__all__ = ["advise_masked_too_late", "advise_near", "advise_operation", "advise_steep"]

CERTAIN: Final = 0.95
"""The operation was seen to make NaN of finite numbers, and its input to be exactly at the singular point."""
LIKELY: Final = 0.8
"""It was seen to make NaN of finite numbers; why is inferred from its type."""


class _Remedy(NamedTuple):
    """What helps against one type of operation: cause, why, fix, and code where the line itself is not understood."""

    cause: str
    why: str
    fix: str
    code: str


_NORM = _Remedy(
    "The norm of a vector that is exactly zero",
    "The slope of a norm is x / norm(x), which is 0 / 0 where all of x is 0. The value itself, 0, is fine, so the "
    "forward pass and the loss look healthy.",
    "Add a small number under the root: the slope at 0 is then 0 instead of NaN.",
    "norm = tf.sqrt(tf.reduce_sum(tf.square(x), axis=-1) + 1e-12)   # instead of tf.norm(x, axis=-1)",
)
_ROOT = _Remedy(
    "The square root of exactly 0",
    "The slope of a square root is 1 / (2 sqrt(x)): infinite at 0, and NaN once it is multiplied by 0. The value "
    "itself, 0, is fine, so the forward pass and the loss look healthy.",
    "Add a small number under the root, or keep zeros out of it with a `tf.where` on its input.",
    "y = tf.sqrt(x + 1e-12)\n\n# or, if 0 must stay exactly 0:\nis_safe = x > 0\n"
    "y = tf.where(is_safe, tf.sqrt(tf.where(is_safe, x, 1.0)), 0.0)",
)
_NEGATIVE_ROOT = _Remedy(
    "The square root of a negative number",
    "The square root of a negative number is NaN. Rounding can push a difference that should be 0 or more, such as a "
    "variance E[x^2] - E[x]^2, below 0.",
    "Bound the number under the root from below, and compute variances as the mean of squared deviations.",
    "y = tf.sqrt(tf.maximum(x, 0.0) + 1e-12)\nvariance = tf.reduce_mean(tf.square(x - tf.reduce_mean(x)))",
)
_RECIPROCAL_ROOT = _Remedy(
    "The reciprocal square root at 0",
    "1 / sqrt(x) is infinite at 0, and NaN below it; its slope grows even faster. The usual reason is a variance of "
    "exactly 0, from a constant batch or feature.",
    "Add an epsilon under the root, as the normalisation layers do.",
    "y = x * tf.math.rsqrt(variance + 1e-5)",
)
_LOG = _Remedy(
    "The logarithm of exactly 0",
    "log(0) is minus infinity, and its slope is 1 / 0. A probability can round to 0 as soon as the model becomes "
    "confident. 0 times minus infinity is then NaN.",
    "Give the loss the logits, or keep the argument away from 0 before the logarithm.",
    "y = tf.math.log(tf.maximum(x, 1e-7))",
)
_FADED = _Remedy(
    "The logarithm of exponentials that all rounded to 0",
    "exp(x) is exactly 0 in float32 below x = -104, and in float16 below -17: so is a density far from its "
    "peak, and a probability by a softmax written by hand. Its logarithm is known all the same: it is x.",
    "Stay with logarithms: log-sum-exp, log_softmax, and add the logarithm of a weight in place of multiplying by it.",
    "log_p = tf.reduce_logsumexp(log_weight + log_density, axis=-1)    # not log(sum(weight * exp(log_density)))\n"
    "log_p = tf.nn.log_softmax(x)                                      # not log(exp(x) / sum(exp(x)))",
)
_LOST = _Remedy(
    "An epsilon that is 0 in float16",
    "A number is added, or taken as a bound, to keep this from 0. float16 has nothing between 0 and 6e-8: what is "
    "smaller becomes 0, without a word.",
    "Take an epsilon of 1e-4 or so, or compute this in float32 and cast what comes of it.",
    "y = x / tf.sqrt(variance + 1e-4)\n"
    "y = tf.cast(tf.cast(x, tf.float32) / tf.sqrt(tf.cast(variance, tf.float32) + 1e-8), x.dtype)",
)
_NEGATIVE_LOG = _Remedy(
    "The logarithm of a negative number",
    "The logarithm of a negative number is NaN. A value that should be a probability or a positive amount is not.",
    "Make the argument positive before the logarithm: softplus or exp for amounts, softmax or sigmoid for "
    "probabilities. Where amounts are compared by their logarithms, the model can learn those themselves: the "
    "logarithm of the targets, by a squared error. A bound alone leaves no gradient below it.",
    'outputs = layers.Dense(1, activation="softplus")(x)\n\n# Or: model.fit(x, np.log1p(y)) with loss="mse"\n'
    "y = tf.math.log(tf.maximum(x, 1e-7))",
)
_DIVISION = _Remedy(
    "A division by exactly 0",
    "x / 0 is infinite and 0 / 0 is NaN. Typical cases are the mean over an empty mask or batch, and scaling by a "
    "range or a deviation that is 0 for a constant feature.",
    "Decide what the result should be where the divisor is 0. `divide_no_nan` makes it 0, with a gradient of 0. That "
    "is right for the mean of nothing, but hides the mistake if the divisor should never be 0.",
    "ratio = tf.math.divide_no_nan(a, b)\n\n# If b must never be 0, find out why it is:\n"
    "tf.debugging.assert_none_equal(b, 0.0)",
)
_SMALL_DIVISION = _DIVISION._replace(
    cause="A division by a number so small that the result overflows",
    fix="Bound the divisor away from 0, by an epsilon of the size of its noise.",
    code="ratio = a / (b + 1e-6)   # b >= 0\nratio = a / (tf.sign(b) * tf.maximum(tf.abs(b), 1e-6))",
)
_STEEP_DIVISION = _DIVISION._replace(
    cause="A division by a number so small that its slope overflows",
    why="The slope of a / b is a / b²: in float32 b² rounds to 0 for b below 1e-22 or so, while a / b itself may be "
    "finite. Exponentials that are divided by each other, as in a softmax written by hand, become that small.",
    fix="Subtract logarithms instead of dividing exponentials (log-sum-exp, log_softmax). Otherwise bound the divisor "
    "away from 0.",
    code="loss = tf.reduce_logsumexp(x, axis=1) - tf.linalg.diag_part(x)    # log(sum(exp(x)) / exp(x_ii))\n"
    "ratio = a / (b + 1e-6)                                            # b >= 0",
)
_EXP = _Remedy(
    "An exponential that overflows",
    "exp(x) overflows float32 above x = 88.7, and float16 above 11. Inf divided by Inf, or Inf minus Inf, is then NaN.",
    "Subtract the largest value first (log-sum-exp, softmax), or bound the argument. Where it is meant to fade, as "
    "exp(-rate * t) does, keep the rate above 0: then it cannot overflow.",
    "total = tf.reduce_logsumexp(x, axis=-1)         # instead of log(sum(exp(x)))\n"
    "p = tf.nn.softmax(x)                            # instead of exp(x) / sum(exp(x))\n"
    "y = tf.exp(tf.minimum(x, 30.0))                 # if exp itself is needed",
)
_BESSEL = _Remedy(
    "A Bessel function that overflows",
    "I0(x) and I1(x) grow as exp(x): they overflow float32 above x = 88.7, and Inf divided by Inf is then NaN.",
    "Take the scaled ones, which are I0(x) exp(-|x|) and I1(x) exp(-|x|), and add |x| behind the logarithm.",
    "log_i0 = tf.math.log(tf.math.bessel_i0e(x)) + tf.abs(x)      # instead of log(bessel_i0(x))\n"
    "ratio = tf.math.bessel_i1e(x) / tf.math.bessel_i0e(x)        # instead of bessel_i1(x) / bessel_i0(x)",
)
_POWER = _Remedy(
    "A power of 0 or of a negative number",
    "The slope of x ** p is p x ** (p - 1): infinite at 0 for p below 1. A negative base with a fractional exponent "
    "gives NaN; 0 with a negative exponent gives infinity.",
    "Keep the base above 0 before the power.",
    "y = tf.pow(tf.maximum(x, 1e-7), p)",
)
_ARC = _Remedy(
    "acos, asin or atanh at the end of its range",
    "The slope of acos and asin is 1 / sqrt(1 - x^2): infinite at exactly 1 and -1, and the cosine of equal vectors is "
    "1. Rounding can push the argument beyond them, where the value is NaN.",
    "Clip the argument slightly inside of -1 and 1, or use atan2, which has a slope everywhere.",
    "angle = tf.acos(tf.clip_by_value(x, -1 + 1e-6, 1 - 1e-6))\n\n# or, with a slope everywhere:\n"
    "angle = tf.atan2(tf.norm(tf.linalg.cross(a, b), axis=-1), tf.reduce_sum(a * b, axis=-1))",
)
_AREA = _Remedy(
    "acosh of exactly 1",
    "The slope of acosh is 1 / sqrt(x^2 - 1): infinite at 1, the argument for the distance from a point to itself. The "
    "value itself, 0, is fine, so the forward pass and the loss look healthy. Rounding can push the argument below 1, "
    "where the value is NaN.",
    "Keep the argument slightly above 1.",
    "distance = tf.acosh(tf.maximum(x, 1.0 + 1e-6))",
)
_DIRECTION = _Remedy(
    "The direction of a vector that is exactly zero",
    "The slope of atan2(y, x) is x / (x^2 + y^2): 0 / 0 where both are 0. The value itself, 0, is fine, so the forward "
    "pass and the loss look healthy.",
    "Replace x where both are 0, or compare cosine and sine instead of angles.",
    "is_zero = (x == 0.0) & (y == 0.0)\nangle = tf.atan2(y, tf.where(is_zero, 1.0, x))",
)
_SOFTMAX = _Remedy(
    "A softmax over nothing but -Inf",
    "If every score of a row is -Inf, no entry is left to take any weight, and the row is NaN. A mask that hides "
    "everything does this. In float16 so does a mask of -1e9, which is -Inf there.",
    "Mask with a number that the dtype can represent, and treat fully masked rows separately before the softmax. A "
    "`tf.where` after it is too late for the gradient.",
    "scores = tf.where(mask, scores, tf.cast(-1e4, scores.dtype))        # in float16 -1e9 is -Inf\n"
    "is_empty = ~tf.reduce_any(mask, axis=-1, keepdims=True)\n"
    "weights = tf.nn.softmax(tf.where(is_empty, tf.zeros_like(scores), scores), axis=-1)",
)
_INSIDE = _Remedy(
    "An operation inside the function, loop or condition that is called here",
    "The input is finite and the output is not. gradwatch does not check the individual operations inside.",
    "Check its body for a log, a root, a norm or a division that may get 0.",
    "norm = tf.sqrt(tf.reduce_sum(tf.square(x), axis=-1) + 1e-12)\nlog = tf.math.log(tf.maximum(x, 1e-7))\n"
    "ratio = tf.math.divide_no_nan(a, b)",
)
_ENTROPY = _Remedy(
    "A cross-entropy whose finite logits and labels give no finite value",
    "Its inputs are finite, so they are too large, or a label is outside the classes. On a GPU, and under XLA, a label "
    "beyond the last class gives NaN instead of an error.",
    "Check that the labels are below the number of classes, and check the size of the logits.",
    "tf.debugging.assert_less(labels, tf.cast(n_classes, labels.dtype))",
)
_LINEAR = _Remedy(
    "A matrix that is singular or nearly so",
    "Decompositions, inverses and determinants, and even more their gradients, divide by differences of eigenvalues or "
    "by pivots, which are 0 for a matrix without full rank.",
    "Add a small multiple of the identity, and compute in float64.",
    "eye = tf.eye(tf.shape(matrix)[-1], dtype=matrix.dtype)\nsolution = tf.linalg.solve(matrix + 1e-6 * eye, rhs)",
)
_OTHER = _Remedy(
    "An operation that has no finite value or slope at its input",
    "Its input was finite and its output was not.",
    "Bound its input to the range where it is defined, before the operation.",
    "x = tf.clip_by_value(x, low, high)",
)

_LINEAR_TYPES: Final = (
    "Cholesky",
    "CholeskyGrad",
    "MatrixInverse",
    "MatrixDeterminant",
    "LogMatrixDeterminant",
    "MatrixSolve",
    "MatrixTriangularSolve",
    "Svd",
    "SelfAdjointEigV2",
    "Qr",
)

_AT_POINT: Final[Mapping[str, _Remedy]] = {
    "Sqrt": _ROOT,
    "Rsqrt": _RECIPROCAL_ROOT,
    "Log": _LOG,
    "Log1p": _LOG._replace(cause="The logarithm log1p of exactly -1"),
    "Xlogy": _LOG,
    "Pow": _POWER,
    **dict.fromkeys(DIVISIONS, _DIVISION),
    **dict.fromkeys(EXPONENTIALS, _EXP),
    **dict.fromkeys(("BesselI0", "BesselI1"), _BESSEL),
    **dict.fromkeys(("Acos", "Asin", "Atanh"), _ARC),
    "Acosh": _AREA,
    "Atan2": _DIRECTION,
    **dict.fromkeys(("Softmax", "LogSoftmax"), _SOFTMAX),
    **dict.fromkeys(_LINEAR_TYPES, _LINEAR),
    **dict.fromkeys(CONTAINERS, _INSIDE),
    **dict.fromkeys(ENTROPIES, _ENTROPY),
}
_ELSEWHERE: Final[Mapping[str, _Remedy]] = {
    "Sqrt": _NEGATIVE_ROOT,
    "Log": _NEGATIVE_LOG,
    "Log1p": _NEGATIVE_LOG._replace(cause="The logarithm log1p of a number below -1"),
    **dict.fromkeys(DIVISIONS, _SMALL_DIVISION),
}

_NEGATIVE: Final = (_NEGATIVE_ROOT,)
"""Where a number below 0 came in: a little more of it would help nothing."""

ZEROING: Final = frozenset({"Relu", "Relu6"})
AT_ZERO: Final = frozenset({"Log", "Pow", "Rsqrt", "Sqrt", *DIVISIONS})

INSIDE_LIMIT: Final = 3
"""Operations inside a call that are told as causes."""
_LOGITS_CODE: Final = """\
# Give the loss the logits: it then never computes log(0).
outputs = tf.keras.layers.Dense(n_classes)(x)            # no softmax here
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)   # Categorical... for one-hot labels

# by hand: tf.nn.log_softmax(logits) instead of tf.math.log(tf.nn.softmax(logits))
loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)"""

_MASK_CODE: Final = """\
# `where` chooses the value, but its gradient multiplies both branches: 0 * Inf is NaN.
# Make the input safe too, not only the output ("double where"):
is_safe = x > 0
y = tf.where(is_safe, {call}, 0.0)"""
_SAFE_CALLS: Final = {
    "Sqrt": "tf.sqrt(tf.where(is_safe, x, 1.0))",
    "Rsqrt": "tf.math.rsqrt(tf.where(is_safe, x, 1.0))",
    "Pow": "tf.pow(tf.where(is_safe, x, 1.0), p)",
    "Exp": "tf.exp(tf.where(is_safe, x, 0.0))",
    **dict.fromkeys(DIVISIONS, "a / tf.where(is_safe, x, 1.0)"),
}
_PROBABILITIES: Final = re.compile(r"softmax|prob|\bp\b|y_pred|pred", re.IGNORECASE)


def advise_operation(account: Account, operation: Operation) -> list[Hypothesis]:
    """Causes of an operation that made non-finite values of finite ones, the likeliest first."""
    if is_arithmetic(operation):
        return advise_arithmetic(account, operation)
    if operation.inside:
        return _advise_inside(operation)
    if operation.type in LOOPS:
        return [_advise_loop(operation)]
    exact = is_exact(account)
    remedy = _choose(operation, exact=exact)
    why = remedy.why
    if exact:
        n_singular, n_in = account.numbers["n_singular"], account.numbers["n_in"]
        verb = "was" if int(n_singular) == 1 else "were"
        why = f"{int(n_singular):,} of {say_count(n_in, 'input')} {verb} {say_exactly(operation)} at this step. {why}"
    fix = remedy.fix
    if exact and operation.input_type in ZEROING and operation.function in AT_ZERO:
        why += f" What comes in is the output of a {operation.input_type.lower()}: exactly 0 for every score below 0."
        fix += " Or end with a function that stays above 0, such as `softplus` or `exp`, in place of the relu: "
        fix += "it passes a gradient on as well, where a relu at 0 passes none."
    confidence = CERTAIN if exact else LIKELY
    # Their own line, mended, would be one without a NaN at 0: that helps no divisor that is merely small.
    mended = None if remedy in (_SMALL_DIVISION, _STEEP_DIVISION) else _mend(operation, is_negative=remedy in _NEGATIVE)
    found = [Hypothesis(f"{remedy.cause}{say_place(operation)}", confidence, why, fix, mended or remedy.code)]
    if operation.function == "Log" and exact and sum_of_logs(operation.code) is not None:
        return [advise_product(operation, "exactly 0"), replace(found[0], confidence=confidence - 0.1)]
    if (operation.is_lost or operation.is_of_exponential) and exact:
        first = _LOST if operation.is_lost else _FADED
        likeliest = Hypothesis(f"{first.cause}{say_place(operation)}", confidence, first.why, first.fix, first.code)
        return [likeliest, replace(found[0], confidence=confidence - 0.1)]
    is_entropy = operation.function == "Log" and bool(_PROBABILITIES.search(operation.code))
    is_entropy &= remedy is not _NEGATIVE_LOG  # no softmax and no sigmoid gives less than 0
    if is_entropy and "log_softmax" not in (mended or ""):
        # A bound on the probability makes the loss finite, and its gradient 0 where it is needed most.
        found[0] = replace(found[0], confidence=confidence - 0.1)
        found.insert(0, _advise_logits(operation, confidence))
    return found


def _advise_loop(operation: Operation) -> Hypothesis:
    """The cause of a loop that broke, where none of the operations in it has a point at which it breaks."""
    what = "gradient" if operation.is_gradient else "state"
    return Hypothesis(
        f"The {what} grows with each iteration of the loop until it overflows{say_place(operation)}",
        LIKELY,
        "The loop's input is finite, its output is not, and it contains no operation of yours that can break by "
        f"itself. A recurrent layer passes its {what} from step to step of the sequence. If each step makes it a "
        "little larger and nothing limits it (a relu instead of tanh, a recurrent kernel that starts too large), a "
        "hundred steps make it astronomical.",
        "Use tanh in the recurrence, or LSTM or GRU, and an orthogonal initializer for the recurrent kernel.",
        RECURRENCE_CODE,
        DEFAULT_RECURRENCE,
    )


def _advise_inside(operation: Operation) -> list[Hypothesis]:
    """Causes of a call, loop or condition that broke: each of the user's own operations in it may have."""
    n = len(operation.inside)
    # An exponential that is finite has a slope that is finite: in a gradient it is the last to suspect.
    shown = sorted(operation.inside, key=lambda inner: operation.is_gradient and inner.type in EXPONENTIALS)
    shown = shown[:INSIDE_LIMIT]
    among = "the only one" if n == 1 else f"one of {n}"
    found = []
    for inner in shown:
        remedy = _choose(inner, exact=True)
        why = (
            f"The input of the {say_noun(operation)} is finite and its output is not. Its individual operations are "
            f"not checked; this is {among} in it that can break. {remedy.why}"
        )
        confidence = LIKELY if n == 1 else round(LIKELY / n**0.5, 2)
        code = _mend(inner) or remedy.code
        found.append(Hypothesis(f"{remedy.cause}{say_place(inner)}", confidence, why, remedy.fix, code))
    return found


def advise_steep(lead: Steep, operation: Operation) -> list[Hypothesis]:
    """Causes of an operation that came near its singular point."""
    why = (
        f"Its smallest input went from {say_number(lead.margin_before)} to {say_number(lead.margin)}, and its slope to "
        f"{say_number(lead.amplification)}. "
    )
    if lead.is_felt:
        why += "The gradient norm rose with it: the few inputs nearest to 0 now dominate each step."
    else:
        why += "No epsilon bounds it: once an input rounds to exactly 0, the value or its gradient is Inf or NaN."
    return [_unbounded(operation, why, 0.8 if lead.is_felt else 0.7)]


def advise_near(operation: Operation, why: str) -> list[Hypothesis]:
    """Causes of an operation that is on its way to its singular point, the likeliest first."""
    found = [_unbounded(operation, why, LIKELY)]
    if operation.function == "Log" and _PROBABILITIES.search(operation.code):
        found.insert(0, _advise_logits(operation, LIKELY + 0.05))
    return found


def _unbounded(operation: Operation, why: str, confidence: float) -> Hypothesis:
    remedy = _choose(operation, exact=True)
    fix = "Bound the input before the operation: clipping its result only hides the slope."
    if operation.function == "Log":
        fix += " Below a bound the gradient is 0; a function made for this (log_softmax, log_sigmoid, a loss from "
        fix += "logits) keeps the gradient."
    return Hypothesis(
        f"Nothing keeps the input of the {say_noun(operation)} away from {_say_point(operation)}{say_place(operation)}",
        confidence,
        why,
        fix,
        _mend(operation) or remedy.code,
    )


def advise_masked_too_late(operation: Operation) -> Hypothesis:
    """The forward operation broke and the loss did not: what hides its result hides it too late."""
    code = operation.code
    guarded = guard_where(code, operation.function)
    call = _SAFE_CALLS.get(operation.function, "tf.math.log(tf.where(is_safe, x, 1.0))")
    return Hypothesis(
        f"The result is masked after the operation instead of its input before it{say_place(operation)}",
        CERTAIN,
        "The forward value was NaN or infinite and the loss was finite, so something after it (a `tf.where`, a "
        "`tf.maximum`, a clip) hides it. The gradient passes through both branches, and 0 times Inf is NaN.",
        "Mask the input of the operation as well, so that the branch that is not taken is safe.",
        say_change(code, guarded) if guarded is not None else _MASK_CODE.format(call=call),
    )


def _say_point(operation: Operation) -> str:
    where = say_exactly(operation)
    return "overflow" if where == "too large" else where.split()[-1]


def _mend(operation: Operation, *, is_negative: bool = False) -> str | None:
    """The user's line before and after, or None where it is not understood."""
    code = operation.code
    changed = rewrite_line(code, operation.function, is_negative=is_negative)
    return None if changed is None else say_change(code, changed)


def _choose(operation: Operation, *, exact: bool) -> _Remedy:
    if is_norm(operation) and (exact or operation.is_gradient):
        return _NORM
    if not exact and operation.is_gradient and operation.function in DIVISIONS:
        return _STEEP_DIVISION
    if not exact and not operation.is_gradient and operation.function in _ELSEWHERE:
        return _ELSEWHERE[operation.function]
    return _AT_POINT.get(operation.function, _OTHER)


def _advise_logits(operation: Operation, confidence: float) -> Hypothesis:
    return Hypothesis(
        f"A cross-entropy written by hand takes the logarithm of a probability of 0{say_place(operation)}",
        confidence,
        "A softmax or sigmoid rounds to exactly 0 (or 1) once the logits (its inputs) are some 90 apart. Its logarithm "
        "is then infinite, and 0 times that is NaN. If the loss is computed directly from the logits, the logarithm of "
        "0 never occurs.",
        "Give the loss the logits (`from_logits=True`) instead of taking the logarithm of a probability.",
        _LOGITS_CODE,
    )

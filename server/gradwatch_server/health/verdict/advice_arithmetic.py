"""Causes and cures of plain arithmetic that broke: products, sums, means. It has no singular point: it overflows."""

from __future__ import annotations

from typing import Final

from gradwatch_server.health.finding import Hypothesis
from gradwatch_server.health.operation import Account
from gradwatch_server.health.operation_table import Operation
from gradwatch_server.health.verdict.operation import MEANS, SQUARES, SUMS, is_fed_infinity, say_noun, say_place
from gradwatch_server.health.verdict.rewrite import say_change, sum_of_logs, within_half

__all__ = ["advise_arithmetic", "advise_product"]

HALF_CODE: Final = """\
# float16 ends at 65,504; bfloat16 reaches as far as float32, and needs no loss scaling:
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")

# Or keep the layer that overflows in float32:
outputs = tf.keras.layers.Dense(units, dtype="float32")(x)

# Or only this operation:
y = tf.cast(tf.matmul(tf.cast(a, tf.float32), tf.cast(b, tf.float32)), a.dtype)"""

HALF_SUM_CODE: Final = """\
# Add up in float32: a sum over many elements leaves float16 at 65,504.
total = tf.reduce_sum(tf.cast(x, tf.float32), axis=axis)"""

LARGE_CODE: Final = """\
# Keep numbers near 1 before they are multiplied: scaled inputs, normalised layers, clipped gradients.
x = (x - mean) / (std + 1e-6)
x = tf.keras.layers.LayerNormalization()(x)
optimizer = tf.keras.optimizers.Adam(1e-4, global_clipnorm=1.0)"""

ZERO_TIMES_INF_CODE: Final = """\
# A mask that multiplies cannot hide an Inf: 0 * Inf is NaN. Choose instead, and make the hidden input harmless:
y = tf.where(mask, f(tf.where(mask, x, 1.0)), 0.0)      # instead of mask * f(x)

# Where a 0 is meant to win:
y = tf.math.multiply_no_nan(f(x), mask)"""

HALF_MASK_CODE: Final = """\
# In place of `scores + padding * -1e9`; mask: True where something is to be seen
scores = tf.where(mask, scores, tf.cast(-1e4, scores.dtype))"""

INF_MINUS_INF_CODE: Final = """\
# Use a large finite number where infinity stands for "never", so that differences stay finite:
logits = tf.where(mask, logits, -1e9)                   # instead of -inf

# Differences of logarithms and exponentials, taken together:
difference = tf.nn.log_softmax(logits)                  # instead of logits - log(sum(exp(logits)))"""

LOWEST_CODE: Final = """\
# Segments without elements hold the lowest float: give them a number of their own.
largest = tf.math.unsorted_segment_max(x, segment, n_segments)
largest = tf.where(largest > 0.5 * largest.dtype.min, largest, 0.0)"""

EMPTY_CODE: Final = """\
# The mean of nothing is 0 / 0:
mean = tf.math.divide_no_nan(tf.reduce_sum(x * mask), tf.reduce_sum(mask))

# The largest of nothing is -Inf:
largest = tf.reduce_max(tf.concat([x, [0.0]], axis=0))"""


PRODUCT_CODE: Final = """\
# The logarithm of a product is the sum of the logarithms, and stays within range:
log_product = tf.reduce_sum(tf.math.log(x), axis=-1)
geometric_mean = tf.exp(tf.reduce_mean(tf.math.log(x), axis=-1))"""


def advise_product(operation: Operation, end: str) -> Hypothesis:
    """A product over an axis that leaves the range of its type; end: what it becomes."""
    changed = sum_of_logs(operation.code)
    return Hypothesis(
        f"A product of many numbers becomes {end}{say_place(operation)}",
        0.92,
        "Each factor is of usual size, but their product grows or shrinks with every one: forty factors of 10 reach "
        "the end of float32 at 3e38, and as many of 0.1 its end at 1e-45, where it becomes 0.",
        "Sum the logarithms in place of multiplying: most likelihoods need the logarithm alone.",
        PRODUCT_CODE if changed is None else say_change(operation.code, changed),
    )


def advise_arithmetic(account: Account, operation: Operation) -> list[Hypothesis]:
    """Causes of a product, sum or mean that gave NaN or Inf, the likeliest first."""
    place, noun = say_place(operation), say_noun(operation)
    if is_fed_infinity(account):
        is_half = account.dtype == "float16" and not operation.is_gradient
        return [_beyond_half(operation, place) if is_half else _infinity(operation, place)]
    found = [_half(operation, noun, place)] if account.dtype == "float16" else []
    found.append(_overflow(operation, noun, place, is_likely=not found))
    if account.dtype != "float16" and not operation.is_gradient:
        found.append(_lowest(noun, place))
    if operation.function == "Prod":
        found.insert(0, advise_product(operation, "infinite"))
    if operation.function in MEANS or operation.function in {"Max", "Min"}:
        found.insert(0, _nothing(operation, place))
    return found


def _infinity(operation: Operation, place: str) -> Hypothesis:
    if operation.function in SUMS:
        return Hypothesis(
            f"Infinity minus infinity{place}",
            0.9,
            "Both sides were infinite, and Inf - Inf is NaN. A mask of -Inf that is added twice, or the difference of "
            "two logarithms of 0, does it.",
            "Let large finite numbers stand for infinity, and take differences of logarithms together.",
            INF_MINUS_INF_CODE,
        )
    return Hypothesis(
        f"Zero times infinity{place}",
        0.9,
        "One factor was infinite and the other 0, and 0 * Inf is NaN. A mask of zeros over the result of a log, a "
        "division or an exponential is the usual way to get there.",
        "Choose with `tf.where` instead of multiplying by a mask, and make the input of what is hidden harmless too.",
        ZERO_TIMES_INF_CODE,
    )


def _beyond_half(operation: Operation, place: str) -> Hypothesis:
    bounded = within_half(operation.code)
    return Hypothesis(
        f"A number that float16 cannot hold is infinite there{place}",
        0.93,
        "float16 ends at 65,504: a mask of -1e9, which is usual in float32, is -Inf in it, and 0 times that is NaN for "
        "all that is not masked.",
        "Mask with a number that the type can hold, such as -1e4.",
        HALF_MASK_CODE if bounded is None else say_change(operation.code, bounded),
    )


def _half(operation: Operation, noun: str, place: str) -> Hypothesis:
    is_sum = operation.function in SUMS | MEANS | SQUARES
    return Hypothesis(
        f"The {noun} overflows float16{place}",
        0.92,
        "All that went in was finite, and what came out was not. float16 ends at 65,504, where float32 and bfloat16 "
        "reach 3e38.",
        "Compute this operation in float32, or the model in bfloat16"
        + (". Dynamic loss scaling helps only where it is the gradient that overflows." if operation.is_gradient
           else "; loss scaling does not help, since this is the forward pass."),
        HALF_SUM_CODE if is_sum else HALF_CODE,
    )  # fmt: skip


def _overflow(operation: Operation, noun: str, place: str, *, is_likely: bool) -> Hypothesis:
    what = "gradients" if operation.is_gradient else "activations, weights or inputs"
    return Hypothesis(
        f"Numbers too large for the {noun}{place}",
        0.75 if is_likely else 0.3,
        f"All that went in was finite, so the result left the range of its type: {what} had grown by many powers of "
        "ten before. A learning rate that is too high or inputs that are not scaled do that.",
        "Scale the inputs, normalise between layers, and lower the learning rate or clip the gradient.",
        LARGE_CODE,
    )


def _lowest(noun: str, place: str) -> Hypothesis:
    return Hypothesis(
        f"The lowest float, of a maximum over nothing or of a mask, gets into the {noun}{place}",
        0.5,
        "`unsorted_segment_max` of an empty segment, `reduce_max` of an empty axis and a mask of `dtype.min` give "
        "-3.4e38, which overflows in the next product or sum. It is this where the numbers before were of usual size.",
        "Decide what stands for nothing, before the next layer.",
        LOWEST_CODE,
    )


def _nothing(operation: Operation, place: str) -> Hypothesis:
    is_mean = operation.function in MEANS
    return Hypothesis(
        f"The {'mean' if is_mean else 'largest or smallest'} of no elements{place}",
        0.8,
        f"Nothing that went in was broken. {'The mean of nothing is 0 / 0' if is_mean else 'Of nothing it is infinite'}"
        ": an empty mask, batch or selection gives that.",
        "Decide what the result is where there is nothing, and add up before you divide.",
        EMPTY_CODE,
    )

"""Causes and cures of NaN and Inf in what enters the model, and in layers' outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gradwatch_server.health.episode import NonFinite
from gradwatch_server.health.finding import Hypothesis
from gradwatch_server.health.input_column import InputRecord
from gradwatch_server.health.outlier import Outlier
from gradwatch_server.health.verdict.advice_arithmetic import HALF_CODE, LARGE_CODE
from gradwatch_server.health.verdict.advice_nonfinite import (
    CHECK_INPUT_CODE,
    LOG_CAUSE,
    LOGITS_CODE,
    RESTORE_CODE,
    from_rate,
)
from gradwatch_server.health.verdict.scene import Scene
from gradwatch_server.health.verdict.spelling import say_number, say_step

__all__ = ["advise_activation", "advise_input", "advise_outlier", "say_outlier"]

COLUMNS_IN_CODE: Final = 20

MASK_FIRST_CODE: Final = """\
# Before the first layer: after it, 0 * NaN is NaN in the backward pass.
filled = tf.keras.ops.where(tf.keras.ops.isfinite(inputs), inputs, 0.0)
x = tf.keras.layers.Dense(64)(filled)

# or in the data, for every batch:
dataset = dataset.map(lambda x, y: (tf.where(tf.math.is_finite(x), x, tf.zeros_like(x)), y))"""

LABEL_CODE: Final = """\
# Leave samples without a label out of the loss, and make their error finite before it is masked:
has_label = tf.math.is_finite(y)
error = loss_fn(tf.where(has_label, y, tf.zeros_like(y)), outputs)
loss = tf.reduce_sum(tf.where(has_label, error, 0.0)) / tf.reduce_sum(tf.cast(has_label, tf.float32))"""


def advise_input(
    lead: NonFinite, scene: Scene, name: str, record: InputRecord | None, mended_behind: str | None
) -> list[Hypothesis]:
    """Causes of NaN or Inf in what enters the step; ``mended_behind`` is the last layer that still gave them."""
    found = [_clean_data(lead, name, record)]
    is_infinite = not lead.counts[:, 0].any()
    if name.partition("/")[0] == "input" and scene.is_loss_finite and is_infinite and mended_behind is None:
        found.append(_bound_first())
    elif name.partition("/")[0] == "input" and scene.is_loss_finite is not False:
        found.insert(0, _mask_first(mended_behind, is_certain=bool(scene.is_loss_finite)))
    elif name.partition("/")[0] != "input":
        found.insert(0, _mask_label())
    return found


OUTLIER_CODE: Final = """\
# Which rows are they, and should they be there? A wrong unit, or a missing value written as 1e20, looks like this.
usual = np.nanpercentile(np.abs(x_train), 99.9, axis=0)
print(np.argwhere(np.abs(x_train) > 1_000 * usual)[:20])            # (row, column)

# Bound the inputs of every batch, also of later ones:
dataset = dataset.map(lambda x, y: (tf.clip_by_value(x, -10.0 * usual, 10.0 * usual), y))"""


def advise_outlier(scene: Scene) -> list[Hypothesis]:
    """A finite input out of all proportion, where there was one in the step that broke."""
    found = scene.outlier
    if found is None:
        return []
    return [
        Hypothesis(
            "A value in the inputs of this batch is out of all proportion",
            0.95,
            f"It is finite, so a check for NaN does not find it. {say_outlier(scene, found)}: its square, or its "
            "product with a gradient of the same size, exceeds the range of float32.",
            "Find the row and correct it, or bound the features before the first layer.",
            OUTLIER_CODE,
        )
    ]


def say_outlier(scene: Scene, found: Outlier) -> str:
    """``At step 120 input reached 1e+22 (column 3), after at most 7.2 in all steps before``."""
    column = scene.outlying_column(found)
    where = "" if column is None else f" (column {column})"
    return (
        f"At {say_step(found.step)} {found.tensor} reached {say_number(found.value)}{where}, after at most "
        f"{say_number(found.before)} in all steps before"
    )


def advise_activation(
    lead: NonFinite, scene: Scene, *, dtype: str, is_fed_finite: bool, is_first: bool
) -> list[Hypothesis]:
    """Causes of a layer's broken output whose input was whole.

    Args:
        lead: the activations' episode.
        scene: the facts around it.
        dtype: the layer's.
        is_fed_finite: whether the model's inputs are known to have been finite.
        is_first: whether it is the first layer.
    """
    found = []
    if dtype == "float16":
        found.append(_half(is_nan=bool(lead.counts[:, 0].any())))
    if not is_fed_finite:
        found.append(_bad_data(lead))
    read = scene.weights_finite_step
    if read is None or read < lead.first_step - 1:
        found.append(_broken_weights(read, is_likely=is_first and is_fed_finite))
    found.append(
        Hypothesis(
            LOG_CAUSE,
            0.45,
            "The layer's input was finite but its output was not, so an operation inside it was outside of its valid "
            "range: a log or root of a negative number, a division by 0, or an exponential that overflows.",
            "Keep the argument within the operation's valid range, before the operation.",
            LOGITS_CODE,
        )
    )
    if dtype != "float16" and not lead.counts[:, 0].any():
        found.append(
            Hypothesis(
                "Overflow in the forward pass",
                0.5,
                "The output is infinite, not NaN: it exceeded the range of its type. Weights or inputs had become "
                "very large before.",
                "Scale the inputs, normalise between layers, lower the learning rate.",
                LARGE_CODE,
            )
        )
    return [*found, *from_rate(scene)]


def _mask_first(mended_behind: str | None, *, is_certain: bool) -> Hypothesis:
    where = f"only behind `{mended_behind}`" if mended_behind else "in or behind its first layer"
    hider = "something in the model hides the NaN from it"
    if mended_behind is None:
        hider += (
            ": a mask, or a relu, which many processors fuse with the product before it and which then gives 0 for NaN"
        )
    return Hypothesis(
        f"The model masks the broken inputs too late: {where}",
        0.95 if is_certain else 0.5,
        f"The loss stayed finite, so {hider}. It still breaks the backward pass: the gradient of a kernel is its "
        "input times the gradient of its output, and 0 times NaN is NaN.",
        "Fill or mask the inputs before the first layer, in the data or as the model's first operation.",
        MASK_FIRST_CODE,
    )


def _bound_first() -> Hypothesis:
    return Hypothesis(
        "A bounded function hides the infinite inputs from the loss, but not from the gradient",
        0.6,
        "Neither an output nor the loss was infinite: tanh, sigmoid and the like return a finite number for Inf. "
        "Their slope there is 0, and the gradient of the kernel before them is the input times that slope: Inf times "
        "0, which is NaN.",
        "Fill the infinite inputs, or clip them to a range, before the first layer.",
        MASK_FIRST_CODE,
    )


def _mask_label() -> Hypothesis:
    return Hypothesis(
        "Samples without a usable label or weight enter the loss",
        0.9,
        "The labels or sample weights were not finite. Masking the result of the loss is too late: the gradient of "
        "the masked part is 0 times NaN.",
        "Replace the missing labels before the loss, and leave these samples out of its mean.",
        LABEL_CODE,
    )


def _clean_data(lead: NonFinite, name: str, record: InputRecord | None) -> Hypothesis:
    is_nan = bool(lead.counts[:, 0].any())
    when = (
        "It was there in the first batch"
        if lead.is_first_row
        else f"Batches up to {say_step(lead.finite_step)} were finite"
    )
    return Hypothesis(
        f"The data hold {'NaN' if is_nan else 'infinite values'}",
        0.9,
        f"{when}, and the model does not make its own inputs. Typical sources are gaps in the data, and logs, roots "
        "or divisions in the feature preparation.",
        "Find out where they come from, and fill or drop them before training.",
        _column_code(record) if name.partition("/")[0] == "input" and record is not None else CHECK_INPUT_CODE,
    )


def _column_code(record: InputRecord) -> str:
    if not record.columns:
        return CHECK_INPUT_CODE
    columns: Sequence[int] = record.columns[:COLUMNS_IN_CODE]
    return (
        f"columns = {list(columns)}                       # the ones that were broken here\n"
        "print((~np.isfinite(x[:, columns])).sum(axis=0))   # broken rows in the whole data\n\n"
        "# then fill them, for example with the column's median:\n"
        "finite = np.where(np.isfinite(x), x, np.nan)\n"
        "x = np.where(np.isfinite(x), x, np.nanmedian(finite, axis=0))"
    )


def _bad_data(lead: NonFinite) -> Hypothesis:
    return Hypothesis(
        "NaN or Inf in the inputs" + ("" if lead.is_first_row else " of this batch"),
        0.5,
        "The model's input is not recorded for this step. Every function of a NaN is NaN, and one bad record breaks a "
        "batch.",
        "Check the inputs for NaN and Inf, and fill gaps before the first layer.",
        CHECK_INPUT_CODE,
    )


def _broken_weights(read: int | None, *, is_likely: bool) -> Hypothesis:
    seen = "have not been read yet" if read is None else f"were last read at {say_step(read)}"
    return Hypothesis(
        "The layer's weights were broken by the previous step",
        0.6 if is_likely else 0.3,
        f"The weights {seen}, and are not read at every step. With broken weights, a layer turns all of a finite "
        "input into NaN.",
        "Check the updates of the previous steps: the optimizer state, the learning rate, or a checkpoint.",
        RESTORE_CODE,
    )


def _half(*, is_nan: bool) -> Hypothesis:
    return Hypothesis(
        "Overflow in float16",
        0.6 if is_nan else 0.85,
        "The layer computes in float16, whose largest number is 65,504. A product over many inputs can exceed that "
        "with healthy float32 weights.",
        "Use bfloat16, or keep this layer in float32. Loss scaling does not help: this is the forward pass.",
        HALF_CODE,
    )

"""Causes and cures of NaN and Inf. Each confidence is a starting belief, moved by the evidence at hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from gradwatch_server.health.book import GRADIENT_NORM
from gradwatch_server.health.entry import Entry
from gradwatch_server.health.episode import NonFinite, Phase
from gradwatch_server.health.finding import Hypothesis
from gradwatch_server.health.learning_rate import HIGH_RATIO, RATIO_LIMIT
from gradwatch_server.health.operation_table import Operation
from gradwatch_server.health.start import SQUARE_MAX, Beyond
from gradwatch_server.health.verdict.advice_growth import (
    CLIP_CODE,
    DEFAULT_RECURRENCE,
    INITIAL_CODE,
    RECURRENCE_CODE,
    advise_rate,
    advise_scale,
    start_as_usual,
)
from gradwatch_server.health.verdict.operation import say_place
from gradwatch_server.health.verdict.scene import Scene
from gradwatch_server.health.verdict.spelling import say_number, say_step

__all__ = [
    "CHECK_INPUT_CODE",
    "LOGITS_CODE",
    "LOG_CAUSE",
    "RESTORE_CODE",
    "SUPERSEDED",
    "advise_beyond",
    "advise_broken_rate",
    "advise_gradient",
    "advise_loss",
    "advise_state",
    "advise_weight",
    "from_rate",
]

SINGULAR_CAUSE: Final = (
    "A function with an infinite slope at its input: sqrt or norm at 0, `where` after a NaN, log near 0"
)
LOG_CAUSE: Final = "log(0) or a division by zero in the forward pass or the loss"
OVERFLOW_CAUSE: Final = "Overflow in the backward pass"
SUPERSEDED: Final = frozenset({SINGULAR_CAUSE, LOG_CAUSE, OVERFLOW_CAUSE})
"""Guesses at an operation, of no use once it is known which one it was."""

SAFE_NORM_CODE = """\
# tf.norm(x, axis=-1) has the gradient x / norm: 0 / 0 where a row is all zero.
norm = tf.sqrt(tf.reduce_sum(tf.square(x), axis=-1) + 1e-12)

# If a branch is masked out, make its *input* safe too ("double where"), not only its output:
is_safe = x > 0
y = tf.where(is_safe, tf.math.log(tf.where(is_safe, x, 1.0)), 0.0)

# A division whose divisor may be 0:
ratio = tf.math.divide_no_nan(a, b)"""

CHECK_INPUT_CODE = """\
# Once before training, over all data:
for x, y in dataset:
    tf.debugging.assert_all_finite(x, "inputs")
    tf.debugging.assert_all_finite(y, "labels")

# If gaps are expected, fill them before the first layer (later is too late: 0 * NaN is NaN):
dataset = dataset.map(lambda x, y: (tf.where(tf.math.is_finite(x), x, tf.zeros_like(x)), y))"""

LOGITS_CODE = """\
# Pass logits to the loss: it then never computes log(0).
outputs = tf.keras.layers.Dense(n_classes)(x)            # no softmax here
model.compile(loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), optimizer=optimizer)

# By hand: tf.nn.log_softmax(logits) instead of tf.math.log(tf.nn.softmax(logits)); for other logs:
log = tf.math.log(tf.maximum(x, 1e-7))"""

OVERFLOW_CODE = """\
x = tf.minimum(x, 30.0)                                   # before tf.exp
optimizer = tf.keras.optimizers.Adam(1e-3, global_clipnorm=1.0)"""

HALF_CODE = """\
# The largest float16 is 65,504; bfloat16 has the range of float32.
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")

# Or keep the sensitive layer in float32:
outputs = tf.keras.layers.Dense(n_classes, dtype="float32")(x)"""

HALF_OPTIMIZER_CODE = """\
# Keep the variables in float32 and compute in half precision, which also scales the loss:
tf.keras.mixed_precision.set_global_policy("mixed_float16")

# If you need float16 variables: the optimizer's epsilon (1e-7 by default) must not round to 0 in float16:
optimizer = tf.keras.optimizers.Adam(1e-4, epsilon=1e-3)"""

RESTORE_CODE = """\
# Check the loaded weights before training:
for variable in model.variables:
    tf.debugging.assert_all_finite(tf.cast(variable, tf.float32), variable.path)"""

RESTART_CODE = """\
# Weights and optimizer state are corrupted: continue from an earlier checkpoint, with a fresh optimizer.
model.load_weights("before.weights.h5")
model.compile(optimizer=tf.keras.optimizers.Adam(1e-4, clipnorm=1.0), loss=loss)"""


EAGER_FIX: Final = (
    "The step runs eagerly, and then nothing is seen inside a custom gradient or a separately compiled function. With "
    "the step in a `tf.function` (in `fit`: without `run_eagerly`), the operation is named here, with its line."
)


def advise_gradient(lead: NonFinite, entry: Entry, scene: Scene) -> list[Hypothesis]:
    """Causes of a non-finite gradient that came before anything else."""
    is_nan = lead.counts[:, 0].sum() > 0
    found = [_masked_too_late(entry), _singular(entry, scene, is_nan)]
    if _is_half(lead):
        found.append(_half_overflow(is_nan))
    elif not is_nan:
        found.append(_overflow())
    return _weigh(found, scene) + from_rate(scene)


def _weigh(hypotheses: list[Hypothesis], scene: Scene) -> list[Hypothesis]:
    """Moves beliefs by what the operations say where none of them is the origin."""
    account = scene.account
    if scene.facts.is_eager and (account is None or account.culprit is None):
        return [
            replace(hypothesis, fix=f"{hypothesis.fix} {EAGER_FIX}") if hypothesis.cause in SUPERSEDED else hypothesis
            for hypothesis in hypotheses
        ]
    if account is None or account.culprit is not None:
        return hypotheses
    came_forward = account.carrier is not None and not account.carrier.is_gradient
    weighed = []
    for hypothesis in hypotheses:
        confidence = hypothesis.confidence
        if hypothesis.cause in SUPERSEDED:
            confidence *= 0.3 if came_forward or account.carrier is None else 0.8
        elif hypothesis.code == CHECK_INPUT_CODE and came_forward:
            confidence = max(confidence, 0.8)
        weighed.append(replace(hypothesis, confidence=confidence))
    return weighed


def advise_loss(lead: NonFinite, scene: Scene, *, is_beside: bool) -> list[Hypothesis]:
    """Causes of a non-finite loss that came before anything else."""
    is_nan = math.isnan(lead.value)
    found = [_bad_data(lead), _log_of_zero(lead, is_nan)]
    if lead.is_first_row:
        found.append(_broken_start())
    if is_beside:
        # A NaN that the gradient depends on would have broken it in the same step.
        found = [replace(hypothesis, confidence=0.5 * hypothesis.confidence) for hypothesis in found]
        found.append(_beside_training(lead))
    return _weigh(found, scene) + from_rate(scene)


OPTIMIZER_CODE = """\
# Add an epsilon to the divisor, outside or inside of the root:
update = learning_rate * gradient / (tf.sqrt(accumulator) + 1e-7)
# or in Keras: tf.keras.optimizers.Adam(1e-3, epsilon=1e-7)"""


def _broken_update(lead: NonFinite, *, is_given: bool, is_partial: bool, is_known: bool) -> Hypothesis:
    cause = "The optimizer turned a finite gradient into a non-finite update"
    if _is_half(lead):
        return Hypothesis(
            cause,
            0.8,
            "Every gradient was finite, so the NaN arose in the optimizer: in its own state, or in its division by "
            "the root of the second moment plus epsilon. In float16 an epsilon below 6e-8 is 0, and 0 / 0 is NaN.",
            "Keep variables and optimizer state in float32, and raise epsilon. Continue from an earlier checkpoint: "
            "the weights and the optimizer state are corrupted.",
            HALF_OPTIMIZER_CODE,
        )
    where = (
        " Only some elements are broken, such as the rows of a table that no batch has asked for: their gradient has "
        "always been 0."
        if is_partial
        else ""
    )
    return Hypothesis(
        cause,
        0.15 if is_given else 0.85 if is_known else 0.5,
        "Every gradient was finite, so the NaN arose in the optimizer: in its own state, or in its division by the "
        f"root of the accumulated squares. Without an epsilon that is 0 / 0 where the gradient was always 0.{where}",
        "Add an epsilon to the divisor. Restart, or continue from an earlier checkpoint: the weights are corrupted.",
        OPTIMIZER_CODE,
    )


STEP_CODE: Final = """\
dt = 1.0 / n_steps                       # of the sequence
state = state + dt * change"""


def advise_beyond(beyond: Beyond) -> list[Hypothesis]:
    """Causes of a first loss that is infinite of outputs that are finite, and too large for their square."""
    size = say_number(beyond.largest)
    if beyond.is_recurrent and beyond.is_own:
        return [
            Hypothesis(
                f"The state grows along the recurrence of {beyond.layer}, to {size}",
                0.92,
                "The cell passes its state from one time step to the next. Each makes it larger, and nothing limits "
                "it: in h + dt * f(h) a dt that is too long, or a kernel that stretches.",
                "Shorten dt, so that dt times the number of time steps is about 1. Or bound the state (tanh, a gate), "
                "and start the kernels smaller.",
                STEP_CODE,
            )
        ]
    if beyond.is_recurrent:
        return [
            Hypothesis(
                f"The state grows along the recurrence of {beyond.layer}, to {size}",
                0.92,
                "A recurrent layer passes its state from one time step to the next. If each step makes it a little "
                "larger and nothing limits it (relu instead of tanh, a recurrent kernel that starts too large), it "
                "becomes astronomical after a hundred steps.",
                "Use tanh in the recurrence, or LSTM or GRU, and an orthogonal initializer for the recurrent kernel.",
                RECURRENCE_CODE,
                DEFAULT_RECURRENCE,
            )
        ]
    return [
        Hypothesis(
            f"Numbers grow to {size} on the way to the output of {beyond.layer}",
            0.9,
            "They are finite, but their square is not, so any squared error is infinite. Weights that start too large "
            "amplify their input layer by layer; unscaled inputs are too large from the start.",
            "Use Keras' default initializers (Glorot, He), and scale the inputs to about 1.",
            INITIAL_CODE,
            start_as_usual(beyond.layer),
        )
    ]


def advise_weight(lead: NonFinite, scene: Scene, *, is_given: bool, is_partial: bool) -> list[Hypothesis]:
    """Causes of non-finite weights or updates after finite gradients.

    Args:
        lead: the incident's first episode.
        scene: what is known around it.
        is_given: whether they were so when they were first looked at.
        is_partial: whether it is only a part of the elements.
    """
    is_known = lead.is_first_row and scene.setup.broken is not None and not is_given
    found = [
        _broken_update(lead, is_given=is_given, is_partial=is_partial, is_known=is_known),
        advise_broken_rate(scene.learning_rate),
        Hypothesis(
            "The weights were broken before training began: a checkpoint, an embedding table or an initializer"
            if is_given
            else "The weights were changed by something else: a constraint, an assignment or a checkpoint",
            0.9 if is_given else 0.15 if is_known else 0.6 if lead.is_first_row else 0.25,
            "They were not finite when first read, but every gradient was. A loaded table with a row of NaN does no "
            "harm until a batch uses that row."
            if is_given
            else (
                "The gradient is not the cause. A weight constraint that divides by a norm of 0, an `assign` in a "
                "callback, or loaded values may be."
            ),
            "Check the weights right after loading and after each callback.",
            RESTORE_CODE,
        ),
    ]
    exploded = _overflowing_square(scene)
    far = advise_beyond(scene.start.far) if exploded and scene.start.far is not None else []
    return [*(far or exploded), *found, *from_rate(scene)]


def advise_exponential(operation: Operation, largest: float, scene: Scene) -> list[Hypothesis]:
    """Causes of an exponential that gave an astronomical number from the start."""
    place = say_place(operation)
    return [
        *advise_scale(
            scene,
            0.96,
            f"What the model makes of them grows with them, and goes into an exponential{place}: it gave up to "
            f"{say_number(largest)}.",
        ),
        Hypothesis(
            f"An exponential gave numbers up to {say_number(largest)}{place}",
            0.95,
            f"That is e to the {math.log(largest):.0f}, of a number that should be a few units at most, such as the "
            "logarithm of a variance or of a rate. The gradient is as large.",
            "Keep what goes into the exponential small from the start: scale the inputs, start the layer before it "
            "near 0, and bound it.",
            EXPONENTIAL_CODE,
        ),
    ]


EXPONENTIAL_CODE: Final = """\
log_var = layers.Dense(n, kernel_initializer="zeros")(h)                  # a variance of 1 to begin with
log_var = tf.clip_by_value(log_var, -10.0, 10.0)"""


def _overflowing_square(scene: Scene) -> list[Hypothesis]:
    """A gradient that is finite, and too large for the optimizer's sum of its squares."""
    norm = scene.testimony.known.read(GRADIENT_NORM)
    largest = max(norm.initial or 0.0, norm.recent or 0.0, norm.highest or 0.0)
    if not largest > SQUARE_MAX:
        return []
    if scene.start.steep is not None:
        return advise_exponential(*scene.start.steep, scene)
    return [
        Hypothesis(
            "The gradient has exploded: its square overflows in the optimizer",
            0.95,
            f"The global gradient norm was {say_number(largest)}. Adam and its like keep a mean of squares, and above "
            "1.8e19 a square is infinite in float32. A gradient becomes so large by factors that it passes many times: "
            "in each layer, or in each time step of a recurrence, or of a simulation that is unrolled with too large a "
            "step.",
            "Start the recurrent kernel smaller or orthogonal, with tanh or gates in the recurrence; in a deep network "
            "use a variance-preserving initializer; in a simulation take smaller steps, or an implicit scheme. "
            "Clipping the gradient norm limits it meanwhile.",
            f"{RECURRENCE_CODE}\n{CLIP_CODE}",
        )
    ]


STATE_CODE = """\
# Once NaN, a moving average stays NaN: reset it, and fill or drop non-finite values before the layer.
for layer in model.layers:
    if isinstance(layer, tf.keras.layers.BatchNormalization):
        layer.moving_mean.assign(tf.zeros_like(layer.moving_mean))
        layer.moving_variance.assign(tf.ones_like(layer.moving_variance))
dataset = dataset.filter(lambda x, y: tf.reduce_all(tf.math.is_finite(x)))"""


def advise_state(scene: Scene) -> list[Hypothesis]:
    """Causes of running statistics that are broken while every trained weight is whole."""
    is_skipped = bool(scene.broken(Phase.GRADIENT)) or scene.testimony.onset.read("skipped").highest == 1
    return [
        Hypothesis(
            "A batch with NaN or Inf went through the layer: its update was skipped, but it still entered the "
            "statistics",
            0.85 if is_skipped else 0.6,
            "A moving average is updated in the forward pass, before the step is known to be bad. Skipping the update "
            "keeps the weights finite, but the average stays NaN.",
            "Keep such batches out of the layer, and reset its statistics.",
            STATE_CODE,
        ),
        Hypothesis(
            "The variance overflowed",
            0.3,
            "In a layer that computes in float16, the square of a value above 256 is infinite, and so is the moving "
            "variance. A finite outlier in the data does the same in float32.",
            "Keep normalisation in float32, and bound its input.",
            HALF_CODE,
        ),
    ]


def advise_broken_rate(rate: float | None) -> Hypothesis:
    """The learning rate as the cause; ``rate``: what it was, None where it is not known."""
    code = "rates = [float(schedule(step)) for step in range(n_steps)]\nassert np.isfinite(rates).all()"
    fix = "Print the schedule for all steps, and correct the end where it divides by zero."
    if rate is not None and not math.isfinite(rate):
        why = f"The learning rate was {say_number(rate)}. Any update with it breaks the weights."
        return Hypothesis("The learning rate itself was not finite", 0.95, why, fix, code)
    why = "A schedule that divides by the step or the number of steps can give NaN or Inf at its first or last step. "
    why += "No learning rate is recorded." if rate is None else "The recorded rate was finite, so this is unlikely."
    return Hypothesis("The learning rate schedule gave a broken value", 0.25 if rate is None else 0.1, why, fix, code)


def _is_half(lead: NonFinite) -> bool:
    return lead.table is not None and "float16" in lead.table.dtypes


def _singular(entry: Entry, scene: Scene, is_nan: bool) -> Hypothesis:
    if scene.is_loss_finite:
        start = "The loss was still finite: the backward pass itself divided by zero or multiplied 0 by Inf"
        confidence = 0.85
    elif scene.is_loss_finite is None:
        start = (
            "The loss of this step is not recorded (`watch.log(loss=loss)` records it), so this may have begun in the "
            "forward pass"
        )
        confidence = 0.5
    else:
        start = "The backward pass may have divided by zero"
        confidence = 0.3
    if not is_nan:
        confidence -= 0.15
    if entry.is_forward:
        confidence = 0.25
    return Hypothesis(
        SINGULAR_CAUSE,
        confidence,
        f"{start}. Typical causes are `tf.norm` or `tf.sqrt` of exactly 0, a `tf.where` that hides a NaN from the "
        "loss but not from the gradient, and `tf.math.log` or a division near 0.",
        "Keep the input away from the point where the operation breaks; masking the result is too late.",
        SAFE_NORM_CODE,
    )


def _masked_too_late(entry: Entry) -> Hypothesis:
    return Hypothesis(
        "The data hold NaN or Inf that are masked too late",
        0.8 if entry.is_forward else 0.3,
        "The bias gradient is finite and the kernel gradient is not, so the layer's input held the NaN. The mask "
        "after the layer hides it from the loss, but 0 times NaN is NaN in the backward pass."
        if entry.is_forward
        else (
            "A NaN in the inputs can be masked out of the loss and still break the gradient, because 0 times NaN is "
            "NaN in the backward pass. One bad batch is enough."
        ),
        "Check the inputs for NaN, and fill or mask them before the first layer.",
        CHECK_INPUT_CODE,
    )


def _half_overflow(is_nan: bool) -> Hypothesis:
    return Hypothesis(
        "Overflow in float16",
        0.6 if is_nan else 0.85,
        "The variables are float16, whose largest number is 65,504. A larger gradient or intermediate result is "
        "infinite, and Inf - Inf is NaN.",
        "Use bfloat16, or compute in float16 with float32 variables and loss scaling; keep softmax, norms and losses "
        "in float32.",
        HALF_CODE,
    )


def _overflow() -> Hypothesis:
    return Hypothesis(
        OVERFLOW_CAUSE,
        0.5,
        "The gradient is infinite, not NaN: a product or an exponential overflowed. A division by a tiny number can "
        "do it too.",
        "Bound the inputs of exp, pow and divisions, and clip the gradient norm.",
        OVERFLOW_CODE,
    )


def _bad_data(lead: NonFinite) -> Hypothesis:
    when = (
        "It happened at the very first step, before training could do any harm."
        if lead.is_first_row
        else (
            f"It happened in one step, after finite losses up to {say_step(lead.finite_step)}: one bad record is "
            "enough."
        )
    )
    return Hypothesis(
        "NaN or Inf in the inputs or labels" + ("" if lead.is_first_row else " of this batch"),
        0.55 if lead.is_first_row else 0.4,
        f"{when} Every function of a NaN is NaN, and the loss is the first place where it shows.",
        "Check inputs and labels for NaN and Inf, and fill gaps before the first layer.",
        CHECK_INPUT_CODE,
    )


def _log_of_zero(lead: NonFinite, is_nan: bool) -> Hypothesis:
    return Hypothesis(
        LOG_CAUSE,
        (0.45 if is_nan else 0.6) + (0.0 if lead.is_first_row else 0.1),
        "A hand-written cross-entropy computes log(0) once a probability rounds to 0"
        + (", and 0 times the resulting -Inf is NaN. " if is_nan else ", which makes the loss infinite. ")
        + "It happens when the model becomes confident, often after many good steps.",
        "Pass the logits to the loss (`from_logits=True`); keep the arguments of logs and divisors away from 0.",
        LOGITS_CODE,
    )


def _broken_start() -> Hypothesis:
    return Hypothesis(
        "The weights were not finite when training began",
        0.2,
        "The loss was broken at the first step. A checkpoint of a broken run, or an initializer that divides by zero, "
        "can cause that.",
        "Check the weights right after building or loading the model.",
        RESTORE_CODE,
    )


def _beside_training(lead: NonFinite) -> Hypothesis:
    return Hypothesis(
        "The broken value does not reach the weights",
        0.8,
        f"No gradient has been NaN or infinite since {lead.name} was. So only the logged value is broken (a term "
        "without a gradient, a metric, a mean over an empty batch), not the training.",
        "Check how the logged value is computed; an empty batch or an empty mask divides by 0.",
        "mean = tf.math.divide_no_nan(tf.reduce_sum(values * mask), tf.reduce_sum(mask))",
    )


def from_rate(scene: Scene) -> list[Hypothesis]:
    """Adds the learning rate to the suspects, strongly only if its steps were large."""
    ratio = scene.update_ratio
    if ratio is None:
        return []
    return [advise_rate(scene, 0.7 if ratio > RATIO_LIMIT else 0.2 if ratio > HIGH_RATIO else 0.1)]

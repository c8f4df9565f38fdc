"""Causes and cures of layers that stand still, of clips that hide a slope, and of losses that never left guessing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gradwatch_server.health.book import GRADIENT_NORM, LEARNING_RATE, UPDATE_RATIO
from gradwatch_server.health.cut import may_be_clipped
from gradwatch_server.health.episode import Cut, Flat, Lagging, Plateau, Still
from gradwatch_server.health.finding import Change, Hypothesis
from gradwatch_server.health.learning_rate import HIGH_RATIO, RATIO_LIMIT, USUAL_RATIO
from gradwatch_server.health.operation_table import Operation
from gradwatch_server.health.series import Reading
from gradwatch_server.health.start import Start
from gradwatch_server.health.verdict.advice_growth import (
    LARGE_INPUT,
    SCALE_CODE,
    SCALED_INPUTS,
    SCALED_TARGETS,
    TARGET_CODE,
    advise_adaptive_rate,
    advise_far_inputs,
    advise_large_start,
    advise_rate,
    advise_small_inputs,
    advise_small_start,
    better_rate,
    say_large_columns,
    set_rate,
    start_as_usual,
)
from gradwatch_server.health.verdict.advice_misfit import (
    BETA_CODE,
    MASKED,
    PADDING_CODE,
    advise_labels,
    advise_strangers,
)
from gradwatch_server.health.verdict.advice_settings import LEFT, fitting_momentum
from gradwatch_server.health.verdict.advice_zero import CUT_CODE, OUTPUT_CODE, ZEROS_CODE, advise_died
from gradwatch_server.health.verdict.operation import say_line, say_noun, say_place, say_source
from gradwatch_server.health.verdict.scene import Scene, table_of
from gradwatch_server.health.verdict.spelling import list_names, say_count, say_number

__all__ = [
    "advise_alike",
    "advise_batch",
    "advise_column",
    "advise_columns",
    "advise_copy",
    "advise_crossing",
    "advise_cut",
    "advise_flat",
    "advise_gone_rate",
    "advise_last_batch",
    "advise_levelled",
    "advise_mean",
    "advise_mute",
    "advise_plateau",
    "advise_sequences",
    "advise_shared_target",
    "advise_slow",
    "advise_smoothed",
    "advise_standing",
    "advise_steps",
    "advise_still",
    "advise_target_spread",
    "advise_undone",
    "advise_untaught",
]

RECURRENT_CODE: Final = """\
# a cell of your own; Keras' layers have `recurrent_initializer="orthogonal"` by default
self.recurrent = self.add_weight(shape=(units, units), initializer="orthogonal", name="recurrent")"""
GAIN_MIN: Final = 3.0
"""Times as large a step of a recurrence makes its state: an orthogonal kernel has 1."""
LOGIT_CODE: Final = """\
# No activation on the output layer: a relu turns every negative logit into 0.
logits = tf.keras.layers.Dense(n_classes)(x)
model.compile(loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), optimizer=optimizer)"""

SATURATED_CODE: Final = """\
# An initializer that keeps pre-activations near 0, and normalisation that keeps them there:
x = tf.keras.layers.Dense(128, kernel_initializer="glorot_uniform")(x)
x = tf.keras.layers.BatchNormalization()(x)
x = tf.keras.layers.Activation("tanh")(x)"""

SLOPE_CODE: Final = """\
# Outside its limits a clip has slope 0: clipped values get no gradient and cannot recover. Instead, one of:
log_p = tf.nn.log_softmax(scores)                       # for log(softmax); for log(sigmoid): tf.math.log_sigmoid
loss = tf.keras.losses.CategoricalCrossentropy(from_logits=True)   # no softmax before it; Sparse... for integer labels
y = tf.math.log(x + 1e-3)                               # for any other logarithm: a slope of at most 1,000"""

SEQUENCE_CODE: Final = """\
layer = tf.keras.layers.GRU(units)                                # in place of SimpleRNN
layer = tf.keras.layers.Bidirectional(tf.keras.layers.GRU(units))  # reads from both ends"""
COLUMN_SCALE_CODE: Final = """\
x = (x - x_train.mean(axis=0)) / x_train.std(axis=0)                        # axis=0: each column separately"""

LOW_BIAS: Final = -1.0
"""With normalised inputs and weights that keep the variance a unit's sum is about 1 in size."""

BIAS_CODE: Final = """\
hidden = tf.keras.layers.Dense(64, activation="relu")                       # its bias starts at 0
prior = tf.keras.initializers.Constant(-4.6)                                # log(p / (1 - p)) for a class of 1 %
output = tf.keras.layers.Dense(1, bias_initializer=prior)                   # where it belongs: on the logits"""


def advise_flat(lead: Flat, scene: Scene) -> list[Hypothesis]:
    """Causes of units that are dead or saturated."""
    ratio, function = scene.update_ratio, lead.next_function
    if lead.is_dead and lead.is_of_zeros:
        return [_zeros(lead)]
    is_thrown = scene.is_thrown
    if (
        lead.is_dead
        and lead.is_first_row
        and lead.bias <= LOW_BIAS
        and not (is_thrown or lead.largest_input > LARGE_INPUT)
    ):
        return [_low_bias(lead)]
    found = []
    if is_thrown:
        found.append(advise_rate(scene, 0.85 if not lead.is_first_row else 0.5))
    elif not lead.is_first_row:
        unlikely = advise_rate(scene, 0.5 if ratio is None or ratio > HIGH_RATIO else 0.1)
        found += advise_adaptive_rate(scene) or [unlikely]
    if lead.largest_input > LARGE_INPUT:
        found.append(_scale(lead, say_large_columns(scene, lead.largest_input)))
    found += advise_small_inputs(lead.largest_input)
    if lead.is_dead and function in {"softmax", ""}:
        found.append(_logits(is_last=function == ""))
    found.append(_start(lead))
    found += [*advise_small_start(scene), *advise_large_start(scene)]
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


FLAT_CODE: Final = """\
# A softmax or sigmoid output of exactly 0 or 1 has no slope. Keep its input small, and pass the logits to the loss:
temperature = tf.maximum(temperature, 0.1)              # before the division
loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)"""


def advise_cut(lead: Cut, operation: Operation) -> list[Hypothesis]:
    """Causes of zeros behind a steep operation, the likeliest first."""
    is_clipped = may_be_clipped(operation)
    flat = Hypothesis(
        f"A softmax or sigmoid that is flat beside the {say_noun(operation)}{say_place(operation)}",
        0.6,
        "No clip is visible in these lines. If the inputs of a softmax or sigmoid are far apart, its outputs are "
        f"exactly 0 or 1 and have no slope. The {say_noun(operation)}, with a slope of up to "
        f"{say_number(lead.amplification)}, either drives them apart or suffers from it.",
        "Keep the input of the softmax or sigmoid small: set a lower bound for a temperature, scale the inputs.",
        FLAT_CODE,
    )
    found = [
        Hypothesis(
            f"A clip around the {say_noun(operation)} cuts the gradient off{say_place(operation)}",
            0.85 if is_clipped else 0.3,
            f"The {say_noun(operation)} multiplies gradients by up to {say_number(lead.amplification)}. A clip before "
            "or after it sets the gradients of elements beyond its limits to 0. The values stay finite, so it looks "
            "like a fix. But the model no longer learns from those elements, or from whole samples.",
            f"Replace the clip and the {say_noun(operation)} together with a function or loss made for it "
            f"(log_softmax, log_sigmoid, from_logits=True), or add a small number inside the {say_noun(operation)}.",
            SLOPE_CODE,
        ),
        *([_scale_for(lead)] if lead.largest_input > LARGE_INPUT else []),
        Hypothesis(
            "A mask, a tf.stop_gradient or a rounding on the way to the loss",
            0.25,
            "These give exact zeros too, and so do comparisons. Intended zeros are usually there from the first step "
            "on.",
            "Look for operations without a slope between this tensor and the loss.",
            CUT_CODE,
        ),
        *([] if is_clipped else [flat]),
    ]
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


PAIRS: Final = 2
"""Inputs of a step from which on it may be asked which belong together."""


def advise_batch(lead: Plateau) -> list[Hypothesis]:
    """Causes of a loss that stays at what guessing among a batch's samples gives."""
    n = f"{lead.n_classes:,}"
    found = [
        *_twice(lead),
        Hypothesis(
            "A broadcast made the batch an axis of the scores",
            0.7 if lead.n_inputs < PAIRS else 0.5,
            f"Scores of shape [{n}] and [{n}, 1], or [{n}, 1, k] and [{n}, k], broadcast to {n} by {n} without an "
            "error. The softmax then runs over the batch instead of the classes, and the labels index samples.",
            "Print the shapes on the way to the loss, and set `axis` and `keepdims` where a reduction drops an axis.",
            SHAPE_CODE,
        ),
        Hypothesis(
            "A contrastive loss whose embeddings are all alike",
            0.4,
            f"If each sample must be found among the {n} of its batch, equal embeddings give this loss. The model has "
            "collapsed, or the temperature is far too high.",
            "Check the spread of the embeddings over a batch. Lower the temperature. Normalise before the product.",
            "print(tf.math.reduce_std(embeddings, axis=0))           # near 0: collapsed",
        ),
        *([advise_strangers(lead.n_classes)] if lead.n_inputs >= PAIRS else []),
    ]
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


TWICE_CODE: Final = """\
logits = tf.matmul(a, b, transpose_b=True)      # times your scale factor, if any; no tf.nn.softmax here
loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)"""


def _twice(lead: Plateau) -> list[Hypothesis]:
    if lead.softmax is None:
        return []
    return [
        Hypothesis(
            f"A softmax taken twice{say_place(lead.softmax)}",
            0.85,
            "The scores pass through a softmax there, and no logarithm of it is taken. A loss that expects logits "
            "applies a second softmax. Probabilities lie between 0 and 1, so the second softmax is nearly uniform. "
            "Its loss stays near that of guessing, however sure the first one is.",
            "Pass the scores themselves to the loss. Use the softmax only to read predictions.",
            TWICE_CODE,
        )
    ]


SHAPE_CODE: Final = """\
tf.debugging.assert_shapes([(logits, ("batch", n_classes)), (labels, ("batch",))])
distance = tf.reduce_sum(tf.square(a - b), axis=-1, keepdims=True)      # keeps [batch, 1] from becoming [batch]"""


ERROR_CODE: Final = """\
# before the subtraction, one of these two; the loss stays as it is:
targets = targets[:, None]                               # [n] -> [n, 1], like the output of a layer
predictions = tf.squeeze(predictions, -1)                # or [n, 1] -> [n]
tf.debugging.assert_equal(tf.shape(predictions), tf.shape(targets))"""


SQUARE_CODE: Final = """\
scores = tf.squeeze(scores, -1)                          # [n, 1] -> [n]: then all pairs are [n, n]
tf.debugging.assert_rank(scores, 1)"""
WIDE_CODE: Final = """\
# before the subtraction, one of these two; the loss stays as it is:
predictions = tf.squeeze(predictions, 1)                 # [n, 1, k] -> [n, k]
targets = targets[:, None]                               # or [n, k] -> [n, 1, k]
tf.debugging.assert_equal(tf.shape(predictions), tf.shape(targets))"""


def advise_mean(lead: Plateau, scene: Scene) -> list[Hypothesis]:
    """Causes of a squared error that stays at the variance of the targets."""
    if lead.is_of_input:
        return sorted(
            [_penalty(), *advise_columns(scene), *advise_steps(scene)], key=lambda hypothesis: -hypothesis.confidence
        )
    is_of_ranks = lead.is_other_rank and not scene.facts.has_own_targets
    differ = "Here the targets and outputs have different numbers of dimensions. " if is_of_ranks else ""
    unseen = 0.05 if scene.facts.has_operations else 0.2  # one in the step's graph would be known
    found = [
        *advise_columns(scene),
        *advise_target_spread(lead.guess),
        *advise_sequences(lead.n_gates, scene),
        *_advise_pooling(scene),
        *([] if scene.facts.has_own_targets else [_broadcast(0.75 if is_of_ranks else unseen, differ)]),
        advise_labels("the mean of its targets", 0.2 if is_of_ranks else 0.45),
        *advise_steps(scene),
    ]
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


def _advise_pooling(scene: Scene) -> list[Hypothesis]:
    """A pooling over all places, where the model has one."""
    layer = scene.start.pooling
    if layer is None:
        return []
    return [
        Hypothesis(
            f"{layer} takes the mean, or the largest, over all places: where something stands is lost",
            0.48,
            "Such a pooling keeps next to nothing of a place or a time. A position, an arrival time or an order shows "
            "in nothing else.",
            "If the target is where or when something is, keep the positions: use Flatten, or a soft argmax over them.",
            PLACES_CODE,
            (Change("layer", layer, kind="Flatten"),),
        )
    ]


PLACES_CODE: Final = """\
x = tf.keras.layers.Flatten()(x)                         # instead of GlobalAveragePooling or GlobalMaxPooling
# or the position of the maximum, as a mean over places, [batch, places, 1] -> [batch, 1]:
place = tf.reduce_sum(tf.nn.softmax(x, axis=1) * tf.range(tf.shape(x)[1], dtype=x.dtype)[:, None], axis=1)"""
LARGE_SPREAD: Final = 30.0
"""Of targets: their standard deviation. A last layer of some hundred units gives that within a few thousand steps."""


def advise_zero_output(middle: float, spread: float, scene: Scene) -> list[Hypothesis]:
    """Causes of a squared error that stays at the mean square of the targets."""
    rate = scene.learning_rate
    steps = "" if rate is None else f" With steps of {say_number(rate)} it takes long to reach {say_number(middle)}."
    return [
        Hypothesis(
            "The targets are not scaled",
            0.9,
            f"They lie {say_number(middle)} away from 0, with a standard deviation of {say_number(spread)}. A model's "
            "first outputs are about 0. An optimizer such as Adam moves each weight by at most its learning rate per "
            f"step, however large the error is.{steps}",
            "Subtract the mean of the targets and divide by their standard deviation. Undo both in the predictions.",
            TARGET_CODE,
            SCALED_TARGETS,
        )
    ]


def advise_target_spread(variance: float) -> list[Hypothesis]:
    """Targets that are not scaled, where their spread is known and far from usual."""
    spread = math.sqrt(max(variance, 0.0))
    if not spread > LARGE_SPREAD:
        return []
    return [
        Hypothesis(
            "The targets are not scaled",
            0.8,
            f"Their standard deviation is {say_number(spread)}, but a model's first outputs are about 1 in size. An "
            "optimizer such as Adam moves each weight by at most its learning rate per step, however large the error "
            "is. With SGD the steps grow with the error, and are too large or clipped.",
            "Subtract the mean of the targets and divide by their standard deviation. Undo both in the predictions.",
            TARGET_CODE,
            SCALED_TARGETS,
        )
    ]


def _penalty() -> Hypothesis:
    return Hypothesis(
        "A penalty outweighs the reconstruction error",
        0.75,
        "The output hardly varies from sample to sample: the part after the bottleneck gets no information about the "
        "input. In a variational autoencoder this is posterior collapse onto the prior. If the error is a mean over "
        "the elements of a sample and the penalty a sum over the latent dimensions, the error is that many times too "
        "light.",
        "Reduce the error and the penalty in the same way (sum both over a sample), and raise the penalty slowly.",
        BETA_CODE,
    )


def advise_shared_target() -> list[Hypothesis]:
    """Causes of a squared error with one target for all samples of a batch."""
    return [
        _broadcast(0.9),
        Hypothesis(
            "The loss is given one target for the whole batch",
            0.1,
            "A label for a whole group, or a mean of the targets, gives the same gradient. It may be intended.",
            "Check the targets that the loss gets.",
            "",
        ),
    ]


def advise_crossing(broadcast: Mapping[str, Any]) -> Hypothesis:
    """A column that meets a vector in the user's own code, as the cause where nothing is learned."""
    source = broadcast["source"]
    column, vector, table = say_crossing(broadcast)
    if broadcast.get("square"):
        return Hypothesis(
            f"A broadcast of {column} with {vector} makes {table}{say_line(source)}",
            0.9,
            f"`{source['code']}` combines two tables of all pairs, one of them with an axis of length 1 more. Axes are "
            "matched from the last one on, so the number of one pair meets those of other pairs, without an error. "
            "The axis comes from scores of shape [n, 1], as a layer gives them.",
            "Print both shapes there, and squeeze the scores to [n] before the pairs are made.",
            f"# {say_source(source)}: {source['code']}\n" + SQUARE_CODE,
        )
    return Hypothesis(
        f"A broadcast of {column} with {vector} makes {table}{say_line(source)}",
        0.9,
        f"`{source['code']}` combines a column and a vector of the same length. Each element of one meets every "
        "element of the other, without an error. So each sample is mixed with all others of its batch, and the mean "
        "over them says next to nothing.",
        "Print both shapes there, and make them equal: squeeze the column, or add an axis to the vector.",
        f"# {say_source(source)}: {source['code']}\n" + (WIDE_CODE if broadcast.get("axes") else ERROR_CODE),
    )


def say_crossing(broadcast: Mapping[str, Any]) -> tuple[str, str, str]:
    """The shapes of a column, of the vector that it meets, and of what both make."""
    if broadcast.get("square"):
        return "[n, n, 1]", "[n, n]", "[n, n, n]"
    axes = "".join(f", {n}" for n in broadcast.get("axes", ()))
    return f"[n, 1{axes}]", f"[n{axes}]", f"[n, n{axes}]"


def _broadcast(confidence: float, seen: str = "") -> Hypothesis:
    return Hypothesis(
        "A broadcast compares each prediction with every target",
        confidence,
        seen + "Predictions of shape [n, 1] minus targets of shape [n] give n by n differences, without an error. Each "
        "output is pulled to all targets of its batch, so the best it can do is to give their mean.",
        "Print both shapes where the loss is computed, and make them equal before the subtraction.",
        ERROR_CODE,
    )


def advise_plateau(lead: Plateau, scene: Scene) -> list[Hypothesis]:
    """Causes of a loss that stays at what guessing gives."""
    found = [
        *_twice(lead),
        *advise_columns(scene),
        *advise_sequences(lead.n_gates, scene),
        advise_labels("the loss of guessing"),
        *_advise_fit(scene),
        *advise_steps(scene),
    ]
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


def _advise_fit(scene: Scene) -> list[Hypothesis]:
    """Outputs that do not fit the loss, where its gradient is not that of a cross-entropy of them."""
    if scene.facts.is_of_entropies:
        return []
    return [
        Hypothesis(
            "The outputs and the loss do not fit together",
            0.4,
            "The gradient leads nowhere if logits go to a loss that expects probabilities, if a softmax is applied "
            "twice, or if sparse labels go to a loss that expects one-hot labels.",
            "Use either a softmax and `from_logits=False`, or no activation and `from_logits=True`.",
            LOGIT_CODE,
        )
    ]


def advise_columns(scene: Scene) -> list[Hypothesis]:
    """The columns of an input that are next to constant beside another one, or inputs that are far from usual."""
    known = (
        columns.find_narrow() for (_, name), columns in scene.facts.columns.items() if not name.startswith("target")
    )
    found = [advise_column(narrow, widest) for narrow, widest in known if narrow][:1]
    return found or advise_far_inputs(scene, 0.8)


def advise_column(narrow: Sequence[int], widest: int) -> Hypothesis:
    """The columns of an input that are next to constant beside the widest."""
    one, n = len(narrow) == 1, f"{len(narrow):,}"
    return Hypothesis(
        f"The inputs are not scaled: column {widest} is over 1,000 times as wide as "
        f"{'another' if one else f'{n} others'}",
        0.7,
        f"Column{'' if one else 's'} {list_names([str(place) for place in narrow])} "
        f"{'takes' if one else 'take'} less than a thousandth of the range of column {widest}. Next to "
        "it, so small an input is lost in the first layer. This happens with columns in their own units, "
        "or if a whole table was scaled by one mean and one standard deviation.",
        "Scale every column by its own mean and standard deviation, taken from the training data.",
        COLUMN_SCALE_CODE,
        SCALED_INPUTS,
    )


def _advise_recurrent(scene: Scene) -> list[Hypothesis]:
    """A recurrent kernel that began with weights far too large."""
    name, gain = scene.start.recurrent or ("", 0.0)
    if not gain >= GAIN_MIN:
        return []
    return [
        Hypothesis(
            f"{name} began with weights about {say_number(gain)} times too large",
            0.7,
            f"A step of the sequence multiplies the state by about {say_number(gain)}: the root mean square of these "
            "weights times the root of the units. A bounded function then saturates at each step, what the state held "
            "is lost, and no gradient comes back through it. An orthogonal kernel keeps a state's size.",
            "Draw it with the orthogonal initializer, or divide what is drawn by the root of the number of units.",
            RECURRENT_CODE,
        )
    ]


def advise_sequences(n_gates: int, scene: Scene) -> list[Hypothesis]:
    """A recurrence over too many steps, where the model has one of so many gates."""
    if not n_gates:
        return []
    # A recurrence without gates forgets within some ten steps.
    return [
        *_advise_recurrent(scene),
        Hypothesis(
            "Information early in a sequence does not reach its end: a recurrence over many steps",
            0.5 if n_gates == 1 else 0.3,
            "A recurrent layer passes its state, and the gradient, from step to step of the sequence. Each step loses "
            "a part, most of all with a sigmoid. What the loss asks for may lie too far back.",
            "Use GRU or LSTM, shorter sequences or attention. Or let it read the sequence backwards, if the important "
            "part comes first.",
            SEQUENCE_CODE,
            (Change("layer", of="SimpleRNN", kind="GRU"),),
        ),
    ]


def advise_steps(scene: Scene) -> list[Hypothesis]:
    """Steps that are too large, or too small, as far as their size is known."""
    ratio, known = scene.update_ratio, scene.testimony.known.read(UPDATE_RATIO)
    if ratio is None:  # of what began with the first step the steps are known only now
        ratio = known.highest
    if ratio is None:
        return []
    first = known.initial or 0.0
    if first > FIRST_RATIO and ratio <= HIGH_RATIO:  # where they went first decides the rest
        return [advise_rate(scene, 0.5 if first > HIGH_RATIO else 0.4, first=first)]
    if ratio >= SLOW_RATIO:
        return [advise_rate(scene, 0.6 if ratio > RATIO_LIMIT else 0.3)] if ratio > HIGH_RATIO else []
    return [
        Hypothesis(
            "The learning rate is too small, or the gradient does not arrive",
            0.6 if ratio < SMALL_RATIO else 0.4,
            f"Updates are {say_number(ratio)} of the weights they change; 0.001 is usual. At that pace the weights "
            "have hardly moved.",
            "Raise the learning rate, and check the gradient of the first layers.",
            "optimizer = tf.keras.optimizers.Adam(1e-3)",
            _raise_rate(scene, ratio),
        )
    ]


def _raise_rate(scene: Scene, ratio: float) -> tuple[Change, ...]:
    rate = scene.learning_rate
    return set_rate(scene, better_rate(rate, ratio) if rate is not None and ratio > 0 else None)


UNSCALED_NORM: Final = 1e-3
"""Less is rare for the gradient of all weights together, and was more before the loss scale was taken out of it."""
SMALL_NORM: Final = 1e-5
"""A global gradient norm below which the loss hardly depends on the weights. Above it the rate is to blame."""
GONE_SHARE: Final = 1e-3
"""Of the first rate: schedules are meant to end at a hundredth or so, and then little is left to learn."""
SAME_NORM: Final = 1e-5
"""How near two medians of 20 global gradient norms are that a clip has set."""
SAME_LOSS: Final = 1e-3
"""How near two medians of 20 losses are where every step may see the same data: then gradients are the same as well."""


HALF_TYPES: Final = {"bfloat16": 256, "float16": 2048}
"""Types in which a weight is half as long, and the part of itself that it can just change by: one in so many."""

MIXED_CODE: Final = """\
tf.keras.mixed_precision.set_global_policy("mixed_{kind}")       # computes in {kind}, keeps the weights in float32"""


def advise_still(lead: Still, scene: Scene) -> list[Hypothesis]:
    """Causes of weights that stand still: no gradient to speak of, no rate, or a type that is too short."""
    rate = scene.learning_rate
    is_flat = lead.gradient_norm < SMALL_NORM
    if rate == 0:
        return [_advise_zero_rate(lead)]
    began = scene.testimony.known.read(LEARNING_RATE).initial
    if rate is not None and began is not None and rate < GONE_SHARE * began:
        return [advise_gone_rate(scene, lead.first_step, lead.gradient_norm, began, rate)]
    output = Hypothesis(
        "The loss hardly depends on the weights: the last activation is flat there",
        0.8 if is_flat else 0.1,
        f"The global gradient norm is {say_number(lead.gradient_norm)}, and the loss is not at its minimum. A softmax "
        "over a single output is always 1. A sigmoid, tanh or softmax is nearly flat far from 0.",
        "Match the last layer to the loss. Scale the inputs so that outputs stay near 0.",
        OUTPUT_CODE,
    )
    said = "" if rate is None else f" of {say_number(rate)}"
    kind = table_of(lead).weight_type
    if kind in HALF_TYPES:
        short = Hypothesis(
            f"The weights are kept in {kind}, which rounds the updates away",
            0.9,
            f"A {kind} number changes by one part in {HALF_TYPES[kind]:,} of itself or not at all. An update is "
            "usually a thousandth of its weight or less. The optimizer's own variables (Adam's averages) are rounded "
            "the same way.",
            f"Compute in {kind} and keep the weights in float32: use the policy `mixed_{kind}` instead of `{kind}`.",
            MIXED_CODE.format(kind=kind),
        )
        return [short, output] if is_flat else [short]
    small = Hypothesis(
        "The learning rate is too small",
        0.3 if is_flat else 0.85,
        f"With a learning rate{said} and a gradient norm of {say_number(lead.gradient_norm)}, an update is at most "
        f"{say_number(lead.ratio)} of the weights. Rounding to float32 leaves nothing of it.",
        "Raise the learning rate until updates are about 0.001 of the weights.",
        "optimizer = tf.keras.optimizers.Adam(1e-3)",
        () if is_flat else _raise_rate(scene, lead.ratio),
    )
    return sorted([output, small], key=lambda hypothesis: -hypothesis.confidence)


TRAINING_CODE: Final = """\
with tf.GradientTape() as tape:
    prediction = model(features, training=True)                # not model(features): that runs as in evaluation

# where model.fit trains a class of your own:
def call(self, inputs, training=False):                        # not call(self, inputs): fit passes nothing to that
    return self.head(self.norm(inputs, training=training))"""


SMOOTHED_CODE: Final = """\
h = conv(h) + h                                         # a shortcut around each layer keeps what tells samples apart
h = conv(h) + 0.1 * first                               # or some of the first layer's output in each (GCNII)
# and fewer layers: two to four hops of a graph hold what most tasks need"""


def advise_smoothed() -> list[Hypothesis]:
    """Depth that averages samples to one."""
    return [
        Hypothesis(
            "Too many layers without a shortcut: each averages the samples a little more (over-smoothing)",
            0.85,
            "A layer that averages over neighbours, as a graph convolution does, moves every sample towards the "
            "others, and so does a plain stack of random layers. Training has to undo that before it can learn "
            "anything, by a gradient that has faded on the way.",
            "Take fewer layers, or lead a shortcut around each.",
            SMOOTHED_CODE,
        )
    ]


def advise_standing() -> list[Hypothesis]:
    """Causes of running statistics that no batch has gone into."""
    return [
        Hypothesis(
            "The model is called as in evaluation: without `training=True`",
            0.9,
            "A custom loop must pass it itself. `model.fit` passes it for you, but not to a model of your own class "
            "whose `call` has no argument `training`. Without it batch normalisation divides by a running variance "
            "that is still 1, and dropout drops nothing.",
            "Call the model with `training=True` in the training step (evaluation stays as it is). Give the `call` of "
            "your own models and layers an argument `training`, and pass it on.",
            TRAINING_CODE,
            (Change("call", given=(("training", "True"),)),),
        )
    ]


LAGGING_CODE: Final = """\
layers.BatchNormalization(momentum={momentum:g})              # averages over the last {n_batches:,} batches or so"""
MOMENTA: Final = (0.99, 0.98, 0.95, 0.9, 0.8)


def advise_lagging(lead: Lagging) -> list[Hypothesis]:
    """Causes of running statistics that are not those of the batches."""
    lower = [one for one in MOMENTA if one < lead.momentum] or MOMENTA[-1:]
    momentum = fitting_momentum(lower, lead.n_rows)
    n_needed = math.ceil(math.log(LEFT) / math.log(lead.momentum))
    own = ", as Keras has it" if momentum == MOMENTA[0] else ""
    return [
        Hypothesis(
            "The momentum of the batch normalisation is too high for so few steps",
            0.9,
            "In training a batch normalisation uses the mean and variance of the batch, in `evaluate`, `predict` and "
            "validation a running average of them. That average starts at mean 0 and variance 1 and is still far "
            "from the true values. The training loss does not show it, the validation loss does.",
            f"Lower `momentum` to {momentum:g}{own}. With {lead.momentum:g} it would take "
            f"{n_needed:,} steps until 1 % is left of the initial values.",
            LAGGING_CODE.format(momentum=momentum, n_batches=round(1 / (1 - momentum))),
            tuple(Change("layer", layer, given=(("momentum", f"{momentum:g}"),)) for layer in lead.layers),
        )
    ]


LAST_BATCH_CODE: Final = """\
x = tf.keras.layers.BatchNormalization(momentum=0.9)(x)      # PyTorch's momentum=0.1; Keras' own is 0.99"""


def advise_last_batch(lead: Lagging) -> list[Hypothesis]:
    """Causes of running statistics that are those of the last batch."""
    return [
        Hypothesis(
            "The momentum of the batch normalisation is too low: it counts the other way round in PyTorch",
            0.9,
            "In Keras `momentum` is what is kept of the running average, in PyTorch what is taken from the new batch. "
            f"With {lead.momentum:g}, `evaluate`, `predict` and validation normalise by the last batch of training, "
            "which may hold a few samples. The training loss does not show it: in training each batch uses its own.",
            f"Set `momentum` to {1 - lead.momentum:g}, or leave it at the default, 0.99.",
            LAST_BATCH_CODE,
            tuple(Change("layer", layer, given=(("momentum", f"{1 - lead.momentum:g}"),)) for layer in lead.layers),
        )
    ]


UNDONE_CODE: Final = """\
# Which line writes into the trained model? Look for set_weights, load_weights and assign.
# Target network: copy from the trained model (here model) into the other, not the other way round
target_model.set_weights(model.get_weights())
# Average for evaluation: write it into a second model, not into the trained one
average_model.set_weights(average)"""
RESTORED_CODE: Final = """\
trained = model.get_weights()
model.set_weights(average)                             # as now
...                                                    # evaluate or save here
model.set_weights(trained)                             # before training goes on"""


def advise_undone(often: str, place: str) -> list[Hypothesis]:
    """Causes of weights that are put back so ``often``, at a ``place`` in the script, or somewhere for ""."""
    if place:
        return [
            Hypothesis(
                f"This line leaves other weights in the model that is trained{place}",
                0.92,
                f"The optimizer's updates are applied, and {often} that line replaces the weights that they have led "
                "to: by an average, by an older copy, or by those of another network. Training goes on from there.",
                "Write into another model. Or put the trained weights back before training goes on.",
                RESTORED_CODE,
            )
        ]
    return [
        Hypothesis(
            "Something else writes older weights into the model while it is trained",
            0.9,
            f"The optimizer's updates are applied, and {often} they are undone. Possible causes: a copy in the wrong "
            "direction (target network into the trained one), an average that is written into the model and left "
            "there, or a checkpoint that is loaded in the loop.",
            f"Find the code in your loop that writes weights {often}, and let it write into another model.",
            UNDONE_CODE,
        )
    ]


UNTAUGHT_CODE: Final = """\
# clone_model creates new weights, and so does building the same layers again: copy them before freezing
encoder = tf.keras.models.clone_model(pretrained)
encoder.set_weights(pretrained.get_weights())                  # or encoder.load_weights(path), once it is built
encoder.trainable = False"""


JUDGE_CODE: Final = """\
# In each round, before each model's step: a model is trained only if it is not frozen when its step runs
discriminator.trainable = True
discriminator.train_on_batch(images, is_real)
discriminator.trainable = False
gan.train_on_batch(noise, np.ones([len(noise), 1]))"""


def advise_untaught(*, is_left: bool, is_judge: bool) -> list[Hypothesis]:
    """Causes of layers that hold what they were made with: frozen, or given to no optimizer (``is_left``).

    Where they judge what the others give (``is_judge``), they were to be taught in turn with these.
    """
    meant = Hypothesis(
        "Random features, on purpose",
        0.05 if is_left else 0.15,
        "Some methods keep a random layer on purpose. Then this is correct.",
        "Nothing, if it is intended; `trainable = False` says so." if is_left else "Nothing, if it is intended.",
        "",
    )
    if is_left:
        return [meant]
    if is_judge:
        return [
            Hypothesis(
                "A discriminator that was frozen for the generator's step is never thawed for its own",
                0.8,
                "`trainable = False` applies to a model wherever it is used, and for good: Keras 3 does not remember "
                "its value at `compile`. Its own step then trains nothing, and the falling loss is the opinion of a "
                "model that was never trained.",
                "Unfreeze it before its own step and freeze it again after it. Or give each model its own optimizer "
                "and its own variables in one loop. Check whether a bias of it moves.",
                JUDGE_CODE,
            ),
            meant,
        ]
    return [
        Hypothesis(
            "The pretrained weights never came into the layers that are frozen",
            0.85,
            "`clone_model` and rebuilding a model create new, random weights. `load_weights` before the model is "
            "built, or with names that do not match, leaves them random. Once frozen, they are never trained.",
            "Copy or load the weights after the model is built, and check a bias before you freeze it.",
            UNTAUGHT_CODE,
        ),
        meant,
    ]


COPY_CODE: Final = """\
# Instead of the line that makes a new copy (target_model = ...), as often as that line runs now:
target_model.set_weights(model.get_weights())
# or mix in a little at each update: for copy, one in zip(target_model.variables, model.variables):
#     copy.assign(0.995 * copy + 0.005 * one)"""


def advise_clone(call: Mapping[str, Any]) -> Hypothesis:
    """The cause of layers that are as they were made, where a model is cloned and the clone is given no weights."""
    return Hypothesis(
        f"`clone_model` copies the layers, not their weights{say_line(call)}",
        0.92,
        "The clone's weights are random, whatever the model that it was made of had learned, and nothing in the script "
        "gives it others by its name. Frozen, it stays so. What is trained behind it learns from random features.",
        "Copy the weights, once the clone is made.",
        UNTAUGHT_CODE,
    )


KEPT_CODE: Final = """\
for copy, one in zip(teacher.variables, model.variables):       # not only trainable_variables
    copy.assign(decay * copy + (1.0 - decay) * one if one.trainable else one)"""


def advise_kept() -> list[Hypothesis]:
    """Causes of a copy whose layers' running means stay as they were made."""
    return [
        Hypothesis(
            "Only the trainable weights are copied, and not the running means and variances of its layers",
            0.92,
            "A BatchNormalization has four variables, of which two are not trainable. In inference it normalises by "
            "these: with a mean of 0 and a variance of 1 the copy gives something else than the model whose weights it "
            "has.",
            "Copy the other variables too, as they are.",
            KEPT_CODE,
        )
    ]


def advise_copy() -> list[Hypothesis]:
    """Causes of a copy of what is trained that is never brought up to date."""
    return [
        Hypothesis(
            "The target network is never synchronised with the one that is trained",
            0.88,
            "What the loss takes from it, such as the value of the next state, comes from an untrained network. "
            "Rewards are learned, and nothing beyond the next step. One cause is `target = ...` in the loop: a "
            "compiled step goes on with the object that it was traced with, and never sees the new one. Another is a "
            "copy in a branch that is never reached.",
            "Write the weights into the object that the step reads, or mix in a little of them at each update.",
            COPY_CODE,
        ),
        Hypothesis(
            "A random network, on purpose",
            0.1,
            "Code that compares a model with its own start keeps such a copy on purpose.",
            "Nothing, if it is intended.",
            "",
        ),
    ]


def advise_slow(lead: Still, scene: Scene) -> list[Hypothesis]:
    """Causes of weights that hardly move."""
    norm, loss = scene.testimony.known.read(GRADIENT_NORM), scene.testimony.known.read_loss()
    if _is_same(norm, SAME_NORM) and not _is_same(loss, SAME_LOSS):
        return [_advise_one_norm(say_number(lead.gradient_norm))]
    rate = scene.learning_rate
    said = "" if rate is None else f" of {say_number(rate)}"
    better = None if rate is None else better_rate(rate, lead.ratio)
    n_steps = float(f"{0.1 / lead.ratio:.0e}")
    found = [
        Hypothesis(
            "The learning rate is too small",
            0.85,
            f"With a learning rate{said} it takes at least {n_steps:,.0f} steps to change the weights by a tenth. "
            f"Updates are usually about {USUAL_RATIO:g} of the weights, {USUAL_RATIO / lead.ratio:,.0f} times as "
            "large as here.",
            "Raise the learning rate"
            + (", a factor of 10 at a time." if better is None else f", to about {say_number(better)} at first."),
            f"optimizer.learning_rate = {1e-3 if better is None else better:g}",
            set_rate(scene, better),
        )
    ]
    scale = scene.testimony.known.read("loss_scale").recent or 1.0
    is_unknown = scene.testimony.known.read("loss").initial is None  # the hook leaves out a loss that is no scaled one
    if is_unknown and scale > 1 and lead.gradient_norm < UNSCALED_NORM <= scale * lead.gradient_norm:
        return [_advise_unscaled(lead, scale)]  # a higher rate would hide it
    if lead.gradient_norm < SMALL_NORM:
        found.append(
            Hypothesis(
                "The loss is scaled down",
                0.3,
                f"The global gradient norm is {say_number(lead.gradient_norm)}. A loss that is multiplied by a small "
                "factor has small gradients. An optimizer whose steps follow them, such as SGD, then takes small "
                "steps.",
                "Remove the factor from the loss (a loss weight, sample weights), or use an optimizer whose steps do "
                "not depend on the gradient's size, such as Adam.",
                "optimizer = tf.keras.optimizers.Adam(1e-3)",
            )
        )
    return found


def _advise_unscaled(lead: Still, scale: float) -> Hypothesis:
    return Hypothesis(
        "The loss is not scaled, and the optimizer divides by the scale all the same",
        0.9,
        f"The optimizer divides the gradients by its loss scale, {scale:,.0f}, which leaves a norm of "
        f"{say_number(lead.gradient_norm)}. Before that it was {say_number(scale * lead.gradient_norm)}, as is usual "
        "for a loss that was never multiplied. Keras' own `train_step` scales the loss; a custom one must do so too, "
        "also in `fit`. (With the policy mixed_float16, `compile` wraps any optimizer in one that scales the loss.)",
        "Take the gradients of `optimizer.scale_loss(loss)`.",
        UNSCALED_CODE,
    )


UNSCALED_CODE: Final = """\
with tf.GradientTape() as tape:
    loss = loss_fn(targets, model(inputs, training=True))
    scaled = optimizer.scale_loss(loss)                  # in a train_step: self.optimizer.scale_loss(loss)
gradients = tape.gradient(scaled, model.trainable_variables)
optimizer.apply_gradients(zip(gradients, model.trainable_variables))"""


def _advise_one_norm(norm: str) -> Hypothesis:
    return Hypothesis(
        "Every gradient is clipped to one and the same small norm before it is applied",
        0.95,
        f"The global gradient norm that the optimizer gets was {norm} at every step, to five digits. No two batches "
        "give that by themselves. A clip at so small a norm keeps the direction but loses the length. An optimizer "
        "whose steps follow the gradient's size then hardly moves.",
        f"Clip at a norm that healthy steps have, not at {norm}: often 1 to 10, or more if the loss is a sum. Leave "
        "the learning rate as it is.",
        TAPE_CLIP_CODE,
    )


def _is_same(reading: Reading, within: float) -> bool:
    """Whether a scalar is what it was at first, to a share of itself; not where it is not known."""
    first, last = reading.initial, reading.recent
    return first is not None and last is not None and abs(last - first) <= within * abs(first)


TAPE_CLIP_CODE: Final = """\
gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
tf.print(norm)                                           # the norm before the clip: most should be below the limit"""


AXIS_CODE: Final = """\
# Instead of the layer, for inputs (batch, steps, 1): the default normalises the last axis, which has one element
normalised = tf.keras.layers.LayerNormalization(axis=1)(inputs)           # over the steps of each sample"""

MUTE_CODE: Final = """\
# Where do the samples of a batch become the same? How far they differ after each layer:
inside = tf.keras.Model(model.inputs, [layer.output for layer in model.layers])
for layer, output in zip(model.layers, inside(x[:32])):
    print(layer.name, float(tf.reduce_max(tf.math.reduce_std(tf.cast(output, tf.float32), axis=0))))"""


def advise_mute(start: Start) -> list[Hypothesis]:
    """A layer that let nothing of the sample through at the start, as the cause where nothing is learned."""
    mute = start.mute
    if mute is None:
        return []
    layer = mute.layer
    if mute.is_state:
        return [
            Hypothesis(
                f"The end of the sequence was the same for every sample in {layer}: padding stands last, or it is "
                "too long",
                0.9,
                f"The input of {layer} differs from sample to sample, but its output did not when training began. The "
                "last state of a recurrent layer depends above all on the last entries. If those are padding, or "
                "alike for every sample for another reason, nothing of the beginning is left.",
                "Make the layer skip the padding (a mask), or pad at the front.",
                PADDING_CODE,
                MASKED,
            )
        ]
    what = "0 for every sample" if mute.is_zero else "the same for every sample"
    why = f"The layers after {layer} see the same for every sample, so the model can only learn one constant answer. "
    if mute.is_zero and mute.width == 1:
        why += "A normalisation over an axis of length 1 does that: a single number minus its own mean is 0."
        fix = f"If the data are already scaled, remove {layer}. Otherwise normalise over an axis of several entries."
        code = AXIS_CODE
    else:
        why += "An embedding table filled from trained vectors stays 0 where no word matched (upper or lower case, "
        why += "another spelling). A mask that lets nothing through, or an integer division, does that too."
        fix = f"Print the input and the output of {layer} for a few samples."
        code = MUTE_CODE
    return [Hypothesis(f"{layer} gave {what} when training began", 0.9, why, fix, code)]


LEVELLED_CODE: Final = """\
x = tf.keras.layers.GroupNormalization(groups=-1)(x)     # normalise first,
x = tf.keras.layers.Activation("relu")(x)                # then the nonlinearity: its mean differs between samples
x = tf.keras.layers.GlobalAveragePooling1D()(x)"""


def advise_levelled(start: Start) -> list[Hypothesis]:
    """A layer that gave rounding errors alone at the start, as the cause where nothing is learned."""
    if start.levelled is None:
        return []
    layer, previous = start.levelled
    return [
        Hypothesis(
            f"{layer} takes the mean of what {previous} has just made to have a mean of 0",
            0.9,
            f"When training began, {layer} gave nothing but rounding errors, although the output of {previous} was of "
            "the usual size: the numbers cancel to the last digit. A normalisation makes the mean of each sample's "
            "numbers 0. A pooling or a sum over the same axes then gives that 0 for every sample.",
            f"Change the order: normalise first, then the activation, then {layer}.",
            LEVELLED_CODE,
        )
    ]


LONGER_SCHEDULE: Final = (
    Change(
        "schedule",
        instead=(("decay_steps", "{} * steps_per_epoch"),),
        remark="if it was counted in epochs; steps_per_epoch: batches in an epoch, ceil(samples / batch_size)",
    ),
)
SCHEDULE_CODE: Final = """\
# A schedule counts steps, one per batch, not epochs. After decay_steps it stays at its end (alpha, 0 by default)
n_steps = epochs * len(batches)
schedule = tf.keras.optimizers.schedules.CosineDecay(1e-3, decay_steps=n_steps, alpha=0.01)
optimizer = tf.keras.optimizers.Adam(schedule)"""


def _advise_zero_rate(lead: Still) -> Hypothesis:
    after = f"It fell to 0 after {say_count(lead.first_step, 'step')}" if lead.has_moved else "It was 0 from the start"
    return Hypothesis(
        "The schedule of the learning rate is at 0" if lead.has_moved else "The learning rate is 0",
        0.95,
        f"{after}. The gradient norm has been about {say_number(lead.gradient_norm)} since. There is something to "
        "learn, but every step is multiplied by 0. A schedule that is given epochs where it counts steps ends "
        "hundreds of times too early.",
        "Give the schedule the total number of steps, and an end value above 0.",
        SCHEDULE_CODE,
        LONGER_SCHEDULE,
    )


def advise_gone_rate(scene: Scene, n_steps: int, norm: float | None, began: float, rate: float) -> Hypothesis:
    """A rate that ends too early: after so many steps, at so much of what it began with; norm: the gradient's."""
    is_left = "" if norm is None else f", and the gradient norm is still about {say_number(norm)}"
    fall = f"from about {say_number(began)} down to {say_number(rate)}"
    if scene.setup.number("learning_rate") is not None:
        return Hypothesis(
            f"What sets the learning rate between steps has taken it away: {fall}",
            0.95,
            f"It was that low after {say_count(n_steps, 'step')}{is_left}: there is something to learn. The optimizer "
            "was made with a number, not a schedule, so a callback or the script changes the rate. `ReduceLROnPlateau` "
            'sees a rise as no improvement unless its mode is "max". In mode "min" a rising accuracy lowers the rate.',
            'Check what the callback monitors: mode="min" is for losses and errors, "max" for accuracies and scores. '
            "Give it more patience, and a minimum rate.",
            CALLBACK_CODE,
        )
    return Hypothesis(
        f"The learning rate's schedule has taken it away: {fall}",
        0.95,
        f"It was that low after {say_count(n_steps, 'step')}{is_left}: there is something to learn. A higher rate at "
        "the start only delays it. `decay_steps` and similar arguments count steps, one per batch. A schedule that is "
        "given epochs there ends hundreds of times too early.",
        "Give the decay in steps, for example the steps of an epoch, and let it end above 0.",
        DECAY_CODE,
        LONGER_SCHEDULE,
    )


CALLBACK_CODE: Final = """\
tf.keras.callbacks.ReduceLROnPlateau(monitor="val_loss", mode="min", factor=0.5, patience=5, min_lr=1e-5)
# For an accuracy: monitor="val_accuracy", mode="max". A LearningRateScheduler gets the epoch number"""
DECAY_CODE: Final = """\
# A schedule counts steps, one per batch: to decay once per epoch, give it the steps of an epoch
steps_per_epoch = math.ceil(n_samples / batch_size)
schedule = tf.keras.optimizers.schedules.ExponentialDecay(1e-3, decay_steps=steps_per_epoch, decay_rate=0.9)
model.compile(optimizer=tf.keras.optimizers.Adam(schedule), loss=loss)"""

ALIKE_CODE: Final = """\
# Random initial weights make units differ; a seed makes them the same in every run:
start = tf.keras.initializers.HeNormal(seed=0)
layer = tf.keras.layers.Dense(256, activation="relu", kernel_initializer=start)
# in a layer of your own: self.add_weight(shape=shape, initializer=tf.keras.initializers.RandomNormal(stddev=0.1))"""


def advise_alike(layer: str, n_units: int, value: float) -> list[Hypothesis]:
    """Causes of units that are copies of one another."""
    return [
        Hypothesis(
            "The kernel starts at a constant, so nothing makes its units differ",
            0.9,
            f"All {n_units:,} units of {layer} start with {say_number(value)} in every element. Those that compute the "
            "same get the same gradient and take the same steps: together they are worth one unit.",
            "Use a random initializer; a seed makes it repeatable.",
            ALIKE_CODE,
            start_as_usual(layer),
        )
    ]


SHRINKING_CODE: Final = """\
kernel.assign(kernel * (1.0 - optimizer.learning_rate * decay))     # decay: what is taken off now
# or, without a line of your own, of all weights: tf.keras.optimizers.AdamW(1e-3, weight_decay=decay)"""


def advise_shrinking(share: str, place: str) -> list[Hypothesis]:
    """Causes of weights that are made smaller at every step."""
    return [
        Hypothesis(
            f"A weight decay of the script's own is far too strong{place}",
            0.9,
            f"Taking {share} off at every step wipes out a weight unless the optimizer keeps renewing it. A usual "
            "decay is multiplied by the learning rate first, which makes it a hundred to a thousand times weaker.",
            "Multiply the decay by the learning rate, or leave it to the optimizer.",
            SHRINKING_CODE,
        )
    ]


TWINS_CODE: Final = """\
# A seed of its own for each, or none and keras.utils.set_random_seed(0) at the top of the script:
starts = [tf.keras.initializers.GlorotUniform(seed=k) for k in range(n_experts)]"""


def advise_twins(names: list[str]) -> list[Hypothesis]:
    """Causes of kernels that are copies of one another."""
    return [
        Hypothesis(
            "One seed makes the initial numbers of several kernels, so nothing makes them differ",
            0.9,
            f"The {len(names)} kernels began with the same random numbers, are used in parallel, and get the same "
            "gradient: together they are worth one, and a gate among them cannot prefer any.",
            "Give each initializer a seed of its own, or no seed.",
            TWINS_CODE,
        )
    ]


SMALL_RATIO: Final = 0.01 * USUAL_RATIO
"""SageMaker Debugger warns below 1e-8; at a hundredth of what is usual a thousand steps do what ten should."""
SLOW_RATIO: Final = 0.1 * USUAL_RATIO
FIRST_RATIO: Final = 20 * USUAL_RATIO
"""Of a run's first updates, where nothing was learned: a suspect."""


def _layers_of(lead: Flat) -> list[str]:
    return [] if lead.table is None else [lead.table.layer_of(lead.column)]


def _scale_for(lead: Cut) -> Hypothesis:
    return Hypothesis(
        "The inputs are not scaled",
        0.7,
        f"Values up to {say_number(lead.largest_input)} enter the model. The outputs are then so far apart that most "
        "lie beyond the limits of the clip, where nothing is learned from them.",
        "Scale every feature to about [-1, 1], or normalise in the first layer.",
        SCALE_CODE,
        SCALED_INPUTS,
    )


def _scale(lead: Flat, where: str) -> Hypothesis:
    what = "far below 0 for every input" if lead.is_dead else "far beyond the range in which the function has a slope"
    return Hypothesis(
        "The inputs are not scaled",
        0.75,
        f"Values up to {say_number(lead.largest_input)} enter the model{where}. Sums over many of them are {what}, and "
        "the first steps are just as large.",
        "Scale every feature to about [-1, 1], or normalise in the first layer.",
        SCALE_CODE,
        SCALED_INPUTS,
    )


def _logits(*, is_last: bool) -> Hypothesis:
    return Hypothesis(
        "A relu stands right before the softmax" if not is_last else "The model's output passes a relu",
        0.7,
        "If all its inputs are negative, it outputs only zeros. Every class is then equally likely, and the slope "
        "back through the relu is 0.",
        "Use no activation on the output layer, and pass the logits to the loss.",
        LOGIT_CODE,
    )


def _low_bias(lead: Flat) -> Hypothesis:
    return Hypothesis(
        "The bias holds every unit below 0 from the start",
        0.9,
        f"The layer's bias is at most {say_number(lead.bias)}, and the kernel's contribution does not make up for "
        "that. The relu gives 0 for every sample and its slope there is 0, so no gradient raises the bias. A prior "
        "for rare classes belongs only in the bias of the output layer.",
        "Leave out `bias_initializer` in hidden layers: their bias should start at 0.",
        BIAS_CODE,
        tuple(Change("layer", layer, without=("bias_initializer",)) for layer in _layers_of(lead)),
    )


def _zeros(lead: Flat) -> Hypothesis:
    is_start = lead.is_first_row
    return Hypothesis(
        "The kernels start at 0" if is_start else "The kernels have become 0",
        0.95,
        "A layer whose kernel is all zeros outputs 0 for every input. The slope of a relu at 0 is 0 too, so no "
        "gradient comes back, and the kernel stays 0"
        + ("." if is_start else ": weight decay, a mask or an assignment has set all of it to 0."),
        'Leave out `kernel_initializer`, or write "he_normal": hidden layers must start from random numbers.'
        if is_start
        else "Find what sets the kernels to 0: a mask, a penalty that is too strong, or loaded weights.",
        ZEROS_CODE,
        start_as_usual(*_layers_of(lead)) if is_start else (),
    )


def _start(lead: Flat) -> Hypothesis:
    if lead.is_dead:
        return advise_died(_layers_of(lead), is_first_row=lead.is_first_row)
    return Hypothesis(
        "Weights or inputs too large for a saturating activation",
        0.6,
        "At its ends the function is flat: its slope is 0 to seven digits. Layers before it do not learn.",
        "Keep pre-activations near 0 by a variance-preserving initializer and normalisation, or use an activation "
        "that does not saturate.",
        SATURATED_CODE,
    )

"""Causes and cures of layers that stand still, of clips that hide a slope, and of losses that never left guessing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from gradwatch_server.health.book import GRADIENT_NORM, LEARNING_RATE, UPDATE_RATIO
from gradwatch_server.health.cut import may_be_clipped
from gradwatch_server.health.episode import Cut, Flat, Plateau, Still
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
    advise_large_start,
    advise_rate,
    advise_small_inputs,
    advise_small_start,
    better_rate,
    set_rate,
    start_as_usual,
)
from gradwatch_server.health.verdict.advice_misfit import BETA_CODE, MASKED, PADDING_CODE
from gradwatch_server.health.verdict.advice_zero import CUT_CODE, DEAD_CODE, OUTPUT_CODE, ZEROS_CODE
from gradwatch_server.health.verdict.operation import say_line, say_noun, say_place, say_source
from gradwatch_server.health.verdict.scene import Scene, table_of
from gradwatch_server.health.verdict.spelling import list_names, say_count, say_number

__all__ = [
    "advise_alike",
    "advise_batch",
    "advise_columns",
    "advise_copy",
    "advise_crossing",
    "advise_cut",
    "advise_flat",
    "advise_gone_rate",
    "advise_labels",
    "advise_levelled",
    "advise_mean",
    "advise_mute",
    "advise_plateau",
    "advise_sequences",
    "advise_shared_target",
    "advise_slow",
    "advise_standing",
    "advise_steps",
    "advise_still",
    "advise_target_spread",
    "advise_undone",
    "advise_untaught",
]

LOGIT_CODE: Final = """\
# No activation on the layer that gives the logits: relu turns every negative one into 0.
logits = tf.keras.layers.Dense(n_classes)(x)
model.compile(loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), optimizer=optimizer)"""

SATURATED_CODE: Final = """\
# A start that keeps sums of inputs near 0, and normalisation that keeps them there:
x = tf.keras.layers.Dense(128, kernel_initializer="glorot_uniform")(x)
x = tf.keras.layers.BatchNormalization()(x)
x = tf.keras.layers.Activation("tanh")(x)"""

SLOPE_CODE: Final = """\
# Outside its limits a clip has slope 0: what is clipped gets no gradient, and cannot come back. Instead, one of:
log_p = tf.nn.log_softmax(scores)                       # for log(softmax); for log(sigmoid): tf.math.log_sigmoid
loss = tf.keras.losses.CategoricalCrossentropy(from_logits=True)   # no softmax before it; Sparse... for class numbers
y = tf.math.log(x + 1e-3)                               # for any other logarithm: a slope of 1,000 at the most"""

SEQUENCE_CODE: Final = """\
layer = tf.keras.layers.GRU(units)                                # in place of SimpleRNN
layer = tf.keras.layers.Bidirectional(tf.keras.layers.GRU(units))  # reads from both ends"""
COLUMN_SCALE_CODE: Final = """\
x = (x - x_train.mean(axis=0)) / x_train.std(axis=0)                        # axis=0: each column by itself"""

LOW_BIAS: Final = -1.0
"""With normalised inputs and weights that keep the variance a unit's sum is about 1 in size."""

BIAS_CODE: Final = """\
hidden = tf.keras.layers.Dense(64, activation="relu")                       # its bias starts at 0
prior = tf.keras.initializers.Constant(-4.6)                                # log(p / (1 - p)) of a class of 1 %
output = tf.keras.layers.Dense(1, bias_initializer=prior)                   # where it belongs: on the logits"""

LEARN_CODE: Final = """\
# Where inputs and labels have just been loaded, before anything drops, sorts or shuffles them. Do these fit?
for place in (0, 1, 2, -3, -2, -1):
    print(np.ravel(inputs[place])[:8], targets[place])  # images: look at them beside their file names
# Files: sorted() puts "img_10" before "img_2"; by their numbers:
files.sort(key=lambda name: [int(part) for part in re.findall(r"\\d+", name)])   # import re"""


NUMBERED: Final = Change(
    "files",
    given=(("key", 'lambda name: [int(part) for part in re.findall(r"\\d+", str(name))]'),),
    remark="if the labels are in the order of the numbers: as text img_10 comes before img_2 (import re)\n"
    "# Compare some files with their labels, before anything drops, sorts or shuffles them",
)


def advise_flat(lead: Flat, scene: Scene) -> list[Hypothesis]:
    """Causes of units that are dead or saturated."""
    ratio, function = scene.update_ratio, lead.next_function
    if lead.is_dead and lead.is_of_zeros:
        return [_zeros(lead)]
    is_thrown = ratio is not None and ratio > RATIO_LIMIT
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
        found.append(advise_rate(scene, 0.5 if ratio is None or ratio > HIGH_RATIO else 0.1))
    if lead.largest_input > LARGE_INPUT:
        found.append(_scale(lead))
    found += advise_small_inputs(lead.largest_input)
    if lead.is_dead and function in {"softmax", ""}:
        found.append(_logits(is_last=function == ""))
    found.append(_start(lead))
    found += [*advise_small_start(scene), *advise_large_start(scene)]
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


FLAT_CODE: Final = """\
# What is exactly 0 or 1 after a softmax or a sigmoid has no slope. Keep its input small, and give the loss the logits:
temperature = tf.maximum(temperature, 0.1)              # before the division
loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)"""


def advise_cut(lead: Cut, operation: Operation) -> list[Hypothesis]:
    """Causes of zeros behind a steep operation, the likeliest first."""
    is_clipped = may_be_clipped(operation)
    flat = Hypothesis(
        f"A softmax or sigmoid that is flat beside the {say_noun(operation)}{say_place(operation)}",
        0.6,
        "No clip is to be seen in these lines. Where the inputs of a softmax or sigmoid are far apart its outputs are "
        f"exactly 0 or 1, and have no slope; the {say_noun(operation)}, with a slope of up to "
        f"{say_number(lead.amplification)}, is what drives them apart or what suffers from it.",
        "Keep what enters the softmax or sigmoid small: bound a temperature from below, scale the inputs.",
        FLAT_CODE,
    )
    found = [
        Hypothesis(
            f"A clip around the {say_noun(operation)} cuts the gradient off{say_place(operation)}",
            0.85 if is_clipped else 0.3,
            f"The {say_noun(operation)} multiplies gradients by up to {say_number(lead.amplification)}, and a clip "
            "before or after it sets those of the elements beyond its limits to 0. The values stay finite, so it "
            "looks like a cure; those elements, or whole samples, are no longer learned from.",
            f"Replace the clip and the {say_noun(operation)} together by a function or loss made for it (log_softmax, "
            f"log_sigmoid, from_logits=True), or add a small number inside the {say_noun(operation)}.",
            SLOPE_CODE,
        ),
        *([_scale_for(lead)] if lead.largest_input > LARGE_INPUT else []),
        Hypothesis(
            "A mask, a tf.stop_gradient or a rounding on the way to the loss",
            0.25,
            "They give exact zeros too, and so do comparisons. Zeros that are meant are usually there from the first "
            "step on.",
            "Look for operations without a slope between this tensor and the loss.",
            CUT_CODE,
        ),
        *([] if is_clipped else [flat]),
    ]
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


def advise_batch(lead: Plateau) -> list[Hypothesis]:
    """Causes of a loss that stays at what guessing among a batch's samples gives."""
    n = f"{lead.n_classes:,}"
    return [
        *_twice(lead),
        Hypothesis(
            "A broadcast made the batch an axis of the scores",
            0.7,
            f"Scores of shape [{n}] and [{n}, 1], or [{n}, 1, k] and [{n}, k], broadcast to {n} by {n} without a word: "
            "the softmax then runs over the batch instead of the classes, and the labels name samples.",
            "Print the shapes on the way to the loss, and give `axis` and `keepdims` where a reduction drops an axis.",
            SHAPE_CODE,
        ),
        Hypothesis(
            "A contrastive loss whose embeddings are all alike",
            0.4,
            f"Where each sample is to be found among the {n} of its batch, this is what equal embeddings give: the "
            "model has collapsed, or the temperature is far too high.",
            "Look at the spread of the embeddings over a batch; lower the temperature; normalise before the product.",
            "print(tf.math.reduce_std(embeddings, axis=0))           # near 0: collapsed",
        ),
    ]


TWICE_CODE: Final = """\
logits = tf.matmul(a, b, transpose_b=True)      # times your own factor, if there is one; no tf.nn.softmax here
loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)"""


def _twice(lead: Plateau) -> list[Hypothesis]:
    if lead.softmax is None:
        return []
    return [
        Hypothesis(
            f"A softmax taken twice{say_place(lead.softmax)}",
            0.85,
            "The scores pass a softmax there, and no logarithm is taken of it: a loss that expects logits takes "
            "a second one. Probabilities lie between 0 and 1, so the second softmax is nearly the same for all: its "
            "loss stays near that of guessing however sure the first one is.",
            "Give the loss the scores themselves, and use the softmax for reading predictions only.",
            TWICE_CODE,
        )
    ]


SHAPE_CODE: Final = """\
tf.debugging.assert_shapes([(logits, ("batch", n_classes)), (labels, ("batch",))])
distance = tf.reduce_sum(tf.square(a - b), axis=-1, keepdims=True)      # keeps [batch, 1] from becoming [batch]"""


ERROR_CODE: Final = """\
# before anything is subtracted, one of the two; the loss stays as it is:
targets = targets[:, None]                               # [n] -> [n, 1], as what a layer gives
predictions = tf.squeeze(predictions, -1)                # or [n, 1] -> [n]
tf.debugging.assert_equal(tf.shape(predictions), tf.shape(targets))"""


WIDE_CODE: Final = """\
# before anything is subtracted, one of the two; the loss stays as it is:
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
    differ = "Here targets and outputs differ in their number of dimensions. " if is_of_ranks else ""
    unseen = 0.05 if scene.facts.has_operations else 0.2  # one in the step's graph would be known
    found = [
        *advise_columns(scene),
        *advise_target_spread(lead.guess),
        *advise_sequences(lead.n_gates),
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
            "What is left of a place or a time behind such a pooling is next to nothing. A position, a time of arrival "
            "or an order has nothing else that tells it.",
            "If the target is where or when something is, keep the places: Flatten, or a soft argmax over them.",
            PLACES_CODE,
            (Change("layer", layer, kind="Flatten"),),
        )
    ]


PLACES_CODE: Final = """\
x = tf.keras.layers.Flatten()(x)                         # in place of GlobalAveragePooling or GlobalMaxPooling
# or where it is largest, as a mean over places, [batch, places, 1] -> [batch, 1]:
place = tf.reduce_sum(tf.nn.softmax(x, axis=1) * tf.range(tf.shape(x)[1], dtype=x.dtype)[:, None], axis=1)"""
LARGE_SPREAD: Final = 30.0
"""Of targets: their standard deviation. A last layer of some hundred units gives that within a few thousand steps."""


def advise_zero_output(middle: float, spread: float, scene: Scene) -> list[Hypothesis]:
    """Causes of a squared error that stays at the mean square of the targets."""
    rate = scene.learning_rate
    steps = "" if rate is None else f" Steps of {say_number(rate)} take long to add up to {say_number(middle)}."
    return [
        Hypothesis(
            "The targets are not scaled",
            0.9,
            f"They lie {say_number(middle)} away from 0, with a standard deviation of {say_number(spread)}. A model "
            "starts by giving about 0, and an optimizer such as Adam moves each weight by no more than its rate at a "
            f"step, however large the error is.{steps}",
            "Subtract the mean of the targets and divide by their standard deviation; undo both in what you predict.",
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
            f"Their standard deviation is {say_number(spread)}, and a model starts by giving numbers of about 1. An "
            "optimizer such as Adam moves each weight by no more than its rate at a step, however large the error is; "
            "with SGD the steps grow with the error, and are too large or clipped.",
            "Subtract the mean of the targets and divide by their standard deviation; undo both in what you predict.",
            TARGET_CODE,
            SCALED_TARGETS,
        )
    ]


def _penalty() -> Hypothesis:
    return Hypothesis(
        "A penalty outweighs the error of what is given back",
        0.75,
        "What the model gives hardly varies from sample to sample: the part behind the narrow place is told nothing of "
        "the input. In a variational autoencoder that is the posterior's collapse onto the prior. A mean over the "
        "elements of a sample beside a sum over the latent dimensions makes the error that many times too light.",
        "Take the error and the penalty in the same measure (both summed over a sample), and raise the penalty slowly.",
        BETA_CODE,
    )


def advise_shared_target() -> list[Hypothesis]:
    """Causes of a squared error with one target for all samples of a batch."""
    return [
        _broadcast(0.9),
        Hypothesis(
            "The loss is given one target for the whole batch",
            0.1,
            "A label of a whole group, or a mean of the targets, has the same gradient. It may be meant.",
            "Look at what is given to the loss as targets.",
            "",
        ),
    ]


def advise_crossing(broadcast: Mapping[str, Any]) -> Hypothesis:
    """A column that meets a vector in the user's own code, as the cause where nothing is learned."""
    source = broadcast["source"]
    column, vector, table = say_crossing(broadcast)
    return Hypothesis(
        f"A broadcast of {column} with {vector} makes {table}{say_line(source)}",
        0.9,
        f"There `{source['code']}` combines a column and a vector of the same length: each element of one with every "
        "element of the other, without an error. What belongs to one sample is mixed with that of all others of its "
        "batch, and the mean over them says next to nothing.",
        "Print both shapes there, and give both the same: squeeze the column, or add an axis to the vector.",
        f"# {say_source(source)}: {source['code']}\n" + (WIDE_CODE if broadcast.get("axes") else ERROR_CODE),
    )


def say_crossing(broadcast: Mapping[str, Any]) -> tuple[str, str, str]:
    """The shapes of a column, of the vector that it meets, and of what both make."""
    axes = "".join(f", {n}" for n in broadcast.get("axes", ()))
    return f"[n, 1{axes}]", f"[n{axes}]", f"[n, n{axes}]"


def _broadcast(confidence: float, seen: str = "") -> Hypothesis:
    return Hypothesis(
        "A broadcast compares each prediction with every target",
        confidence,
        seen + "Predictions of shape [n, 1] minus targets of shape [n] are n by n differences, without an error: each "
        "output is pulled to all targets of its batch, and the best it can do is give their mean.",
        "Print both shapes where the loss is computed, and give both the same before one is subtracted from the other.",
        ERROR_CODE,
    )


def advise_labels(settles_at: str, confidence: float = 0.45) -> Hypothesis:
    """Labels that have nothing to do with the inputs; what a model then settles at."""
    return Hypothesis(
        "The labels do not belong to the inputs, or carry nothing that the model can learn",
        confidence,
        f"A model that cannot tell anything from its inputs settles at {settles_at}. Shuffling inputs and labels "
        "separately, rows that are dropped, sorted or cut off in one of them and not in the other (files by name: 10 "
        "before 2), a wrong column, a "
        "`reshape` where axes should have been transposed, or an input that is constant do that.",
        "Look at a few samples with their labels. What drops, sorts or shuffles rows must do so to both, by the same "
        "index.",
        LEARN_CODE,
        (NUMBERED,),
    )


def advise_plateau(lead: Plateau, scene: Scene) -> list[Hypothesis]:
    """Causes of a loss that stays at what guessing gives."""
    found = [
        *_twice(lead),
        *advise_columns(scene),
        *advise_sequences(lead.n_gates),
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
            "Logits given to a loss that expects probabilities, a softmax taken twice, or sparse labels given to a "
            "loss that expects one-hot ones leave a gradient that leads nowhere.",
            "Either a softmax and `from_logits=False`, or no activation and `from_logits=True`.",
            LOGIT_CODE,
        )
    ]


def advise_columns(scene: Scene) -> list[Hypothesis]:
    """The columns of an input that are next to constant beside another one."""
    for columns in scene.facts.columns.values():
        narrow, widest = columns.find_narrow()
        if narrow:
            one, n = len(narrow) == 1, f"{len(narrow):,}"
            return [
                Hypothesis(
                    f"The inputs are not scaled: column {widest} is over 1,000 times as wide as "
                    f"{'another' if one else f'{n} others'}",
                    0.7,
                    f"Column{'' if one else 's'} {list_names([str(place) for place in narrow])} "
                    f"{'takes' if one else 'take'} less than a thousandth of the room that column {widest} takes: what "
                    "a first layer makes of them is lost beside it. Columns in units of their own look so, and a whole "
                    "table that was scaled by one mean and one standard deviation.",
                    "Scale every column by its own mean and standard deviation, those of the training data.",
                    COLUMN_SCALE_CODE,
                    SCALED_INPUTS,
                )
            ]
    return []


def advise_sequences(n_gates: int) -> list[Hypothesis]:
    """A recurrence over too many steps, where the model has one of so many gates."""
    if not n_gates:
        return []
    # A recurrence without gates forgets within some ten steps.
    return [
        Hypothesis(
            "What stands early in a sequence does not reach its end: a recurrence over many steps",
            0.5 if n_gates == 1 else 0.3,
            "A recurrent layer passes its state, and the gradient, from step to step of the sequence; each time a part "
            "is lost, most of all where its function is a sigmoid. What the loss asks for may stand too far back.",
            "Use GRU or LSTM, shorter sequences or attention; or let it read the sequence backwards, where what counts "
            "stands first.",
            SEQUENCE_CODE,
            (Change("layer", of="SimpleRNN", kind="GRU"),),
        )
    ]


def advise_steps(scene: Scene) -> list[Hypothesis]:
    """Steps that are too large, or too small, as far as their size is known."""
    ratio = scene.update_ratio
    if ratio is None:  # of what began with the first step the steps are known only now
        ratio = scene.testimony.known.read(UPDATE_RATIO).highest
    if ratio is None:
        return []
    if ratio >= SLOW_RATIO:
        return [advise_rate(scene, 0.6 if ratio > RATIO_LIMIT else 0.3)] if ratio > HIGH_RATIO else []
    return [
        Hypothesis(
            "The learning rate is too small, or the gradient does not arrive",
            0.6 if ratio < SMALL_RATIO else 0.4,
            f"Updates are {say_number(ratio)} of the weights they change, where 0.001 is usual. At that pace the "
            "weights have hardly moved.",
            "Raise the learning rate, and look at the gradient of the first layers.",
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
        "The loss hardly depends on the weights: the last activation is flat where it stands",
        0.8 if is_flat else 0.1,
        f"The gradient of all weights together is {say_number(lead.gradient_norm)}, and the loss is not at its end. A "
        "softmax over a single output is always 1, and a sigmoid, tanh or softmax far from 0 is nearly level.",
        "Match the last layer and the loss; scale the inputs so that outputs stay near 0.",
        OUTPUT_CODE,
    )
    said = "" if rate is None else f" of {say_number(rate)}"
    kind = table_of(lead).weight_type
    if kind in HALF_TYPES:
        short = Hypothesis(
            f"The weights are kept in {kind}, which rounds the updates away",
            0.9,
            f"A {kind} changes by one part in {HALF_TYPES[kind]:,} of itself or not at all, and an update is usually a "
            "thousandth of its weight or less. What the optimizer keeps beside the weights (Adam's averages) is "
            "rounded just so.",
            f"Compute in {kind} and keep the weights in float32: the policy `mixed_{kind}` in place of `{kind}`.",
            MIXED_CODE.format(kind=kind),
        )
        return [short, output] if is_flat else [short]
    small = Hypothesis(
        "The learning rate is too small",
        0.3 if is_flat else 0.85,
        f"With a rate{said} and a gradient norm of {say_number(lead.gradient_norm)} an update is at most "
        f"{say_number(lead.ratio)} of the weights. Rounding to float32 leaves nothing of it.",
        "Raise the learning rate until updates are about 0.001 of the weights.",
        "optimizer = tf.keras.optimizers.Adam(1e-3)",
        () if is_flat else _raise_rate(scene, lead.ratio),
    )
    return sorted([output, small], key=lambda hypothesis: -hypothesis.confidence)


TRAINING_CODE: Final = """\
with tf.GradientTape() as tape:
    prediction = model(features, training=True)                # not model(features): that is evaluation"""


def advise_standing() -> list[Hypothesis]:
    """Causes of running statistics that no batch has gone into."""
    return [
        Hypothesis(
            "The model is called as in evaluation: without `training=True`",
            0.9,
            "`model.fit` says it by itself; a loop of one's own must. Without it batch normalisation divides by a "
            "running variance that is still 1, and dropout drops nothing.",
            "Call the model with `training=True` in the training step (evaluation stays as it is), and pass `training` "
            "on in layers of your own.",
            TRAINING_CODE,
            (Change("call", given=(("training", "True"),)),),
        )
    ]


UNDONE_CODE: Final = """\
# Which line writes into the model that is trained? Look for set_weights, load_weights and assign.
# A target network: from the model that is trained (here model) into the other, not the other way round
target_model.set_weights(model.get_weights())
# An average for evaluation: into a second model, not into the one that is trained
average_model.set_weights(average)"""


def advise_undone(often: str) -> list[Hypothesis]:
    """Causes of weights that are put back between steps."""
    return [
        Hypothesis(
            "Something else writes older weights into the model while it is trained",
            0.9,
            f"The optimizer's updates are there, and {often} they are gone again. That is what a copy in the wrong "
            "direction does (target network into the trained one), an average that is written into the model and left "
            "there, or a checkpoint that is loaded in the loop.",
            f"Find what your loop does {often} that writes weights, and let it write into the other model.",
            UNDONE_CODE,
        )
    ]


UNTAUGHT_CODE: Final = """\
# clone_model makes new weights, and so does building the same layers again: copy them, before freezing
encoder = tf.keras.models.clone_model(pretrained)
encoder.set_weights(pretrained.get_weights())                  # or encoder.load_weights(path), once it is built
encoder.trainable = False"""


JUDGE_CODE: Final = """\
# In each round, before the step of each: a model is trained if it is not frozen when its step runs
discriminator.trainable = True
discriminator.train_on_batch(images, is_real)
discriminator.trainable = False
gan.train_on_batch(noise, np.ones([len(noise), 1]))"""


def advise_untaught(*, is_left: bool, is_judge: bool) -> list[Hypothesis]:
    """Causes of layers that hold what they were made with: frozen, or given to no optimizer (``is_left``).

    Where they judge what the others give (``is_judge``), they were to be taught in turn with these.
    """
    meant = Hypothesis(
        "Random features that are meant",
        0.05 if is_left else 0.15,
        "Some methods keep a random layer on purpose. Then this is how it should be.",
        "Nothing, if it is meant; `trainable = False` says so." if is_left else "Nothing, if it is meant.",
        "",
    )
    if is_left:
        return [meant]
    if is_judge:
        return [
            Hypothesis(
                "A discriminator that was frozen for the generator's step is never thawed for its own",
                0.8,
                "`trainable = False` holds for a model wherever it is used, and for good: Keras 3 does not remember "
                "what it was at `compile`. Its own step trains nothing then, and the loss that falls is the opinion of "
                "a model that was never taught.",
                "Thaw it before its own step and freeze it again after it, or give each model its own optimizer and "
                "its own variables in one loop. See whether a bias of it moves.",
                JUDGE_CODE,
            ),
            meant,
        ]
    return [
        Hypothesis(
            "The pretrained weights never came into the layers that are frozen",
            0.85,
            "`clone_model` and building a model anew make new, random weights; `load_weights` before the model is "
            "built, or with names that do not match, leaves them so. Frozen, nothing will teach them.",
            "Copy or load the weights after the model is built, and look at a bias before you freeze it.",
            UNTAUGHT_CODE,
        ),
        meant,
    ]


COPY_CODE: Final = """\
# In place of the line that makes a new copy (target_model = ...), as often as that is run now:
target_model.set_weights(model.get_weights())
# or a little in each update: for copy, one in zip(target_model.variables, model.variables):
#     copy.assign(0.995 * copy + 0.005 * one)"""


def advise_copy() -> list[Hypothesis]:
    """Causes of a copy of what is trained that is never brought up to date."""
    return [
        Hypothesis(
            "The target network is never synchronised with the one that is trained",
            0.88,
            "What the loss takes from it, such as the value of the next state, is what a network says that has learned "
            "nothing: rewards are learned, and nothing beyond the next step. `target = ...` in the loop does that: a "
            "compiled step goes on with the object that it was traced with, and never sees the new one. So does a copy "
            "in a branch that is never reached.",
            "Write the weights into the object that the step reads, or mix a little of them in at each update.",
            COPY_CODE,
        ),
        Hypothesis(
            "A random network that is meant",
            0.1,
            "What is compared with its own start on purpose keeps such a copy.",
            "Nothing, if it is meant.",
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
            f"With a rate{said} it takes at least {n_steps:,.0f} steps to change the weights by a tenth. Updates are "
            f"usually about {USUAL_RATIO:g} of the weights, {USUAL_RATIO / lead.ratio:,.0f} times what they are here.",
            "Raise the learning rate"
            + (", a factor of 10 at a time." if better is None else f", to about {say_number(better)} at first."),
            f"optimizer.learning_rate = {1e-3 if better is None else better:g}",
            set_rate(scene, better),
        )
    ]
    scale = scene.testimony.known.read("loss_scale").recent or 1.0
    if loss.initial is None and scale > 1 and lead.gradient_norm < UNSCALED_NORM <= scale * lead.gradient_norm:
        # The hook leaves out a loss that is no scaled one.
        return [_advise_unscaled(lead, scale)]  # a higher rate would hide it
    if lead.gradient_norm < SMALL_NORM:
        found.append(
            Hypothesis(
                "The loss is scaled down",
                0.3,
                f"The gradient of all weights together is {say_number(lead.gradient_norm)}. A loss that is "
                "multiplied by a small factor has small gradients, and an optimizer whose steps follow them, such as "
                "SGD, takes small steps.",
                "Take the factor out of the loss (a loss weight, sample weights), or use an optimizer whose steps do "
                "not depend on the gradient's size, such as Adam.",
                "optimizer = tf.keras.optimizers.Adam(1e-3)",
            )
        )
    return found


def _advise_unscaled(lead: Still, scale: float) -> Hypothesis:
    return Hypothesis(
        "The loss is not scaled, and the optimizer divides by the scale all the same",
        0.9,
        f"The optimizer divides what it is given by its loss scale, {scale:,.0f}, and of the gradient's norm "
        f"{say_number(lead.gradient_norm)} is left: it was {say_number(scale * lead.gradient_norm)}, as is usual for "
        "a loss that was never multiplied. Keras' own `train_step` does that; one of your own must, in `fit` too."
        " (The policy mixed_float16 makes `compile` wrap any optimizer in one that scales the loss.)",
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
        f"The global gradient norm, as the optimizer gets it, was {norm} at every step, to five digits: no two batches "
        "give that by themselves. A clip at so small a norm leaves the direction and takes the length, and an "
        "optimizer whose steps follow the gradient's size hardly moves.",
        f"Clip at a norm that healthy steps have, not at {norm}: often 1 to 10, more where the loss is a sum. Leave "
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
# In place of the layer, for inputs (batch, steps, 1): by default the last axis is normalised, which has one number
normalised = tf.keras.layers.LayerNormalization(axis=1)(inputs)           # over the steps of each sample"""

MUTE_CODE: Final = """\
# Where do the samples of a batch become the same? Of each layer, how far they differ:
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
                f"What goes into {layer} differs from sample to sample, and what came out did not when training began. "
                "The last state of a recurrent layer is made of the last entries above all: where those are padding, "
                "or else alike, for every sample, nothing of the beginning is left.",
                "Have the layer skip the padding (a mask), or pad in front.",
                PADDING_CODE,
                MASKED,
            )
        ]
    what = "0 for every sample" if mute.is_zero else "the same for every sample"
    why = f"The layers after {layer} see the same for every sample: the model can learn one constant answer only. "
    if mute.is_zero and mute.width == 1:
        why += "A normalisation over an axis of length 1 does that: a single number minus its own mean is 0."
        fix = f"If the data are scaled already, take {layer} away; else normalise over an axis of several entries."
        code = AXIS_CODE
    else:
        why += "A table filled from trained vectors stays 0 where no word matched (upper or lower case, another "
        why += "spelling); a mask that lets nothing through, or a division of whole numbers, does that too."
        fix = f"Print what goes into {layer} and what comes out of it, for a few samples."
        code = MUTE_CODE
    return [Hypothesis(f"{layer} gave {what} when training began", 0.9, why, fix, code)]


LEVELLED_CODE: Final = """\
x = tf.keras.layers.GroupNormalization(groups=-1)(x)     # normalise first,
x = tf.keras.layers.Activation("relu")(x)                # then what bends: the mean of that differs between samples
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
            f"When training began {layer} gave nothing but rounding errors, though what {previous} gave was of the "
            "usual size: the numbers cancel to the last digit. A normalisation makes the mean of each sample's "
            "numbers 0, and a pooling or a sum over the same axes then gives that 0 for every sample.",
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
# A schedule counts steps, one for each batch, not epochs; after decay_steps it stays at its end (alpha, 0 if not given)
n_steps = epochs * len(batches)
schedule = tf.keras.optimizers.schedules.CosineDecay(1e-3, decay_steps=n_steps, alpha=0.01)
optimizer = tf.keras.optimizers.Adam(schedule)"""


def _advise_zero_rate(lead: Still) -> Hypothesis:
    after = f"It came down to 0 after {say_count(lead.first_step, 'step')}" if lead.has_moved else "It began at 0"
    return Hypothesis(
        "The schedule of the learning rate is at 0" if lead.has_moved else "The learning rate is 0",
        0.95,
        f"{after}, and the gradient's norm has been about {say_number(lead.gradient_norm)} since: there is something "
        "to learn, and every step is 0 times that. A schedule that is given epochs where it counts steps ends "
        "hundreds of times too early.",
        "Give the schedule the number of all steps, and an end above 0.",
        SCHEDULE_CODE,
        LONGER_SCHEDULE,
    )


def advise_gone_rate(scene: Scene, n_steps: int, norm: float | None, began: float, rate: float) -> Hypothesis:
    """A rate that ends too early: after so many steps, at so much of what it began with; norm: the gradient's."""
    is_left = "" if norm is None else f", and the gradient's norm is still about {say_number(norm)}"
    fall = f"from about {say_number(began)} down to {say_number(rate)}"
    if scene.setup.number("learning_rate") is not None:
        return Hypothesis(
            f"What sets the learning rate between steps has taken it away: {fall}",
            0.95,
            f"It was that low after {say_count(n_steps, 'step')}{is_left}: there is something to learn. The optimizer "
            "was made with a number, not a schedule: a callback sets another, or the script does. `ReduceLROnPlateau` "
            'takes what rises for no improvement, unless its mode is "max": in the mode "min" an accuracy that gets '
            "better lowers the rate.",
            'Look at what the callback monitors: mode="min" is for losses and errors, "max" for accuracies and scores. '
            "Give it more patience, and an end.",
            CALLBACK_CODE,
        )
    return Hypothesis(
        f"The learning rate's schedule has taken it away: {fall}",
        0.95,
        f"It was that low after {say_count(n_steps, 'step')}{is_left}: there is something to learn. A higher rate at "
        "the start only delays it. `decay_steps` and the like count steps, one for each batch; a schedule that is "
        "given epochs there ends hundreds of times too early.",
        "Count the schedule's decay in steps, such as the steps of an epoch, and let it end above 0.",
        DECAY_CODE,
        LONGER_SCHEDULE,
    )


CALLBACK_CODE: Final = """\
tf.keras.callbacks.ReduceLROnPlateau(monitor="val_loss", mode="min", factor=0.5, patience=5, min_lr=1e-5)
# Of an accuracy: monitor="val_accuracy", mode="max". A LearningRateScheduler is given the number of the epoch"""
DECAY_CODE: Final = """\
# A schedule counts steps, one for each batch: to decay once an epoch, give it the steps of an epoch
steps_per_epoch = math.ceil(n_samples / batch_size)
schedule = tf.keras.optimizers.schedules.ExponentialDecay(1e-3, decay_steps=steps_per_epoch, decay_rate=0.9)
model.compile(optimizer=tf.keras.optimizers.Adam(schedule), loss=loss)"""

ALIKE_CODE: Final = """\
# Random numbers tell units apart; a seed makes them the same in every run:
start = tf.keras.initializers.HeNormal(seed=0)
layer = tf.keras.layers.Dense(256, activation="relu", kernel_initializer=start)"""


def advise_alike(layer: str, n_units: int, value: float) -> list[Hypothesis]:
    """Causes of units that are copies of one another."""
    return [
        Hypothesis(
            "The kernel starts at a constant, so that nothing tells its units apart",
            0.9,
            f"All {n_units:,} units of {layer} begin with {say_number(value)} in every place. They compute the same, "
            "get the same gradient and take the same steps: together they are worth one unit.",
            "Start from random numbers; a seed makes them repeatable.",
            ALIKE_CODE,
            start_as_usual(layer),
        )
    ]


SMALL_RATIO: Final = 0.01 * USUAL_RATIO
"""SageMaker Debugger warns below 1e-8; at a hundredth of what is usual a thousand steps do what ten should."""
SLOW_RATIO: Final = 0.1 * USUAL_RATIO


LEAKY: Final = (("activation", '"leaky_relu"'),)


def _layers_of(lead: Flat) -> list[str]:
    return [] if lead.table is None else [lead.table.layer_of(lead.column)]


def _scale_for(lead: Cut) -> Hypothesis:
    return Hypothesis(
        "The inputs are not scaled",
        0.7,
        f"Values up to {say_number(lead.largest_input)} enter the model. Outputs are then so far apart that most of "
        "them lie beyond the limits of the clip, where nothing is learned from them.",
        "Scale every feature to about [-1, 1], or normalise as the first layer.",
        SCALE_CODE,
        SCALED_INPUTS,
    )


def _scale(lead: Flat) -> Hypothesis:
    what = "far below 0 for every input" if lead.is_dead else "far beyond the range in which the function has a slope"
    return Hypothesis(
        "The inputs are not scaled",
        0.75,
        f"Values up to {say_number(lead.largest_input)} enter the model. Sums over many of them are {what}, and the "
        "first steps are as large as they are.",
        "Scale every feature to about [-1, 1], or normalise as the first layer.",
        SCALE_CODE,
        SCALED_INPUTS,
    )


def _logits(*, is_last: bool) -> Hypothesis:
    return Hypothesis(
        "A relu stands right before the softmax" if not is_last else "The model's output passes a relu",
        0.7,
        "Where all its inputs are negative it gives only zeros: every class is equally likely, and the slope back "
        "through the relu is 0.",
        "Give the output layer no activation, and let the loss take the logits.",
        LOGIT_CODE,
    )


def _low_bias(lead: Flat) -> Hypothesis:
    return Hypothesis(
        "The bias holds every unit below 0 from the start",
        0.9,
        f"The layer's bias is {say_number(lead.bias)} at most, and what its kernel adds does not make up for that: the "
        "relu gives 0 for every sample, its slope there is 0, and the bias never hears that it is too low. A prior for "
        "rare classes belongs in the bias of the output layer alone.",
        "Leave `bias_initializer` out in hidden layers: their bias should start at 0.",
        BIAS_CODE,
        tuple(Change("layer", layer, without=("bias_initializer",)) for layer in _layers_of(lead)),
    )


def _zeros(lead: Flat) -> Hypothesis:
    is_start = lead.is_first_row
    return Hypothesis(
        "The kernels start at 0" if is_start else "The kernels have become 0",
        0.95,
        "A layer whose kernel holds nothing but zeros gives 0 for every input. The slope of a relu at 0 is 0 too, so "
        "no gradient comes back, and the kernel stays 0"
        + ("." if is_start else ": weight decay, a mask or an assignment has taken everything out."),
        'Leave `kernel_initializer` out, or write "he_normal": hidden layers must start from random numbers.'
        if is_start
        else "Look for what sets the kernels to 0: a mask, a penalty that is too strong, weights that were loaded.",
        ZEROS_CODE,
        start_as_usual(*_layers_of(lead)) if is_start else (),
    )


def _start(lead: Flat) -> Hypothesis:
    if lead.is_dead:
        return Hypothesis(
            "Units that died: relu with only negative inputs",
            0.6,
            "A relu that is negative for every input has slope 0, and never comes back by itself. "
            + (
                "It was so from the first steps on: a start with a negative bias or too large weights gives that."
                if lead.is_first_row
                else "One step that was too large is enough to push a whole layer there."
            ),
            "Use an activation with a slope for negative inputs, a start such as he_normal and smaller steps; restart.",
            DEAD_CODE,
            tuple(Change("layer", layer, instead=LEAKY) for layer in _layers_of(lead)),
        )
    return Hypothesis(
        "Weights or inputs too large for a saturating activation",
        0.6,
        "At its ends the function is flat: its slope is 0 to seven digits, and nothing that is behind it in the model "
        "learns.",
        "Keep the sums near 0 by a variance-keeping start and normalisation, or use an activation that does not end.",
        SATURATED_CODE,
    )

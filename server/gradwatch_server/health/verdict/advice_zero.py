"""Causes and cures of gradients that are None, or exactly zero."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gradwatch_server.health.finding import Change, Hypothesis
from gradwatch_server.health.slip import MASKING, is_single
from gradwatch_server.health.verdict.advice_growth import FAR_INPUT, advise_rate, advise_scale
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.scene import Scene
from gradwatch_server.health.verdict.spelling import list_names, say_count, say_number

__all__ = [
    "CUT_CODE",
    "DEAD_CODE",
    "FLAT",
    "FROM_LOGITS",
    "OUTPUT_CODE",
    "UNSEEN",
    "ZEROS_CODE",
    "advise_died",
    "advise_mask",
    "advise_missing",
    "advise_missing_logits",
    "advise_one_step",
    "advise_outside",
    "advise_sole",
    "advise_untracked",
    "advise_untrained",
    "advise_zero",
]


FLAT_WITH_INPUT: Final = (
    "Such large inputs leave no slope: a sigmoid, a tanh or a gate is saturated, and a relu is dead or active whatever "
    "the other inputs are."
)
FLOAT16_SMALL: Final = 2.0**-17
"""float16 has ever fewer digits below 2^-14, and none below 2^-25: of a gradient this small on average, many elements
are gone."""

FROM_LOGITS: Final = (Change("loss", given=(("from_logits", "True"),)),)
MISSING_LOGITS_CODE: Final = """\
# In `compile`, or where the loss is created, instead of the present one (Binary... for one output):
loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)"""

SOLE_CODE: Final = """\
keras.layers.Dense(1, activation="sigmoid")   # the last layer
model.compile(optimizer, loss="binary_crossentropy")"""
OUTPUT_CODE: Final = """\
# One output: a sigmoid instead of the softmax, which is always 1 over one number. `h`: the previous layer's output
probability = tf.keras.layers.Dense(1, activation="sigmoid")(h)
# Or no activation, with from_logits in the loss: tf.keras.losses.BinaryCrossentropy(from_logits=True)"""

CLOSED_CODE: Final = """\
output = tf.keras.layers.Dense(n)(h)                     # no activation: any number"""

ONE_STEP_CODE: Final = """\
x = x.reshape(len(x), n_steps, n_features)               # (samples, steps, features), such as (1000, 24, 1)"""

HANDED_ON_CODE: Final = """\
output, state = self.gru(x, initial_state=state)         # the state that the call before returned"""

ZEROS_CODE: Final = """\
layer = tf.keras.layers.Dense(units, activation="relu")  # without kernel_initializer: the default is random"""

ZERO_START_CODE: Final = """\
table = tf.keras.layers.Embedding(n, rank)               # without embeddings_initializer="zeros"
layer = tf.keras.layers.Dense(units)                     # or without kernel_initializer="zeros\""""
FACTOR_CODE: Final = """\
gate = self.add_weight(shape=(), initializer="zeros")                       # the branch starts at 0, and learns
outer = tf.keras.layers.Dense(width)                                        # so this must not start at 0 too"""

CLIPPED_CODE: Final = """\
loss = loss_fn(y, output)                                   # as the model gives it
prediction = tf.clip_by_value(output, low, high)            # only for those who use it"""
FLAT_LOSS_CODE: Final = """\
with tf.GradientTape() as tape:
    output = model(x, training=True)
    tape.watch(output)
    loss = loss_function(y, output)
print(tape.gradient(loss, output))                       # all 0 (or None): check the loss from its end"""

CONNECT_CODE: Final = """\
with tf.GradientTape() as tape:
    outputs = model(x, training=True)              # stay in TensorFlow from here to the loss:
    loss = loss_fn(y, outputs)                     # no .numpy(), no NumPy operand, no argmax, round or int cast
gradients = tape.gradient(loss, model.trainable_variables)
missing = [v.path for v, g in zip(model.trainable_variables, gradients) if g is None]

layer.trainable = False                            # if the layer should stay frozen"""

UNTRAINED_CODE: Final = """\
variables = model.trainable_variables                     # read after `trainable = True`, and after all are built
gradients = tape.gradient(loss, variables)
optimizer.apply_gradients(zip(gradients, variables))"""

OUTSIDE_CODE: Final = """\
features = {name}(inputs)                       # of the model, before the Lambda
outputs = tf.keras.layers.Lambda(compare)(features)"""
HOLDING_CODE: Final = """\
def __init__(self, {name}, **options):
    super().__init__(**options)
    self.{name} = {name}                        # Keras tracks it from here on; call self.{name}(...)"""
HELD_CODE: Final = """\
class {name}(tf.keras.layers.Layer):
    def __init__(self, *arguments, **options):
        super().__init__(**options)                           # before the layers are set
        ...                                                   # as it was

    def call(self, x):                                        # instead of __call__
        ..."""
UNTRACKED_CODE: Final = """\
# instead of self.table = tf.Variable(start, name="table"), which Keras 3 does not track:
self.table = tf.keras.Variable(start, name="table")
# or, in build: self.table = self.add_weight(shape=(n, d), initializer=..., name="table")
# check, after the first call:
print([variable.path for variable in model.trainable_variables])"""

CHOICE_CODE: Final = """\
# straight-through, only for the layers that follow: forward the hard choice, backward the gradient of z
hard = tf.gather(codes, tf.argmin(distance, axis=-1))
passed_on = z + tf.stop_gradient(hard - z)

# or a soft choice: a mixture; the temperature (here 0.1) sets how hard it is
passed_on = tf.matmul(tf.nn.softmax(-distance / 0.1), codes)"""

DEAD_CODE: Final = """\
tf.keras.layers.Dense(256, activation="leaky_relu", kernel_initializer="he_normal")   # a slope for negative inputs too
optimizer = tf.keras.optimizers.Adam(1e-4, global_clipnorm=1.0)                       # steps too small to kill units"""
LEAKY: Final = (("activation", '"leaky_relu"'),)


def advise_died(layers: Sequence[str], *, is_first_row: bool) -> Hypothesis:
    """Units of these layers that died by themselves."""
    return Hypothesis(
        "Units that died: relu with only negative inputs",
        0.6,
        "A relu whose input is always negative has slope 0, and never recovers by itself. "
        + (
            "It was so from the first steps on: a negative initial bias or too large initial weights cause that."
            if is_first_row
            else "A single step that is too large can push a whole layer there."
        ),
        "Use an activation with a slope for negative inputs, an initializer such as he_normal and smaller steps. "
        "Then restart.",
        DEAD_CODE,
        tuple(Change("layer", layer, instead=LEAKY) for layer in layers),
    )


MASK_CODE: Final = """\
seen = tf.not_equal(tokens, 0)                        # True: attend to it; attention_mask=seen[:, tf.newaxis, :]
scores = tf.where(seen, scores, -1e9)                 # by hand
scores += (1.0 - tf.cast(seen, scores.dtype)) * -1e9  # or added"""

SOFTMAX_AXIS_CODE: Final = """\
# score: (batch, items, 1). By default a softmax runs over the last axis, which has one entry here.
weight = tf.keras.layers.Softmax(axis=1)(score)           # in a call() or a loss: tf.nn.softmax(score, axis=1)"""

CUT_CODE: Final = """\
# tf.clip_by_value has slope 0 outside its limits; this bound keeps a gradient:
logits = 15.0 * tf.tanh(logits / 15.0)
# also look for tf.stop_gradient, tf.round, tf.sign, tf.argmax or comparisons on the way to the loss"""

STRAIGHT_CODE: Final = """\
# Forward the step function, backward the identity:
hard = tf.sign(x)
x = x + tf.stop_gradient(hard - x)
# or a smooth function that gets steeper during training: tf.tanh(steepness * x)"""

BALANCE_CODE: Final = """\
# Keep all experts in use: noise in training, and a loss that is lowest at an even load (Shazeer et al. 2017)
scores = gate(x) + (tf.random.normal(tf.shape(gate(x))) if training else 0.0)
p = tf.nn.softmax(scores)
load = tf.reduce_mean(tf.one_hot(tf.argmax(p, axis=1), n_experts), axis=0)
loss += 0.01 * n_experts * tf.reduce_sum(load * tf.reduce_mean(p, axis=0))"""

UNDERFLOW_CODE: Final = """\
# With compile and fit, mixed_float16 scales the loss automatically. In your own loop:
optimizer = tf.keras.optimizers.LossScaleOptimizer(tf.keras.optimizers.Adam(1e-3))
with tf.GradientTape() as tape:
    loss = optimizer.scale_loss(loss_fn(y, model(x, training=True)))
gradients = tape.gradient(loss, model.trainable_variables)
optimizer.apply_gradients(zip(gradients, model.trainable_variables))     # undoes the scaling

# or bfloat16: the range of float32 in half the bits
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")"""


def advise_missing(
    n_missing: int, n_all: int, cuts: Sequence[Mapping[str, Any]], *, is_left_out: bool, is_cut_off: bool
) -> list[Hypothesis]:
    """Causes of gradients that are None.

    Args:
        n_missing: how many variables have none.
        n_all: of how many.
        cuts: operations without a gradient on the way from these variables to the loss, as far as they are known.
        is_left_out: whether the training drops them before the optimizer sees them.
        is_cut_off: whether their layers gave something, and were called before all layers that have gradients.
    """
    unused = Hypothesis(
        "The loss does not depend on these variables",
        0.35 if is_cut_off else 0.45 if n_missing > n_all / 2 else 0.7,
        "A gradient is None only if no differentiable path leads from the variable to the loss. The usual reason is a "
        "layer that is built but never called, or an output that the loss does not use.",
        "Use the layer's output in the loss; if nothing needs it, remove the layer.",
        CONNECT_CODE,
    )
    if cuts:
        ended = _advise_cut(cuts[0])
    elif is_cut_off:
        ended = Hypothesis(
            "The way back ends at an operation without a gradient",
            0.6,
            "The layers of these variables run before the layers that do get a gradient, so the gradient is probably "
            "cut between the two: by `argmax`, `argmin`, `round`, an integer cast, a `gather` by computed indices, "
            "NumPy, or a `stop_gradient` that was meant for another path.",
            "Use a straight-through estimator for the layers after the cut, or a soft form of the operation, such as "
            "`softmax` instead of `argmax`. A loss term that trains the hard value itself, such as the codes of a code "
            "book, keeps the hard value.",
            CHOICE_CODE,
        )
    else:
        ended = Hypothesis(
            "The computation leaves TensorFlow or passes an operation without a gradient",
            0.5 if n_missing > n_all / 2 else 0.4,
            "NumPy calls, `.numpy()`, `argmax`, `round`, integer casts and `stop_gradient` cut the path silently. In "
            "eager mode so does `numpy_array @ keras_variable`.",
            "Keep everything between variable and loss in TensorFlow operations that have a gradient.",
            CONNECT_CODE,
        )
    frozen = Hypothesis(
        "The layer is meant to be frozen",
        0.3 if is_left_out else 0.2,
        "If so, it is not marked: the variables of a layer with `trainable = False` are not in `trainable_variables`, "
        "but these are.",
        "Set `trainable = False` before `compile`, or before the loop computes gradients.",
        CONNECT_CODE,
    )
    taken = Hypothesis(
        "Other data train them",
        0.2,
        "If several tasks take turns, each batch trains only the layers of its own task. No batch has reached these.",
        "Do nothing if their turn is still to come. Keep `if gradient is not None` for that case only.",
        CONNECT_CODE,
    )
    if cuts:  # the loss is known to depend on them
        return [ended, replace(frozen, confidence=0.05)]
    causes = [unused, ended, frozen, *([taken] if is_left_out else [])]
    return sorted(causes, key=lambda cause: -cause.confidence)


def _advise_cut(cut: Mapping[str, Any]) -> Hypothesis:
    """An operation of the step's graph at which the gradient ends."""
    kind, source = str(cut["type"]), cut.get("source")
    place = say_line(source) or (f" in {cut['layer']}" if cut.get("layer") else "")
    if kind == UNSEEN:
        return Hypothesis(
            f"The tape has not recorded what they compute{place}",
            0.93,
            "The loss does depend on these variables, and every operation between has a gradient. A tape knows what "
            "runs within its `with` block and nothing before it. A gradient of one part of the loss knows only that.",
            "Move the call into the block of `tf.GradientTape`.",
            TAPED_CODE,
        )
    line = f" `{source['code']}`" if source else ""
    is_flat = kind == FLAT
    return Hypothesis(
        f"The way back ends at {kind}{place}, an operation {'whose slope is 0' if is_flat else 'without a gradient'}",
        0.95,
        f"The loss does depend on these variables, through {kind}{line}. TensorFlow passes "
        f"{'a gradient of 0' if is_flat else 'no gradient'} through this operation, so nothing before it on this path "
        "is trained.",
        CUT_FIXES.get(kind, AROUND),
        AROUND_CODE.format(name=ROUNDINGS[kind]) if kind in ROUNDINGS else "" if kind in CUT_FIXES else CHOICE_CODE,
    )


UNSEEN: Final = "GradientTape"
"""What stands in the place of an operation where all of them pass a gradient, and the tape has not recorded them."""
TAPED_CODE: Final = """\
with tf.GradientTape() as tape:
    items = item_tower(ids, training=True)                         # within the block, with all that is trained
    loss = loss_function(labels, score(users, items))"""
FLAT: Final = "Sign"
"""An operation that passes a gradient, which is 0."""
AROUND: Final = (
    "Keep it, with a straight-through estimator for what comes next. Or use a soft form of the operation, such as "
    "`softmax` instead of `argmax`."
)
CUT_FIXES: Final = {
    "StopGradient": "Remove `stop_gradient` where these variables should learn from this loss.",
    "PyFunc": "Compute it with TensorFlow operations, or define its gradient with `tf.custom_gradient`.",
}
ROUNDINGS: Final = {"Ceil": "math.ceil", "Floor": "floor", "Rint": "math.rint", "Round": "round", "Sign": "sign"}
AROUND_CODE: Final = """\
# forward as before, backward the identity:
hard = tf.{name}(z)
z = z + tf.stop_gradient(hard - z)"""


def advise_untrained(
    names: Sequence[str], confidence: float = 0.7, *, noun: str = "trainable variable"
) -> list[Hypothesis]:
    """What could be trained, and no optimizer is given, as the cause where nothing is learned."""
    if not names:
        return []
    n, are = say_count(len(names), noun), "is" if len(names) == 1 else "are"
    return [
        Hypothesis(
            f"Some {noun.rpartition(' ')[2]}s are never trained",
            confidence,
            f"{n} of the model {are} given to no optimizer: {list_names(list(names))}. They keep their initial values, "
            "and the rest of the model has to work with those. They are not frozen on purpose: `trainable = False` is "
            "not set. A list of `trainable_variables` that was read before they were unfrozen, or before a first call "
            "built them, does not contain them.",
            "Read `model.trainable_variables` after the last change to `trainable`, right before the step or inside "
            "it. Pass all of them to the tape and the optimizer.",
            UNTRAINED_CODE,
        )
    ]


def advise_untracked(names: Sequence[str], confidence: float = 0.7) -> list[Hypothesis]:
    """Variables that layers hold, and Keras does not train, as the cause where nothing is learned."""
    if not names:
        return []
    n, are = say_count(len(names), "variable"), "is" if len(names) == 1 else "are"
    return [
        Hypothesis(
            "Keras does not know of some variables",
            confidence,
            f"{n} of the model's layers {are} created with `tf.Variable`, which Keras 3 does not track: "
            f"{list_names(list(names))}. {'It is' if len(names) == 1 else 'They are'} not in "
            "`model.trainable_variables`, so no optimizer changes the initial values.",
            "Create each with `keras.Variable` or `self.add_weight(...)`, and check that it is in "
            "`model.trainable_variables`.",
            UNTRACKED_CODE,
            tuple(Change("variable", name, kind="Variable") for name in names),
        )
    ]


def advise_outside(slip: Mapping[str, Any]) -> Hypothesis:
    """A layer that another one's code calls by a name from outside, as the cause where nothing trains it."""
    name, layer, place = slip["name"], slip["layer"], say_line(slip.get("source"))
    if "held" in slip:
        return _advise_held(slip)
    is_lambda = slip["type"] == "Lambda"
    return Hypothesis(
        f"{layer} calls {name}, which no model holds{place}",
        0.95,
        f"Keras finds a layer's variables in its attributes. {name} is a name of the script that "
        f"{'the function of a Lambda layer' if is_lambda else f'the code of {layer}'} calls: it computes with its "
        "weights, but they are not in `model.trainable_variables`. So they keep their initial values, and are not "
        "saved with the model.",
        f"Call {name} on the Lambda's inputs, in front of it, so that it is a layer of the model."
        if is_lambda
        else f"Hold {name} as an attribute of the layer, and call that.",
        OUTSIDE_CODE.format(name=name) if is_lambda else HOLDING_CODE.format(name=name),
    )


def _advise_held(slip: Mapping[str, Any]) -> Hypothesis:
    """Layers within an object that is none."""
    name, layer, held = slip["name"], slip["layer"], str(slip["held"])
    is_function = held == "function"
    what = f"a {held}" if is_function else f"an object of class {held}"
    return Hypothesis(
        f"{layer} holds layers in {what}, where Keras does not find them{say_line(slip.get('source'))}",
        0.95,
        f"Keras finds a layer's variables in its attributes, and in layers, lists and dicts there. `{name}` is {what}, "
        "which is no layer: the variables of what it holds are not in `model.trainable_variables`, and no optimizer is "
        "given them. So they keep their initial values, and are not saved with the model.",
        f"Hold the layers that `{name}` calls as attributes of {layer} too."
        if is_function
        else f"Make {held} a `keras.layers.Layer` (call `super().__init__()` first, and rename `__call__` to `call`), "
        f"or hold its layers in a list of {layer}.",
        HELD_CODE.format(name=held if not is_function else "Block"),
    )


BLANK_CODE: Final = """\
table = model.get_layer({name!r}).get_weights()[0]
print((table == 0).mean())                                # fraction that is zero
print(sum(word in vectors for word in vocabulary))        # if filled from a file: how many words were found?
vector = vectors.get(word.lower())                        # look words up the way the file spells them"""


def _advise_blank(layer: str) -> Hypothesis:
    return Hypothesis(
        f"{layer} outputs only zeros",
        0.9,
        f"The output of {layer} has been all zeros since step 0, so later layers see nothing of the data. Often an "
        "embedding was filled from a file in which no word was found (case or accents differ), so its table stayed "
        "zero. Or its input is zero.",
        "Check its weights and one batch of its input. If words don't match the file, look them up the same way.",
        BLANK_CODE.format(name=layer.rpartition("/")[2]),
    )


def _advise_zeros(factors: list[str]) -> Hypothesis:
    return _advise_zero_factors(factors) if len(factors) > 1 else _advise_zero_start(factors[0])


def advise_zero(
    scene: Scene,
    *,
    is_half: bool,
    live_size: float,
    is_from_start: bool,
    is_everything: bool,
    fed_zeros: str | None,
    unread: list[str],
    cancelled: str | None,
    scorer: str | None,
    is_cut_off: bool,
    cut: Mapping[str, Any],
    output: tuple[float, float] | None,
    is_softmax_of_one: bool,
    factors: list[str],
    blank: str,
    closed: str,
) -> list[Hypothesis]:
    """Causes of gradients that are exactly zero, or rounding.

    Args:
        scene: the facts around it.
        is_half: whether anything is computed in float16.
        live_size: the root mean square of the other kernels' gradients, the largest; NaN where none is left.
        is_from_start: whether they were zero from the first row on.
        is_everything: whether no kernel has a gradient.
        fed_zeros: a layer whose whole input is known to be zero.
        unread: layers whose outputs are not zero, and that the loss does not depend on.
        cancelled: the last layer of which nothing but rounding is left, if they are no exact zeros.
        scorer: the last of the layers that nothing depends on, where it gives one number for each item of a sample.
        is_cut_off: whether these are all kernels from the input to some layer, and those behind it learn.
        cut: a sign through which alone the loss depends on them, or empty.
        output: the range of what the last layer gives, where no kernel has a gradient and the loss does not depend on
            that output.
        is_softmax_of_one: whether no kernel has a gradient, and the last layer puts a softmax on one number.
        factors: variables, kernels among them, that began with nothing but zeros and never moved.
        blank: a layer whose whole output is 0 from the start, though no function of its own makes it so; or empty.
        closed: the last layer, where no kernel has a gradient, and its relu alone gives nothing but 0; or empty.
    """
    masks = [slip for slip in scene.setup.slips if slip.get("type") in MASKING]
    is_far = scene.start.largest_input > FAR_INPUT
    if is_from_start and (masks or is_far):
        return [advise_mask(masks[0])] if masks else advise_scale(scene, 0.9, FLAT_WITH_INPUT)
    if cancelled is not None:
        return _advise_rounding(cancelled, scene)
    single = _find_single(scene) if is_from_start else None  # what cancels out may leave rounding errors, or none
    is_sole = is_from_start and is_everything and any("sole" in slip for slip in scene.setup.slips)
    if is_sole or is_softmax_of_one or single is not None:
        return [
            advise_sole()
            if is_sole
            else _advise_softmax_of_one()
            if is_softmax_of_one or single is None
            else _advise_single(single, "a layer")
        ]
    is_batch_of_one = (scene.start.n_samples == 1 and scene.has_states) or scene.start.has_lone_norm
    if cut or factors or blank or closed:
        return [
            _advise_cut(cut)
            if cut
            else _advise_zeros(factors)
            if factors
            else _advise_batch_of_one()
            if blank and is_batch_of_one
            else _advise_blank(blank)
            if blank
            else _advise_closed(closed),
        ]
    is_shown = fed_zeros is not None
    is_lost = is_everything or live_size < FLOAT16_SMALL
    is_underflow = is_half and is_lost and not is_shown and not scene.is_loss_scaled
    if output is not None and not is_underflow:
        return [*_advise_clipped(scene, *output), *_advise_flat_loss(*output)]
    is_other = is_shown or is_underflow or bool(unread)
    shown = f"The whole input of {fed_zeros} is exactly zero, so the layer before it is dead. "
    found = [
        Hypothesis(
            "Units that died: relu with only negative inputs",
            0.9 if is_shown else 0.2 if is_other else 0.3 if is_from_start else 0.7,
            (shown if is_shown else "")
            + "A relu whose input is always negative has slope 0 and never recovers by itself. One step that is too "
            "large can push a whole layer there.",
            "Use an activation function with a slope for negative inputs, and a smaller learning rate. Restart from "
            "before the units died.",
            DEAD_CODE,
        ),
        Hypothesis(
            "A clip, a `stop_gradient` or a constant on the way to the loss",
            0.2 if is_shown or is_underflow else 0.6 if is_from_start else 0.4,
            "`clip_by_value` outside its limits, `stop_gradient`, rounding, and a saturated softmax or sigmoid have "
            "slope exactly 0. The loss may still move, because other layers learn.",
            "Replace the hard limit with a smooth one, and look for operations without a slope.",
            CUT_CODE,
        ),
    ]
    if scorer is not None:
        found.append(_advise_cancelled(scorer, scene))
    if unread:
        found.append(_advise_cut_off(unread[-1]) if is_cut_off else _advise_unread(unread))
    if is_shown and is_batch_of_one:
        found.append(_advise_batch_of_one())
    if scene.is_thrown:
        found.append(advise_rate(scene, 0.95))
    if is_half:
        found.append(_advise_underflow(math.nan if is_everything else live_size, is_certain=is_underflow))
    if is_everything:
        found.append(
            Hypothesis(
                "The loss is constant",
                0.1 if is_shown or is_underflow else 0.4,
                "No kernel gets a gradient. Possible causes are a loss over an empty mask, a weight of 0 or labels "
                "outside the range.",
                "Check the loss's weights and masks, and that the labels fit the output.",
                CUT_CODE,
            )
        )
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


def advise_mask(slip: Mapping[str, Any]) -> Hypothesis:
    """A mask of attention that is inverted, as the cause where nothing is learned."""
    place = say_line(slip.get("source"))
    return Hypothesis(
        f"The mask of an attention is the wrong way round{place}",
        0.9,
        "A Keras mask is true at positions to attend to, and so is the mask in `where(mask, scores, -1e9)`. A mask "
        "that is multiplied by -1e9 and added is 1 at positions to hide. Here it is inverted.",
        "Invert the comparison, unless only positions that are 0 should be attended to.",
        MASK_CODE,
    )


def _advise_closed(layer: str) -> Hypothesis:
    return Hypothesis(
        f"The relu of the last layer, {layer}, gives nothing but 0",
        0.9,
        "A relu cannot output negative numbers. If targets are negative, or at first lower than the output, training "
        "pushes the output down until it is 0 for every sample. There the slope is 0 too, and nothing is learned any "
        "more.",
        "Remove the activation of the last layer. Only if targets are never negative, use `softplus` instead.",
        CLOSED_CODE,
        (Change("layer", layer, without=("activation",)),),
    )


def advise_sole() -> Hypothesis:
    """A cross-entropy over classes that is given one number of each sample, as the cause."""
    return Hypothesis(
        "The loss is one for several classes, and the model has one output",
        0.95,
        "The probabilities of all classes add up to 1, so that of a single class is always 1 and its loss 0, whatever "
        "the model outputs. What gradient is left does not depend on whether the output is right.",
        "With two classes and one output, use a binary cross-entropy. For more classes, give the last layer one output "
        "per class.",
        SOLE_CODE,
    )


def advise_one_step(short: Mapping[str, Any], *, is_repeated: bool) -> Hypothesis:
    """A recurrent layer that is given sequences of one step, as the cause; ``is_repeated``: in several calls."""
    if is_repeated:
        return Hypothesis(
            f"The state of {short['layer']} is not handed on from one call to the next",
            0.95,
            f"Each step of the training calls {short['layer']} several times, with one step of a sequence each. "
            "Without `initial_state`, each call begins with a state of 0: the recurrent kernel gets no gradient and "
            "never changes. The layer knows only what else its input tells of the steps before.",
            "Give each call the state that the call before returned.",
            HANDED_ON_CODE,
        )
    return Hypothesis(
        f"The steps of a sequence are fed as the features of a single step{say_line(short.get('source'))}",
        0.95,
        f"{short['layer']} reads axis 1 as time, and that axis has length 1. So there is no earlier step to remember: "
        "the recurrent kernel is multiplied by a state of 0, gets no gradient and never changes. What is left is a "
        "dense layer with gates.",
        "Put the steps on axis 1: `(samples, steps, features)`. If the columns are no sequence, use `Dense` layers "
        "instead of a recurrent one.",
        ONE_STEP_CODE,
    )


def _advise_softmax_of_one() -> Hypothesis:
    return Hypothesis(
        "A softmax on a single number",
        0.95,
        "The model outputs one number per sample, with a softmax on it, in the last layer or after it. A softmax over "
        "one number is always 1. So the output never changes, the loss does not depend on the weights, and there is no "
        "gradient.",
        "Use a sigmoid instead of the softmax. For more than two classes, give the last layer one output per class.",
        OUTPUT_CODE,
    )


def _advise_zero_factors(names: list[str]) -> Hypothesis:
    return Hypothesis(
        f"Factors of one product all began at exactly 0: {list_names(names)}",
        0.9,
        "The gradient of a factor is proportional to the other factor. If both are 0, neither gets a gradient, and "
        "both stay 0 forever. Nothing that reaches the loss only through them learns. One may start at 0, like the "
        "gate of a residual branch or one half of a low-rank pair; the other must not.",
        "Keep one at 0, and give the other its default random initializer.",
        FACTOR_CODE,
        _start_random(names[0]),
    )


def _start_random(name: str) -> tuple[Change, ...]:
    """The layer of a variable with Keras' own start."""
    layer = name.rpartition("/")[0]
    return (Change("layer", layer, without=("kernel_initializer", "embeddings_initializer")),)


def _advise_zero_start(name: str) -> Hypothesis:
    return Hypothesis(
        f"{name} began at exactly 0",
        0.85,
        "Its output is multiplied by itself or by something else that is 0, like the factors of a pair, or goes into a "
        "relu. At exactly 0 its gradient is 0, so it stays there forever, while the rest of the model learns without "
        "it.",
        'Remove `initializer="zeros"` from this one, so that it starts with random values. Biases and other offsets '
        "may begin at 0.",
        ZERO_START_CODE,
        _start_random(name),
    )


def advise_missing_logits(confidence: float, why: str) -> Hypothesis:
    """The cause of scores that a loss takes for probabilities."""
    return Hypothesis(
        "`from_logits=True` is missing: the loss takes scores for probabilities, and clips them",
        confidence,
        why,
        "Tell the loss that it gets logits, or end the model with a softmax. Do not do both.",
        MISSING_LOGITS_CODE,
        FROM_LOGITS,
    )


def _advise_clipped(scene: Scene, low: float, high: float) -> list[Hypothesis]:
    """The cause of outputs in this range, all of which lie beyond what the step bounds them by; none if they do not."""
    slip = next((one for one in scene.setup.slips if "clips" in one), None)
    if slip is None:
        return []
    least, most = slip["clips"]
    if least is not None and high <= least:
        beyond, limit = "below", say_number(least)
    elif most is not None and low >= most:
        beyond, limit = "above", say_number(most)
    else:
        return []
    place = say_line(slip.get("source"))
    return [
        Hypothesis(
            f"Outputs are clipped before the loss, and all lie {beyond} {limit}{place}",
            0.95,
            f"The outputs of the last layer range from {say_number(low)} to {say_number(high)}. What is clipped is "
            f"{limit} whatever the model gives, and has no gradient: nothing can bring it back.",
            "Leave the clip out of the loss, and clip predictions only where they are used. Or start inside: scale the "
            "targets, or begin with a bias near their mean.",
            CLIPPED_CODE,
        )
    ]


def _advise_flat_loss(low: float, high: float) -> list[Hypothesis]:
    """Causes of a loss that does not depend on what the model gives, which lies in this range."""
    is_outside = high <= 0 or low >= 1
    is_score = low < 0 or high > 1
    given = f"The outputs of the last layer range from {say_number(low)} to {say_number(high)}"
    bound = "lower" if high <= 0 else "upper"
    clipped = advise_missing_logits(
        0.9 if is_outside else 0.6 if is_score else 0.1,
        f"{given}"
        + (f", all beyond the {bound} limit of a probability" if is_outside else "")
        + ". A cross-entropy that expects probabilities clips its input to between 0 and 1. Outside these limits the "
        "slope is 0: no gradient comes back.",
    )
    constant = Hypothesis(
        "The loss is constant, or cut off from the model's output",
        0.5 if is_score else 0.7,
        f"{given}, and the gradient with respect to each was exactly 0. An empty mask, a weight of 0, rounding, an "
        "argmax or a `stop_gradient` between output and loss can cause this.",
        "Check the loss's weights and masks, and look for operations without a slope.",
        FLAT_LOSS_CODE,
    )
    return [clipped] if is_outside else sorted([clipped, constant], key=lambda hypothesis: -hypothesis.confidence)


def _advise_attention(layer: str) -> Hypothesis:
    return Hypothesis(
        f"{layer} only sees entries that are all alike: its mask is inverted, or leaves only the padding",
        0.8,
        "Its queries and keys make no difference: however the attention weights are distributed, the values are the "
        "same. This happens if the mask lets only padding through, or a single entry.",
        "Print the mask next to the entries, for one sample. In Keras, True means: attend to it.",
        MASK_CODE,
    )


def _advise_rounding(layer: str, scene: Scene) -> list[Hypothesis]:
    attention, _, part = layer.rpartition("/")
    if attention and part in ("key", "query"):  # as Keras names them
        return [_advise_attention(attention), replace(_advise_cancelled(layer, scene), confidence=0.3)]
    return [_advise_cancelled(layer, scene)]


def _find_single(scene: Scene) -> Mapping[str, Any] | None:
    return next(filter(is_single, scene.setup.slips), None)


def _advise_single(single: Mapping[str, Any], layer: str) -> Hypothesis:
    source = single.get("source")
    what = f"The softmax of {single['layer'] or layer}" if source is None else f"`{source['code']}`"
    return Hypothesis(
        f"A softmax runs over an axis of length one{say_line(source)}",
        0.95,
        f"{what} is given one number in its last axis, and a softmax over one number is always 1. Each item gets the "
        "same weight, whatever its score, and what computes the scores learns nothing.",
        "Set `axis` to the axis of the items.",
        SOFTMAX_AXIS_CODE,
    )


def _advise_cancelled(layer: str, scene: Scene) -> Hypothesis:
    single = _find_single(scene)
    if single is not None:
        return _advise_single(single, layer)
    return Hypothesis(
        f"The result after {layer} is always the same, whatever {layer} outputs: a softmax or a normalisation over an "
        "axis of length one",
        0.85,
        "A softmax over one number is always 1, and one number minus its own mean is always 0. Each item gets the same "
        "weight, whatever its score. In the backward pass the gradient cancels out, except for rounding errors at "
        "most.",
        f"Print the shape of the output of {layer}. The softmax, norm or mean after it must run over the axis of the "
        "items, not over their one score.",
        SOFTMAX_AXIS_CODE,
    )


def _advise_unread(layers: list[str]) -> Hypothesis:
    return Hypothesis(
        f"Nothing reads what {list_names(layers)} {'gives' if len(layers) == 1 else 'give'}",
        0.9,
        "The outputs are not zero, but the gradient with respect to them is. In every batch, something after them "
        "multiplies them by 0, masks them or chooses another branch. A router that has settled on a few experts does "
        "this; the others then never improve.",
        "Give every expert its share (noise in the gate, a balancing loss), or remove the mask or the branch.",
        BALANCE_CODE,
    )


def _advise_cut_off(layer: str) -> Hypothesis:
    return Hypothesis(
        f"An operation without a slope stands behind {layer}: sign, round, argmax, a cast or `stop_gradient`",
        0.9,
        f"Everything up to {layer} has an output but gets no gradient, and what comes after it learns. A step function "
        "has slope 0 wherever it has one, so nothing before it can learn.",
        "Use a straight-through estimator, or a smooth function during training.",
        STRAIGHT_CODE,
    )


def _advise_batch_of_one() -> Hypothesis:
    return Hypothesis(
        "Batch normalisation over a batch of one sample",
        0.95,
        "The mean over one sample is the sample itself. The difference is 0, whatever the input is, so the layer "
        "outputs a constant. Nothing before it gets a gradient.",
        "Use larger batches, or LayerNormalization or GroupNormalization.",
        "x = tf.keras.layers.LayerNormalization()(x)             # over the features of each sample",
    )


def _advise_underflow(live_size: float, *, is_certain: bool) -> Hypothesis:
    left = (
        "no gradient is left"
        if math.isnan(live_size)
        else f"what is left elsewhere is no larger than {say_number(live_size)} on average"
    )
    return Hypothesis(
        "Underflow in float16",
        0.92 if is_certain else 0.6,
        "float16 rounds everything below 3e-8 to 0, and gradients are often smaller. Without loss scaling they are "
        "lost." + (f" The model computes in float16, no loss scale is recorded, and {left}." if is_certain else ""),
        "Scale the loss, or use bfloat16.",
        UNDERFLOW_CODE,
    )

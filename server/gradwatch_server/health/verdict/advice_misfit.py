"""Causes and cures of parts that do not fit together: a layer and its targets, a penalty, a clip, a loss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gradwatch_server.health.baseline import Baseline
from gradwatch_server.health.book import KERNEL_NORM
from gradwatch_server.health.episode import (
    Collapsed,
    Dropped,
    Faint,
    Overclipped,
    Runaway,
    Squashed,
    Unheard,
    Unreachable,
)
from gradwatch_server.health.finding import Change, Hypothesis
from gradwatch_server.health.learning_rate import HIGH_RATIO, RATIO_LIMIT, USUAL_RATIO
from gradwatch_server.health.runaway import is_driven
from gradwatch_server.health.stale import Stale
from gradwatch_server.health.verdict.advice_fade import GAME_CODE
from gradwatch_server.health.verdict.advice_growth import (
    BOTTOM_CODE,
    FAR_INPUT,
    INITIAL_CODE,
    SIGN_CODE,
    advise_large_start,
    advise_missing_clip,
    advise_range,
    advise_rate,
    advise_scale,
    advise_small_inputs,
    advise_small_start,
    is_climbing,
    is_rate_negative,
    layers_of,
    start_as_usual,
)
from gradwatch_server.health.verdict.advice_zero import advise_missing_logits
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.scene import Scene
from gradwatch_server.health.verdict.spelling import list_names, say_number

__all__ = [
    "BETA_CODE",
    "MASKED",
    "advise_behind",
    "advise_by_heart",
    "advise_cap",
    "advise_collapsed",
    "advise_dropped",
    "advise_faint",
    "advise_inverted",
    "advise_overclipped",
    "advise_prior",
    "advise_runaway",
    "advise_shrunk",
    "advise_squashed",
    "advise_starved",
    "advise_stuck",
    "advise_summed",
    "advise_unheard",
    "advise_unreachable",
]

SHRUNK: Final = 0.1
"""A norm of the weights below this part of its start: they were made small, and with them the output."""

DIFFERENCES_LIMIT: Final = 5
SETTING_LIMIT: Final = 40
"""Settings that are named, and the characters of a value: the page's comparison has them all."""
LINEAR_CODE: Final = """\
# No activation on the last layer of a regression, in place of the one that is there:
output = tf.keras.layers.Dense(1)(x)
# and targets of about unit size, where they are not:
mean, spread = y_train.mean(), y_train.std()
model.fit(x_train, (y_train - mean) / spread)                   # predictions: mean + spread * model.predict(x)"""

BETA_CODE: Final = """\
# Both summed over all numbers of a sample (a mean over pixels makes the penalty hundreds of times too heavy):
error = tf.reduce_sum(error_of_each_pixel, axis=[1, 2])          # over all axes but the batch's
kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=-1)
loss = tf.reduce_mean(error + beta * kl)                         # beta: 0 at first, at most 1"""

DECAY_CODE: Final = """\
# Orders of magnitude less, on kernels only, until the penalty is a small part of the loss before training:
layer = tf.keras.layers.Dense(256, activation="relu", kernel_regularizer=tf.keras.regularizers.L2(1e-5))
print("penalty", float(tf.add_n(model.losses)))
# Where it is the optimizer's weight_decay (no regularizer beside it then): the same, 0.004 is usual"""

CLIP_CODE: Final = """\
# Clip near the usual norm, so that only outliers are cut; the rate sets the length of a step
optimizer = tf.keras.optimizers.SGD(0.05, global_clipnorm=1.0)"""

RESET_CODE: Final = """\
# After your own apply_gradients. sums: the variables in which your script adds gradients up
for one in sums:
    one.assign(tf.zeros_like(one))                        # else the next step takes these gradients once more"""
DATA_SCALE_CODE: Final = """\
low, high = data.min(), data.max()
data = 2.0 * (data - low) / (high - low) - 1.0                          # for tanh; for sigmoid without 2.0 and 1.0"""

MASK_CODE: Final = """\
is_token = tf.not_equal(ids, PAD)                                       # True where there is something to look at
x = attention(x, x, attention_mask=is_token[:, tf.newaxis, :])          # (batch, 1 or queries, keys)"""

APART_CODE: Final = """\
def cosine(a, b):
    a, b = tf.math.l2_normalize(a, axis=-1), tf.math.l2_normalize(b, axis=-1)
    return tf.reduce_mean(tf.reduce_sum(a * b, axis=-1))

# z_1, z_2: encodings of two views; p_1, p_2: what a predictor makes of them. Only the predicted side learns (SimSiam):
loss = -(cosine(p_1, tf.stop_gradient(z_2)) + cosine(p_2, tf.stop_gradient(z_1))) / 2
# Or add a term that keeps the samples of a batch apart (VICReg), of encodings of unit length:
variance = z_1.shape[-1] * tf.math.reduce_variance(tf.math.l2_normalize(z_1, axis=-1), axis=0)
loss += tf.reduce_mean(tf.nn.relu(1.0 - tf.sqrt(variance + 1e-4)))"""
VARIETY_CODE: Final = """\
# The discriminator sees how much the samples of a batch differ, as one more feature (x: [batch, features]):
spread = tf.reduce_mean(tf.sqrt(tf.math.reduce_variance(x, axis=0) + 1e-8))
x = tf.concat([x, tf.fill([tf.shape(x)[0], 1], spread)], axis=1)"""
BEST_CODE: Final = 'best = tf.keras.callbacks.ModelCheckpoint("best.keras", monitor="loss", save_best_only=True)'


def advise_unreachable(lead: Unreachable, layer: str) -> list[Hypothesis]:
    """Causes of targets that the last layer cannot give."""
    if lead.is_of_data:
        return [
            Hypothesis(
                f"The data are not on the scale of what {layer} gives",
                0.9,
                f"The data go from {say_number(lead.smallest)} to {say_number(lead.largest)}. What is judged beside "
                "them is told apart by its size alone: the discriminator wins, and what the generator hears is to grow "
                "beyond its end, where its function has no slope.",
                "Scale the data into the range of the activation, and back when samples are drawn; or leave it away.",
                DATA_SCALE_CODE,
            )
        ]
    return [
        Hypothesis(
            f"The activation of {layer} does not fit the targets: it cannot give them",
            0.9,
            f"Targets go from {say_number(lead.smallest)} to {say_number(lead.largest)}. The output is pressed against "
            "its end, where the function has no slope; then nothing learns any more, and the loss stays large.",
            "Leave the activation away; scale the targets where they are not scaled. Or scale them into its range.",
            LINEAR_CODE,
            (Change("layer", layer, without=("activation",)),),
        )
    ]


def advise_faint(lead: Faint, layer: str, scene: Scene) -> list[Hypothesis]:
    """Causes of a layer's output that shrank to next to nothing."""
    is_shrunk, ratio = lead.weight_factor < SHRUNK, scene.update_ratio
    is_thrown, is_far = ratio is not None and ratio > HIGH_RATIO, scene.start.largest_input > FAR_INPUT
    decay = Hypothesis(
        "Regularisation or weight decay outweighs the loss",
        0.9 if is_shrunk else 0.2,
        f"The norm of the kernels of {layer} is {say_number(lead.weight_factor)} of what it was at first."
        + _say_multiple(lead)
        if is_shrunk
        else "A penalty on all weights shrinks every layer alike.",
        "Lower the penalty, by orders of magnitude, until it is a small part of the loss.",
        DECAY_CODE,
        lower_penalty(scene),
    )
    seen = [
        *([decay] if is_shrunk else []),
        *([advise_rate(scene, 0.4 if is_shrunk else 0.85)] if is_thrown else []),
        *(advise_scale(scene, 0.9) if is_far else []),
        *advise_small_inputs(scene.start.largest_input, scene.start.prepared),
        *advise_large_start(scene),
    ]
    return sorted(seen, key=lambda hypothesis: -hypothesis.confidence) or [advise_prior(layer, 0.8), decay]


def _say_multiple(lead: Faint) -> str:
    if math.isnan(lead.multiple):
        return ""
    return (
        f" The gradient of the largest of these kernels is the kernel itself, times {say_number(lead.multiple)}: so is "
        f"that of an L2 penalty with the factor {say_number(lead.multiple / 2)}, and of the error next to nothing is "
        "left in it."
    )


def lower_penalty(scene: Scene) -> tuple[Change, ...]:
    """Penalties on weights, those that there are, at a usual size."""
    penalty = (("kernel_regularizer", "tf.keras.regularizers.L2(1e-5)"),)
    decay = Change("optimizer", instead=(("weight_decay", "0.004"),))
    return (decay, *(Change("layer", layer, instead=penalty) for layer in layers_of(scene)))


def advise_prior(layer: str, confidence: float) -> Hypothesis:
    """A penalty on what a layer gives, as the cause of its output's shrinking."""
    return Hypothesis(
        f"A penalty on the output of {layer} is stronger than the rest of the loss",
        confidence,
        "The layer's weights are not 0, but its output is about 0: a term of the loss is smallest there. In a "
        "variational autoencoder that is posterior collapse: the code carries no information, and the decoder gives "
        "the average of all samples.",
        "Sum the error over all numbers of a sample, as the penalty is, before both are added. If that is not enough, "
        "raise the penalty slowly over the first few hundred steps.",
        BETA_CODE,
    )


def advise_cap(cap: Mapping[str, Any]) -> Hypothesis:
    """A bound on the loss of each sample, beyond which it has no slope."""
    source = cap["source"]
    return Hypothesis(
        f"A cap on the loss gives up the samples that are furthest off{say_line(source)}",
        0.9,
        f"`{source['code']}` lets no sample count for more than {say_number(float(cap['limit']))}. Beyond that its "
        "loss has no slope: a sample that is far off, of a rare class perhaps, teaches nothing any more, and the mean "
        "looks better than it is.",
        "Take the cap away. Against single large steps clip the gradient's norm, which keeps its direction.",
        CAP_CODE,
    )


def advise_squashed(lead: Squashed, scene: Scene) -> list[Hypothesis]:
    """Causes of a function that gives hardly anything but its ends from the first step on."""
    if lead.table is not None and math.isnan(lead.gain):
        return _advise_large(lead.table.functions[lead.column] or "", scene)
    found = [
        Hypothesis(
            "The weights start too large for the depth",
            0.9,
            f"The kernel's standard deviation, times the root of the number of its inputs, is {say_number(lead.gain)}: "
            "a variance-keeping start has 1, and a tanh gives its ends for numbers beyond 3. A standard deviation "
            "that does not know how many inputs there are is too large for many.",
            "Use an initialiser that scales with the number of inputs.",
            INITIAL_CODE,
            () if lead.table is None else start_as_usual(lead.table.layer_of(lead.column)),
        )
    ]
    return [*found, *advise_scale(scene, 0.5)]


def advise_stuck(layer: str, scene: Scene) -> list[Hypothesis]:
    """Causes of gates without a slope."""
    ratio = scene.update_ratio
    effect = "A gate is a sigmoid, and has no slope beyond some 17: sums of such numbers are far beyond it."
    found = [
        *advise_scale(scene, 0.92, effect),
        Hypothesis(
            f"What {layer} is given, or its weights, are too large",
            0.6,
            "A gate has a slope while the sum that enters it is within about [-5, 5]. Large outputs of the layer "
            "before, a recurrent kernel that was not started orthogonal, or steps that threw the weights far out make "
            "it larger.",
            f"Normalise what {layer} is given, and start its weights as Keras does.",
            GATE_CODE,
            start_as_usual(layer),
        ),
    ]
    if ratio is not None and ratio > HIGH_RATIO:
        found.append(advise_rate(scene, 0.75))
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


GATE_CODE: Final = """\
x = tf.keras.layers.LayerNormalization()(x)              # before the recurrent layer, where numbers are large
x = tf.keras.layers.LSTM(64)(x)                          # without initializers of its own"""
TEMPERATURE_CODE: Final = """\
gate = tf.{function}(scores / temperature)                # a temperature near 1, as a rule none at all
# or, in place of the layer's own line, scores of about 1 whatever comes in:
self.normalise = tf.keras.layers.LayerNormalization()     # in __init__
gate = tf.{function}(self.normalise(scores))              # in call"""
ATTENTION_CODE: Final = """\
width = tf.cast(tf.shape(query)[-1], query.dtype)
scores = tf.matmul(query, key, transpose_b=True) / tf.sqrt(width)    # about 1, however wide they are
weights = tf.nn.softmax(scores)                                      # no temperature far below 1"""


def _advise_large(function: str, scene: Scene) -> list[Hypothesis]:
    """Why what enters a function in the user's own code is large from the first step on."""
    is_softmax = function == "softmax"
    because = (
        "Products of two vectors grow with their width, and are divided by its root for that; a temperature far "
        "below 1 multiplies them."
        if is_softmax
        else "A temperature far below 1, a factor before it, weights that start large, or a sum over many numbers "
        "where a mean is meant makes it larger."
    )
    return [
        *advise_scale(scene, 0.85),
        Hypothesis(
            f"What enters the {function} is too large",
            0.8,
            f"Numbers of about 1 are usual at the start, and leave a {function} between its ends. {because}",
            "Divide the scores by the root of their width, and keep a temperature near 1."
            if is_softmax
            else f"Take out what makes the input of the {function} large, or normalise it.",
            ATTENTION_CODE if is_softmax else TEMPERATURE_CODE.format(function=function),
        ),
    ]


def advise_shrunk(scene: Scene) -> list[Hypothesis]:
    """Kernels that were made small, all together, as the cause where nothing is learned."""
    norm, before = scene.testimony.known.read(KERNEL_NORM).newest, scene.start.kernel_norm
    if norm is None or not norm < SHRUNK * before:
        return []
    return [
        Hypothesis(
            "Regularisation or weight decay outweighs the loss",
            0.9,
            f"The norm of all kernels is {say_number(norm)}; it was {say_number(before)} at first. What they give "
            "shrinks with them, and so does the gradient.",
            "Lower the penalty, or the optimizer's `weight_decay`, until kernels keep their size.",
            DECAY_CODE,
            lower_penalty(scene),
        )
    ]


def _is_in_attention(layer: str, scene: Scene) -> bool:
    """Whether a layer stands beside the three projections that Keras' attention is made of."""
    table = scene.incident.lead.table
    attention = layer.rpartition("/")[0]
    parts = {f"{attention}/{name}" for name in ("query", "key", "value")}
    return bool(attention) and table is not None and parts <= set(table.layers)


OWN_CODE: Final = """\
logits = discriminator(generator(noise, training=True), training=True)
loss = loss_of(tf.ones_like(logits), logits)
gradients = tape.gradient(loss, generator.trainable_variables)            # the generator's alone
generator_optimizer.apply_gradients(zip(gradients, generator.trainable_variables))"""


def _advise_overstep(scene: Scene) -> list[Hypothesis]:
    """A player whose step trains the other too."""
    pair = scene.facts.find_overstep()
    if pair is None:
        return []
    one, other = (scene.facts.optimizers[number] for number in pair)
    n_both, n_all = len(scene.facts.trained[pair[1]]), len(scene.facts.trained[pair[0]])
    return [
        Hypothesis(
            f"The step of `{one}` trains what `{other}` trains as well: one player moves the other",
            0.85,
            f"Of the {n_all} variables that `{one}` is given, {n_both} are all that `{other}` trains. In a game each "
            "player moves its own weights: a generator's step that moves the discriminator teaches it to call real "
            "what is generated, and nothing is left to learn from.",
            "Ask the tape for the gradients of that player's own variables, and apply these alone.",
            OWN_CODE,
        )
    ]


LEVEL_SHARE: Final = 0.9
GUESS_RATIO: Final = 10 * USUAL_RATIO
"""Steps of that size are a suspect where what was a guess at first is one again, and nothing but."""


def advise_collapsed(lead: Collapsed, layer: str, scene: Scene) -> list[Hypothesis]:
    """Causes of a layer that gives the same for every sample."""
    faint = next((member for member in scene.incident.members if isinstance(member, Faint)), None)
    if faint is not None:  # a layer whose output, or kernel, shrank to nothing gives its biases
        return advise_faint(faint, layer, scene)
    loss, ratio = scene.testimony.known.read_loss(), scene.update_ratio
    is_lower = loss.initial is not None and loss.recent is not None and loss.recent < loss.initial
    is_game = len(scene.facts.optimizers) - len(scene.facts.replicas) > 1
    went = (
        ""
        if not is_lower
        else (
            f"The loss went from {say_number(loss.initial or 0.0)} to {say_number(loss.recent or 0.0)} as it happened. "
        )
    )
    table = lead.table
    is_sequence = table is not None and table.is_recurrent(layer)
    # A loss with targets holds samples apart; where the layer also reads a sequence, its end is the likelier cause.
    is_asked = is_sequence and table is not None and bool(table.entering("target"))
    # And where something is asked for and the loss is hardly below its start, no term of it has got what it wants.
    has_targets = table is not None and bool(table.entering("target"))
    is_guess = has_targets and is_lower and (loss.recent or 0.0) > LEVEL_SHARE * (loss.initial or 0.0)
    found = [
        Hypothesis(
            "The outputs collapse: nothing in the loss holds different samples apart",
            0.1 if is_asked else 0.25 if is_guess else 0.7 if is_lower and not is_game else 0.4,
            f"{went}A loss that only draws pairs together is smallest when everything is the same point: two views of "
            "a sample agree, and so does everything else.",
            "Let one side learn only (`tf.stop_gradient` on the other, and a predictor before the first), add pairs "
            "that must differ, or a term for the variance over the batch.",
            APART_CODE,
        ),
        Hypothesis(
            "A penalty outweighs what tells samples apart",
            0.1 if is_asked else (0.35 if (loss.initial or 0.0) > 0 else 0.1) if is_lower else 0.45,
            f"A penalty takes what {layer} makes of the input, and leaves what it gives for any input (its biases). In "
            "a variational autoencoder that is the posterior's collapse onto the prior: the decoder is told nothing of "
            "the input, and gives the mean of all samples.",
            "Sum both, error and penalty, over a sample before they are added, and raise the penalty slowly.",
            BETA_CODE,
        ),
    ]
    if _is_in_attention(layer, scene):
        found.append(
            Hypothesis(
                "The attention sees nothing of the sample: its mask is inverted, or leaves it the padding alone",
                0.65,
                f"{layer} belongs to an attention: it gives a mean over what the mask lets it see. In Keras "
                "`attention_mask` is True where a position may be looked at; many a padding mask says the opposite. "
                "What all samples have in common is then all that comes through.",
                "Print one row of the mask beside its tokens: it must be True at the tokens, and False at the padding.",
                MASK_CODE,
            )
        )
    if is_game:
        found += _advise_overstep(scene)
        found.append(
            Hypothesis(
                "Mode collapse: the generator makes one sample, whatever noise it is given",
                0.7,
                "Several optimizers train here. A generator that fools the discriminator with one sample has no reason "
                "to make others, unless the discriminator sees that all of a batch are alike.",
                "Show the discriminator how much a batch varies, or use a loss that measures the distance between the "
                "distributions (Wasserstein with a gradient penalty).",
                VARIETY_CODE,
            )
        )
    if ratio is not None and ratio > (GUESS_RATIO if is_guess else HIGH_RATIO):
        found.append(advise_rate(scene, 0.6 if ratio > RATIO_LIMIT else 0.5))
    if lead.is_at_ends:
        found.append(_advise_ends(layer))
    effect = "A feature that is far larger than the others is nearly the same in every sample, beside its own size."
    found += advise_scale(scene, 0.75 if scene.start.largest_input > FAR_INPUT else 0.35, effect)
    found += advise_small_inputs(scene.start.largest_input, scene.start.prepared)
    found += [*advise_small_start(scene), *advise_large_start(scene)]
    if is_sequence:
        found.append(
            Hypothesis(
                "The end of the sequence is the same for every sample: padding stands behind it, or it is too long",
                0.75,
                f"{layer} gives what it holds after the last step of the sequence. Where that step, and many before "
                "it, are padding, or where the sequence is longer than its memory, what came first is forgotten.",
                "Mask the padding, or pad in front; take the state at each sample's own end; shorten the sequence.",
                PADDING_CODE,
                MASKED,
            )
        )
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


MASKED: Final = (Change("layer", of="Embedding", given=(("mask_zero", "True"),)),)
PADDING_CODE: Final = """\
# Either: layers behind it pass the padding (0) over
x = tf.keras.layers.Embedding(n_words, 64, mask_zero=True)(words)
# or: what matters comes last
words = tf.keras.utils.pad_sequences(sequences, padding="pre")"""


ENDS_CODE: Final = """\
# Keep what enters a tanh within about [-2, 2]: scale the inputs, normalise sums, start with smaller weights
mean = tf.matmul(adjacency / tf.reduce_sum(adjacency, axis=-1, keepdims=True), h)      # a mean, not a sum
h = tf.tanh(tf.keras.layers.LayerNormalization()(mean))"""


def _advise_ends(layer: str) -> Hypothesis:
    return Hypothesis(
        f"{layer} is saturated: nearly all that it gives lies at its two ends",
        0.85,
        "What enters a tanh or the like is far beyond the range in which it has a slope: each unit is at one end or "
        "the other, the same for every sample, and hardly any gradient comes back through it.",
        "Make what enters it smaller: scaled inputs, a mean in place of a sum, smaller weights, a normalisation before "
        "it.",
        ENDS_CODE,
    )


CAP_CODE: Final = """\
loss = tf.reduce_mean(loss_of_each)                      # without tf.minimum or tf.clip_by_value around it
optimizer = tf.keras.optimizers.Adam(1e-3, clipnorm=1.0)"""
TERMS_CODE: Final = """\
# Targets that are numbers: of unit spread, so that their squared error begins near 1
y_train = (y_train - y_train.mean(axis=0)) / y_train.std(axis=0)
# Or weigh the terms, each by about one over its value in the first steps
loss = 1e-4 * large + 1.0 * small                        # in a step of your own; with Keras' own step:
model.compile(optimizer=optimizer, loss=losses, loss_weights={"large": 1e-4, "small": 1.0})"""


def advise_unheard(lead: Unheard) -> list[Hypothesis]:
    """Causes of a loss that takes nothing of most samples."""
    return [
        advise_missing_logits(
            0.85,
            f"The last layer has no activation and gave numbers from {say_number(lead.low)} to {say_number(lead.high)}."
            " A cross-entropy that expects probabilities clips a score below 0, which then gets no gradient; a sample "
            "whose scores are all clipped teaches nothing.",
        ),
        Hypothesis(
            "A weight or a mask of 0 leaves samples out of the loss",
            0.1,
            "A sample weight or a mask of 0 has the same effect, and may be meant.",
            "Look at the sample weights that the loss is given.",
            "print(sample_weight.min(), (sample_weight == 0).mean())   # the share that is left out",
        ),
    ]


INVERTED_CODE: Final = """\
# losses: one for each place, before any mean
mask = tf.cast(tf.not_equal(labels, 0), losses.dtype)      # true where something is labelled, not where nothing is
loss = tf.reduce_sum(losses * mask) / tf.maximum(tf.reduce_sum(mask), 1.0)"""


def advise_inverted() -> list[Hypothesis]:
    """Causes of a loss that is taken of what is labelled 0 alone."""
    return [
        Hypothesis(
            "The mask of the loss keeps the padding and leaves the rest out",
            0.93,
            "To say that a place is padding is learned in a few steps. The loss falls to almost nothing, and no label "
            "was ever asked for.",
            "Turn the mask round: 1 where there is a label, 0 where there is padding.",
            INVERTED_CODE,
        )
    ]


def advise_dropped(lead: Dropped, layers: Sequence[str]) -> list[Hypothesis]:
    """Causes of a layer that drops nearly all it is given."""
    kept, dropped = say_number(round(lead.kept, 2)), say_number(round(1 - lead.kept, 2))
    return [
        Hypothesis(
            "The dropout rate is too high: it may be the share to keep, given as the share to drop",
            0.9,
            f"About {dropped} of the elements is dropped at each step. Rates of 0.1 to 0.5 are usual, and "
            "`tf.keras.layers.Dropout` takes the share that is dropped.",
            "Give the share to drop, in every dropout layer.",
            f"tf.keras.layers.Dropout({kept})            # the share to drop; {dropped} here",
            tuple(Change("layer", layer, instead=(("rate", kept),)) for layer in layers),
        )
    ]


def advise_starved(layer: str, scene: Scene) -> list[Hypothesis]:
    """Causes of kernels that hardly move while the others do."""
    clipped = scene.clipped_share
    is_clipped = clipped is not None and clipped > 0
    why = f"What {layer} is asked to learn weighs next to nothing in the gradient of the whole. "
    if is_clipped:
        why += "Clipping by the global norm shortens all gradients by the same factor, and the largest sets it."
    else:
        why += "The learning rate that suits the largest is far too small for it."
    return [
        Hypothesis(
            "Terms of the loss of very different size: the largest leaves the others nothing",
            0.8,
            why,
            "Scale the targets, or weigh the terms, so that they are of about the same size.",
            TERMS_CODE,
        ),
        Hypothesis(
            f"{layer} has a learning rate of its own, or is held back on purpose",
            0.15,
            "A multiplier on the gradient or the rate of some layers does the same.",
            "Raise it, if that layer is meant to learn.",
            "",
        ),
    ]


def advise_overclipped(lead: Overclipped, scene: Scene) -> list[Hypothesis]:
    """Causes of a gradient of which clipping leaves next to nothing."""
    ratio = scene.update_ratio
    why = f"The gradient's norm is about {say_number(lead.norm)}, and {say_number(lead.left)} of it is left. "
    if ratio is not None:
        why += f"Updates are at most {say_number(ratio)} of the weights, where {USUAL_RATIO:g} is usual. "
    return [
        Hypothesis(
            "The limit of the clipping is far below the usual gradient",
            0.9,
            why + "A limit that always acts is no guard against outliers: it has become the length of every step.",
            "Set the limit near the usual norm.",
            CLIP_CODE,
            (Change("optimizer", instead=(("global_clipnorm", f"{lead.norm:.1g}"),)),),
        )
    ]


def advise_summed() -> list[Hypothesis]:
    """Causes of gradients that add up."""
    return [
        Hypothesis(
            "The gradients that are applied are not those of the batch: sums that are never set back to zero",
            0.9,
            "Where gradients are added up, over batches or parts of one, and the sums are not cleared once they are "
            "applied, every old gradient goes into every later step. That is a momentum without any friction: the "
            "weights swing or run away, however small the rate.",
            "Set the sums back to zero after each step (`assign`; `=` only binds the Python name to something else), "
            "and train from the start. If nothing is meant to be added up, apply the gradients of the batch.",
            RESET_CODE,
        ),
        Hypothesis(
            "The script averages gradients over very many steps",
            0.1,
            "An average of the script's own with a memory of a hundred steps and more looks like a sum for as long.",
            "Leave averages to the optimizer's momentum.",
            RESET_CODE,
        ),
    ]


BY_HEART_CODE: Final = """\
# The same batch through both ways: these two numbers must be alike (dropout and augmentation apart)
print(model.evaluate(x_train[:256], y_train[:256], verbose=0))
print(model.evaluate(x_val[:256], y_val[:256], verbose=0))
for x, y in ((x_train, y_train), (x_val, y_val)):
    print(x.mean(axis=0)[:5], x.std(axis=0)[:5], np.unique(y, return_counts=True))"""


def advise_by_heart() -> list[Hypothesis]:
    """Causes of what is learned of the training data and of no others."""
    return [
        Hypothesis(
            "The labels do not belong to the inputs: they are learned by heart",
            0.55,
            "A network with more weights than samples learns any labels, sample by sample, if it sees them often. "
            "Shuffling inputs and labels apart, a join on the wrong key or a wrong column do that.",
            "Look at a few samples with their labels as they enter `fit`.",
            BY_HEART_CODE,
        ),
        Hypothesis(
            "The validation data are prepared otherwise than the training data",
            0.5,
            "Scaled by other numbers, with classes in another order, from another source, or not scaled at all: then "
            "what was learned does not apply to them.",
            "Send both through one and the same function, with the numbers of the training data.",
            BY_HEART_CODE,
        ),
        Hypothesis(
            "There are too few samples for so large a model",
            0.3,
            "Then what is learned is these samples, and not what they have in common.",
            "A smaller model, dropout, augmentation, or more data.",
            BY_HEART_CODE,
        ),
    ]


def advise_relapse(scene: Scene, stale: Stale | None) -> list[Hypothesis]:
    """Causes of a loss that comes back to where it began; ``stale``: a gradient that has been the same for long."""
    if stale is not None:
        return [
            Hypothesis(
                "The gradients that are applied are not those of the batch: sums that are never set back to zero",
                0.95,
                f"Two batches hardly ever have the same gradient. These had for {stale.n_rows:,} steps, and it is not "
                f"0: its norm is {say_number(stale.norm)}. Where gradients are added up, over batches or parts of one, "
                "and the sums are not cleared once they are applied, old gradients go into every later step.",
                "Set the sums back to zero after each step, and train from the start.",
                RESET_CODE,
            )
        ]
    ratio = scene.update_ratio
    found = [
        advise_rate(scene, 0.7 if ratio is not None and ratio > RATIO_LIMIT else 0.5),
        Hypothesis(
            "Something else than the gradient of the batch moves the weights",
            0.4,
            "Gradients that are added up and never set back to zero, momentum near 1, or averaged or older weights "
            "that are put into the model lead training away from what it has found.",
            "Look at what the script does with gradients and weights beside `apply_gradients`, and at whether the data "
            "change. Keep the best weights meanwhile.",
            BEST_CODE,
        ),
    ]
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


def advise_behind(before: Baseline) -> list[Hypothesis]:
    """Causes of a loss that does not come down as it did before."""
    shown = before.differences[:DIFFERENCES_LIMIT]
    if not shown:
        return [
            Hypothesis(
                "The code or the data were changed since the last healthy run",
                0.7,
                f"This run was given the same settings as {before.name} ({before.run}), with which the loss came down. "
                "Only settings are compared here; a change of the code or the data is not seen.",
                "Compare the script and the data with those of that run; if nothing was changed, train with another "
                "seed before you look further.",
                "",
            )
        ]
    changes = ", ".join(f"{key} ({_say_setting(here)}, there {_say_setting(there)})" for key, there, here in shown)
    n_more = len(before.differences) - len(shown)
    return [
        Hypothesis(
            "A setting that was changed since the last healthy run keeps it from learning: "
            + list_names([key for key, *_ in shown]),
            0.7,
            f"With the settings of {before.name} ({before.run}) the loss came down. Not the same here: {changes}"
            + (f", and {n_more} more." if n_more else "."),
            "Set them back one at a time, what steers the optimizer first, and see each time whether the loss comes "
            "down.",
            "\n".join(f"# {key}: {_say_setting(here)} here, {_say_setting(there)} there" for key, there, here in shown),
        ),
        Hypothesis(
            "The code or the data were changed since the last healthy run",
            0.3,
            "Only settings are compared here; a change of the code or the data is not seen.",
            "Compare the script and the data with those of that run. If this is meant to be another task, dismiss this "
            "finding: later runs are compared with this one then.",
            "",
        ),
    ]


def _say_setting(value: Any) -> str:
    text = "not set" if value is None else repr(value)
    return text if len(text) <= SETTING_LIMIT else f"{text[:SETTING_LIMIT]}…"


def advise_runaway(lead: Runaway, scene: Scene, *, is_game: bool) -> list[Hypothesis]:
    """Causes of a loss that runs away."""
    is_down = lead.level < 0
    bottomless = Hypothesis(
        "The loss has no lower bound, and training follows it down",
        0.9,
        f"It went from {say_number(lead.start)} to {say_number(lead.level)}. "
        + (
            "Between two models that play against each other nothing but a constraint keeps the scores in bounds: "
            "larger weights are always better for one side."
            if is_game
            else "Where nothing ends it, larger weights always make it smaller."
        ),
        "Bound it: a gradient penalty or spectral normalisation for a critic, a floor under a variance.",
        BOTTOM_CODE if not is_game else BOTTOM_CODE + "\n\n" + GAME_CODE,
    )
    climbs = Hypothesis(
        "A sign is wrong: the loss is climbed instead of descended",
        0.2 if is_down else 0.45,
        "A loss that only grows, with steps of a usual size, is what its negative would do. A likelihood or a reward "
        "without its minus, or a gradient that is added, does that.",
        "Minimise the negative of what should grow.",
        SIGN_CODE,
    )
    rate = advise_rate(scene, 0.3 if is_down else 0.7 if is_driven(lead) else 0.6)
    if is_climbing(scene) or is_rate_negative(scene):
        found = [rate]
    else:
        found = [*(advise_range(scene) if is_down else []), *([bottomless] if is_down or is_game else []), climbs, rate]
    if is_driven(lead) and not is_down and scene.clipped_share is None:
        found.append(advise_missing_clip(0.55))
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)

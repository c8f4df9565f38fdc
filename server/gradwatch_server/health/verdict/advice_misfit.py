"""Causes and cures of parts that do not fit together: a layer and its targets, a penalty, a clip, a loss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gradwatch_server.health.baseline import Baseline
from gradwatch_server.health.book import KERNEL_NORM
from gradwatch_server.health.credibility import FALLEN_SHARE
from gradwatch_server.health.episode import (
    SMALL_WEIGHTS,
    Collapsed,
    Dropped,
    Faint,
    Growth,
    Overclipped,
    Padded,
    Runaway,
    Squashed,
    Unheard,
    Unreachable,
    Unrelated,
    Unskilled,
)
from gradwatch_server.health.finding import Change, Hypothesis
from gradwatch_server.health.learning_rate import HIGH_RATIO, RATIO_LIMIT, USUAL_RATIO
from gradwatch_server.health.runaway import is_driven
from gradwatch_server.health.stale import Stale
from gradwatch_server.health.unit import RECTIFYING
from gradwatch_server.health.verdict.advice_fade import GAME_CODE
from gradwatch_server.health.verdict.advice_growth import (
    BOTTOM_CODE,
    FAR_INPUT,
    INITIAL_CODE,
    SIGN_CODE,
    advise_adaptive_rate,
    advise_classes,
    advise_far_inputs,
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
from gradwatch_server.health.verdict.advice_zero import advise_died, advise_missing_logits
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.scene import Scene
from gradwatch_server.health.verdict.spelling import list_names, say_number

__all__ = [
    "BETA_CODE",
    "LABELS",
    "MASKED",
    "advise_behind",
    "advise_by_heart",
    "advise_cap",
    "advise_collapsed",
    "advise_dropped",
    "advise_faint",
    "advise_inverted",
    "advise_labels",
    "advise_overclipped",
    "advise_overstep",
    "advise_padded",
    "advise_posterior",
    "advise_prior",
    "advise_runaway",
    "advise_shrunk",
    "advise_squashed",
    "advise_starved",
    "advise_strangers",
    "advise_stuck",
    "advise_summed",
    "advise_unheard",
    "advise_unreachable",
    "advise_unreduced",
    "is_of_cross_entropy",
    "say_losing",
]


FAR_BELOW: Final = 2.0
"""Below minus this lies no cosine or correlation either, which a loss of the other sign is to make large."""

LABELS: Final = "The labels do not belong to the inputs, or carry nothing that the model can learn"
"""A cause that `linear_fit` bears out, or rules out."""

DIFFERENCES_LIMIT: Final = 5
SETTING_LIMIT: Final = 40
"""Settings that are named, and the characters of a value: the page's comparison has them all."""
LINEAR_CODE: Final = """\
# In a regression, replace the last layer by one without an activation:
output = tf.keras.layers.Dense(1)(x)
# and scale the targets to about unit size, if they are not:
mean, spread = y_train.mean(), y_train.std()
model.fit(x_train, (y_train - mean) / spread)                   # predictions: mean + spread * model.predict(x)"""

BETA_CODE: Final = """\
# Both are sums over a sample: a mean of the error makes the KL term as many times too heavy as a sample has elements.
error = tf.reduce_sum(tf.square(x - y), axis=-1)             # reduce_sum, not reduce_mean; of images axis=[1, 2, 3]
kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=-1)
loss = tf.reduce_mean(error + kl)                            # over the batch"""

DECAY_CODE: Final = """\
# Orders of magnitude lower, on kernels only, until the penalty is a small part of the loss before training:
layer = tf.keras.layers.Dense(256, activation="relu", kernel_regularizer=tf.keras.regularizers.L2(1e-5))
print("penalty", float(tf.add_n(model.losses)))
# If it is the optimizer's weight_decay (then without a regularizer): lower it too, 0.004 is usual"""

CLIP_CODE: Final = """\
# Clip near the usual norm, so that only outliers are clipped; the learning rate sets the step size
optimizer = tf.keras.optimizers.SGD(0.05, global_clipnorm=1.0)"""

RESET_CODE: Final = """\
# After your own apply_gradients. sums: the variables in which your script accumulates gradients
for one in sums:
    one.assign(tf.zeros_like(one))                        # else the next step applies these gradients again"""
DATA_SCALE_CODE: Final = """\
low, high = data.min(), data.max()
data = 2.0 * (data - low) / (high - low) - 1.0                          # for tanh; for sigmoid drop 2.0 and 1.0"""

MASK_CODE: Final = """\
is_token = tf.not_equal(ids, PAD)                                       # True at tokens, False at padding
x = attention(x, x, attention_mask=is_token[:, tf.newaxis, :])          # (batch, 1 or queries, keys)"""

APART_CODE: Final = """\
def cosine(a, b):
    a, b = tf.math.l2_normalize(a, axis=-1), tf.math.l2_normalize(b, axis=-1)
    return tf.reduce_mean(tf.reduce_sum(a * b, axis=-1))

# z_1, z_2: encodings of two views; p_1, p_2: a predictor's outputs for them. Only the predicted side learns (SimSiam):
loss = -(cosine(p_1, tf.stop_gradient(z_2)) + cosine(p_2, tf.stop_gradient(z_1))) / 2
# Or add a term that keeps the samples of a batch apart (VICReg), for encodings of unit length:
variance = z_1.shape[-1] * tf.math.reduce_variance(tf.math.l2_normalize(z_1, axis=-1), axis=0)
loss += tf.reduce_mean(tf.nn.relu(1.0 - tf.sqrt(variance + 1e-4)))"""
VARIETY_CODE: Final = """\
# Show the discriminator how much the samples of a batch differ, as an extra feature (x: [batch, features]):
spread = tf.reduce_mean(tf.sqrt(tf.math.reduce_variance(x, axis=0) + 1e-8))
x = tf.concat([x, tf.fill([tf.shape(x)[0], 1], spread)], axis=1)"""
BEST_CODE: Final = 'best = tf.keras.callbacks.ModelCheckpoint("best.keras", monitor="loss", save_best_only=True)'


SHARES_CODE: Final = """\
y = y / 100            # percent become shares, in the training and wherever it is evaluated
# counts: tf.keras.losses.Poisson(), and a last layer with activation="exponential\""""
SOFTMAX_CODE: Final = """\
tf.keras.layers.Dense(n_classes, activation="softmax")           # the last layer: one probability for each class
model.compile(optimizer, loss="sparse_categorical_crossentropy")"""
SIGNS_CODE: Final = """\
y = (y + 1) / 2        # -1 and 1 become 0 and 1, in the training and wherever it is evaluated
# or, for the labels as they are: tf.keras.losses.Hinge(), and a last layer without an activation"""


def is_of_cross_entropy(lead: Unreachable, scene: Scene) -> bool:
    """Whether probabilities are asked for, and a loss that no error can give, below 0, is far there or has run away."""
    loss, others = scene.testimony.known.read_loss(), scene.incident.followers
    newest = scene.facts.newest_loss(lead.stream) or (0, 0.0)
    lowest = min(loss.initial or 0.0, loss.recent or 0.0, scene.testimony.onset.read_loss().recent or 0.0, newest[1])
    is_far = lowest < -FAR_BELOW or (lowest < 0 and any(isinstance(one, (Growth, Runaway)) for one in others))
    return (lead.low, lead.high) == (0, 1) and is_far


def advise_unreachable(
    lead: Unreachable, layer: str, *, is_entropy: bool, are_classes: bool = False
) -> list[Hypothesis]:
    """Causes of targets that the last layer cannot give, which a cross-entropy may be given, or classes be."""
    are_classes &= (lead.low, lead.high) == (0, 1) and not lead.is_of_data
    if is_entropy:
        return [
            *([advise_classes(SOFTMAX_CODE)] if are_classes else []),
            Hypothesis(
                f"A cross-entropy is given labels from {say_number(lead.smallest)} to {say_number(lead.largest)}: they "
                f"must be {'0 and 1' if lead.smallest < 0 else 'from 0 to 1'}",
                0.5 if are_classes else 0.95,
                "With a label from 0 to 1 it is never below 0, and lowest where the output is the label. With a label "
                "outside, it goes below 0 and keeps falling, and the weights keep growing.",
                "Give it labels of 0 and 1, or take a loss for labels of -1 and 1."
                if lead.smallest < 0
                else "Give it shares from 0 to 1, not percent or counts; for counts take a loss for counts.",
                SIGNS_CODE if lead.smallest < 0 else SHARES_CODE,
            ),
        ]
    if lead.is_of_data:
        return [
            Hypothesis(
                f"The data are not on the scale of what {layer} gives",
                0.9,
                f"The data range from {say_number(lead.smallest)} to {say_number(lead.largest)}. The discriminator "
                "tells generated samples from them by size alone, so it wins. The generator is then pushed to grow "
                "beyond the end of its range, where its activation has no slope.",
                "Scale the data into the range of the activation, and scale samples back when you draw them. Or "
                "remove the activation.",
                DATA_SCALE_CODE,
            )
        ]
    return [
        Hypothesis(
            f"The activation of {layer} does not fit the targets: it cannot reach them",
            0.9,
            f"The targets range from {say_number(lead.smallest)} to {say_number(lead.largest)}. The output is pushed "
            "to the end of its range, where the activation has no slope. Then nothing learns any more, and the loss "
            "stays large.",
            "Remove the activation, and scale the targets if they are not scaled. Or scale them into its range.",
            LINEAR_CODE,
            (Change("layer", layer, without=("activation",)),),
        ),
        *([advise_classes(SOFTMAX_CODE, 0.5)] if are_classes else []),
    ]


def advise_faint(lead: Faint, layer: str, scene: Scene) -> list[Hypothesis]:
    """Causes of a layer's output that shrank to next to nothing."""
    is_shrunk, ratio = lead.is_made_small, scene.update_ratio
    is_thrown = ratio is not None and ratio > HIGH_RATIO
    decay = Hypothesis(
        "Regularisation or weight decay outweighs the loss",
        0.9 if is_shrunk else 0.2,
        f"The norm of the kernels of {layer} is {say_number(lead.weight_factor)} of its initial value."
        + _say_multiple(lead)
        if is_shrunk
        else "A penalty on all weights shrinks every layer alike.",
        "Lower the penalty by orders of magnitude, until it is a small part of the loss.",
        DECAY_CODE,
        lower_penalty(scene),
    )
    loss = scene.testimony.known.read_loss()
    has_fallen = loss.initial is not None and loss.recent is not None and loss.recent < FALLEN_SHARE * loss.initial
    may_have_died = lead.table is not None and lead.table.functions[lead.column] in RECTIFYING and not has_fallen
    died = [*advise_adaptive_rate(scene), advise_died([layer], is_first_row=False), advise_prior(layer, 0.5)]
    seen = [
        *([decay] if is_shrunk else []),
        *([advise_rate(scene, 0.4 if is_shrunk else 0.85)] if is_thrown else []),
        *(died if may_have_died and not (is_shrunk or is_thrown) else []),
        *advise_far_inputs(scene, 0.9),
        *advise_small_inputs(scene.start.largest_input, scene.start.prepared),
        *advise_large_start(scene),
    ]
    return sorted(seen, key=lambda hypothesis: -hypothesis.confidence) or [advise_prior(layer, 0.8), decay]


def _say_multiple(lead: Faint) -> str:
    if math.isnan(lead.multiple):
        return ""
    return (
        f" The gradient of the largest of these kernels is the kernel itself, times {say_number(lead.multiple)}: so is "
        f"that of an L2 penalty with the factor {say_number(lead.multiple / 2)}. Next to nothing of the error is left "
        "in it."
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
        "variational autoencoder this is posterior collapse: the code carries no information, and the decoder outputs "
        "the average of all samples.",
        "Sum the error over all elements of a sample, as the penalty is, before adding both. If that is not enough, "
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
        "loss has no slope: a sample that is far off, perhaps of a rare class, teaches the model nothing. The mean "
        "looks better than it is.",
        "Remove the cap. Against single large steps, clip the gradient norm instead: that keeps the direction.",
        CAP_CODE,
    )


def advise_posterior(layer: str) -> list[Hypothesis]:
    """Causes of a latent code that is the prior for every sample."""
    return [
        Hypothesis(
            f"A penalty on the output of {layer} (the KL term) outweighs the reconstruction error",
            0.8,
            "The KL term costs more than better reconstruction saves. Usual reason: it is summed over the code, but "
            "the error is averaged over pixels or features, so the error counts far too little.",
            "Sum both per sample, then average over the batch; or warm up the weight of the KL term from 0.",
            BETA_CODE,
        ),
    ]


def advise_squashed(lead: Squashed, scene: Scene) -> list[Hypothesis]:
    """Causes of a function that gives hardly anything but its ends from the first step on."""
    if lead.table is not None and math.isnan(lead.gain):
        return _advise_large(lead.table.functions[lead.column] or "", scene)
    found = [
        Hypothesis(
            "The weights start too large for the depth",
            0.9,
            "The kernel's standard deviation, times the square root of its number of inputs, is "
            f"{say_number(lead.gain)}. A variance-preserving initializer gives 1, and a tanh saturates beyond 3. A "
            "standard deviation that does not depend on the number of inputs is too large for many inputs.",
            "Use an initializer that scales with the number of inputs.",
            INITIAL_CODE,
            () if lead.table is None else start_as_usual(lead.table.layer_of(lead.column)),
        )
    ]
    return [*found, *advise_scale(scene, 0.5)]


def advise_stuck(layer: str, scene: Scene) -> list[Hypothesis]:
    """Causes of gates without a slope."""
    ratio = scene.update_ratio
    effect = "A gate is a sigmoid, and has no slope beyond about 17. Sums of such numbers are far beyond that."
    found = [
        *advise_scale(scene, 0.92, effect),
        Hypothesis(
            f"What {layer} is given, or its weights, are too large",
            0.6,
            "A gate has a slope only if its pre-activation is within about [-5, 5]. Large outputs of the previous "
            "layer, a recurrent kernel without an orthogonal initializer, or steps that threw the weights far out "
            "make it larger.",
            f"Normalise the input of {layer}, and use Keras' default initializers.",
            GATE_CODE,
            start_as_usual(layer),
        ),
    ]
    if ratio is not None and ratio > HIGH_RATIO:
        found.append(advise_rate(scene, 0.75))
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


GATE_CODE: Final = """\
x = tf.keras.layers.LayerNormalization()(x)              # before the recurrent layer, if its inputs are large
x = tf.keras.layers.LSTM(64)(x)                          # with the default initializers"""
TEMPERATURE_CODE: Final = """\
gate = tf.{function}(scores / temperature)                # a temperature near 1, usually none at all
# or, instead of the layer's own line, scores of about 1 for any input:
self.normalise = tf.keras.layers.LayerNormalization()     # in __init__
gate = tf.{function}(self.normalise(scores))              # in call"""
ATTENTION_CODE: Final = """\
width = tf.cast(tf.shape(query)[-1], query.dtype)
scores = tf.matmul(query, key, transpose_b=True) / tf.sqrt(width)    # about 1, for any width
weights = tf.nn.softmax(scores)                                      # no temperature far below 1"""


def _advise_large(function: str, scene: Scene) -> list[Hypothesis]:
    """Why what enters a function in the user's own code is large from the first step on."""
    is_softmax = function == "softmax"
    because = (
        "Dot products of two vectors grow with their width, so they are divided by its square root. A temperature far "
        "below 1 multiplies them."
        if is_softmax
        else "A temperature far below 1, a factor before it, large initial weights, or a sum over many numbers instead "
        "of a mean makes it larger."
    )
    return [
        *advise_scale(scene, 0.85),
        Hypothesis(
            f"What enters the {function} is too large",
            0.8,
            f"Inputs of about 1 are usual at the start, and keep a {function} between its ends. {because}",
            "Divide the scores by the square root of their width, and keep the temperature near 1."
            if is_softmax
            else f"Remove what makes the input of the {function} large, or normalise it.",
            ATTENTION_CODE if is_softmax else TEMPERATURE_CODE.format(function=function),
        ),
    ]


def advise_shrunk(scene: Scene) -> list[Hypothesis]:
    """Kernels that were made small, all together, as the cause where nothing is learned."""
    norm, before = scene.testimony.known.read(KERNEL_NORM).newest, scene.start.kernel_norm
    if norm is None or not norm < SMALL_WEIGHTS * before:
        return []
    return [
        Hypothesis(
            "Regularisation or weight decay outweighs the loss",
            0.9,
            f"The norm of all kernels is {say_number(norm)}; it was {say_number(before)} at first. Their outputs "
            "shrink with them, and so does the gradient.",
            "Lower the penalty, or the optimizer's `weight_decay`, until the kernels keep their size.",
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
gradients = tape.gradient(loss, generator.trainable_variables)            # the generator's only
generator_optimizer.apply_gradients(zip(gradients, generator.trainable_variables))"""


def advise_overstep(scene: Scene) -> list[Hypothesis]:
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
            f"`{one}` is given {n_all} variables, among them all {n_both} that `{other}` trains. In a game each "
            "player moves only its own weights. A generator's step that moves the discriminator teaches it to call "
            "generated samples real, and nothing is left to learn from.",
            "Ask the tape for the gradients of that player's own variables, and apply only these.",
            OWN_CODE,
        )
    ]


LEVEL_SHARE: Final = 0.9
GUESS_RATIO: Final = 10 * USUAL_RATIO
"""Steps of that size are a suspect where what was a guess at first is one again, and nothing but."""


STRANGERS_CODE: Final = """\
pairs = tf.data.Dataset.zip((one, other)).shuffle(n)     # shuffled as pairs: zip first"""
GUESS_TOLERANCE: Final = 0.02


def _is_guess_among_samples(loss: float | None, n_samples: int) -> bool:
    """Whether a loss is that of guessing among the samples of a batch: it asks which of them belong together."""
    guess = math.log(n_samples) if n_samples > 1 else math.nan
    return loss is not None and abs(loss - guess) <= GUESS_TOLERANCE * guess


def _others_of(scene: Scene) -> list[int]:
    """Among how many rows a loss may ask for the one that belongs to a sample; of two views of each, all but itself."""
    n, is_contest = scene.start.n_samples, any("contends" in slip for slip in scene.setup.slips)
    return [n, 2 * n - 1] if is_contest else [n]


def advise_strangers(n_samples: int) -> Hypothesis:
    """Pairs whose halves are not those of one sample, where a loss asks which of a batch belong together."""
    return Hypothesis(
        "The two halves of the pairs do not belong together",
        0.8,
        f"The loss is ln {n_samples:,}, that of guessing which of the {n_samples:,} samples of a batch belongs to "
        "which. Where nothing in one half tells which the other is, to give the same for all of them is the best there "
        "is. That happens when both halves are shuffled, filtered or sorted each on its own.",
        "Print a few pairs as they enter the step. Put both halves together before anything changes their order.",
        STRANGERS_CODE,
    )


LEARN_CODE: Final = """\
# Right after loading inputs and labels, before anything drops, sorts or shuffles them: do these pairs match?
for place in (0, 1, 2, -3, -2, -1):
    print(np.ravel(inputs[place])[:8], targets[place])  # images: compare them with their file names
# Files: sorted() puts "img_10" before "img_2". To sort them by number:
files.sort(key=lambda name: [int(part) for part in re.findall(r"\\d+", name)])   # import re"""


NUMBERED: Final = Change(
    "files",
    given=(("key", 'lambda name: [int(part) for part in re.findall(r"\\d+", str(name))]'),),
    remark="if the labels are in numeric order: as text, img_10 sorts before img_2 (import re)\n"
    "# Compare some files with their labels before anything drops, sorts or shuffles them",
)


LISTED: Final = Change(
    "listing",
    note="lists files in no certain order. If their labels come from a table, put sorted(...) around it,\n"
    "# and see that the table is in that order; or look each label up by the file's name",
)


def advise_labels(settles_at: str, confidence: float = 0.45) -> Hypothesis:
    """Labels that have nothing to do with the inputs; what a model then settles at."""
    return Hypothesis(
        LABELS,
        confidence,
        f"A model that cannot tell anything from its inputs settles at {settles_at}. Possible causes: inputs and "
        "labels shuffled separately; rows dropped, sorted or cut from only one of them (files by name: 10 before 2); "
        "a wrong column; a `reshape` where axes should have been transposed; a constant input.",
        "Check a few samples with their labels. Drop, sort and shuffle the rows of both by the same index.",
        LEARN_CODE,
        (NUMBERED, LISTED),
    )


MARGIN_SLACK: Final = 0.03
MARGIN_CODE: Final = """\
embedding = tf.math.l2_normalize(network(x), axis=-1)
# of the negatives of an anchor the nearest that is farther than the positive, not simply the nearest:
semi_hard = tf.where(distance > to_positive[:, None], distance, tf.reduce_max(distance))"""


def _advise_margin(slip: Mapping[str, Any]) -> Hypothesis:
    """Embeddings that came to be one point, where a margin loss is its margin."""
    margin, place = say_number(float(slip["margin"])), say_line(slip.get("source"))
    return Hypothesis(
        f"All embeddings became one point: the loss stands at its margin, {margin}{place}",
        0.9,
        f"If the network gives every sample the same embedding, all distances are 0 and the loss is exactly {margin}. "
        "Where negatives are usually nearer than positives, as the hardest of a batch are at first, that lowers the "
        "loss: the network shrinks all distances, and at 0 hardly any gradient leads away.",
        "Start with semi-hard or random negatives, use a smaller learning rate, and bring the embeddings to length 1. "
        "Check that positives and negatives are not exchanged.",
        MARGIN_CODE,
    )


def _advise_point(slip: Mapping[str, Any]) -> Hypothesis:
    """Descriptions that came to be one point, though a loss pushes some pairs apart."""
    place = say_line(slip["source"])
    return Hypothesis(
        f"All descriptions became one point, from where hardly any gradient pushes pairs apart{place}",
        0.7,
        "A distance has no slope where the two are the same. Steps that are too large, many more pairs that are drawn "
        "together than pushed apart, or labels that do not tell them apart, shrink all distances, and at 0 they stay.",
        "Use a smaller learning rate, bring the descriptions to length 1, and take as many pairs of either kind. Check "
        "that their labels are not the other way round.",
        POINT_CODE,
    )


POINT_CODE: Final = """\
a, b = (tf.math.l2_normalize(network(x), axis=-1) for x in (first, second))
distance = tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=-1) + 1e-9)"""


def advise_collapsed(lead: Collapsed, layer: str, scene: Scene) -> list[Hypothesis]:
    """Causes of a layer that gives the same for every sample."""
    faint = next((member for member in scene.incident.members if isinstance(member, Faint)), None)
    if faint is not None:  # a layer whose output, or kernel, shrank to nothing gives its biases
        return advise_faint(faint, layer, scene)
    padded = next((member for member in scene.incident.members if isinstance(member, Padded)), None)
    if padded is not None:
        return advise_padded(padded.layer, padded.lost)
    loss, ratio = scene.testimony.known.read_loss(), scene.update_ratio
    margin = scene.setup.margin
    if margin is not None and math.isclose(loss.recent or 0.0, margin["margin"], rel_tol=MARGIN_SLACK):
        return [_advise_margin(margin)]
    is_lower = loss.initial is not None and loss.recent is not None and loss.recent < loss.initial
    is_game = scene.facts.is_game
    went = (
        ""
        if not is_lower
        else (f"Meanwhile the loss went from {say_number(loss.initial or 0.0)} to {say_number(loss.recent or 0.0)}. ")
    )
    table = lead.table
    is_sequence = table is not None and table.is_recurrent(layer)
    # A loss with targets holds samples apart; where the layer also reads a sequence, its end is the likelier cause.
    is_asked = is_sequence and table is not None and bool(table.entering("target"))
    # And where something is asked for and the loss is hardly below its start, no term of it has got what it wants.
    has_targets = table is not None and bool(table.entering("target"))
    is_guess = has_targets and is_lower and (loss.recent or 0.0) > LEVEL_SHARE * (loss.initial or 0.0)
    # A contrast pushes pairs apart, and a softmax over all samples of a batch each from all others.
    contrast = next((slip for slip in scene.setup.slips if "contrasts" in slip or "contends" in slip), None)
    found = [
        _advise_point(contrast)
        if contrast is not None
        else Hypothesis(
            "The outputs collapse: nothing in the loss holds different samples apart",
            0.1 if is_asked else 0.25 if is_guess else 0.7 if is_lower and not is_game else 0.4,
            f"{went}A loss that only pulls pairs together is smallest when everything is the same point: two views of "
            "a sample agree, and so does everything else.",
            "Let only one side learn (`tf.stop_gradient` on the other, and a predictor before the first), add pairs "
            "that must differ, or add a term for the variance over the batch.",
            APART_CODE,
        ),
        Hypothesis(
            "A penalty outweighs what tells samples apart",
            0.1 if is_asked else (0.35 if (loss.initial or 0.0) > 0 else 0.1) if is_lower else 0.45,
            f"A penalty removes the part of the output of {layer} that depends on the input, and leaves the rest (its "
            "biases). In a variational autoencoder this is posterior collapse onto the prior: the decoder gets no "
            "information about the input, and outputs the mean of all samples.",
            "Sum both the error and the penalty over a sample before adding them, and raise the penalty slowly.",
            BETA_CODE,
        ),
    ]
    guessed = (one for one in scene.incident.members if isinstance(one, (Unrelated, Unskilled)))
    if has_targets and any(one.first_step < lead.first_step for one in guessed):
        found.append(advise_labels("one output for every sample", 0.5))
    n_others = next(filter(lambda n: _is_guess_among_samples(loss.recent, n), _others_of(scene)), 0)
    if not has_targets and n_others:
        found.append(advise_strangers(n_others))
    if _is_in_attention(layer, scene):
        found.append(
            Hypothesis(
                "The attention sees nothing of the sample: its mask is inverted, or leaves it only the padding",
                0.65,
                f"{layer} belongs to an attention, which averages over what the mask lets it see. In Keras "
                "`attention_mask` is True where a position may be attended to; many padding masks say the opposite. "
                "Then only what all samples have in common comes through.",
                "Print one row of the mask next to its tokens: it must be True at the tokens, and False at the "
                "padding.",
                MASK_CODE,
            )
        )
    if is_game:
        found += advise_overstep(scene)
        found.append(
            Hypothesis(
                "Mode collapse: the generator makes one sample, whatever noise it is given",
                0.7,
                "Several optimizers train here. A generator that fools the discriminator with one sample has no "
                "reason to make others, unless the discriminator sees that all samples of a batch are alike.",
                "Show the discriminator how much a batch varies, or use a loss that measures the distance between the "
                "distributions (Wasserstein with a gradient penalty).",
                VARIETY_CODE,
            )
        )
    if ratio is not None and ratio > (GUESS_RATIO if is_guess else HIGH_RATIO):
        found.append(advise_rate(scene, 0.6 if ratio > RATIO_LIMIT else 0.5))
    if lead.is_at_ends:
        found.append(_advise_ends(layer))
    effect = "Relative to its size, a feature far larger than the others is nearly the same in every sample."
    found += advise_scale(scene, 0.75 if scene.start.largest_input > FAR_INPUT else 0.35, effect)
    found += advise_small_inputs(scene.start.largest_input, scene.start.prepared)
    found += [*advise_small_start(scene), *advise_large_start(scene)]
    if is_sequence:
        found.append(
            Hypothesis(
                "The end of the sequence is the same for every sample: padding comes after it, or it is too long",
                0.75,
                f"{layer} outputs its state after the last step of the sequence. If that step, and many before it, "
                "are padding, or if the sequence is longer than its memory, the beginning is forgotten.",
                "Mask the padding, pad at the front, take the state at each sample's own end, or shorten the sequence.",
                PADDING_CODE,
                MASKED,
            )
        )
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


def say_losing(lost: Mapping[str, Any]) -> str:
    """Which layer loses a mask, with its class, or which line."""
    if lost["is_op"]:
        return f"a line on the way{say_line(lost.get('source'))}"
    return f"{lost['name']} ({lost['type']})"


def _advise_lost(layer: str, lost: Mapping[str, Any]) -> Hypothesis:
    """A mask that is lost on the way to a layer that would use it."""
    maker = str(lost["loses"]) or "An earlier layer"
    place = say_line(lost.get("source"))
    what = f"{lost['name']}, a {lost['type']}, hands on no mask{place}"
    cure = f"Put it behind {layer}, or hand the mask to {layer} yourself: `mask=` of the call."
    code = GIVEN_MASK_CODE
    if lost["is_op"]:
        what = f"A line computes with the masked tensor, and what it gives has no mask{place}"
        cure = f"Compute this in a layer with `self.supports_masking = True`, or hand the mask to {layer} yourself."
    elif lost["is_own"]:
        cure = f"Set `self.supports_masking = True` in the `__init__` of {lost['type']}, or give it a `compute_mask`."
        code = SUPPORTS_CODE.format(name=lost["type"])
    return Hypothesis(
        what,
        0.93,
        f"{maker} makes a mask of the padding, which Keras hands from layer to layer. Here it ends, so {layer} treats "
        "the padding as data.",
        cure,
        code,
    )


def advise_padded(layer: str, lost: Mapping[str, Any] | None = None) -> list[Hypothesis]:
    """The cause of sequences that end in padding before a recurrent layer; "" where its name is not known.

    Args:
        layer: its path.
        lost: where a mask of the padding was lost on the way to it; None where none was made.
    """
    layer = layer or "the recurrent layer"
    if lost is not None:
        return [_advise_lost(layer, lost)]
    return [
        Hypothesis(
            f"Padding stands at the end of the sequences, and {layer} reads it last, without a mask",
            0.92,
            f"{layer} goes on changing its state at every step of padding. After many of them little is left of what "
            "it read before, and all sequences look alike.",
            "Mask the padding so that the layer skips it, or pad at the front.",
            PADDING_CODE,
            MASKED,
        )
    ]


SUPPORTS_CODE: Final = """\
class {name}(tf.keras.layers.Layer):
    def __init__(self, *arguments, **options):
        super().__init__(**options)
        self.supports_masking = True                          # hands on the mask that comes with its input"""
GIVEN_MASK_CODE: Final = """\
mask = embedding.compute_mask(words)                          # embedding: the layer that has mask_zero=True
x = recurrent(x, mask=mask)                                   # an attention takes attention_mask=mask[:, None, :]"""
MASKED: Final = (Change("layer", of="Embedding", given=(("mask_zero", "True"),)),)
PADDING_CODE: Final = """\
# Either: later layers skip the padding (0)
x = tf.keras.layers.Embedding(n_words, 64, mask_zero=True)(words)
x = tf.keras.layers.Masking(mask_value=0.0)(features)    # of sequences of features
# or: what matters comes last
words = tf.keras.utils.pad_sequences(sequences, padding="pre")"""


ENDS_CODE: Final = """\
# Keep the input of a tanh within about [-2, 2]: scale the inputs, normalise sums, use smaller initial weights
mean = tf.matmul(adjacency / tf.reduce_sum(adjacency, axis=-1, keepdims=True), h)      # a mean, not a sum
h = tf.tanh(tf.keras.layers.LayerNormalization()(mean))"""


def _advise_ends(layer: str) -> Hypothesis:
    return Hypothesis(
        f"{layer} is saturated: nearly all that it gives lies at its two ends",
        0.85,
        "The input of a tanh or similar function is far beyond the range where it has a slope. Each unit is at one "
        "end or the other, the same for every sample, and hardly any gradient comes back through it.",
        "Make its input smaller: scale the inputs, use a mean instead of a sum, smaller weights, or a normalisation "
        "before it.",
        ENDS_CODE,
    )


CAP_CODE: Final = """\
loss = tf.reduce_mean(loss_of_each)                      # without tf.minimum or tf.clip_by_value around it
optimizer = tf.keras.optimizers.Adam(1e-3, clipnorm=1.0)"""
TERMS_CODE: Final = """\
# Numeric targets: scale to unit spread, so that their squared error starts near 1
y_train = (y_train - y_train.mean(axis=0)) / y_train.std(axis=0)
# Or weight each term by about one over its value in the first steps
loss = 1e-4 * large + 1.0 * small                        # in a custom step; with Keras' own step:
model.compile(optimizer=optimizer, loss=losses, loss_weights={"large": 1e-4, "small": 1.0})"""


def advise_outweighed(layer: str, share: float) -> Hypothesis:
    """The cause of a gradient that is lost beside that of another term of the loss."""
    return Hypothesis(
        f"Another term of the loss is so large that nothing is left for {layer}",
        0.85,
        f"The loss is a sum over several outputs. The gradient that {layer} gets is at most {say_number(share)} of the "
        "whole, and what clips or scales the whole leaves it nothing: the other output's targets are in units that "
        "make its error millions of times larger.",
        "Scale the targets of each output to unit spread, or weight the terms.",
        TERMS_CODE,
    )


def advise_unheard(lead: Unheard) -> list[Hypothesis]:
    """Causes of a loss that takes nothing of most samples."""
    return [
        advise_missing_logits(
            0.85,
            f"The last layer has no activation, and its outputs ranged from {say_number(lead.low)} to "
            f"{say_number(lead.high)}. A cross-entropy that expects probabilities clips scores below 0, which then "
            "get no gradient. A sample whose scores are all clipped teaches the model nothing.",
        ),
        Hypothesis(
            "A weight or a mask of 0 leaves samples out of the loss",
            0.1,
            "A sample weight or a mask of 0 has the same effect, and may be intended.",
            "Check the sample weights that the loss gets.",
            "print(sample_weight.min(), (sample_weight == 0).mean())   # the share that is left out",
        ),
    ]


INVERTED_CODE: Final = """\
# losses: one per position, before any mean
mask = tf.cast(tf.not_equal(labels, 0), losses.dtype)      # true where there is a label, not where there is none
loss = tf.reduce_sum(losses * mask) / tf.maximum(tf.reduce_sum(mask), 1.0)"""


def advise_inverted() -> list[Hypothesis]:
    """Causes of a loss that is taken of what is labelled 0 alone."""
    return [
        Hypothesis(
            "The mask of the loss keeps the padding and leaves the rest out",
            0.93,
            "The model learns to recognise padding in a few steps. The loss falls to almost nothing, but no label was "
            "ever asked for.",
            "Invert the mask: 1 where there is a label, 0 where there is padding.",
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
            f"A share of about {dropped} of the elements is dropped at each step. Rates of 0.1 to 0.5 are usual. "
            "`tf.keras.layers.Dropout` takes the share to drop.",
            "Pass the share to drop, in every dropout layer.",
            f"tf.keras.layers.Dropout({kept})            # the share to drop; {dropped} here",
            tuple(Change("layer", layer, instead=(("rate", kept),)) for layer in layers),
        )
    ]


def advise_starved(layer: str, scene: Scene) -> list[Hypothesis]:
    """Causes of kernels that hardly move while the others do."""
    clipped = scene.clipped_share
    is_clipped = clipped is not None and clipped > 0
    why = f"The task of {layer} contributes next to nothing to the whole gradient. "
    if is_clipped:
        why += "Clipping by the global norm shortens all gradients by the same factor, set by the largest."
    else:
        why += "A learning rate that suits the largest is far too small for it."
    return [
        Hypothesis(
            "Terms of the loss of very different size: the largest drowns the others",
            0.8,
            why,
            "Scale the targets, or weight the terms, so that all have about the same size.",
            TERMS_CODE,
        ),
        Hypothesis(
            f"{layer} has a learning rate of its own, or is held back on purpose",
            0.15,
            "A multiplier on the gradient or the learning rate of some layers has the same effect.",
            "Raise it if that layer should learn.",
            "",
        ),
    ]


def advise_overclipped(lead: Overclipped, scene: Scene) -> list[Hypothesis]:
    """Causes of a gradient of which clipping leaves next to nothing."""
    ratio = scene.update_ratio
    why = f"The gradient norm is about {say_number(lead.norm)}, and clipping leaves {say_number(lead.left)} of it. "
    if ratio is not None:
        why += f"Updates are at most {say_number(ratio)} of the weights; {USUAL_RATIO:g} is usual. "
    return [
        Hypothesis(
            "The limit of the clipping is far below the usual gradient",
            0.9,
            why + "A limit that always acts does not guard against outliers: it sets the length of every step.",
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
            "If gradients are accumulated, over batches or parts of one, and the sums are not cleared after use, "
            "every old gradient goes into every later step. That is momentum without friction: the weights swing or "
            "run away, however small the learning rate.",
            "Reset the sums to zero after each step (with `assign`; `=` only rebinds the Python name), and train from "
            "the start. If nothing should be accumulated, apply the gradients of the batch.",
            RESET_CODE,
        ),
        Hypothesis(
            "The script averages gradients over very many steps",
            0.1,
            "A custom average with a memory of a hundred steps or more looks like a sum for that long.",
            "Leave averaging to the optimizer's momentum.",
            RESET_CODE,
        ),
    ]


def advise_seldom(n: int, source: Mapping[str, Any] | None) -> Hypothesis:
    """The cause of gradients that are set back to zero once in ``n`` updates, perhaps by a line."""
    at = f"{say_line(source)[2:-1]} clears them, which runs" if source else "What clears them runs"
    return Hypothesis(
        f"The sums of gradients are not set back to zero after each update, but once in about {n:,}{say_line(source)}",
        0.95,
        f"{at} outside the loop that applies them, as once an epoch. Until then every old gradient goes into every "
        "later update: steps in directions that are long out of date, and the longer the more updates an epoch has.",
        "Set the sums back to zero right after `apply_gradients`, in the same loop or function, and train from the "
        "start.",
        RESET_CODE,
    )


def advise_unreduced(slip: Mapping[str, Any]) -> Hypothesis:
    """A loss that is one number for each sample, or the sum of these, as the cause of steps that are too large."""
    place = say_line(slip.get("source"))
    if not slip["unreduced"]:
        return Hypothesis(
            f"The loss is the sum over the batch, not the mean{place}",
            0.88,
            "The gradient of a sum is as many times larger as there are samples in a batch, compared with their mean, "
            "which learning rates are usually meant for.",
            "Divide the sum by the number of samples in the batch, or take the mean. With a sum the learning rate must "
            "be as many times lower.",
            MEAN_CODE,
        )
    return Hypothesis(
        f"The loss is one number for each sample, and its gradient is that of their sum{place}",
        0.9,
        "A tape that differentiates a vector differentiates the sum of its elements. So each step is as many times "
        "larger as there are samples in a batch, compared with their mean, which learning rates are usually meant for.",
        "Take the mean of the loss inside the tape.",
        UNREDUCED_CODE,
    )


UNREDUCED_CODE: Final = """\
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(loss_function(y, model(x, training=True)))    # one number; no reduction="none\""""
MEAN_CODE: Final = """\
loss_function = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)     # yours, without reduction="sum"
loss = tf.nn.compute_average_loss(loss_of_each, global_batch_size=n)                # or, where it is made by hand"""
PAIRS_CODE: Final = """\
for image, label in zip(x_train[:9], y_train[:9]):          # of images: plt.imshow(image); plt.title(label)
    print(label, image.ravel()[:8])"""
BY_HEART_CODE: Final = """\
# Training and validation data that are prepared alike have much the same loss before training, means and classes.
print(model.evaluate(x_train[:256], y_train[:256], verbose=0))
print(model.evaluate(x_val[:256], y_val[:256], verbose=0))
for inputs, labels in ((x_train, y_train), (x_val, y_val)):
    print(inputs.mean(axis=0)[:5], inputs.std(axis=0)[:5], np.unique(labels, return_counts=True))"""


REFITTED_CODE: Final = """\
scaler = StandardScaler().fit(x_train)                  # once, of the training data
x_train, x_val = scaler.transform(x_train), scaler.transform(x_val)
index = {name: i for i, name in enumerate(sorted(set(train_names)))}    # classes: one index for both"""


HELD_CODE: Final = """\
order = np.random.default_rng(0).permutation(len(x))        # one order for inputs and labels
x, y, n = x[order], y[order], len(x) * 4 // 5
x_train, x_val, y_train, y_val = x[:n], x[n:], y[:n], y[n:]"""


def advise_held(slip: Mapping[str, Any], *, is_told: bool) -> list[Hypothesis]:
    """The cause that samples show which are validated with, beside those of the training.

    Args:
        slip: their entry of `Setup.slips`.
        is_told: whether it is told already which classes no training sample has.
    """
    place = say_line(slip.get("source"))
    if "relabelled" in slip:
        return [
            Hypothesis(
                f"Validation inputs that are among the training inputs have other targets there{place}",
                0.95,
                "In one of the two, inputs are paired with the targets of other samples, so what is learned cannot "
                "hold for both. Usual reason: inputs and targets are shuffled or cut differently.",
                "Take the same rows of inputs and of targets.",
                HELD_CODE,
            )
        ]
    share = say_number(round(100 * float(slip["unlabelled"])))
    found = Hypothesis(
        f"{share} % of the validation samples are of classes that no training sample has{place}",
        0.93,
        "Nothing is learned of a class without samples. Usual reason: rows that are sorted by class are cut in two.",
        "Shuffle inputs and labels by one order before they are split, and number the classes the same in both.",
        HELD_CODE,
    )
    return [] if is_told else [found]


def advise_by_heart(
    *, is_split: bool, refit: Mapping[str, Any] | None = None, is_far: bool = False
) -> list[Hypothesis]:
    """Causes of what is learned of the training data and of no others.

    Args:
        is_split: whether the validation data are some of the training data, that are prepared with them.
        refit: the user's expression that fits what prepares the validation data to these, where it is known.
        is_far: whether the validation loss was many times that of guessing all the time.
    """
    place = say_line(refit)
    found = [
        Hypothesis(
            "The labels do not belong to the inputs: they are learned by heart",
            0.55,
            "A network with more weights than samples can memorise any labels, sample by sample, if it sees them "
            "often. Possible causes: inputs and labels shuffled separately, file names sorted as text (10 before 2) or "
            "not at all beside labels in another order, a join on the wrong key, or a wrong column.",
            "Look at a few samples with their labels as they enter `fit`.",
            PAIRS_CODE,
            (NUMBERED, LISTED),
        ),
        Hypothesis(
            f"What prepares the validation data is fitted to them anew{place}",
            0.8,
            "A scaler, an encoder or an index that is made of the validation data is another one than that of the "
            "training data: the same number stands for another value, or another class.",
            "Fit it once to the training data, and apply the same to both.",
            REFITTED_CODE,
            (Change("refit", note="is fitted to the validation data: apply what was fitted to the training data"),),
        )
        if refit is not None
        else Hypothesis(
            "The validation data are prepared differently from the training data",
            0.75 if is_far else 0.5,
            ("A model that is wrong of new samples is rarely that sure of it from the beginning. " if is_far else "")
            + "They may be scaled by other numbers or not at all, have classes in another order, or come from another "
            "source. Then what was learned does not apply to them.",
            "Prepare both with the same function, using the statistics of the training data.",
            BY_HEART_CODE,
        ),
        Hypothesis(
            "There are too few samples for so large a model",
            0.3,
            "Then the model learns these samples, not what they have in common.",
            "Use a smaller model, dropout, augmentation, or more data.",
            "",
        ),
    ]
    if is_split:
        return [found[0], found[2]]
    return sorted(found, key=lambda one: -one.confidence)


def advise_relapse(scene: Scene, stale: Stale | None) -> list[Hypothesis]:
    """Causes of a loss that comes back to where it began; ``stale``: a gradient that has been the same for long."""
    if stale is not None:
        return [
            Hypothesis(
                "The gradients that are applied are not those of the batch: sums that are never set back to zero",
                0.95,
                f"Two batches hardly ever have the same gradient. Here the gradient was the same for {stale.n_rows:,} "
                f"steps, and it is not 0: its norm is {say_number(stale.norm)}. If gradients are accumulated, over "
                "batches or parts of one, and the sums are not cleared after use, old gradients go into every later "
                "step.",
                "Reset the sums to zero after each step, and train from the start.",
                RESET_CODE,
            )
        ]
    found = [
        advise_rate(scene, 0.7 if scene.is_thrown else 0.5),
        Hypothesis(
            "Something other than the gradient of the batch moves the weights",
            0.4,
            "Possible causes: gradients that are accumulated and never reset, momentum near 1, or averaged or older "
            "weights that are put into the model. They lead training away from what it has found.",
            "Check what the script does with gradients and weights besides `apply_gradients`, and whether the data "
            "change. Meanwhile keep the best weights.",
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
                f"This run has the same settings as {before.name} ({before.run}), where the loss came down. Only "
                "settings are compared here: a change of the code or the data is not seen.",
                "Compare the script and the data with those of that run. If nothing was changed, train with another "
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
            f"With the settings of {before.name} ({before.run}) the loss came down. Different here: {changes}"
            + (f", and {n_more} more." if n_more else "."),
            "Revert them one at a time, optimizer settings first, and check each time whether the loss comes down.",
            "\n".join(f"# {key}: {_say_setting(here)} here, {_say_setting(there)} there" for key, there, here in shown),
        ),
        Hypothesis(
            "The code or the data were changed since the last healthy run",
            0.3,
            "Only settings are compared here: a change of the code or the data is not seen.",
            "Compare the script and the data with those of that run. If this is a different task on purpose, dismiss "
            "this finding: later runs are then compared with this one.",
            "",
        ),
    ]


def _say_setting(value: Any) -> str:
    text = "not set" if value is None else repr(value)
    return text if len(text) <= SETTING_LIMIT else f"{text[:SETTING_LIMIT]}…"


def _advise_minus(slip: Mapping[str, Any]) -> Hypothesis:
    """A log-likelihood that is made small, as the cause of a loss that is followed down."""
    return Hypothesis(
        f"The loss is a log-likelihood without its minus{say_line(slip.get('source'))}",
        0.95,
        "The logarithm of a probability is 0 where the model is sure and right, and falls without an end where it is "
        "wrong. Made small, it teaches the model to be wrong.",
        "Minimise its negative.",
        SIGN_CODE,
    )


def advise_runaway(lead: Runaway, scene: Scene, *, is_game: bool) -> list[Hypothesis]:
    """Causes of a loss that runs away."""
    is_down = lead.level < 0
    bottomless = Hypothesis(
        "The loss has no lower bound, and training follows it down",
        0.9,
        f"It went from {say_number(lead.start)} to {say_number(lead.level)}. "
        + (
            "In a game between two models, only a constraint keeps the scores in bounds: "
            "larger weights are always better for one side."
            if is_game
            else "Without a bound, larger weights always make it smaller."
        ),
        "Bound it: use a gradient penalty or spectral normalisation for a critic, or a lower limit for a variance.",
        BOTTOM_CODE if not is_game else BOTTOM_CODE + "\n\n" + GAME_CODE,
    )
    climbs = Hypothesis(
        "A sign is wrong: the loss is climbed instead of descended",
        0.2 if is_down else 0.45,
        "A loss that only grows, with steps of the usual size, behaves as if its negative were minimised. Possible "
        "causes: a likelihood or a reward without its minus sign, or a gradient that is added.",
        "Minimise the negative of what should grow.",
        SIGN_CODE,
    )
    rate = advise_rate(scene, 0.3 if is_down else 0.7 if is_driven(lead) else 0.6)
    unnegated = next((slip for slip in scene.setup.slips if "unnegated" in slip), None)
    if is_climbing(scene) or is_rate_negative(scene):
        found = [rate]
    elif unnegated is not None and is_down and not is_game:
        found = [_advise_minus(unnegated), bottomless]
    else:
        found = [*(advise_range(scene) if is_down else []), *([bottomless] if is_down or is_game else []), climbs, rate]
    if is_driven(lead) and not is_down and scene.clipped_share is None:
        found.append(advise_missing_clip(0.55))
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)

"""Causes and cures of gradients and updates that are too large."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gradwatch_server.health.book import LEARNING_RATE
from gradwatch_server.health.episode import Collapsed, Flat, Growth, Rate
from gradwatch_server.health.finding import Change, Hypothesis
from gradwatch_server.health.incident import FIRST_STEPS
from gradwatch_server.health.learning_rate import FIRST_ROWS, RATIO_LIMIT, USUAL_RATIO
from gradwatch_server.health.start import Start
from gradwatch_server.health.verdict.operation import is_exact, say_place
from gradwatch_server.health.verdict.scene import Scene
from gradwatch_server.health.verdict.spelling import say_number, say_step

__all__ = [
    "ADAPT_CODE",
    "BOTTOM_CODE",
    "CLIP_CODE",
    "DEFAULT_RECURRENCE",
    "DEPTH_CODE",
    "FAR_INPUT",
    "GROWN_VARIANCE",
    "INITIAL_CODE",
    "LARGE_INPUT",
    "LOOPS",
    "RECURRENCE_CODE",
    "SCALED_INPUTS",
    "SCALED_TARGETS",
    "SCALE_CODE",
    "SIGN_CODE",
    "TARGET_CODE",
    "VARIANCE_RATIO",
    "advise_adapt",
    "advise_adaptive_rate",
    "advise_classes",
    "advise_climb",
    "advise_far_inputs",
    "advise_first_rate",
    "advise_growth",
    "advise_large_start",
    "advise_missing_clip",
    "advise_range",
    "advise_rate",
    "advise_scale",
    "advise_small_inputs",
    "advise_small_start",
    "advise_unknown_words",
    "advise_unscaled",
    "better_rate",
    "is_as_made",
    "is_climbing",
    "is_rate_negative",
    "layers_of",
    "say_large_columns",
    "say_variance",
    "set_rate",
    "start_as_usual",
]

GROWN_VARIANCE: Final = 1e3
"""Of the last layers' outputs over the first's: with a start that keeps the variance it is about 1."""
SHRUNK_VARIANCE: Final = 1e-8
"""Of the first layer's output: a factor of ten thousand lost on the way, where float32 keeps seven digits of a sum."""
STEP_POWER: Final = 0.7
"""Of such a loss, as a power of it, the most that one layer may have of it."""
FLAT_VARIANCE: Final = 1e-4
"""Of the first layer's output, lost layer by layer, where outputs came to be the same for every sample."""
VARIANCE_RATIO: Final = 10.0
"""SageMaker Debugger's limit of the ratio of variances between layers (PoorWeightInitialization)."""
LARGE_INPUT: Final = 10.0
"""Inputs are usually within about [-1, 1] (UMLAUT, Schoop et al. 2021); ten times that is not scaled."""
ADAPTIVE: Final = frozenset({"Adam", "AdamW", "Adamax", "Lion", "Nadam", "RMSprop"})
"""Optimizers that move each weight by about the learning rate, however large its gradient is."""
ADAPTIVE_USUAL: Final = 1e-3
"""Their learning rate, as Keras sets it."""
ADAPTIVE_RATE: Final = 0.01
"""The highest that is usual for Adam (UMLAUT, Schoop et al. 2021)."""
ADAPTIVE_FAR: Final = 0.05
"""So far beyond, it is the likeliest cause of units that die."""
FAR_INPUT: Final = 256.0
"""Pixels end at 255, and a model may well divide by that itself."""
UNKNOWN_SHARE: Final = 0.9
"""Of the words of a text: what is left tells hardly any texts apart."""
SMALL_INPUT: Final = 0.02
"""Inputs all below it say next to nothing beside biases: bytes divided by 255 twice are below 0.004."""
COLUMNS_NAMED: Final = 4
"""Of a wider input it says little which of its columns are large."""
SAME_SIZE: Final = 10.0
"""So many times as large as in one batch, a column may be over all of them."""
LARGE_TARGET: Final = 100.0
"""Beside outputs of about 1, as a model starts by giving: the first error is a hundred times what it is made for."""
BOTTOMLESS_FACTOR: Final = 10.0
"""How far below 0 a loss must have fallen, in units of its start (at least 1), to be called bottomless."""

SCALE_CODE: Final = """\
# Scale every feature to about [-1, 1] before the first layer. Measurements, column by column:
normalise = tf.keras.layers.Normalization()
normalise.adapt(x_train)                                # with several inputs: the one named here
# Images: x / 255.0. Counts: np.log1p(x), or each row divided by its sum"""

CLIP_CODE: Final = """\
optimizer = tf.keras.optimizers.Adam(1e-3, global_clipnorm=1.0)"""

STEEP_CODE: Final = """\
# Bound the argument before the steep operation:
log = tf.math.log(tf.maximum(x, 1e-3))
norm = tf.sqrt(tf.reduce_sum(tf.square(x), axis=-1) + 1e-6)
ratio = a / (tf.abs(b) + 1e-3)"""

SCHEDULE_CODE: Final = """\
n_steps = n_epochs * steps_per_epoch                    # of the whole training, in batches
schedule = tf.keras.optimizers.schedules.PolynomialDecay(1e-3, decay_steps=n_steps, end_learning_rate=0.0)
# or in your own schedule, around its return value:
return tf.maximum(rate, 0.0)"""

RISING_CODE: Final = """\
rate = base * tf.minimum(step / warmup_steps, 1.0)        # minimum: up to the base rate, and no further
print([float(schedule(i)) for i in (0, 100, 1_000, n_steps)])"""
RISING_STEPS: Final = 500
RISING_FACTOR: Final = 3.0
"""How long, and by how much, a rate rises that has no end; most warm-ups take fewer steps."""

INITIAL_CODE: Final = """\
# Variance-preserving initializers: He for relu, Glorot for tanh; orthogonal for recurrent kernels.
tf.keras.layers.Dense(256, activation="relu", kernel_initializer="he_normal")
tf.keras.layers.Dense(256, activation="tanh", kernel_initializer="glorot_uniform")
tf.keras.layers.LSTM(128, recurrent_initializer="orthogonal")
self.add_weight(shape=shape, initializer="he_normal")         # in a layer of your own"""

DEPTH_CODE: Final = """\
def block(x, units):
    y = tf.keras.layers.LayerNormalization()(x)
    y = tf.keras.layers.Dense(units, activation="relu", kernel_initializer="he_normal")(y)
    return x + y                       # the gradient passes through the sum undiminished"""

SMALL_CODE: Final = f"""\
{INITIAL_CODE}

# Where they start so already: a short way through the depth
{DEPTH_CODE}"""

NORMAL_CODE: Final = """\
x = tf.keras.layers.BatchNormalization()(x)             # before each activation, or after each block
neighbours = tf.matmul(adjacency / tf.reduce_sum(adjacency, -1, keepdims=True), x)     # a mean, not a sum
# or a residual branch that starts at 0: zeros for its last layer, or for its scale
tf.keras.layers.Conv1D(width, 3, padding="same", kernel_initializer="zeros")"""

SIGN_CODE: Final = """\
loss = -tf.reduce_mean(log_likelihood)                           # minimised: a likelihood or a reward needs the minus
variable.assign_sub(rate * gradient)                             # update by hand: minus, not plus"""

CLIMB_CODE: Final = """\
loss = loss_fn(targets, predictions)                             # no minus: a Keras loss is an error
loss = tf.reduce_mean(tf.square(targets - predictions))          # none here either; a likelihood or reward needs one"""

UP_CODE: Final = """\
variable.assign_sub(rate * gradient)    # or, which subtracts by itself:
optimizer.apply_gradients(zip(gradients, variables))"""

BOTTOM_CODE: Final = """\
# A critic: a gradient penalty keeps its scores from growing without limit (Gulrajani et al. 2017)
with tf.GradientTape() as inner:
    inner.watch(mixed)
    score = critic(mixed, training=True)
slope = tf.sqrt(tf.reduce_sum(tf.square(inner.gradient(score, mixed)), axis=-1) + 1e-12)
loss = tf.reduce_mean(fake_score) - tf.reduce_mean(real_score) + 10.0 * tf.reduce_mean(tf.square(slope - 1.0))

# A likelihood with a learned sigma: a lower bound keeps log(sigma) from falling without limit
sigma = tf.nn.softplus(raw) + 1e-3"""


def advise_rate(scene: Scene, confidence: float, *, first: float | None = None) -> Hypothesis:
    """The learning rate is too high: what ratio it had, and which rate would bring it to the usual one; or below 0.

    Args:
        scene: the scene.
        confidence: how likely it is.
        first: the median ratio of the run's first updates, where these are to blame.
    """
    if is_rate_negative(scene):
        return _advise_negative_rate(scene)
    rising = None if first is not None else _advise_rising_rate(scene)
    if rising is not None:
        return rising
    ratio = scene.update_ratio
    if first is not None:
        why = (
            f"The first updates were {say_number(100 * first)} % of the weights they changed; about "
            f"{100 * USUAL_RATIO:g} % is usual (Karpathy, CS231n). Steps of that size carry deep networks to where "
            "hardly any gradient leads back from."
        )
    elif ratio is None:
        why = "Steps that are too large raise the loss. That raises the gradient, which makes the steps even larger."
    else:
        were = "Updates were" if isinstance(scene.incident.lead, Rate) else "Before that, updates were up to"
        why = (
            f"{were} {say_number(100 * ratio)} % of the weights they changed; about "
            f"{100 * USUAL_RATIO:g} % is usual (Karpathy, CS231n). "
        )
        why += (
            "Steps of that size overshoot, and each makes the next one larger."
            if ratio > RATIO_LIMIT
            else "It takes larger updates to break a training, so the learning rate is an unlikely cause here."
        )
    return Hypothesis(
        "The learning rate is too high",
        confidence,
        why,
        _say_better_rate(scene) + " Warm it up over the first steps, and clip the global gradient norm.",
        _rate_code(scene),
        set_rate(scene, _find_better_rate(scene)),
    )


def advise_adaptive_rate(scene: Scene) -> list[Hypothesis]:
    """A rate far beyond what is usual for an optimizer whose steps do not depend on the gradient's size; or nothing."""
    kind, rate = scene.setup.settings.get("class"), scene.learning_rate
    if kind not in ADAPTIVE or rate is None or rate <= ADAPTIVE_RATE:
        return []
    return [
        Hypothesis(
            "The learning rate is too high",
            0.8 if rate >= ADAPTIVE_FAR else 0.55,
            f"{kind} moves each weight by about the learning rate at each step, however small the gradient is. "
            f"{ADAPTIVE_USUAL:g} is usual, and it was {say_number(rate)}. The weights overshoot until no input makes a "
            "unit fire.",
            f"Lower the learning rate to about {ADAPTIVE_USUAL:g}, and restart with new weights.",
            _rate_code(scene),
            set_rate(scene, ADAPTIVE_USUAL),
        )
    ]


def is_rate_negative(scene: Scene) -> bool:
    """Whether the learning rate was below 0 at the lead's step."""
    return scene.learning_rate is not None and scene.learning_rate < 0


def _advise_negative_rate(scene: Scene) -> Hypothesis:
    since = scene.testimony.onset.negative_since(LEARNING_RATE)
    crossed = "" if since is None else f" It has been below 0 since {say_step(since)}."
    return Hypothesis(
        "The learning rate is below 0",
        0.97,
        f"It is {say_number(scene.learning_rate or 0.0)}: each step follows the gradient upwards and raises the loss, "
        f"faster and faster.{crossed} A schedule that falls by the same amount in each step goes below 0 if training "
        "runs longer than it was made for.",
        "Make the schedule as long as the training, and let it end at 0 or above.",
        SCHEDULE_CODE,
    )


def _advise_rising_rate(scene: Scene) -> Hypothesis | None:
    """The learning rate has been rising for longer than a warm-up takes."""
    since, rate = scene.testimony.onset.rising_since(LEARNING_RATE), scene.learning_rate
    if since is None or rate is None:
        return None
    step, before = since
    n_steps = scene.testimony.onset.step - step
    if n_steps < RISING_STEPS or rate < RISING_FACTOR * before:
        return None
    return Hypothesis(
        f"The learning rate keeps rising: from {say_number(before)} at {say_step(step)} to {say_number(rate)}",
        0.85,
        f"It has risen for {n_steps:,} steps and not come down. A warm-up ends at the rate that is meant; a schedule "
        "that takes the larger of two numbers in place of the smaller, or a factor above 1, has no end. Sooner or "
        "later each step overshoots.",
        "Look at what the schedule returns at the end of the training: bound it from above, and let it fall.",
        RISING_CODE,
    )


def advise_first_rate(scene: Scene, ratio: float) -> Hypothesis:
    """The learning rate is too high: the run's first updates, this large on average, threw the weights away."""
    rate = scene.learning_rate
    better = 1e-3 if rate is None else better_rate(rate, ratio)
    lower = "Lower it tenfold" if rate is None else f"Lower it from {say_number(rate)} to about {say_number(better)}"
    return Hypothesis(
        "The learning rate is too high",
        0.85,
        f"On average, each of the first {FIRST_ROWS} updates changed the weights by {100 * ratio:.0f} % of their "
        f"size; about {100 * USUAL_RATIO:g} % is usual. The initial weights are lost, and such steps often leave "
        "units dead or saturated.",
        f"{lower}, and restart with new weights.",
        f"optimizer.learning_rate = {better:g}",
        set_rate(scene, better),
    )


def advise_growth(lead: Growth, scene: Scene) -> list[Hypothesis]:
    """Causes of a gradient norm that grows far beyond its past."""
    if unscaled := advise_unscaled(lead.first_step, scene):
        return [*unscaled, advise_rate(scene, 0.4)]
    ratio = scene.update_ratio
    n_steps = max(lead.largest_step - lead.first_step, 0) + 1
    rate = 0.5 if ratio is None else 0.85 if ratio > RATIO_LIMIT else 0.6 if ratio > 10 * USUAL_RATIO else 0.3
    found = [
        *_advise_bottomless(scene),
        advise_rate(scene, rate),
        Hypothesis(
            "A steep operation: log, division, sqrt or norm near the point where it breaks",
            0.55 if n_steps <= 3 else 0.35,
            f"The gradient norm went from {say_number(lead.usual)} to {say_number(lead.largest)} within {n_steps} "
            "steps. If the learning rate is too high, the norm grows step by step; a jump within one or two steps "
            "points to an operation with an unbounded slope.",
            "Bound the argument from below, before the operation.",
            STEEP_CODE,
        ),
        *_advise_power(scene),
        *_advise_recurrence(lead, scene),
        *_advise_clip(lead, scene),
        *advise_scale(scene, 0.6 if lead.first_step < FIRST_STEPS else 0.3),
        _advise_start(lead, scene),
    ]
    return sorted(found, key=lambda hypothesis: -hypothesis.confidence)


POWER_CODE: Final = """\
base = tf.sigmoid(raw)                                  # between 0 and 1, whatever the optimizer makes of raw
# or a bound on the variable itself
self.add_weight(name="base", shape=(units,), constraint=lambda base: tf.clip_by_value(base, 0.0, 1.0))"""


def _advise_power(scene: Scene) -> list[Hypothesis]:
    """A power that overflows, of no number at the point where a power breaks."""
    operation, account = scene.culprit, scene.account
    if operation is None or account is None or operation.function != "Pow" or operation.is_gradient:
        return []
    if is_exact(account):
        return []
    return [
        Hypothesis(
            f"A number above 1 to a high power grows beyond all bounds{say_place(operation)}",
            0.8,
            "x ** p with a large p is next to 0 as long as x is below 1, and astronomical once it is a little larger: "
            "1.05 ** 200 is 17,000, 1.6 ** 200 overflows float32. So is its slope, which moves x further.",
            "Keep the base at 1 or below: the sigmoid of what is learned, or a constraint. Or bound the exponent.",
            POWER_CODE,
        )
    ]


LOOPS: Final = frozenset({"StatelessWhile", "While"})
"""What a recurrence over time is in a graph."""
DEFAULT_RECURRENCE: Final = tuple(
    Change("layer", of=name, without=("activation", "recurrent_initializer")) for name in ("SimpleRNN", "LSTM", "GRU")
)
RECURRENCE_CODE: Final = """\
# With the defaults, tanh and an orthogonal recurrent kernel, instead of relu and your own initializer:
x = tf.keras.layers.SimpleRNN(64)(x)     # or LSTM, GRU, which remember longer
# in a custom cell: add_weight(..., initializer="orthogonal") for the recurrent kernel"""


def _advise_recurrence(lead: Growth, scene: Scene) -> list[Hypothesis]:
    """A recurrence along which state and gradient grow, where the model has one."""
    table, culprit = lead.table, scene.culprit
    if table is None or not table.count_gates(table.kernels):
        return []
    if scene.setup.unbounded:
        return [_advise_unbounded(*next(iter(scene.setup.unbounded.items())))]
    is_named = culprit is not None and culprit.type in LOOPS
    where = f" of `{culprit.layer}`" if culprit is not None and is_named and culprit.layer else ""
    return [
        Hypothesis(
            f"State and gradient grow along the recurrence{where}",
            0.75 if is_named else 0.5,
            "A recurrent layer passes its state, and in the backward pass the gradient, from one time step to the "
            "next. If each step makes it a little larger and nothing limits it (relu instead of tanh, a recurrent "
            "kernel that stretches), it becomes astronomical after a hundred steps: it jumps within a few updates.",
            "Use tanh in the recurrence, clip the gradient norm, and use an orthogonal initializer for the recurrent "
            "kernel.",
            f"{RECURRENCE_CODE}\n{CLIP_CODE}",
            DEFAULT_RECURRENCE,
        )
    ]


def _advise_unbounded(layer: str, function: str) -> Hypothesis:
    return Hypothesis(
        f"The recurrence of {layer} has a function without an end: {function}",
        0.9,
        "A recurrent layer passes its state from one time step to the next. tanh keeps it between -1 and 1; "
        f"{function} does not: where a step makes it larger, so does each after it, and the gradient on the way back. "
        "It becomes astronomical within a sequence, and jumps within a few updates.",
        f"Leave `activation={function!r}` away: the default is tanh.",
        RECURRENCE_CODE,
        DEFAULT_RECURRENCE,
    )


def is_climbing(scene: Scene) -> bool:
    """Whether an error is made larger: its gradient says so, or what should be a cross-entropy begins below 0."""
    initial = scene.testimony.known.read_loss().initial
    return scene.facts.is_climbing or (scene.facts.is_of_entropies and initial is not None and initial < 0)


def advise_climb(scene: Scene) -> list[Hypothesis]:
    """A sign that is wrong, where the updates show it, or the gradient with respect to the outputs."""
    if scene.facts.is_upward and not is_rate_negative(scene):
        return [
            Hypothesis(
                "A sign is wrong: the weights are moved up the gradient",
                0.97,
                "Most updates have the sign of their gradients, where a step that makes the loss smaller "
                "has the opposite one: each step makes it larger, the faster the further it gets.",
                "Subtract the gradient: `assign_sub`, not `assign_add`. To make something larger, minimise its "
                "negative.",
                UP_CODE,
            )
        ]
    if not is_climbing(scene):
        return []
    loss = scene.testimony.known.read_loss()
    below = ""
    if loss.initial is not None and loss.recent is not None and loss.initial < 0:
        below = (
            f" The loss was {say_number(loss.initial)} at first and {say_number(loss.recent)} later; a cross-entropy "
            "or squared error is never below 0."
        )
    return [
        Hypothesis(
            "A sign is wrong: the error is made larger, not smaller",
            0.97,
            "The gradient with respect to the output of the last layer has the opposite sign to that of an error: "
            f"each step moves the outputs away from the targets.{below}",
            "Remove the minus: an error is minimised as it is.",
            CLIMB_CODE,
        )
    ]


def _advise_bottomless(scene: Scene) -> list[Hypothesis]:
    """The loss has no lower bound, where it is seen to fall far below 0."""
    initial, before = scene.testimony.known.read_loss().initial, scene.loss.before
    if (
        is_climbing(scene)
        or initial is None
        or before is None
        or not before < -BOTTOMLESS_FACTOR * max(abs(initial), 1.0)
    ):
        return []
    return [
        *advise_range(scene),
        Hypothesis(
            "The loss has no lower bound, and training follows it down",
            0.9,
            f"The loss went from {say_number(initial)} to {say_number(before)}. Without a lower bound, larger weights "
            "always make it smaller: the weights grow, the gradient grows with them, and each step is larger than the "
            "last.",
            "Bound the loss from below: a gradient penalty or spectral normalisation for a critic, a minimum for a "
            "variance, a margin in a contrastive term.",
            BOTTOM_CODE,
        ),
    ]


def _say_input(name: str) -> str:
    """An input by its name; one that is known by its place alone is no word of the script's."""
    return f"its input {name} (counted from 0)" if name.isdigit() else f"`{name}`"


STEPS_WITH_INPUT: Final = "The gradient of the first kernel is proportional to them, and so are its updates."


ADAPT_CODE: Final = """\
normalise = tf.keras.layers.Normalization()
normalise.adapt(x_train)                        # the same x_train that goes into fit"""


def is_as_made(slip: Mapping[str, Any]) -> bool:
    """Whether a slip is a normalisation that was never adapted."""
    return slip.get("normalises") == "as made"


def advise_adapt(layer: str) -> Hypothesis:
    """A normalisation that was never adapted, as a cause."""
    layer = layer.rpartition("/")[2]
    return Hypothesis(
        f"`{layer}.adapt(...)` is missing",
        0.95,
        f"`{layer}` has the mean 0 and the variance 1 that it was made with, so it hands its input on as it is.",
        "Adapt it to the training data before the training.",
        ADAPT_CODE,
    )


def advise_scale(scene: Scene, confidence: float, effect: str = STEPS_WITH_INPUT) -> list[Hypothesis]:
    """The inputs are not scaled, where their size is known and far from usual; and what that does."""
    largest, name = scene.start.largest_input, scene.start.widest_input
    if not largest > LARGE_INPUT:
        return []
    where = f" in {_say_input(name)}" if name else ""
    where += say_large_columns(scene, largest)
    unadapted = [advise_adapt(str(slip["layer"])) for slip in scene.setup.slips if is_as_made(slip)]
    return [
        *unadapted[:1],
        Hypothesis(
            "The inputs are not scaled",
            confidence,
            f"Values up to {say_number(largest)} enter the model{where}, where about [-1, 1] is usual. {effect}",
            "Scale every feature to about [-1, 1], or start the model with a normalisation layer.",
            SCALE_CODE,
            SCALED_INPUTS,
        ),
    ]


def advise_far_inputs(scene: Scene, confidence: float) -> list[Hypothesis]:
    """The same where their size is so far from usual that little can be learned of them."""
    return advise_scale(scene, confidence) if scene.start.largest_input > FAR_INPUT else []


def say_large_columns(scene: Scene, largest: float) -> str:
    """The columns of an input that hold numbers so large, the largest first, where others do not."""
    known = {key: columns for (_, key), columns in scene.facts.columns.items() if not key.startswith("target")}
    name = scene.start.widest_input
    if name not in known and len(known) != 1:
        return ""
    columns = known[name] if name in known else next(iter(known.values()))
    far = columns.find_far()
    # What a layer has scaled since says nothing of the columns.
    if not 0 < len(far) <= COLUMNS_NAMED or not max(map(abs, columns.reach(far[0]))) < SAME_SIZE * largest:
        return ""
    return f" (column{'' if len(far) == 1 else 's'} {', '.join(map(str, far))}, counted from 0)"


def advise_small_inputs(largest: float, prepared: str = "") -> list[Hypothesis]:
    """Inputs scaled to next to nothing, where the largest is; ``prepared``: the last layer before the first kernel."""
    if not 0 < largest < SMALL_INPUT:
        return []
    return [
        Hypothesis(
            "The inputs are scaled to next to nothing",
            0.8,
            f"No value that reaches the first kernel{f', behind {prepared},' if prepared else ''} is larger than "
            f"{say_number(largest)}. The layer then outputs just its biases, which are the same for every sample. "
            "This happens when inputs are divided by their range twice: in the data and in a layer.",
            "Scale every feature to about [-1, 1] once: remove one of the two divisions.",
            "print(x_train.min(), x_train.max())                     # already within [0, 1]: no Rescaling layer",
            (
                Change(
                    "layer",
                    of="Rescaling",
                    note="divides a second time: remove this layer, or the division in the data preparation",
                ),
            ),
        )
    ]


WORDS_CODE: Final = """\
print(np.mean(x_train == 0))                                     # the share of unknown words and of padding
ranked = names[np.argsort(-counts)]                              # the most frequent words come first"""


def advise_unknown_words(share: float) -> list[Hypothesis]:
    """Sequences of numbers of words of which next to all are 0."""
    if not UNKNOWN_SHARE <= share < 1:  # what is 0 throughout is a constant, and is told as one
        return []
    return [
        Hypothesis(
            f"{share:.0%} of the word numbers that enter are 0: the words are not found in the vocabulary",
            0.85,
            "0 stands for words that are not in the vocabulary, or for padding. With nearly everything 0 the samples "
            "look alike. It happens when the vocabulary keeps the rarest words (check the order of the sort), was "
            "built from other texts, or spells words differently (upper case, punctuation).",
            "Keep the most frequent words, and prepare texts in the same way everywhere.",
            WORDS_CODE,
        )
    ]


MARKED_CODE: Final = """\
keep = tf.cast(labels >= 0, tf.float32)                          # 0 where a label is not known
each = tf.nn.sigmoid_cross_entropy_with_logits(labels * keep, logits)
loss = tf.reduce_sum(keep * each) / tf.reduce_sum(keep)
# in fit, for each output: model.fit(x, y, sample_weight=(y >= 0).astype("float32"))"""
RANGE_CODE: Final = """\
keep = tf.cast(labels <= 1, tf.float32)                          # "no label" marks (255, -1) are left out
each = tf.nn.sigmoid_cross_entropy_with_logits(labels * keep, logits)
loss = tf.reduce_sum(keep * each) / tf.reduce_sum(keep)"""


CLASSES_CODE: Final = """\
tf.keras.layers.Dense(n_classes)                                 # the last layer: one score for each class
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)"""
SIGNS_CODE: Final = """\
labels = (labels + 1) / 2                                        # -1 and 1 become 0 and 1"""


def advise_classes(code: str, confidence: float = 0.93) -> Hypothesis:
    """Numbers of classes as the targets of a single output, as the cause of what that cannot meet."""
    return Hypothesis(
        "The targets are the numbers of several classes, and the model gives one number for all",
        confidence,
        "They are whole numbers from 0 on. A single output with a binary cross-entropy knows two classes, 0 and 1: a "
        "label of 2 or more makes the loss fall below 0 without end.",
        "If they are classes, give the last layer one unit for each, with softmax or `from_logits=True`, and take the "
        "sparse categorical cross-entropy.",
        code,
    )


def advise_range(scene: Scene) -> list[Hypothesis]:
    """Labels beyond 1 as the cause of a loss that falls without end, where the model gives one number for each."""
    largest = scene.start.largest_target
    if scene.start.are_signs:
        return [
            Hypothesis(
                "The labels are -1 and 1, and the cross-entropy expects 0 and 1",
                0.92,
                "The cross-entropy of a label of 0 or 1 is never below 0. For a label of -1 it falls without limit as "
                "the score falls, so the scores run away, and the other class is given up.",
                "Map the labels to 0 and 1. A hinge loss takes -1 and 1.",
                SIGNS_CODE,
            )
        ]
    if scene.start.are_marked:
        return [
            Hypothesis(
                "Labels of -1 are given to a cross-entropy, which expects 0 and 1",
                0.92,
                "The targets are -1, 0 and 1: a label that is not known is often marked by -1. The cross-entropy of 0 "
                "or 1 is never below 0. For -1 it falls without limit as the score falls, and the scores run away.",
                "Leave these out of the loss, each by a weight of 0, or map them to 0 and 1 if they are classes.",
                MARKED_CODE,
            )
        ]
    if not largest > 1 or not scene.gives_one_number:
        return []
    is_known = scene.start.are_classes
    return [
        *([advise_classes(CLASSES_CODE)] if is_known else []),
        Hypothesis(
            "Labels lie outside of 0 to 1",
            0.4 if is_known else 0.92,
            f"They go up to {say_number(largest)}. The cross-entropy of a label of 0 or 1 is never below 0. For a "
            "label above 1 it falls without limit as the score grows.",
            "Leave out such labels, or map them to 0 and 1: 255 and -1 often mark what should be ignored.",
            RANGE_CODE,
        ),
    ]


TARGET_CODE: Final = """\
mean, spread = targets.mean(), targets.std()             # of the training data, once
targets = (targets - mean) / spread                      # pass these to the loss, in `fit` or in a loop
predictions = spread * model(inputs) + mean              # where they are used"""


SCALED_INPUTS: Final = (
    Change(
        "fit",
        before="axes = tuple(range(x_train.ndim - 1))                   # each feature by itself, over all samples\n"
        "mean, spread = x_train.mean(axis=axes), x_train.std(axis=axes)\n"
        "x_train = (x_train - mean) / (spread + 1e-8)            # the same for validation and test data",
    ),
)
SCALED_TARGETS: Final = (
    Change(
        "fit",
        before="mean, spread = y_train.mean(axis=0), y_train.std(axis=0)   # also for validation and test data\n"
        "y_train = (y_train - mean) / spread\n"
        "# predictions: mean + spread * model.predict(...)",
    ),
)


def _advise_targets(scene: Scene) -> list[Hypothesis]:
    """Targets that are not scaled, where they are known and far from what a model starts by giving."""
    largest = scene.start.largest_target
    if not largest > LARGE_TARGET:
        return []
    return [
        Hypothesis(
            "The targets are not scaled",
            0.9,
            f"Targets go up to {say_number(largest)}, but an untrained model outputs numbers of about 1. The error is "
            "as large as the targets, and so are the gradient and every step: it overshoots, and the next is larger.",
            "Subtract the mean of the targets and divide by their standard deviation; undo both in the predictions.",
            TARGET_CODE,
            SCALED_TARGETS,
        )
    ]


def advise_unscaled(step: int, scene: Scene) -> list[Hypothesis]:
    """Targets or inputs so far from usual that any rate would overshoot, as the cause of what began at that step."""
    if step >= FIRST_STEPS:
        return []
    return [*_advise_targets(scene), *advise_far_inputs(scene, 0.88)]


def _advise_start(lead: Growth, scene: Scene) -> Hypothesis:
    start = scene.start
    is_early, is_seen = lead.first_step < FIRST_STEPS, start.ratio > VARIANCE_RATIO
    why = "Growth in the first steps may come from the initial weights: each layer multiplies its input. Later growth "
    why += "does not."
    if is_seen:
        why = say_variance(start) + " The product over many layers grows with each of them."
    return Hypothesis(
        "The weights start too large for the depth",
        (0.65 if is_seen else 0.3) if is_early else 0.15 if is_seen else 0.05,
        why,
        "Use a variance-preserving initializer, and scale the inputs to about [-1, 1].",
        INITIAL_CODE,
        start_as_usual(start.layer) if is_seen else (),
    )


def advise_small_start(scene: Scene) -> list[Hypothesis]:
    """Weights that start too small for the depth, where the outputs of the first row show it."""
    shrunk, largest_step = scene.start.shrunk, scene.start.ratio
    is_flat = isinstance(scene.incident.lead, (Collapsed, Flat))  # one small layer alone makes none
    limit = FLAT_VARIANCE if is_flat and largest_step > shrunk**STEP_POWER else SHRUNK_VARIANCE
    if not shrunk < limit:
        return []
    return [
        Hypothesis(
            "The weights start too small for the depth",
            0.88,
            "In the first steps the standard deviation of the outputs fell, layer by layer, to "
            f"{say_number(shrunk**0.5)} of the first layer's. The gradient shrinks just as much in the backward pass: "
            "only the biases learn, and soon the output is the same for every sample.",
            "Use a variance-preserving initializer in every layer, and a normalisation between them. Where a gate or a "
            "bounded function takes some of it in each layer all the same, add the layer's input to its output.",
            SMALL_CODE,
            start_as_usual(*layers_of(scene)),
        )
    ]


def advise_large_start(scene: Scene) -> list[Hypothesis]:
    """Numbers that grow from layer to layer, where the outputs of the first row show it."""
    grown = scene.start.grown
    if not grown > GROWN_VARIANCE:
        return []
    return [
        Hypothesis(
            "The numbers grow from layer to layer: nothing normalises them",
            0.86,
            "In the first steps the standard deviation of the outputs grew, layer by layer, to "
            f"{say_number(grown**0.5)} times the first layer's. Numbers of that size make the loss large. The first "
            "steps are spent on making them small again, and that is the decrease seen here.",
            "Normalise between the layers (BatchNormalization, LayerNormalization), average where neighbours or steps "
            "are summed, or start each residual branch near 0.",
            NORMAL_CODE,
        )
    ]


def say_variance(start: Start) -> str:
    """In words: between which layers the variance changed most in the first rows, and by how much."""
    return (
        f"In the first steps the variance of the output of {start.layer} was {say_number(start.ratio)} times that of "
        f"{start.previous} before it."
    )


def _advise_clip(lead: Growth, scene: Scene) -> list[Hypothesis]:
    share = scene.clipped_share
    if share is not None and share > 0:
        return [
            Hypothesis(
                "Clipping hides how large the gradient is",
                0.45,
                f"The optimizer clips the gradient in about {share:.0%} of steps or variables, so the weights do not "
                "show how large it is. If it always clips, its limit sets the step size.",
                "Find out what makes the gradient large; clipping only limits its effect.",
                _clip_code(lead),
            )
        ]
    limit = f"{_clip_limit(lead):g}"
    return [advise_missing_clip(0.4, _clip_code(lead), limit)]


def advise_missing_clip(confidence: float, code: str = CLIP_CODE, limit: str = "1.0") -> Hypothesis:
    """Nothing limits the gradient."""
    return Hypothesis(
        "Nothing limits the gradient",
        confidence,
        "One batch with an outlier, or a recurrent layer over a long sequence, can raise the gradient a thousandfold. "
        "Without clipping, one such step moves the weights to where every later step is worse.",
        "Clip the global gradient norm near its usual value, and look at the batch of the first such step.",
        code,
        (Change("optimizer", given=(("global_clipnorm", limit),)),),
    )


def _say_better_rate(scene: Scene) -> str:
    rate, ratio = scene.learning_rate, scene.update_ratio
    if rate is None or ratio is None or not ratio > USUAL_RATIO:
        return "Lower the learning rate by a factor of ten."
    return (
        f"Lower the learning rate from {say_number(rate)}, tenfold at a time: about "
        f"{say_number(better_rate(rate, ratio))} gives updates of the usual size."
    )


def better_rate(rate: float, ratio: float) -> float:
    """The rate that would bring the ratio of updates to weights to what is usual, to one digit."""
    # The ratio is in proportion to the rate; one digit is all that this knows.
    return float(f"{rate * USUAL_RATIO / ratio:.0e}")


def _find_better_rate(scene: Scene) -> float | None:
    rate, ratio = scene.learning_rate, scene.update_ratio
    return better_rate(rate, ratio) if rate is not None and ratio is not None and ratio > USUAL_RATIO else None


def set_rate(scene: Scene, rate: float | None) -> tuple[Change, ...]:
    """The optimizer with another learning rate, unless that rate is not known or the one it has follows a schedule."""
    if rate is None or scene.setup.number("learning_rate") is None:
        return ()
    return (Change("optimizer", given=(("learning_rate", f"{rate:g}"),)),)


def start_as_usual(*layers: str) -> tuple[Change, ...]:
    """Layers that start as Keras does: Glorot, and orthogonal in a recurrence."""
    return tuple(Change("layer", layer, without=("kernel_initializer", "recurrent_initializer")) for layer in layers)


def layers_of(scene: Scene) -> list[str]:
    """The layers whose kernels are trained beside the lead's."""
    table = scene.incident.lead.table
    return [] if table is None else list(dict.fromkeys(map(table.layer_of_gradient, table.kernels.tolist())))


def _rate_code(scene: Scene) -> str:
    target = _find_better_rate(scene) or 1e-4
    return (
        "n_steps = epochs * len(batches)                         # of the whole training\n"
        "schedule = tf.keras.optimizers.schedules.CosineDecay(\n"
        f"    0.0, decay_steps=n_steps, warmup_target={target:g}, warmup_steps=n_steps // 20)\n"
        "optimizer = YourOptimizer(schedule, global_clipnorm=1.0)  # your optimizer: SGD, Adam, ..."
    )


def _clip_code(lead: Growth) -> str:
    usual = say_number(lead.usual)
    return (
        f"# the usual norm was {usual}\n"
        f"optimizer = tf.keras.optimizers.Adam(1e-3, global_clipnorm={_clip_limit(lead):g})"
    )


def _clip_limit(lead: Growth) -> float:
    return float(f"{lead.usual:.1g}") if lead.usual > 0 else 1.0

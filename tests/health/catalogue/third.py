"""A third set of trainings by someone who had not seen the rules: what they are at first play stands in the catalogue.

Some are not found yet, and say so.
"""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_diabetes

from tests.health.catalogue.broken import NONFINITE, broken
from tests.health.catalogue.healthy import healthy
from tests.health.catalogue.play import Watch
from tests.health.catalogue.tools import (
    COURSE,
    DIGITS,
    IMAGES,
    LABELS,
    PATIENTS,
    ROWS,
    cross_entropy,
    fit,
    loop,
    mlp,
    one_hot,
)
from tests.health.catalogue.unseen import BROKEN, HEALTHY

__all__ = ["BROKEN", "HEALTHY"]

THIRD = "written blind, third set"


# ---------------------------------------------------------------------------------------------------------------------
# Broken: NaN or Inf


class DigitPainter(keras.Model):
    """A Wasserstein GAN that draws digits."""

    def __init__(self):
        super().__init__()
        self.painter = keras.Sequential(
            [
                keras.Input((16,)),
                layers.Dense(48, "relu", name="paint_0"),
                layers.Dense(64, "sigmoid", name="paint_1"),
            ],
            name="painter",
        )
        self.critic = keras.Sequential(
            [
                keras.Input((64,)),
                layers.Dense(16, "relu", name="critic_0"),
                layers.Dropout(0.5, name="critic_drop"),
                layers.Dense(1, name="critic_1"),
            ],
            name="critic",
        )
        self.painter_optimizer = keras.optimizers.Adam(1e-3, beta_1=0.5)
        self.critic_optimizer = keras.optimizers.Adam(1e-3, beta_1=0.5)

    def call(self, z):
        return self.painter(z)

    def slope_penalty(self, real, fake):
        share = tf.random.uniform((tf.shape(real)[0], 1))
        between = share * real + (1 - share) * fake
        with tf.GradientTape() as tape:
            tape.watch(between)
            score = self.critic(between, training=True)
        slope = tape.gradient(score, between)
        norm = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=1))
        return tf.reduce_mean(tf.square(norm - 1.0))

    def train_step(self, data):
        real = data[0] if isinstance(data, tuple) else data
        z = tf.random.normal((tf.shape(real)[0], 16))
        fake = self.painter(z, training=True)
        with tf.GradientTape() as tape:
            gap = tf.reduce_mean(self.critic(fake, training=True)) - tf.reduce_mean(self.critic(real, training=True))
            critic_loss = gap + 10.0 * self.slope_penalty(real, fake)
        weights = self.critic.trainable_variables
        self.critic_optimizer.apply_gradients(zip(tape.gradient(critic_loss, weights), weights, strict=True))
        with tf.GradientTape() as tape:
            painter_loss = -tf.reduce_mean(self.critic(self.painter(z, training=True), training=True))
        weights = self.painter.trainable_variables
        self.painter_optimizer.apply_gradients(zip(tape.gradient(painter_loss, weights), weights, strict=True))
        return {"critic_loss": critic_loss, "painter_loss": painter_loss}


@broken(
    "sqrt(0)",
    THIRD,
    "singular_gradient",
    operations=("SqrtGrad", "Sqrt"),
    code="norm = tf.sqrt",
    cause=("square root",),
)
def digit_painter(watch: Watch, seed: int) -> None:
    """The gradient penalty of a WGAN takes tf.sqrt of the summed squared input gradient without an epsilon.
    When the dropout happens to drop every unit of critic_0 that is on for one image, that image's input
    gradient is exactly 0, and sqrt's derivative at 0 is infinite: the forward pass is fine, the critic's
    gradient is NaN.
    """
    model = DigitPainter()
    model(tf.zeros((1, 16)))
    model.compile(jit_compile=False)
    watch(model)
    random = np.random.default_rng(seed)
    chosen = random.integers(len(DIGITS), size=64 * 350)
    model.fit(DIGITS[chosen], batch_size=64, epochs=1, shuffle=False, verbose=0)


class PaddedAttention(layers.Layer):
    """Self-attention over a padded sequence of words."""

    def __init__(self, width, **options):
        super().__init__(**options)
        self.width = width

    def build(self, x_shape, words_shape):
        shape = (x_shape[-1], self.width)
        self.query = self.add_weight(shape=shape, initializer="glorot_uniform", name="query")
        self.key = self.add_weight(shape=shape, initializer="glorot_uniform", name="key")
        self.value = self.add_weight(shape=shape, initializer="glorot_uniform", name="value")

    def call(self, x, words):
        query, key, value = (tf.matmul(x, tf.convert_to_tensor(w)) for w in (self.query, self.key, self.value))
        scores = tf.matmul(query, key, transpose_b=True) / self.width**0.5
        keep = tf.cast(tf.not_equal(words, 0), scores.dtype)
        scores += (1.0 - keep)[:, None, :] * tf.cast(-1e9, scores.dtype)
        return tf.matmul(tf.nn.softmax(scores), value)


@broken(
    "float16 overflow",
    THIRD,
    *NONFINITE,
    operations=("Cast", "Mul"),
    code="tf.cast(-1e9",
    cause=("float16",),
)
def padded_reader(watch: Watch, seed: int) -> None:
    """Attention's padding mask adds (1 - keep) * -1e9, but under mixed_float16 -1e9 becomes -inf, and for every
    word that is kept 0 * -inf is NaN.
    """
    random = np.random.default_rng(seed)
    words = random.integers(1, 200, size=(3000, 20))
    words[np.arange(20)[None] >= random.integers(5, 21, size=3000)[:, None]] = 0
    mood = random.normal(size=200)
    mood[0] = 0
    is_glad = (mood[words].sum(1) > 0).astype("float32")
    keras.config.set_dtype_policy("mixed_float16")
    try:
        inputs = keras.Input((20,), dtype="int32")
        hidden = layers.Embedding(200, 32, name="words")(inputs)
        hidden = PaddedAttention(32, name="reader")(hidden, inputs)
        hidden = layers.GlobalAveragePooling1D(name="pool")(hidden)
        model = keras.Model(inputs, layers.Dense(1, dtype="float32", name="mood")(hidden))
        loss = keras.losses.BinaryCrossentropy(from_logits=True)
        data = words.astype("int32"), is_glad
        fit(watch, model, loss, data, optimizer=keras.optimizers.Adam(2e-3), n_steps=200, seed=seed)
    finally:
        keras.config.set_dtype_policy("float32")


@broken(
    "log(0)",
    THIRD,
    *NONFINITE,
    "steep_gradient",
    operations=("Log", "Reciprocal", "Exp", "Sub"),
    code="tf.math.log(tf.exp(",
    cause=("logarithm",),
)
def turbine_lifetimes(watch: Watch, seed: int) -> None:
    """A discrete Weibull likelihood (time to failure) written as log(exp(H1 - H0) - 1): as the predicted shape
    grows, an early failure has H1 - H0 below float32's epsilon, exp(...) - 1 is exactly 0 and its log -inf
    (expm1 or a clipped shape is missing).
    """
    random = np.random.default_rng(seed)
    n = 6000
    sensors = random.normal(size=(n, 6)).astype("float32")
    scale = np.exp(3.4 + 0.35 * sensors[:, 0] - 0.25 * sensors[:, 1] + 0.15 * sensors[:, 2])
    life = np.floor(scale * random.weibull(18, size=n))
    infant = random.random(n) < 0.01
    life[infant] = random.integers(0, 3, size=infant.sum())
    seen = (random.random(n) < 0.9) | infant
    life = np.where(seen, life, np.floor(life * random.random(n)))
    targets = np.stack([life, seen], axis=1).astype("float32")
    mean_life = float(life.mean())
    inputs = keras.Input((6,))
    hidden = layers.Dense(32, "tanh", name="trunk_0")(inputs)
    hidden = layers.Dense(32, "tanh", name="trunk_1")(hidden)
    model = keras.Model(inputs, layers.Dense(2, name="weibull")(hidden))

    def loss_of(y, x):
        raw = model(x, training=True)
        alpha = mean_life * tf.exp(raw[:, 0])
        beta = tf.nn.softplus(raw[:, 1])
        hazard_0 = tf.pow((y[:, 0] + 1e-9) / alpha, beta)
        hazard_1 = tf.pow((y[:, 0] + 1.0) / alpha, beta)
        seen = tf.math.log(tf.exp(hazard_1 - hazard_0) - 1.0)
        return -tf.reduce_mean(y[:, 1] * seen - hazard_1)

    optimizer = keras.optimizers.Adam(0.01)
    loop(watch, model, loss_of, (sensors, targets), optimizer=optimizer, n_steps=500, seed=seed, batch=64)


class PerWindow(layers.Layer):
    """Brings every channel of every window to mean 0 and deviation 1."""

    def call(self, x):
        mean = tf.reduce_mean(x, axis=1, keepdims=True)
        spread = tf.math.reduce_std(x, axis=1, keepdims=True)
        return (x - mean) / (spread + 1e-6)


@broken(
    "sqrt(0)",
    THIRD,
    "singular_gradient",
    operations=("SqrtGrad", "Sqrt"),
    code="tf.math.reduce_std",
    cause=("square root",),
)
def bearing_windows(watch: Watch, seed: int) -> None:
    """A layer standardises each window by its standard deviation, with the epsilon outside the square root: one
    window in a few hundred is all zeros (the sensor was off), the forward pass is finite there, but the
    derivative of reduce_std at zero variance is 0/0.
    """
    random = np.random.default_rng(seed)
    n = 4000
    kind = random.integers(3, size=n)
    rate = np.array([0.3, 0.6, 1.1])[kind] * random.uniform(0.9, 1.1, size=n)
    phase = random.uniform(0, 2 * np.pi, size=n)
    windows = random.uniform(0.5, 2, size=(n, 1)) * np.sin(rate[:, None] * np.arange(64) + phase[:, None])
    windows += 0.4 * random.normal(size=windows.shape)
    windows[random.choice(n, size=6, replace=False)] = 0
    model = keras.Sequential(
        [
            keras.Input((64, 1)),
            layers.Conv1D(16, 7, use_bias=False, name="filters"),
            PerWindow(name="per_window"),
            layers.ReLU(name="relu"),
            layers.Conv1D(16, 5, activation="relu", name="shapes"),
            layers.GlobalAveragePooling1D(name="pool"),
            layers.Dense(3, name="kind"),
        ]
    )
    data = windows[..., None].astype("float32"), kind
    fit(watch, model, cross_entropy, data, optimizer=keras.optimizers.Adam(3e-3), n_steps=350, seed=seed, jit=True)


@broken("log(0) in the data", THIRD, "nonfinite_input", layer="column 2", cause=("infinite", "label"))
def find_the_digit(watch: Watch, seed: int) -> None:
    """The input pipeline crops at random, clips the boxes to the crop and encodes their size as log(size /
    anchor): a box that falls outside the crop has width 0, so its target is log(0) = -inf. The model is fine;
    the target batch is not.
    """
    random = np.random.default_rng(seed)
    n = len(IMAGES)
    canvases = np.zeros((n, 20, 20, 1), "float32")
    boxes = np.zeros((n, 4), "float32")
    for i, image in enumerate(IMAGES):
        top, left = random.integers(1, 10, size=2)
        canvases[i, top : top + 8, left : left + 8] = image
        inked = image[..., 0] > 0.3
        rows, columns = np.flatnonzero(inked.any(1)), np.flatnonzero(inked.any(0))
        boxes[i] = top + rows[0], left + columns[0], top + rows[-1] + 1, left + columns[-1] + 1

    def example(canvas, box):
        corner = tf.random.uniform((2,), 0, 8, tf.int32)
        crop = tf.image.crop_to_bounding_box(canvas, corner[0], corner[1], 12, 12)
        shift = tf.cast(tf.concat([corner, corner], 0), tf.float32)
        y0, x0, y1, x1 = tf.unstack(tf.clip_by_value(box - shift, 0.0, 12.0))
        centre = tf.stack([(x0 + x1) / 2, (y0 + y1) / 2]) / 12.0
        size = tf.math.log(tf.stack([x1 - x0, y1 - y0]) / 6.0)
        return crop, tf.concat([centre, size], 0)

    batches = tf.data.Dataset.from_tensor_slices((canvases, boxes)).shuffle(n, seed=seed).repeat()
    batches = batches.map(example).batch(32, drop_remainder=True).prefetch(2)
    model = keras.Sequential(
        [
            keras.Input((12, 12, 1)),
            layers.Conv2D(16, 3, activation="relu", name="conv_0"),
            layers.Conv2D(32, 3, strides=2, activation="relu", name="conv_1"),
            layers.Flatten(name="flat"),
            layers.Dense(48, "relu", name="hidden"),
            layers.Dense(4, name="box"),
        ]
    )
    model.compile(keras.optimizers.Adam(2e-3), "mse", jit_compile=False)
    watch(model)
    model.fit(batches, epochs=1, steps_per_epoch=300, shuffle=False, verbose=0)


@broken(
    "learning rate too high",
    THIRD,
    "exploding_gradient",
    "lr_too_high",
    *NONFINITE,
    cause=("rate", "not scaled"),
)
def patient_products(watch: Watch, seed: int) -> None:
    """Linear regression on all products of pairs of ten measures, which nobody rescaled: with SGD the learning
    rate of 0.1 is several times what the largest eigenvalue of the inputs allows, so the weights swing to and
    fro, growing by a factor at each step.
    """
    products = [PATIENTS[:, i] * PATIENTS[:, j] for i in range(10) for j in range(i, 10)]
    x = np.concatenate([PATIENTS, np.stack(products, axis=1)], axis=1).astype("float32")
    model = keras.Sequential([keras.Input((x.shape[1],)), layers.Dense(1, name="course")])
    fit(watch, model, "mse", (x, COURSE), optimizer=keras.optimizers.SGD(0.1), n_steps=300, seed=seed, jit=True)


@broken("exp overflow", THIRD, *NONFINITE, operations=("Exp",), code="likeness = tf.exp", cause=("exponential",))
def pairs_of_views(watch: Watch, seed: int) -> None:
    """A contrastive loss (NT-Xent) written out with tf.exp instead of log-softmax, at temperature 0.01: the
    exponent reaches 1 / 0.01 = 100 and exp overflows float32 at 88; Inf times the 0 that hides the diagonal is
    NaN.
    """
    model = mlp(64, 32, n_layers=2, width=64)
    temperature = 0.01

    def loss_of(_, x):
        first = tf.math.l2_normalize(model(x + 0.05 * tf.random.normal(tf.shape(x)), training=True), axis=1)
        second = tf.math.l2_normalize(model(x + 0.05 * tf.random.normal(tf.shape(x)), training=True), axis=1)
        both = tf.concat([first, second], axis=0)
        likeness = tf.exp(tf.matmul(both, both, transpose_b=True) / temperature)
        others = tf.reduce_sum(likeness * (1.0 - tf.eye(128)), axis=1)
        twin = tf.exp(tf.reduce_sum(first * second, axis=1) / temperature)
        return -tf.reduce_mean(tf.math.log(tf.concat([twin, twin], axis=0) / others))

    optimizer = keras.optimizers.Adam(2e-3)
    loop(watch, model, loss_of, (DIGITS, LABELS), optimizer=optimizer, n_steps=200, seed=seed, batch=64, jit=True)


@broken("0 / 0", THIRD, *NONFINITE, operations=("RealDiv",), code="tf.reduce_sum(known)", cause=("division",))
def few_labels(watch: Watch, seed: int) -> None:
    """Only a quarter of the examples have labels (-1 marks the others), and the loss divides by the number of
    labels in the batch: a batch of 12 without a single one gives 0 / 0.
    """
    random = np.random.default_rng(seed)
    labels = np.where(random.random(len(LABELS)) < 0.25, LABELS, -1)

    def known_only(y_true, y_pred):
        y_true = tf.cast(tf.reshape(y_true, [-1]), tf.int32)
        known = tf.cast(y_true >= 0, tf.float32)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.maximum(y_true, 0), logits=y_pred)
        return tf.reduce_sum(each * known) / tf.reduce_sum(known)

    model = mlp(64, 10, n_layers=2, width=48)
    optimizer = keras.optimizers.Adam(2e-3)
    fit(watch, model, known_only, (DIGITS, labels), optimizer=optimizer, n_steps=400, seed=seed, batch=12)


# ---------------------------------------------------------------------------------------------------------------------
# Broken: never NaN


@broken("an axis taken for another", THIRD, "loss_plateau", cause=("broadcast",))
def clean_up_signals(watch: Watch, seed: int) -> None:
    """The model gives (batch, 32, 1) and the clean signal is (batch, 32); with batches of 32 the difference
    broadcasts silently to (32, 32, 32), and every output is compared with other windows' values.
    """
    random = np.random.default_rng(seed)
    n = 3000
    period = random.uniform(8, 20, size=(n, 1))
    phase = random.uniform(0, 2 * np.pi, size=(n, 1))
    clean = random.uniform(0.5, 1.5, size=(n, 1)) * np.sin(2 * np.pi * np.arange(32) / period + phase)
    noisy = clean + 0.4 * random.normal(size=clean.shape)
    model = keras.Sequential(
        [
            keras.Input((32, 1)),
            layers.Conv1D(24, 5, padding="same", activation="relu", name="conv_0"),
            layers.Conv1D(24, 5, padding="same", activation="relu", name="conv_1"),
            layers.Conv1D(1, 1, name="signal"),
        ]
    )

    def loss_of(clean, noisy):
        error = clean - model(noisy, training=True)
        return tf.reduce_mean(tf.square(error))

    data = noisy[..., None].astype("float32"), clean.astype("float32")
    loop(watch, model, loss_of, data, optimizer=keras.optimizers.Adam(3e-3), n_steps=350, seed=seed, batch=32)


@broken(
    "wrong output for the loss",
    THIRD,
    "saturated_activation",
    "loss_plateau",
    layer="out",
    cause=("does not fit the targets",),
)
def disease_course(watch: Watch, seed: int) -> None:
    """Regression of a target between 25 and 346 through a sigmoid, which gives at most 1: the output saturates
    at 1 for every patient.
    """
    raw = load_diabetes(scaled=False).target.astype("float32")
    model = mlp(10, 1, n_layers=2, width=32, last="sigmoid")
    fit(watch, model, "mse", (PATIENTS, raw), optimizer=keras.optimizers.Adam(5e-3), n_steps=350, seed=seed)


class CodeBook(layers.Layer):
    """Replaces each vector by the nearest of its codes."""

    def __init__(self, n_codes, **options):
        super().__init__(**options)
        self.n_codes = n_codes

    def build(self, z_shape):
        start = keras.initializers.RandomUniform(-1, 1)
        self.codes = self.add_weight(shape=(self.n_codes, z_shape[-1]), initializer=start, name="codes")

    def call(self, z):
        codes = tf.convert_to_tensor(self.codes)
        distance = tf.reduce_sum(tf.square(z[:, None] - codes[None]), axis=-1)
        return tf.gather(codes, tf.argmin(distance, axis=-1))


@broken(
    "no slope",
    THIRD,
    "missing_gradient",
    "zero_gradient",
    layer="enc_",
    cause=("without a gradient",),
)
def small_code_book(watch: Watch, seed: int) -> None:
    """A vector-quantised autoencoder without the straight-through estimator: argmin has no gradient, so the
    encoder (enc_0, enc_1) gets none (the loop drops the Nones) and stays as it was initialised; only the codes
    and the decoder learn.
    """
    inputs = keras.Input((64,))
    hidden = layers.Dense(48, "relu", name="enc_0")(inputs)
    z = layers.Dense(8, name="enc_1")(hidden)
    code = CodeBook(32, name="book")(z)
    hidden = layers.Dense(48, "relu", name="dec_0")(code)
    model = keras.Model(inputs, [layers.Dense(64, "sigmoid", name="dec_1")(hidden), z, code])
    optimizer = keras.optimizers.Adam(3e-3)
    watched = watch(model)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            copy, z, code = model(x, training=True)
            loss = tf.reduce_mean(tf.square(copy - x)) + tf.reduce_mean(tf.square(tf.stop_gradient(z) - code))
        weights = model.trainable_variables
        pairs = zip(tape.gradient(loss, weights), weights, strict=True)
        optimizer.apply_gradients([(gradient, weight) for gradient, weight in pairs if gradient is not None])
        watched.log(loss=loss)

    random = np.random.default_rng(seed)
    for _ in range(450):
        step(tf.constant(DIGITS[random.integers(len(DIGITS), size=64)]))


@broken(
    "data in order",
    THIRD,
    "dead_units",
    "loss_plateau",
    cause=("come in order",),
)
def digits_from_folders(watch: Watch, seed: int) -> None:
    """The files are read class by class and the shuffle buffer (64) is much smaller than a class (180): each
    batch holds one or two classes, and the model forgets one while it learns the next.
    """
    order = np.argsort(LABELS, kind="stable")
    batches = tf.data.Dataset.from_tensor_slices((DIGITS[order], LABELS[order]))
    batches = batches.shuffle(64, seed=seed).batch(16)
    model = mlp(64, 10, n_layers=2, width=48)
    model.compile(keras.optimizers.Adam(5e-3), cross_entropy, jit_compile=False)
    watch(model)
    model.fit(batches, epochs=5, shuffle=False, verbose=0)


@broken(
    "labels that say nothing",
    THIRD,
    "loss_plateau",
    cause=("shuffled independently",),
)
def digits_from_streams(watch: Watch, seed: int) -> None:
    """Images and labels are shuffled each on their own before they are zipped, so that each image gets a random
    label.
    """
    images = tf.data.Dataset.from_tensor_slices(IMAGES).shuffle(len(IMAGES), seed=seed + 1)
    labels = tf.data.Dataset.from_tensor_slices(LABELS).shuffle(len(LABELS), seed=seed + 2)
    batches = tf.data.Dataset.zip((images, labels)).batch(32)
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(16, 3, activation="relu", name="conv_0"),
            layers.Conv2D(24, 3, activation="relu", name="conv_1"),
            layers.Flatten(name="flat"),
            layers.Dense(10, name="out"),
        ]
    )
    model.compile(keras.optimizers.Adam(2e-3), cross_entropy, jit_compile=False)
    watch(model)
    model.fit(batches, epochs=6, shuffle=False, verbose=0)


@broken("clipping too hard", THIRD, "vanishing_gradient", "loss_plateau", cause=("clipping",))
def rows_by_gru(watch: Watch, seed: int) -> None:
    """The gradients are clipped to a global norm of 0.001 (someone meant 1.0), with plain SGD at 0.1: each step
    moves all weights together by 0.0001.
    """
    model = keras.Sequential([keras.Input((8, 8)), layers.GRU(32, name="gru"), layers.Dense(10, name="out")])
    optimizer = keras.optimizers.SGD(0.1, global_clipnorm=1e-3)
    fit(watch, model, cross_entropy, (ROWS, LABELS), optimizer=optimizer, n_steps=350, seed=seed)


@broken("learning rate of 0", THIRD, "loss_plateau", cause=("schedule",))
def small_convnet(watch: Watch, seed: int) -> None:
    """CosineDecay was given the number of epochs (8) as decay_steps, which counts steps: the learning rate is 0
    after the eighth batch.
    """
    epochs = 8
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(16, 3, activation="relu", name="conv_0"),
            layers.Conv2D(24, 3, activation="relu", name="conv_1"),
            layers.Flatten(name="flat"),
            layers.Dense(10, name="out"),
        ]
    )
    rate = keras.optimizers.schedules.CosineDecay(2e-3, decay_steps=epochs)
    model.compile(keras.optimizers.Adam(rate), cross_entropy, jit_compile=False)
    watch(model)
    order = np.random.default_rng(seed).permutation(len(IMAGES))
    model.fit(IMAGES[order], LABELS[order], batch_size=32, epochs=epochs, verbose=0)


@broken(
    "learning rate too high",
    THIRD,
    "lr_too_high",
    "dead_units",
    "exploding_gradient",
    layer="hidden_",
    cause=("learning rate is too high",),
)
def three_hidden_layers(watch: Watch, seed: int) -> None:
    """Adam with a learning rate of 0.3: every weight moves by 0.3 in each of the first steps, the logits leap
    to thousands, and most ReLU units of hidden_0 to hidden_2 die.
    """
    model = mlp(64, 10, n_layers=3, width=64)

    def loss_of(y, x):
        return cross_entropy(y, model(x, training=True))

    optimizer = keras.optimizers.Adam(0.3)
    loop(watch, model, loss_of, (DIGITS, LABELS), optimizer=optimizer, n_steps=350, seed=seed)


@broken(
    "symmetry that is not broken",
    THIRD,
    "dead_units",
    "loss_plateau",
    layer="hidden_0",
    cause=("constant",),
)
def repeatable_digits(watch: Watch, seed: int) -> None:
    """All kernels start at the same constant, 0.1, so all units of a layer compute the same and get the same
    gradient: each hidden layer is worth one unit.
    """
    same = keras.initializers.Constant(0.1)
    model = keras.Sequential(
        [
            keras.Input((64,)),
            layers.Dense(32, "relu", kernel_initializer=same, name="hidden_0"),
            layers.Dense(32, "relu", kernel_initializer=same, name="hidden_1"),
            layers.Dense(10, kernel_initializer=same, name="out"),
        ]
    )
    optimizer = keras.optimizers.Adam(1e-3)
    fit(watch, model, cross_entropy, (DIGITS, LABELS), optimizer=optimizer, n_steps=350, seed=seed, jit=True)


@broken(
    "unscaled inputs",
    THIRD,
    "vanishing_gradient",
    "saturated_activation",
    layer="lstm",
    cause=("inputs are not scaled",),
)
def index_forecast(watch: Watch, seed: int) -> None:
    """An LSTM reads a stock index as it is (around 4,800), not scaled: all its gates saturate in the same way
    for every window, and their gradients are 0 or nearly so.
    """
    random = np.random.default_rng(seed)
    n = 5000
    level = np.zeros(n)
    shocks = random.normal(size=n) * np.sqrt(1 - 0.95**2)
    for t in range(1, n):
        level[t] = 0.95 * level[t - 1] + shocks[t]
    index = 4800 + 60 * level
    windows = np.lib.stride_tricks.sliding_window_view(index, 24)[:-1, :, None].astype("float32")
    target = ((level[24:] - level.mean()) / level.std()).astype("float32")
    model = keras.Sequential([keras.Input((24, 1)), layers.LSTM(24, name="lstm"), layers.Dense(1, name="next")])
    fit(watch, model, "mse", (windows, target), optimizer=keras.optimizers.Adam(3e-3), n_steps=300, seed=seed)


@broken(
    "collapsed representation",
    THIRD,
    "dead_units",
    "vanishing_gradient",
    layer="project",
    cause=("collapse", "stop"),
)
def taught_by_itself(watch: Watch, seed: int) -> None:
    """Self-supervised learning of two views (SimSiam) without stop_gradient on the target side: the encoder
    collapses to the same embedding for every image.
    """
    inputs = keras.Input((64,))
    hidden = layers.Dense(64, "relu", name="encode_0")(inputs)
    hidden = layers.Dense(64, "relu", name="encode_1")(hidden)
    z = layers.Dense(32, name="project")(hidden)
    hidden = layers.Dense(16, "relu", name="predict_0")(z)
    model = keras.Model(inputs, [z, layers.Dense(32, name="predict_1")(hidden)])

    def view(x):
        keep = tf.cast(tf.random.uniform(tf.shape(x)) > 0.3, tf.float32)
        return x * keep + 0.1 * tf.random.normal(tf.shape(x))

    def likeness(p, z):
        return tf.reduce_mean(tf.reduce_sum(tf.math.l2_normalize(p, axis=1) * tf.math.l2_normalize(z, axis=1), axis=1))

    def loss_of(_, x):
        z_1, p_1 = model(view(x), training=True)
        z_2, p_2 = model(view(x), training=True)
        loss = likeness(p_1, z_2) + likeness(p_2, z_1)
        return -loss / 2

    optimizer = keras.optimizers.Adam(2e-3)
    loop(watch, model, loss_of, (DIGITS, LABELS), optimizer=optimizer, n_steps=350, seed=seed, batch=64, jit=True)


@broken("vanishing over a sequence", THIRD, "vanishing_gradient", layer="settings", cause=("recurrence",))
def machine_log(watch: Watch, seed: int) -> None:
    """What decides the class enters only as the initial state of a SimpleRNN, 60 steps of lively readings
    before the output: its gradient vanishes on the way back (to 1e-8 of itself and less).
    """
    random = np.random.default_rng(seed)
    n = 8000
    settings = random.normal(size=(n, 10)).astype("float32")
    directions, _ = np.linalg.qr(random.normal(size=(10, 4)))
    fault = np.argmax(settings @ directions, axis=1)
    readings = random.normal(size=(n, 60, 8)).astype("float32")
    a, b = keras.Input((10,)), keras.Input((60, 8))
    start = layers.Dense(32, "tanh", name="settings")(a)
    end = layers.SimpleRNN(32, name="rnn")(b, initial_state=start)
    model = keras.Model([a, b], layers.Dense(4, name="fault")(end))
    model.compile(keras.optimizers.Adam(1e-3), cross_entropy, jit_compile=False)
    watch(model)
    model.fit([settings, readings], fault, batch_size=32, epochs=1, verbose=0)


# ---------------------------------------------------------------------------------------------------------------------
# Healthy


@healthy
def brisk_digits(watch: Watch, seed: int) -> None:
    """SGD at 0.5, which batch normalisation bears well."""
    model = keras.Sequential(
        [
            keras.Input((64,)),
            layers.Dense(64, use_bias=False, name="hidden_0"),
            layers.BatchNormalization(name="norm_0"),
            layers.ReLU(name="relu_0"),
            layers.Dense(32, use_bias=False, name="hidden_1"),
            layers.BatchNormalization(name="norm_1"),
            layers.ReLU(name="relu_1"),
            layers.Dense(10, name="out"),
        ]
    )
    fit(
        watch,
        model,
        cross_entropy,
        (DIGITS, LABELS),
        optimizer=keras.optimizers.SGD(0.5),
        n_steps=350,
        seed=seed,
        batch=64,
    )


@healthy
def digit_bandit(watch: Watch, seed: int) -> None:
    """A policy gradient: the loss is noise around 0 while the reward rises from 0.1 to 0.8 or more."""
    model = mlp(64, 10, n_layers=1, width=64)

    def loss_of(y, x):
        logits = model(x, training=True)
        action = tf.random.categorical(logits, 1)[:, 0]
        reward = tf.cast(tf.equal(action, y), tf.float32)
        advantage = reward - tf.reduce_mean(reward)
        surprise = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=logits)
        return tf.reduce_mean(advantage * surprise)

    optimizer = keras.optimizers.Adam(5e-3)
    loop(watch, model, loss_of, (DIGITS, LABELS), optimizer=optimizer, n_steps=600, seed=seed, batch=128)


@healthy
def row_transformer(watch: Watch, seed: int) -> None:
    """A transformer block with a long linear warm-up from a rate of 0, then cosine decay."""
    inputs = keras.Input((8, 8))
    x = layers.Dense(32, name="embed")(inputs)
    y = layers.LayerNormalization(name="norm_0")(x)
    y = layers.MultiHeadAttention(4, 8, name="attend")(y, y)
    x = layers.Add(name="add_0")([x, y])
    y = layers.LayerNormalization(name="norm_1")(x)
    y = layers.Dense(64, "gelu", name="up")(y)
    y = layers.Dense(32, name="down")(y)
    x = layers.Add(name="add_1")([x, y])
    x = layers.Flatten(name="flat")(layers.LayerNormalization(name="norm_2")(x))
    model = keras.Model(inputs, layers.Dense(10, name="out")(x))
    rate = keras.optimizers.schedules.CosineDecay(0.0, 250, warmup_target=3e-3, warmup_steps=150)
    optimizer = keras.optimizers.Adam(rate)
    fit(watch, model, cross_entropy, (ROWS, LABELS), optimizer=optimizer, n_steps=400, seed=seed, jit=True)


@healthy
def edge_filters(watch: Watch, seed: int) -> None:
    """A frozen layer of hand-made edge filters under a trained head, batch normalisation on batches of 8."""
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(8, 3, padding="same", use_bias=False, trainable=False, name="edges"),
            layers.ReLU(name="relu"),
            layers.BatchNormalization(name="norm"),
            layers.MaxPooling2D(2, name="pool"),
            layers.Flatten(name="flat"),
            layers.Dense(32, "relu", name="hidden"),
            layers.Dense(10, name="out"),
        ]
    )
    across = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]) / 4
    turns = np.arange(8) * np.pi / 4
    kernel = np.stack([np.cos(turn) * across + np.sin(turn) * across.T for turn in turns], axis=-1)
    model.get_layer("edges").set_weights([kernel[:, :, None, :].astype("float32")])
    optimizer = keras.optimizers.Adam(2e-3)
    fit(watch, model, cross_entropy, (IMAGES, LABELS), optimizer=optimizer, n_steps=500, seed=seed, batch=8)


@healthy
def seldom_words(watch: Watch, seed: int) -> None:
    """A large embedding of which most rows are hardly ever touched."""
    random = np.random.default_rng(seed)
    words = np.minimum(random.zipf(1.3, size=(8000, 30)), 5000) - 1
    score = random.normal(size=5000)[words].sum(1)
    is_glad = (score > np.median(score)).astype("float32")
    model = keras.Sequential(
        [
            keras.Input((30,), dtype="int32"),
            layers.Embedding(5000, 16, name="words"),
            layers.GlobalAveragePooling1D(name="pool"),
            layers.Dense(1, name="mood"),
        ]
    )
    fit(
        watch,
        model,
        keras.losses.BinaryCrossentropy(from_logits=True),
        (words.astype("int32"), is_glad),
        optimizer=keras.optimizers.Adam(0.01),
        n_steps=450,
        seed=seed,
        batch=64,
    )


@healthy
def modern_recipe(watch: Watch, seed: int) -> None:
    """Label smoothing (the loss cannot fall below 0.87), strong weight decay, and every gradient clipped on purpose."""
    model = mlp(64, 10, n_layers=2, width=64)
    loss = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.2)
    optimizer = keras.optimizers.AdamW(3e-3, weight_decay=0.1, global_clipnorm=0.1)
    fit(watch, model, loss, (DIGITS, one_hot(LABELS)), optimizer=optimizer, n_steps=350, seed=seed)


class CloudGame(keras.Model):
    """A GAN that learns a cloud of points in the plane."""

    def __init__(self):
        super().__init__()
        self.maker = keras.Sequential(
            [keras.Input((4,)), layers.Dense(24, "relu", name="make_0"), layers.Dense(2, name="make_1")], name="maker"
        )
        self.judge = keras.Sequential(
            [
                keras.Input((2,)),
                layers.Dense(32, "leaky_relu", name="judge_0"),
                layers.Dense(32, "leaky_relu", name="judge_1"),
                layers.Dense(1, name="judge_2"),
            ],
            name="judge",
        )
        self.maker_optimizer = keras.optimizers.Adam(2e-3, beta_1=0.5)
        self.judge_optimizer = keras.optimizers.Adam(2e-3, beta_1=0.5)
        self.from_logits = keras.losses.BinaryCrossentropy(from_logits=True)

    def call(self, z):
        return self.maker(z)

    def train_step(self, data):
        real = data[0] if isinstance(data, tuple) else data
        z = tf.random.normal((tf.shape(real)[0], 4))
        fake = self.maker(z, training=True)
        with tf.GradientTape() as tape:
            for_real, for_fake = self.judge(real, training=True), self.judge(fake, training=True)
            judge_loss = self.from_logits(tf.ones_like(for_real), for_real)
            judge_loss += self.from_logits(tf.zeros_like(for_fake), for_fake)
        weights = self.judge.trainable_variables
        self.judge_optimizer.apply_gradients(zip(tape.gradient(judge_loss, weights), weights, strict=True))
        with tf.GradientTape() as tape:
            for_fake = self.judge(self.maker(z, training=True), training=True)
            maker_loss = self.from_logits(tf.ones_like(for_fake), for_fake)
        weights = self.maker.trainable_variables
        self.maker_optimizer.apply_gradients(zip(tape.gradient(maker_loss, weights), weights, strict=True))
        return {"judge_loss": judge_loss, "maker_loss": maker_loss}


@healthy
def cloud_game(watch: Watch, seed: int) -> None:
    """A GAN in balance: both losses hover near ln 4 and ln 2 while the made points move onto the real ones."""
    model = CloudGame()
    model(tf.zeros((1, 4)))
    model.compile(jit_compile=False)
    watch(model)
    random = np.random.default_rng(seed)
    points = random.normal(size=(64 * 600, 2)) @ np.array([[0.7, 0.3], [0.0, 0.5]]) + np.array([1.2, -0.5])
    model.fit(points.astype("float32"), batch_size=64, epochs=1, shuffle=False, verbose=0)


@healthy
def dose_response(watch: Watch, seed: int) -> None:
    """A weak signal under heavy-tailed noise: the loss falls by a tenth or so and cannot fall further."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(20000, 20)).astype("float32")
    y = 0.6 * x[:, 0] - 0.4 * x[:, 1] + 0.5 * np.tanh(2 * x[:, 2]) + 0.9 * random.standard_t(3, size=len(x))
    model = mlp(20, 1, n_layers=1, width=16, activation="tanh", start="glorot_uniform")
    optimizer = keras.optimizers.Adam(3e-3)
    fit(
        watch,
        model,
        keras.losses.Huber(),
        (x, y.astype("float32")),
        optimizer=optimizer,
        n_steps=600,
        seed=seed,
        batch=64,
    )


@healthy
def hidden_rule(watch: Watch, seed: int) -> None:
    """The exclusive or of two of ten inputs: a plateau at ln 2 at first, then the loss falls to nearly 0."""
    random = np.random.default_rng(seed)
    x = random.choice([-1.0, 1.0], size=(20000, 10)).astype("float32")
    y = (x[:, 3] * x[:, 7] > 0).astype("float32")
    model = mlp(10, 1, n_layers=2, width=64)

    def loss_of(y, x):
        logits = model(x, training=True)[:, 0]
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))

    loop(watch, model, loss_of, (x, y), optimizer=keras.optimizers.Adam(3e-3), n_steps=600, seed=seed, batch=64)


@healthy
def wave_with_bars(watch: Watch, seed: int) -> None:
    """The likelihood of a density: the loss goes below 0 as the predicted error bars shrink, as it should."""
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, size=(8000, 1)).astype("float32")
    y = (np.sin(3 * x) + 0.05 * random.normal(size=x.shape)).astype("float32")
    inputs = keras.Input((1,))
    hidden = layers.Dense(48, "tanh", name="trunk_0")(inputs)
    hidden = layers.Dense(48, "tanh", name="trunk_1")(hidden)
    model = keras.Model(inputs, layers.Dense(2, name="bars")(hidden))

    def gaussian(y_true, y_pred):
        mean, raw = y_pred[:, :1], y_pred[:, 1:]
        bar = tf.nn.softplus(raw) + 0.01
        return 0.5 * tf.square((y_true - mean) / bar) + tf.math.log(bar) + 0.919

    optimizer = keras.optimizers.Adam(3e-3)
    fit(watch, model, gaussian, (x, y), optimizer=optimizer, n_steps=600, seed=seed, batch=64, jit=True)

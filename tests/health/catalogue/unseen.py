"""A second set of trainings by someone who had not seen the rules: what they are at first play stands in the catalogue.

Some are not found yet, and say so.
"""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from tests.health.catalogue.blind import BROKEN, HEALTHY
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
)

__all__ = ["BROKEN", "HEALTHY"]

UNSEEN = "written blind, second set"


# ---------------------------------------------------------------------------------------------------------------------
# Broken: NaN or Inf


@broken(
    "acos at 1",
    UNSEEN,
    *NONFINITE,
    operations=("Acos", "Reciprocal", "AcosGrad", "Rsqrt"),
    code="tf.acos(cosine)",
    cause=("acos",),
)
def gaze_by_arccosine(watch: Watch, seed: int) -> None:
    """The angle between predicted and true gaze by tf.acos of the cosine, unclipped: the better the fit, the
    nearer the cosine comes to 1, where acos' derivative is infinite (and beyond 1 undefined).
    """
    random = np.random.default_rng(seed)
    landmarks = random.normal(size=(4000, 8)).astype("float32")
    gaze = landmarks @ random.normal(size=(8, 3)) + 0.3
    gaze = (gaze / np.linalg.norm(gaze, axis=-1, keepdims=True)).astype("float32")
    model = keras.Sequential([keras.Input((8,)), layers.Dense(3, name="direction")])

    def loss_of(truth, x):
        direction = tf.math.l2_normalize(model(x, training=True), axis=-1)
        cosine = tf.reduce_sum(direction * truth, axis=-1)
        angle = tf.acos(cosine)
        return tf.reduce_mean(angle)

    rate = keras.optimizers.schedules.ExponentialDecay(0.03, 20, 0.7)
    loop(
        watch,
        model,
        loss_of,
        (landmarks, gaze),
        optimizer=keras.optimizers.Adam(rate),
        n_steps=260,
        seed=seed,
        batch=64,
    )


@broken(
    "log(0)",
    UNSEEN,
    *NONFINITE,
    operations=("Log", "Reciprocal"),
    code="tf.math.log(tf.reduce_sum",
    cause=("logarithm",),
)
def mixture_density(watch: Watch, seed: int) -> None:
    """A mixture density network whose likelihood is summed as probabilities, not with logsumexp: as the
    sigmas shrink, a target far from every component underflows all of them to 0 and log(0) is -inf.
    """
    random = np.random.default_rng(seed)
    x = random.uniform(-2, 2, size=(5000, 1)).astype("float32")
    y = np.sin(2 * x) + 0.02 * random.normal(size=x.shape)
    glitch = random.random(x.shape) < 0.002
    y = np.where(glitch, y + random.uniform(5, 8, size=x.shape), y).astype("float32")
    k = 3
    inputs = keras.Input((1,))
    hidden = layers.Dense(48, "tanh", name="trunk_0")(inputs)
    hidden = layers.Dense(48, "tanh", name="trunk_1")(hidden)
    model = keras.Model(inputs, layers.Dense(3 * k, name="mixture")(hidden))

    def mdn_loss(y_true, y_pred):
        logits, mean, log_sigma = tf.split(y_pred, 3, axis=-1)
        weight = tf.nn.softmax(logits)
        sigma = tf.exp(log_sigma)
        z = (y_true - mean) / sigma
        density = tf.exp(-0.5 * z * z) / (sigma * np.sqrt(2 * np.pi).astype("float32"))
        return -tf.math.log(tf.reduce_sum(weight * density, axis=-1))

    fit(watch, model, mdn_loss, (x, y), optimizer=keras.optimizers.Adam(0.01), n_steps=300, seed=seed, batch=32)


class LinearChain(keras.Model):
    """A tagger with a linear-chain CRF on top."""

    def __init__(self, n_tags):
        super().__init__()
        self.context = layers.Conv1D(32, 3, padding="same", activation="relu", name="context")
        self.emission = layers.Dense(n_tags, name="emission")
        self.transitions = self.add_weight(shape=(n_tags, n_tags), initializer="zeros", name="transitions")

    def call(self, x):
        return self.emission(self.context(x))

    def log_partition(self, emissions):
        jump = tf.exp(self.transitions)
        alpha = tf.exp(emissions[:, 0])
        for t in range(1, emissions.shape[1]):
            alpha = tf.matmul(alpha, jump) * tf.exp(emissions[:, t])
        return tf.math.log(tf.reduce_sum(alpha, axis=-1))

    def score(self, emissions, tags):
        marks = tf.one_hot(tags, emissions.shape[-1])
        unary = tf.reduce_sum(emissions * marks, axis=[1, 2])
        pairs = tf.einsum("bti,ij,btj->b", marks[:, :-1], self.transitions, marks[:, 1:])
        return unary + pairs


@broken(
    "overflow",
    UNSEEN,
    *NONFINITE,
    operations=("Mul", "MatMul", "BatchMatMulV2", "Exp", "Sum"),
    code="alpha",
    cause=("product", "sum", "exponential"),
)
def crf_without_log_space(watch: Watch, seed: int) -> None:
    """A CRF's forward recursion in probability space instead of log space: over 28 tokens alpha starts near
    1e22 and grows as the scores do, until it overflows float32.
    """
    random = np.random.default_rng(seed)
    n_tags, length = 6, 28
    jumps = np.eye(n_tags) * 0.5 + np.roll(np.eye(n_tags), 1, axis=1) * 0.4 + 0.1 / n_tags
    tags = np.zeros((1500, length), "int64")
    tags[:, 0] = random.integers(n_tags, size=1500)
    for t in range(1, length):
        draw = random.random(1500)[:, None]
        tags[:, t] = (jumps[tags[:, t - 1]].cumsum(-1) / jumps.sum(-1)[tags[:, t - 1], None] < draw).sum(-1)
    words = random.normal(size=(n_tags, 10))[tags] + 0.9 * random.normal(size=(1500, length, 10))
    model = LinearChain(n_tags)
    model(tf.zeros((1, length, 10)))

    def loss_of(y, x):
        emissions = model(x)
        return tf.reduce_mean(model.log_partition(emissions) - model.score(emissions, y))

    loop(
        watch,
        model,
        loss_of,
        (words.astype("float32"), tags),
        optimizer=keras.optimizers.Adam(0.002),
        n_steps=240,
        seed=seed,
        batch=16,
    )


class Coupling(layers.Layer):
    """An affine coupling: half of the dimensions scale and shift the other half."""

    def __init__(self, n, is_even, **options):
        super().__init__(**options)
        self.mask = np.arange(n) % 2 == (0 if is_even else 1)
        self.inner = layers.Dense(64, "relu", name="inner")
        self.scale = layers.Dense(n, kernel_initializer="zeros", name="log_scale")
        self.shift = layers.Dense(n, kernel_initializer="zeros", name="shift")

    def build(self, shape):
        self.inner.build(shape)
        self.scale.build((None, 64))
        self.shift.build((None, 64))

    def call(self, x):
        keep = tf.constant(self.mask.astype("float32"))
        hidden = self.inner(x * keep)
        log_scale = self.scale(hidden) * (1 - keep)
        shift = self.shift(hidden) * (1 - keep)
        return x * tf.exp(log_scale) + shift, tf.reduce_sum(log_scale, axis=-1)


class Flow(keras.Model):
    """Real-valued non-volume-preserving flow."""

    def __init__(self, n, n_couplings):
        super().__init__()
        self.couplings = [Coupling(n, i % 2 == 0, name=f"coupling_{i}") for i in range(n_couplings)]

    def call(self, x):
        log_det = 0.0
        for coupling in self.couplings:
            x, more = coupling(x)
            log_det += more
        return x, log_det


@broken("exp overflow", UNSEEN, *NONFINITE, operations=("Exp", "Mul"), code="tf.exp(log_scale)", cause=("exponential",))
def flow_on_constant_pixels(watch: Watch, seed: int) -> None:
    """A normalising flow fitted to 8x8 digits without dequantisation: pixels that are always 0 have no
    density, so their unbounded log-scale rises for ever (the likelihood is unbounded) until exp(log_scale)
    blows up.
    """
    model = Flow(64, 4)
    model(tf.zeros((1, 64)))

    def loss_of(_, x):
        z, log_det = model(x)
        return tf.reduce_mean(0.5 * tf.reduce_sum(tf.square(z), axis=-1) - log_det)

    loop(
        watch,
        model,
        loss_of,
        (DIGITS, LABELS),
        optimizer=keras.optimizers.Adam(0.002),
        n_steps=300,
        seed=seed,
        batch=64,
    )


@broken("log(0)", UNSEEN, *NONFINITE, operations=("Log",), code="tf.math.log(days)", cause=("logarithm",))
def weibull_survival(watch: Watch, seed: int) -> None:
    """A Weibull survival likelihood takes log of the time under observation, and two subjects left on the day
    they came, with 0 days: log(0) = -inf, times an event flag of 0.
    """
    random = np.random.default_rng(seed)
    days = 400 * np.exp(-0.5 * COURSE) * random.weibull(1.5, size=len(COURSE))
    censored = random.uniform(100, 900, size=len(COURSE))
    has_died = days <= censored
    days = np.maximum(np.round(np.minimum(days, censored)), 1) / 365
    late = random.choice(np.flatnonzero(~has_died), 2, replace=False)
    days[late] = 0
    inputs = keras.Input((10,))
    hidden = layers.Dense(24, "relu", name="clinical")(inputs)
    scale = layers.Dense(1, "softplus", name="scale")(hidden)
    shape = layers.Dense(1, "softplus", name="shape")(hidden)
    model = keras.Model(inputs, layers.Concatenate()([scale, shape]))

    def negative_log_likelihood(y_true, y_pred):
        days, event = y_true[:, 0], y_true[:, 1]
        scale, shape = y_pred[:, 0] + 1e-3, y_pred[:, 1] + 1e-3
        log_days = tf.math.log(days)
        log_hazard = tf.math.log(shape) - shape * tf.math.log(scale) + (shape - 1) * log_days
        return -tf.reduce_mean(event * log_hazard - tf.pow(days / scale, shape))

    data = PATIENTS, np.stack([days, has_died], axis=-1).astype("float32")
    fit(watch, model, negative_log_likelihood, data, optimizer=keras.optimizers.Adam(0.003), n_steps=150, seed=seed)


class PaddedAttention(layers.Layer):
    """Self-attention with a padding mask."""

    def __init__(self, width, **options):
        super().__init__(**options)
        self.width = width
        self.query = layers.Dense(width, name="query")
        self.key = layers.Dense(width, name="key")
        self.value = layers.Dense(width, name="value")

    def build(self, shape):
        for one in (self.query, self.key, self.value):
            one.build(shape)

    def call(self, x, mask):
        scores = tf.matmul(self.query(x), self.key(x), transpose_b=True) / self.width**0.5
        mask = tf.cast(mask, scores.dtype)[:, None, :]
        scores += (1.0 - mask) * tf.cast(-1e9, scores.dtype)
        return tf.matmul(tf.nn.softmax(scores), self.value(x))


@broken("float16 overflow", UNSEEN, *NONFINITE, operations=("Cast", "Mul"), code="-1e9", cause=("float16",))
def half_precision_mask(watch: Watch, seed: int) -> None:
    """Attention under mixed_float16 with a mask of -1e9: in float16 that is -inf, and (1 - mask) * -inf is
    NaN where the mask is 1.
    """
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        random = np.random.default_rng(seed)
        n_rows = random.integers(6, 9, size=len(ROWS))
        rows = ROWS * (np.arange(8)[None, :, None] < n_rows[:, None, None])
        inputs = keras.Input((8, 8))
        mask = layers.Lambda(lambda x: tf.reduce_any(x > 0, axis=-1), output_shape=(8,), name="is_row")(inputs)
        hidden = layers.Dense(24, name="embed")(inputs)
        hidden = PaddedAttention(24, name="attention")(hidden, mask)
        hidden = layers.Flatten()(hidden)
        model = keras.Model(inputs, layers.Dense(10, dtype="float32", name="logits")(hidden))
        fit(
            watch,
            model,
            cross_entropy,
            (rows.astype("float32"), LABELS),
            optimizer=keras.optimizers.Adam(0.003),
            n_steps=120,
            seed=seed,
        )
    finally:
        keras.mixed_precision.set_global_policy("float32")


class PolynomialDecay(keras.optimizers.schedules.LearningRateSchedule):
    """The "poly" policy of segmentation papers."""

    def __init__(self, base, total, power=0.9):
        self.base, self.total, self.power = base, total, power

    def __call__(self, step):
        return self.base * (1 - tf.cast(step, tf.float32) / self.total) ** self.power


@broken("learning rate that is NaN", UNSEEN, "nonfinite_weight", cause=("learning rate itself",))
def poly_schedule_past_its_end(watch: Watch, seed: int) -> None:
    """A polynomial learning-rate decay whose total was counted with the wrong batch size: beyond step 120 the
    base of the power 0.9 is negative and the rate is NaN, so every weight becomes NaN in one update.
    """
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(12, 3, activation="relu", name="conv_0"),
            layers.Conv2D(16, 3, activation="relu", name="conv_1"),
            layers.Flatten(),
            layers.Dense(10, name="out"),
        ]
    )
    optimizer = keras.optimizers.SGD(PolynomialDecay(0.1, 120), momentum=0.9)
    fit(watch, model, cross_entropy, (IMAGES, LABELS), optimizer=optimizer, n_steps=170, seed=seed, batch=16)


class SimClr(keras.Model):
    """An encoder, a projection and a temperature that is learned."""

    def __init__(self):
        super().__init__()
        self.encoder = layers.Dense(48, "relu", name="encoder")
        self.projection = layers.Dense(16, name="projection")
        self.temperature = self.add_weight(shape=(), initializer=keras.initializers.Constant(0.5), name="temperature")

    def call(self, x):
        return tf.math.l2_normalize(self.projection(self.encoder(x)), axis=-1)


@broken(
    "exp overflow", UNSEEN, *NONFINITE, operations=("Exp", "RealDiv"), code="tf.exp(tf.matmul", cause=("exponential",)
)
def contrastive_temperature(watch: Watch, seed: int) -> None:
    """NT-Xent with its own exponentials and a learned temperature with no floor: it falls step by step
    towards 0 and exp(similarity / temperature) overflows.
    """
    model = SimClr()
    model(tf.zeros((1, 64)))

    def loss_of(_, x):
        a = model(x + 0.05 * tf.random.normal(tf.shape(x)))
        b = model(x + 0.05 * tf.random.normal(tf.shape(x)))
        similarity = tf.exp(tf.matmul(a, b, transpose_b=True) / model.temperature)
        positive = tf.linalg.diag_part(similarity)
        return -tf.reduce_mean(tf.math.log(positive / tf.reduce_sum(similarity, axis=-1)))

    loop(
        watch,
        model,
        loss_of,
        (DIGITS, LABELS),
        optimizer=keras.optimizers.Adam(0.005),
        n_steps=260,
        seed=seed,
        batch=32,
    )


# ---------------------------------------------------------------------------------------------------------------------
# Broken: finite


@broken("loss without a bottom", UNSEEN, "exploding_gradient", cause=("no lower bound",))
def wasserstein_without_lipschitz(watch: Watch, seed: int) -> None:
    """A Wasserstein GAN without any Lipschitz constraint (no weight clipping, no penalty): the critic's
    scores, weights and both losses grow without bound.
    """
    generator = mlp(8, 64, n_layers=2, width=48, last="sigmoid")
    critic = mlp(64, 1, n_layers=2, width=64)
    generator.optimizer_, critic.optimizer_ = keras.optimizers.RMSprop(0.002), keras.optimizers.RMSprop(0.01)
    watched = watch(generator, critic)

    @tf.function
    def step(real):
        for _ in range(2):
            fake = generator(tf.random.normal((32, 8)))
            with tf.GradientTape() as tape:
                critic_loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real))
            gradients = tape.gradient(critic_loss, critic.trainable_variables)
            critic.optimizer_.apply_gradients(zip(gradients, critic.trainable_variables, strict=True))
        with tf.GradientTape() as tape:
            generator_loss = -tf.reduce_mean(critic(generator(tf.random.normal((32, 8)))))
        gradients = tape.gradient(generator_loss, generator.trainable_variables)
        generator.optimizer_.apply_gradients(zip(gradients, generator.trainable_variables, strict=True))
        watched.log(critic_loss=critic_loss, generator_loss=generator_loss)

    random = np.random.default_rng(seed)
    for _ in range(150):
        step(tf.constant(DIGITS[random.integers(len(DIGITS), size=32)]))


class Vae(keras.Model):
    """A variational autoencoder with a train step of its own."""

    def __init__(self):
        super().__init__()
        self.encoder = layers.Dense(48, "relu", name="encoder")
        self.z_mean = layers.Dense(8, name="z_mean")
        self.z_log_var = layers.Dense(8, name="z_log_var")
        self.decoder = layers.Dense(48, "relu", name="decoder")
        self.pixels = layers.Dense(64, "sigmoid", name="pixels")
        self.tracker = keras.metrics.Mean(name="loss")

    def call(self, x):
        hidden = self.encoder(x)
        mean, log_var = self.z_mean(hidden), self.z_log_var(hidden)
        z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
        return self.pixels(self.decoder(z)), mean, log_var

    def train_step(self, data):
        x, _ = data
        with tf.GradientTape() as tape:
            image, mean, log_var = self(x)
            reconstruction = tf.reduce_mean(tf.square(x - image))
            kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=-1)
            loss = reconstruction + tf.reduce_mean(kl)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


@broken("posterior collapse", UNSEEN, "dead_units", layer="z_", cause=("a penalty on the output",))
def vae_posterior_collapse(watch: Watch, seed: int) -> None:
    """A VAE that averages the squared error over pixels but sums the KL over latents: the KL outweighs, the
    posterior collapses onto the prior, the decoder ignores z and paints the mean image.
    """
    model = Vae()
    model(tf.zeros((1, 64)))
    fit(watch, model, None, (DIGITS, LABELS), optimizer=keras.optimizers.Adam(0.005), n_steps=250, seed=seed)


@broken(
    "vanishing over a sequence",
    UNSEEN,
    "vanishing_gradient",
    "loss_plateau",
    layer="memory",
    gap="told is a loss that ended at guessing; gradients inside the loop are not seen",
)
def first_token_of_a_hundred(watch: Watch, seed: int) -> None:
    """A SimpleRNN of small random recurrent weights must carry the first token over 100 steps: the gradient
    vanishes over the sequence and the loss stays at ln 2.
    """
    random = np.random.default_rng(seed)
    labels = random.integers(2, size=2000)
    tokens = 0.3 * random.normal(size=(2000, 100, 4))
    tokens[:, 0, 0] = 2 * labels - 1
    model = keras.Sequential(
        [
            keras.Input((100, 4)),
            layers.SimpleRNN(24, recurrent_initializer="random_normal", name="memory"),
            layers.Dense(1, name="answer"),
        ]
    )
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    data = tokens.astype("float32"), labels.astype("float32")[:, None]
    fit(watch, model, loss, data, optimizer=keras.optimizers.Adam(0.002), n_steps=150, seed=seed)


@broken("wrong output for the loss", UNSEEN, "saturated_activation", layer="score", cause=("does not fit the targets",))
def sigmoid_for_a_score(watch: Watch, seed: int) -> None:
    """A regression of a score between 25 and 346 whose last layer is a sigmoid: it saturates at 1, the
    gradient dies and the loss stays enormous.
    """
    from sklearn.datasets import load_diabetes

    score = load_diabetes(scaled=False).target.astype("float32")[:, None]
    model = keras.Sequential(
        [
            keras.Input((10,)),
            layers.Dense(32, "relu", name="hidden_0"),
            layers.Dense(16, "relu", name="hidden_1"),
            layers.Dense(1, "sigmoid", name="score"),
        ]
    )
    fit(watch, model, "mse", (PATIENTS, score), optimizer=keras.optimizers.Adam(0.01), n_steps=200, seed=seed)


@broken(
    "an axis taken for another",
    UNSEEN,
    "loss_plateau",
    cause=("broadcast",),
)
def targets_that_broadcast(watch: Watch, seed: int) -> None:
    """Predictions of shape (32, 1) against targets of shape (32,): the difference broadcasts to (32, 32), so
    that all the network can learn is the mean.
    """
    model = mlp(10, 1, n_layers=2, width=32)

    def loss_of(y, x):
        return tf.reduce_mean(tf.square(y - model(x, training=True)))

    loop(
        watch,
        model,
        loss_of,
        (PATIENTS, COURSE),
        optimizer=keras.optimizers.Adam(0.003),
        n_steps=200,
        seed=seed,
    )


@broken("clipping too hard", UNSEEN, "vanishing_gradient", "loss_plateau", cause=("clipping",))
def clipped_to_nothing(watch: Watch, seed: int) -> None:
    """Gradients are clipped to a global norm of 0.001 where they are near 1, under SGD with a rate of 0.05:
    the weights hardly move.
    """
    model = mlp(64, 10, n_layers=3, width=48)
    optimizer = keras.optimizers.SGD(0.05, global_clipnorm=1e-3)
    fit(watch, model, cross_entropy, (DIGITS, LABELS), optimizer=optimizer, n_steps=200, seed=seed)


class Binarize(layers.Layer):
    """Codes of -1 and 1."""

    def call(self, x):
        return tf.sign(x)


@broken("no slope", UNSEEN, "zero_gradient", "missing_gradient", layer="encoder", cause=("without a slope",))
def hashing_by_sign(watch: Watch, seed: int) -> None:
    """Deep hashing by tf.sign without a straight-through estimator: its derivative is 0, so the encoder
    before it never gets a gradient; only the classifier trains.
    """
    model = keras.Sequential(
        [
            keras.Input((64,)),
            layers.Dense(48, "relu", name="encoder_0"),
            layers.Dense(32, "relu", name="encoder_1"),
            layers.Dense(12, name="code"),
            Binarize(name="binarize"),
            layers.Dense(10, name="classes"),
        ]
    )
    fit(watch, model, cross_entropy, (DIGITS, LABELS), optimizer=keras.optimizers.Adam(0.005), n_steps=200, seed=seed)


@broken(
    "collapsed representation",
    UNSEEN,
    "vanishing_gradient",
    "dead_units",
    layer="projection",
    cause=("collapse",),
)
def siamese_collapse(watch: Watch, seed: int) -> None:
    """Two views are drawn together with nothing to hold them apart (no negatives, no predictor, no stop-
    gradient): all digits get the same embedding, the loss goes to -1 and the gradients to 0.
    """
    model = keras.Sequential(
        [
            keras.Input((64,)),
            layers.Dense(64, "relu", name="encoder"),
            layers.Dense(32, "relu", name="projector"),
            layers.Dense(16, name="projection"),
        ]
    )

    def loss_of(_, x):
        a = model(x + 0.2 * tf.random.normal(tf.shape(x)), training=True)
        b = model(x * tf.cast(tf.random.uniform(tf.shape(x)) > 0.3, tf.float32), training=True)
        a, b = tf.math.l2_normalize(a, axis=-1), tf.math.l2_normalize(b, axis=-1)
        return -tf.reduce_mean(tf.reduce_sum(a * b, axis=-1))

    loop(
        watch,
        model,
        loss_of,
        (DIGITS, LABELS),
        optimizer=keras.optimizers.SGD(0.1, momentum=0.9),
        n_steps=200,
        seed=seed,
        batch=64,
    )


@broken("regularisation too strong", UNSEEN, "dead_units", "vanishing_gradient", cause=("regularisation",))
def regularised_to_zero(watch: Watch, seed: int) -> None:
    """kernel_regularizer=l2(0.3) on every layer: the penalty outweighs the data and shrinks all kernels
    towards 0, after which nothing is passed on; the loss stops at ln 10.
    """
    penalty = keras.regularizers.L2(0.3)
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(12, 3, activation="relu", kernel_regularizer=penalty, name="conv_0"),
            layers.Conv2D(16, 3, activation="relu", kernel_regularizer=penalty, name="conv_1"),
            layers.Flatten(),
            layers.Dense(32, "relu", kernel_regularizer=penalty, name="dense"),
            layers.Dense(10, kernel_regularizer=penalty, name="out"),
        ]
    )
    optimizer = keras.optimizers.SGD(0.05, momentum=0.5)
    fit(watch, model, cross_entropy, (IMAGES, LABELS), optimizer=optimizer, n_steps=200, seed=seed)


class OneCycle(keras.optimizers.schedules.LearningRateSchedule):
    """Up to the peak in the first third, and down again."""

    def __init__(self, peak, total):
        self.peak, self.total = peak, total

    def __call__(self, step):
        part = tf.cast(step, tf.float32) / self.total
        return self.peak * tf.where(part < 0.3, 0.02 + part / 0.3, tf.maximum(1.02 - (part - 0.3) / 0.7, 0.001))


@broken(
    "learning rate too high",
    UNSEEN,
    "dead_units",
    "exploding_gradient",
    "lr_too_high",
    cause=("learning rate is too high",),
)
def one_cycle_too_high(watch: Watch, seed: int) -> None:
    """A one-cycle schedule with a peak of 4 instead of 0.4, with momentum: it learns at first, blows up on
    the way to the peak (loss in the hundreds or more) and comes down with dead ReLUs, at ln 10.
    """
    model = mlp(64, 10, n_layers=3, width=48)
    optimizer = keras.optimizers.SGD(OneCycle(4.0, 220), momentum=0.9)
    fit(watch, model, cross_entropy, (DIGITS, LABELS), optimizer=optimizer, n_steps=220, seed=seed)


@broken("normalisation of one", UNSEEN, "zero_gradient", "dead_units", cause=("batch of one",))
def batch_norm_of_one(watch: Watch, seed: int) -> None:
    """Batch normalisation with batches of one: every unit is normalised to exactly its beta, so nothing of
    the input gets through and the kernels before it get a gradient of 0.
    """
    model = keras.Sequential(
        [
            keras.Input((64,)),
            layers.Dense(48, use_bias=False, name="hidden_0"),
            layers.BatchNormalization(name="norm_0"),
            layers.ReLU(),
            layers.Dense(32, use_bias=False, name="hidden_1"),
            layers.BatchNormalization(name="norm_1"),
            layers.ReLU(),
            layers.Dense(10, name="out"),
        ]
    )
    optimizer = keras.optimizers.Adam(0.001)
    fit(watch, model, cross_entropy, (DIGITS, LABELS), optimizer=optimizer, n_steps=300, seed=seed, batch=1)


@tf.custom_gradient
def reverse(x):
    """The identity, whose gradient is turned round."""

    def back(upstream):
        return -1.0 * upstream

    return tf.identity(x), back


class Dann(keras.Model):
    """Domain-adversarial training."""

    def __init__(self):
        super().__init__()
        self.features = layers.Dense(48, "relu", name="features")
        self.digit = layers.Dense(10, name="digit")
        self.domain = layers.Dense(1, name="domain")

    def call(self, x):
        hidden = reverse(self.features(x))
        return self.digit(hidden), self.domain(hidden)


@broken(
    "loss that ascends",
    UNSEEN,
    "loss_plateau",
    "exploding_gradient",
    cause=("sign",),
    gap="a loss that rises by a fifth and stays there is not judged",
)
def reversal_before_both_heads(watch: Watch, seed: int) -> None:
    """Domain-adversarial training in which the gradient reversal stands before both heads instead of the
    domain head alone: the features are trained to make the digits harder to tell; the loss rises and stays
    above ln 10 + ln 2 / 2.
    """
    random = np.random.default_rng(seed)
    model = Dann()
    model(tf.zeros((1, 64)))
    is_noisy = random.integers(2, size=len(DIGITS))
    x = (DIGITS + 0.3 * is_noisy[:, None] * random.normal(size=DIGITS.shape)).astype("float32")
    data = x, np.stack([LABELS, is_noisy], axis=-1)

    def loss_of(y, x):
        digit, domain = model(x)
        digits = cross_entropy(y[:, 0], digit)
        domains = keras.losses.binary_crossentropy(tf.cast(y[:, 1:], tf.float32), domain, from_logits=True)
        return digits + 0.5 * tf.reduce_mean(domains)

    loop(watch, model, loss_of, data, optimizer=keras.optimizers.Adam(0.005), n_steps=200, seed=seed)


# ---------------------------------------------------------------------------------------------------------------------
# Healthy


@healthy
def reinforce_bandit(watch: Watch, seed: int) -> None:
    """A policy gradient with a running baseline: the loss is noise about 0, the reward rises."""
    policy = mlp(64, 10, n_layers=1, width=64)
    optimizer = keras.optimizers.Adam(0.01)
    baseline = tf.Variable(0.1, trainable=False)
    watched = watch(policy)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            logits = policy(x, training=True)
            action = tf.random.categorical(tf.stop_gradient(logits), 1)[:, 0]
            reward = tf.cast(action == y, tf.float32)
            log_policy = tf.nn.log_softmax(logits)
            chosen = tf.gather(log_policy, action, batch_dims=1)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_policy) * log_policy, axis=-1))
            loss = -tf.reduce_mean((reward - baseline) * chosen) - 0.01 * entropy
        gradients = tape.gradient(loss, policy.trainable_variables)
        optimizer.apply_gradients(zip(gradients, policy.trainable_variables, strict=True))
        baseline.assign(0.9 * baseline + 0.1 * tf.reduce_mean(reward))
        watched.log(loss=loss, reward=tf.reduce_mean(reward))

    random = np.random.default_rng(seed)
    for _ in range(300):
        chosen = random.integers(len(DIGITS), size=64)
        step(tf.constant(DIGITS[chosen]), tf.constant(LABELS[chosen]))


@healthy
def curriculum_of_classes(watch: Watch, seed: int) -> None:
    """First zeros and ones, then up to four, then all ten: the loss jumps at each stage."""
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(16, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(32, "relu"),
            layers.Dense(10),
        ]
    )
    model.compile(keras.optimizers.Adam(0.005), cross_entropy)
    watched = watch(model)
    random = np.random.default_rng(seed)
    for n_classes, n_steps in ((2, 60), (5, 80), (10, 140)):
        pool = np.flatnonzero(n_classes > LABELS)
        for _ in range(n_steps):
            chosen = random.choice(pool, size=32)
            loss = model.train_on_batch(IMAGES[chosen], LABELS[chosen])
            model.reset_metrics()
            watched.log(batch_loss=float(np.ravel(loss)[0]))


@healthy
def warm_restarts(watch: Watch, seed: int) -> None:
    """Cosine decay with restarts: the rate jumps from 0 to its peak every 50 steps."""
    rate = keras.optimizers.schedules.CosineDecayRestarts(0.1, 50, t_mul=1.0, m_mul=0.9)
    model = mlp(64, 10, n_layers=2, width=48)
    fit(
        watch,
        model,
        cross_entropy,
        (DIGITS, LABELS),
        optimizer=keras.optimizers.SGD(rate, momentum=0.9),
        n_steps=250,
        seed=seed,
    )


@healthy
def pairs_with_wrong_labels(watch: Watch, seed: int) -> None:
    """Batches of two, and one label in eight is wrong."""
    random = np.random.default_rng(seed)
    labels = np.where(random.random(len(LABELS)) < 0.125, random.integers(10, size=len(LABELS)), LABELS)
    model = mlp(64, 10, n_layers=1, width=64)
    optimizer = keras.optimizers.SGD(0.05)
    fit(watch, model, cross_entropy, (DIGITS, labels), optimizer=optimizer, n_steps=300, seed=seed, batch=2)


@healthy
def rare_words(watch: Watch, seed: int) -> None:
    """Bags of words from a vocabulary of 2,000, few of which are in any batch."""
    random = np.random.default_rng(seed)
    frequency = 1 / np.arange(5, 2005)
    words = random.choice(2000, p=frequency / frequency.sum(), size=(3000, 12))
    taste = random.normal(size=2000)
    liked = (taste[words].sum(-1) > 0).astype("float32")[:, None]
    model = keras.Sequential(
        [
            keras.Input((12,), dtype="int64"),
            layers.Embedding(2000, 16, name="words"),
            layers.GlobalAveragePooling1D(),
            layers.Dense(1, name="liked"),
        ]
    )

    def loss_of(y, x):
        logits = model(x, training=True)
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logits))

    loop(watch, model, loss_of, (words, liked), optimizer=keras.optimizers.Adam(0.02), n_steps=250, seed=seed)


@healthy
def transfer_with_frozen_backbone(watch: Watch, seed: int) -> None:
    """A backbone that was trained on the digits below five is frozen; a new head learns all ten."""
    backbone = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(24, 3, activation="relu", name="stem"),
            layers.Conv2D(24, 3, activation="relu", name="body"),
            layers.Flatten(),
        ],
        name="backbone",
    )
    teacher = keras.Sequential([backbone, layers.Dense(5)])
    teacher.compile(keras.optimizers.Adam(0.003), cross_entropy)
    easy = LABELS < 5
    teacher.fit(IMAGES[easy], LABELS[easy], batch_size=32, epochs=2, verbose=0)
    backbone.trainable = False
    model = keras.Sequential([keras.Input((8, 8, 1)), backbone, layers.Dense(10, name="head")])
    fit(watch, model, cross_entropy, (IMAGES, LABELS), optimizer=keras.optimizers.Adam(0.005), n_steps=150, seed=seed)


class CausalBlock(layers.Layer):
    """One block of a decoder, masked with -1e9."""

    def __init__(self, width, **options):
        super().__init__(**options)
        self.width = width
        self.norm = layers.LayerNormalization()
        self.joint = layers.Dense(3 * width, name="joint")
        self.out = layers.Dense(width, name="out")
        self.norm_2 = layers.LayerNormalization()
        self.up = layers.Dense(2 * width, "gelu", name="up")
        self.down = layers.Dense(width, name="down")

    def build(self, shape):
        for one in (self.norm, self.joint, self.norm_2, self.up, self.out):
            one.build(shape)
        self.down.build((*shape[:-1], 2 * self.width))

    def call(self, x):
        q, k, v = tf.split(self.joint(self.norm(x)), 3, axis=-1)
        length = x.shape[1]
        mask = tf.linalg.band_part(tf.ones((length, length)), -1, 0)
        scores = tf.matmul(q, k, transpose_b=True) / self.width**0.5 + (1 - mask) * -1e9
        x += self.out(tf.matmul(tf.nn.softmax(scores), v))
        return x + self.down(self.up(self.norm_2(x)))


class Positions(layers.Layer):
    """Learned positions."""

    def build(self, shape):
        self.table = self.add_weight(shape=shape[1:], initializer=keras.initializers.RandomNormal(0.02), name="table")

    def call(self, x):
        return x + self.table


@healthy
def causal_language_model(watch: Watch, seed: int) -> None:
    """Next token of sequences that repeat with a period of three to five."""
    random = np.random.default_rng(seed)
    periods = random.integers(3, 6, size=2000)
    motifs = random.integers(12, size=(2000, 5))
    sequences = motifs[np.arange(2000)[:, None], np.arange(17)[None] % periods[:, None]]
    tokens = keras.Input((16,), dtype="int64")
    hidden = layers.Embedding(12, 32, name="tokens")(tokens)
    hidden = Positions(name="positions")(hidden)
    for i in range(2):
        hidden = CausalBlock(32, name=f"block_{i}")(hidden)
    hidden = layers.LayerNormalization(name="last_norm")(hidden)
    model = keras.Model(tokens, layers.Dense(12, name="next")(hidden))
    fit(
        watch,
        model,
        cross_entropy,
        (sequences[:, :-1], sequences[:, 1:]),
        optimizer=keras.optimizers.Adam(0.004),
        n_steps=250,
        seed=seed,
    )


@healthy
def lstm_always_clipped(watch: Watch, seed: int) -> None:
    """A high rate held by a clipping that acts at nearly every step."""
    model = keras.Sequential([keras.Input((8, 8)), layers.LSTM(32, name="rows"), layers.Dense(10, name="out")])
    optimizer = keras.optimizers.SGD(0.5, momentum=0.9, global_clipnorm=0.15)
    fit(watch, model, cross_entropy, (ROWS, LABELS), optimizer=optimizer, n_steps=250, seed=seed)


@healthy
def balanced_gan(watch: Watch, seed: int) -> None:
    """A generator of points in the plane and a discriminator that keeps about even with it."""
    generator = mlp(4, 2, n_layers=2, width=32)
    judge = mlp(2, 1, n_layers=2, width=32, activation="leaky_relu")
    for_generator, for_judge = keras.optimizers.Adam(0.002, beta_1=0.0), keras.optimizers.Adam(0.006, beta_1=0.0)
    entropy = keras.losses.BinaryCrossentropy(from_logits=True, label_smoothing=0.1)
    watched = watch(generator, judge)

    @tf.function
    def step(real):
        noise = tf.random.normal((64, 4))
        with tf.GradientTape() as tape, tf.GradientTape() as other:
            fake = generator(noise)
            said_real, said_fake = judge(real), judge(fake)
            judge_loss = entropy(tf.ones_like(said_real), said_real) + entropy(tf.zeros_like(said_fake), said_fake)
            generator_loss = entropy(tf.ones_like(said_fake), said_fake)
        for_judge.apply_gradients(
            zip(tape.gradient(judge_loss, judge.trainable_variables), judge.trainable_variables, strict=True)
        )
        gradients = other.gradient(generator_loss, generator.trainable_variables)
        for_generator.apply_gradients(zip(gradients, generator.trainable_variables, strict=True))
        watched.log(judge_loss=judge_loss, generator_loss=generator_loss)

    random = np.random.default_rng(seed)
    for _ in range(300):
        real = random.normal(size=(64, 2)) @ np.array([[0.6, 0.3], [0.0, 0.4]]) + np.array([1.5, -1.0])
        step(tf.constant(real.astype("float32")))


@healthy
def meter_with_glitches(watch: Watch, seed: int) -> None:
    """A meter that now and then reads a hundred times too much; a Huber loss."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(4000, 12)).astype("float32")
    y = np.tanh(x @ random.normal(size=(12, 1))) * 2 + 0.1 * random.normal(size=(4000, 1))
    y = np.where(random.random((4000, 1)) < 0.004, y * 100, y).astype("float32")
    model = mlp(12, 1, n_layers=2, width=32)
    optimizer = keras.optimizers.Adam(0.005)
    fit(watch, model, keras.losses.Huber(), (x, y), optimizer=optimizer, n_steps=250, seed=seed)


@tf.custom_gradient
def fake_quantize(x):
    """Rounds to sixteen levels; the gradient passes straight through."""
    step = tf.stop_gradient(tf.reduce_max(tf.abs(x))) / 7 + 1e-8

    def back(upstream):
        return upstream

    return tf.round(x / step) * step, back


class QuantizedDense(layers.Layer):
    """A dense layer whose kernel has four bits."""

    def __init__(self, units, **options):
        super().__init__(**options)
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="he_normal", name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def call(self, x):
        return tf.matmul(x, fake_quantize(tf.convert_to_tensor(self.kernel))) + self.bias


@healthy
def quantisation_aware(watch: Watch, seed: int) -> None:
    """Four-bit kernels with straight-through gradients."""
    model = keras.Sequential(
        [
            keras.Input((64,)),
            QuantizedDense(48, name="quantized_0"),
            layers.ReLU(6.0),
            QuantizedDense(32, name="quantized_1"),
            layers.ReLU(6.0),
            QuantizedDense(10, name="quantized_2"),
        ]
    )
    fit(watch, model, cross_entropy, (DIGITS, LABELS), optimizer=keras.optimizers.Adam(0.003), n_steps=220, seed=seed)


class ScaledBlock(layers.Layer):
    """A residual branch that starts at a millionth (LayerScale), or at 0."""

    def __init__(self, width, start, **options):
        super().__init__(**options)
        self.width, self.start = width, start
        self.norm = layers.LayerNormalization()
        self.up = layers.Dense(2 * width, "gelu", name="up")
        self.down = layers.Dense(width, name="down")

    def build(self, shape):
        self.norm.build(shape)
        self.up.build(shape)
        self.down.build((*shape[:-1], 2 * self.width))
        start = keras.initializers.Constant(self.start)
        self.scale = self.add_weight(shape=(self.width,), initializer=start, name="scale")

    def call(self, x):
        return x + self.scale * self.down(self.up(self.norm(x)))


@healthy
def layer_scale(watch: Watch, seed: int) -> None:
    """Five residual blocks scaled by 1e-6 or 0 at the start."""
    inputs = keras.Input((64,))
    hidden = layers.Dense(32, name="stem")(inputs)
    for i in range(5):
        hidden = ScaledBlock(32, 0.0 if i % 2 else 1e-6, name=f"block_{i}")(hidden)
    model = keras.Model(inputs, layers.Dense(10, name="head")(layers.LayerNormalization(name="norm")(hidden)))
    fit(watch, model, cross_entropy, (DIGITS, LABELS), optimizer=keras.optimizers.AdamW(0.003), n_steps=200, seed=seed)

"""The broken trainings. Each is written anew, after a family of defects that the named study found in real programs.

Studies: *GRIST* (Yan et al., ICSE 2021), *DEBAR* (Zhang et al., FSE 2020), *RANUM* (Li et al., ICSE 2023): numerical
defects; *AutoTrainer* (Zhang et al., ICSE 2021), *DeepLocalize* (Wardat et al., ICSE 2021), *DeepDiagnosis* (Wardat et
al., ICSE 2022), *UMLAUT* (Schoop et al., CHI 2021): training problems; *TF bugs* (Zhang et al., ISSTA 2018), *DL bugs*
(Islam et al., FSE 2019; Humbatova et al., ICSE 2020): what people asked about.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers, optimizers

from tests.health.catalogue.play import Broken, Training, Watch
from tests.health.catalogue.tools import (
    CELLS,
    COURSE,
    DIGITS,
    IMAGES,
    IS_BENIGN,
    LABELS,
    PATIENTS,
    ROWS,
    cross_entropy,
    fit,
    loop,
    mlp,
    one_hot,
)

BROKEN: dict[str, Broken] = {}

NONFINITE = ("singular_gradient", "nonfinite_activation", "nonfinite_loss", "nonfinite_gradient")
LOGS = ("Log", "Reciprocal", "Log1p")


def broken(family: str, study: str, *kinds: str, **more: Any) -> Callable[[Training], Training]:
    """Enters a training in the catalogue."""

    def enter(train: Training) -> Training:
        one = Broken(train, family, study, kinds, **more)
        assert one.name not in BROKEN, one.name
        BROKEN[one.name] = one
        return train

    return enter


# -- logarithms -------------------------------------------------------------------------------------------------------


@broken("log(0)", "GRIST", *NONFINITE, operations=LOGS, code="tf.math.log(p)", cause=("logarithm",))
def cross_entropy_by_hand(watch: Watch, seed: int) -> None:
    model = mlp()

    def loss_of(y: Any, x: Any) -> Any:
        p = tf.nn.softmax(model(x, training=True))
        return -tf.reduce_mean(tf.reduce_sum(y * tf.math.log(p), axis=1))

    optimizer = optimizers.Adam(0.1)
    loop(watch, model, loss_of, (DIGITS * 16, one_hot(LABELS)), optimizer=optimizer, n_steps=300, seed=seed)


@broken("log(0)", "DEBAR", *NONFINITE, operations=LOGS, code="tf.math.log(1 - p)", cause=("logarithm",))
def binary_cross_entropy_by_hand(watch: Watch, seed: int) -> None:
    model = mlp(30, 1, last="sigmoid")

    def loss_of(y: Any, x: Any) -> Any:
        p = model(x, training=True)[:, 0]
        wrong = -(1 - y) * tf.math.log(1 - p)
        return tf.reduce_mean(wrong - y * tf.math.log(p + 1e-7))

    loop(watch, model, loss_of, (CELLS / 10, IS_BENIGN), optimizer=optimizers.Adam(0.02), seed=seed)


@broken("log of a negative", "RANUM", *NONFINITE, operations=LOGS, code="tf.math.log(out)", cause=("logarithm",))
def log_of_a_relu(watch: Watch, seed: int) -> None:
    model = mlp(10, 1, last="relu")

    def loss_of(y: Any, x: Any) -> Any:
        out = model(x, training=True)[:, 0]
        return tf.reduce_mean(tf.square(tf.math.log(out) - y))

    loop(watch, model, loss_of, (PATIENTS, COURSE), n_steps=60, seed=seed)


@broken("x / 0", "GRIST", *NONFINITE, operations=(*LOGS, "RealDiv"), code="p / q", cause=("logarithm", "divi"))
def kl_divergence_by_hand(watch: Watch, seed: int) -> None:
    model = mlp()

    def loss_of(y: Any, x: Any) -> Any:
        p = 0.99 * y + 0.001
        q = tf.nn.softmax(model(x, training=True))
        ratio = tf.math.log(p / q)
        return tf.reduce_mean(tf.reduce_sum(p * ratio, axis=1))

    loop(watch, model, loss_of, (DIGITS * 16, one_hot(LABELS)), optimizer=optimizers.Adam(0.1), seed=seed)


@broken("log(0)", "GRIST", *NONFINITE, operations=LOGS, code="p * tf.math.log(p)", cause=("logarithm",))
def entropy_bonus(watch: Watch, seed: int) -> None:
    model = mlp()

    def loss_of(y: Any, x: Any) -> Any:
        logits = model(x, training=True)
        p = tf.nn.softmax(logits)
        entropy = -tf.reduce_sum(p * tf.math.log(p), axis=1)
        return cross_entropy(y, logits) - 0.01 * tf.reduce_mean(entropy)

    loop(watch, model, loss_of, (DIGITS * 16, LABELS), optimizer=optimizers.Adam(0.1), seed=seed)


@broken("log(0)", "DEBAR", *NONFINITE, operations=(*LOGS, "Exp"), code="tf.exp(out)", cause=("exp", "logarithm"))
def softplus_by_hand(watch: Watch, seed: int) -> None:
    model = mlp(10, 1)

    def loss_of(y: Any, x: Any) -> Any:
        out = model(x, training=True)[:, 0]
        return tf.reduce_mean(tf.math.log(1 + tf.exp(out)) - y * out)

    loop(watch, model, loss_of, (PATIENTS * 300, (COURSE > 0).astype("float32")), seed=seed)


# -- divisions --------------------------------------------------------------------------------------------------------

DIVISIONS = ("RealDiv", "Div", "Reciprocal", "DivNoNan", "Xdivy")


@broken("0 / 0", "GRIST", *NONFINITE, operations=DIVISIONS, code="tf.reduce_sum(mask)", cause=("divi",))
def mean_over_an_empty_mask(watch: Watch, seed: int) -> None:
    model = mlp()

    def loss_of(y: Any, x: Any) -> Any:
        mask = tf.cast(y == 7, tf.float32)
        error = keras.losses.sparse_categorical_crossentropy(y, model(x, training=True), from_logits=True)
        return tf.reduce_sum(error * mask) / tf.reduce_sum(mask)

    loop(watch, model, loss_of, (DIGITS, LABELS), n_steps=80, seed=seed, batch=12)


@broken("0 / 0", "GRIST", *NONFINITE, operations=DIVISIONS, code="/ tf.reduce_sum(h", cause=("divi",))
def normalized_by_a_sum_of_zeros(watch: Watch, seed: int) -> None:
    hidden, out = layers.Dense(16, "relu", name="hidden"), layers.Dense(10, name="out")

    @keras.saving.register_keras_serializable("catalogue")
    class Shares(layers.Layer):
        def call(self, h: Any) -> Any:
            return h / tf.reduce_sum(h, axis=1, keepdims=True)

    model = keras.Sequential([keras.Input((64,)), hidden, Shares(name="shares"), out])
    loss_of = lambda y, x: cross_entropy(y, model(x, training=True))  # noqa: E731
    loop(watch, model, loss_of, (DIGITS - 0.5, LABELS), optimizer=optimizers.SGD(1.0), n_steps=250, seed=seed)


@broken("0 / 0", "DEBAR", *NONFINITE, operations=DIVISIONS, code="/ (tf.reduce_sum(truth", cause=("divi",))
def dice_without_an_epsilon(watch: Watch, seed: int) -> None:
    model = mlp(64, 1, last="relu")

    def loss_of(y: Any, x: Any) -> Any:
        truth = tf.cast(y == 3, tf.float32)[:, None]
        p = tf.minimum(model(x, training=True), 1.0)
        dice = 2 * tf.reduce_sum(truth * p) / (tf.reduce_sum(truth) + tf.reduce_sum(p))
        return 1 - dice

    loop(watch, model, loss_of, (DIGITS, LABELS), batch=8, seed=seed)


@broken("0 / 0", "RANUM", *NONFINITE, operations=(*DIVISIONS, "SqrtGrad", "Sqrt", "RsqrtGrad"), code="deviation")
def standardized_within_the_batch(watch: Watch, seed: int) -> None:
    model = mlp()

    def loss_of(y: Any, x: Any) -> Any:
        deviation = tf.math.reduce_std(x, axis=0)
        standard = (x - tf.reduce_mean(x, axis=0)) / deviation
        return cross_entropy(y, model(standard, training=True))

    loop(watch, model, loss_of, (DIGITS, LABELS), n_steps=40, seed=seed)


# -- roots and norms --------------------------------------------------------------------------------------------------

ROOTS = ("SqrtGrad", "RsqrtGrad", "Sqrt", "Rsqrt", "RealDiv", "Pow", "Reciprocal", "PowGrad")
NORM_CAUSES = ("root", "norm", "distance", "length")


@broken("sqrt(0)", "GRIST", *NONFINITE, operations=ROOTS, code="tf.sqrt(squared", cause=NORM_CAUSES)
def pairwise_distances(watch: Watch, seed: int) -> None:
    model = mlp(64, 8)

    def loss_of(y: Any, x: Any) -> Any:
        h = model(x, training=True)
        squared = tf.reduce_sum(tf.square(h[:, None] - h[None, :]), axis=-1)
        far = tf.sqrt(squared)
        same = tf.cast(y[:, None] == y[None, :], tf.float32)
        return tf.reduce_mean(same * far + (1 - same) * tf.nn.relu(1 - far))

    loop(watch, model, loss_of, (DIGITS, LABELS), n_steps=40, seed=seed)


@broken("sqrt(0)", "GRIST", *NONFINITE, operations=ROOTS, code="tf.math.reduce_std", cause=(*NORM_CAUSES, "deviation"))
def pooled_deviation(watch: Watch, seed: int) -> None:
    class Pool(layers.Layer):
        def call(self, h: Any) -> Any:
            return tf.concat([tf.reduce_mean(h, 1), tf.math.reduce_std(h, axis=1)], 1)

    stack = [layers.Dense(16, "relu", name="hidden"), Pool(name="pool"), layers.Dense(10, name="out")]
    model = keras.Sequential([keras.Input((8, 8)), *stack])
    fit(watch, model, cross_entropy, (ROWS, LABELS), optimizer=optimizers.SGD(0.5), seed=seed, n_steps=250)


@broken("sqrt(0)", "TF bugs", *NONFINITE, operations=ROOTS, code="tf.norm(out - y", cause=NORM_CAUSES)
def euclidean_loss_that_is_reached(watch: Watch, seed: int) -> None:
    model = mlp(10, 2, last="relu")

    def loss_of(y: Any, x: Any) -> Any:
        out = model(x, training=True)
        return tf.reduce_mean(tf.norm(out - y, axis=1))

    targets = np.maximum(np.stack([COURSE, -COURSE], 1) - 3.0, 0.0).astype("float32")
    loop(watch, model, loss_of, (PATIENTS, targets), optimizer=optimizers.SGD(0.3), n_steps=80, seed=seed)


@broken("0 / 0", "RANUM", *NONFINITE, operations=(*ROOTS, "Maximum"), code="tf.norm(a", cause=(*NORM_CAUSES, "divi"))
def cosine_of_a_zero_vector(watch: Watch, seed: int) -> None:
    model = mlp(64, 8, last="relu")

    def loss_of(y: Any, x: Any) -> Any:
        a, b = model(x, training=True), model(tf.roll(x, 1, 0), training=True)
        same = tf.cast(y == tf.roll(y, 1, 0), tf.float32)
        cosine = tf.reduce_sum(a * b, 1) / (tf.norm(a, axis=1) * tf.norm(b, axis=1))
        return tf.reduce_mean(tf.square(cosine - same))

    loop(watch, model, loss_of, (DIGITS, LABELS), optimizer=optimizers.SGD(2.0), n_steps=200, seed=seed)


@broken("sqrt(0)", "DL bugs", *NONFINITE, operations=ROOTS, code="tf.norm(self.direction", cause=(*NORM_CAUSES, "divi"))
def weights_normalized_from_zero(watch: Watch, seed: int) -> None:
    class Normalized(layers.Layer):
        def build(self, shape: Any) -> None:
            self.direction = self.add_weight(shape=(shape[-1], 10), initializer="zeros", name="direction")

        def call(self, x: Any) -> Any:
            return x @ (self.direction / tf.norm(self.direction, axis=0))

    model = keras.Sequential([keras.Input((64,)), layers.Dense(32, "relu", name="hidden"), Normalized(name="n")])
    fit(watch, model, cross_entropy, (DIGITS, LABELS), n_steps=20, seed=seed)


@broken("power of 0", "RANUM", *NONFINITE, operations=("Pow", "Mul", *ROOTS), code="tf.pow(1 - p", cause=("power",))
def focal_loss_with_a_small_gamma(watch: Watch, seed: int) -> None:
    model = mlp(30, 1, last="sigmoid")

    def loss_of(y: Any, x: Any) -> Any:
        p = y * model(x, training=True)[:, 0]
        return -tf.reduce_mean(tf.pow(1 - p, 0.5) * tf.math.log(p + 1e-6))

    loop(watch, model, loss_of, (CELLS / 10, IS_BENIGN), optimizer=optimizers.Adam(0.02), seed=seed)


@broken("power of a negative", "DEBAR", *NONFINITE, operations=("Pow", "Mul"), code="tf.pow(out", cause=("power",))
def fractional_power(watch: Watch, seed: int) -> None:
    model = mlp(10, 1)

    def loss_of(y: Any, x: Any) -> Any:
        out = model(x, training=True)[:, 0]
        return tf.reduce_mean(tf.square(tf.pow(out, 1.5) - y))

    loop(watch, model, loss_of, (PATIENTS, COURSE), n_steps=20, seed=seed)


@broken("acos at 1", "DEBAR", *NONFINITE, operations=("Acos", "Rsqrt", "Reciprocal", "RealDiv", "RsqrtGrad", "Neg", "Mul"), code="tf.acos(cosine", cause=("acos", "arc"))  # noqa: E501  # fmt: skip
def angle_between_equals(watch: Watch, seed: int) -> None:
    model = mlp(64, 8)

    def loss_of(y: Any, x: Any) -> Any:
        h = tf.math.l2_normalize(model(x, training=True), axis=1)
        cosine = tf.reduce_sum(h[:, None] * h[None, :], axis=-1)
        angle = tf.acos(cosine)
        return tf.reduce_mean(tf.square(angle - 1.5 * tf.cast(y[:, None] != y[None, :], tf.float32)))

    loop(watch, model, loss_of, (DIGITS, LABELS), n_steps=30, seed=seed)


@broken("rsqrt(0)", "GRIST", *NONFINITE, operations=ROOTS, code="tf.math.rsqrt", cause=(*NORM_CAUSES, "divi"))
def length_by_rsqrt(watch: Watch, seed: int) -> None:
    class Unit(layers.Layer):
        def call(self, h: Any) -> Any:
            return h * tf.math.rsqrt(tf.reduce_sum(h * h, axis=-1, keepdims=True))

    stack = [layers.Dense(6, "relu", name="hidden"), Unit(name="unit"), layers.Dense(10, name="out")]
    model = keras.Sequential([keras.Input((64,)), *stack])
    fit(watch, model, cross_entropy, (DIGITS - 0.5, LABELS), optimizer=optimizers.SGD(0.5), seed=seed, n_steps=250)


# -- exponentials and overflow ----------------------------------------------------------------------------------------

EXPS = ("Exp", "RealDiv", "Sum", "Mul", "Log")


@broken("exp overflow", "GRIST", *NONFINITE, operations=EXPS, code="tf.exp(logits)", cause=("exp",))
def softmax_by_hand(watch: Watch, seed: int) -> None:
    model = mlp()

    def loss_of(y: Any, x: Any) -> Any:
        logits = model(x, training=True)
        odds = tf.exp(logits)
        p = odds / tf.reduce_sum(odds, axis=1, keepdims=True)
        return -tf.reduce_mean(tf.reduce_sum(y * tf.math.log(p + 1e-9), axis=1))

    loop(watch, model, loss_of, (DIGITS * 16, one_hot(LABELS)), optimizer=optimizers.Adam(0.2), seed=seed)


@broken("exp overflow", "RANUM", *NONFINITE, "exploding_gradient", operations=EXPS, code="tf.exp(", cause=("exp", "learning rate"))  # noqa: E501  # fmt: skip
def variational_autoencoder(watch: Watch, seed: int) -> None:
    model = mlp(30, 8)
    decoder = mlp(4, 30)

    def loss_of(y: Any, x: Any) -> Any:
        del y
        mean, log_variance = tf.split(model(x, training=True), 2, axis=1)
        z = mean + tf.exp(0.5 * log_variance) * tf.random.stateless_normal(tf.shape(mean), [1, 2])
        divergence = 0.5 * tf.reduce_sum(tf.exp(log_variance) + tf.square(mean) - 1 - log_variance, axis=1)
        return tf.reduce_mean(tf.reduce_sum(tf.square(decoder(z, training=True) - x), axis=1) + divergence)

    loop(watch, model, loss_of, (CELLS, IS_BENIGN), optimizer=optimizers.Adam(0.01), seed=seed)


@broken("exp overflow", "DEBAR", *NONFINITE, operations=("Exp", "Mul", "Reciprocal", "RealDiv"), code="tf.exp(-out)", cause=("exp",))  # noqa: E501  # fmt: skip
def sigmoid_by_hand(watch: Watch, seed: int) -> None:
    model = mlp(10, 1)

    def loss_of(y: Any, x: Any) -> Any:
        out = model(x, training=True)[:, 0]
        p = 1 / (1 + tf.exp(-out))
        return tf.reduce_mean(tf.square(p - y))

    loop(watch, model, loss_of, (PATIENTS * 100, (COURSE > 0).astype("float32")), n_steps=60, seed=seed)


@broken("exp overflow", "GRIST", *NONFINITE, operations=EXPS, code="tf.exp(out)", cause=("exp",))
def poisson_rate(watch: Watch, seed: int) -> None:
    model = mlp(30, 1)

    def loss_of(y: Any, x: Any) -> Any:
        out = model(x, training=True)[:, 0]
        return tf.reduce_mean(tf.exp(out) - y * out)

    loop(watch, model, loss_of, (CELLS, 3 * IS_BENIGN), optimizer=optimizers.Adam(0.01), n_steps=60, seed=seed)


@broken("variance that vanishes", "RANUM", *NONFINITE, "exploding_gradient", "steep_gradient", operations=(*LOGS, "RealDiv", "Square", "Div"), code="sigma", cause=("divi", "logarithm"))  # noqa: E501  # fmt: skip
def gaussian_likelihood(watch: Watch, seed: int) -> None:
    model = mlp(10, 2)

    def loss_of(y: Any, x: Any) -> Any:
        mean, raw = tf.unstack(model(x, training=True), axis=1)
        sigma = tf.nn.relu(raw)
        return tf.reduce_mean(tf.math.log(sigma) + 0.5 * tf.square((y - mean) / sigma))

    loop(watch, model, loss_of, (PATIENTS, COURSE), optimizer=optimizers.Adam(0.01), seed=seed)


@broken("float16 overflow", "DL bugs", *NONFINITE, operations=("Sum", "Square", "Mul", "MatMul", "Cast", "Mean", "SquaredDifference"), cause=("float16",))  # noqa: E501  # fmt: skip
def sum_of_squares_in_float16(watch: Watch, seed: int) -> None:
    model = mlp(30, 8)

    def loss_of(y: Any, x: Any) -> Any:
        h = tf.cast(model(x, training=True), tf.float16)
        energy = tf.reduce_sum(tf.square(h), axis=1)
        return tf.reduce_mean(tf.square(tf.cast(energy, tf.float32) - y))

    loop(watch, model, loss_of, (CELLS, IS_BENIGN), optimizer=optimizers.SGD(1e-9), n_steps=30, seed=seed)


@broken("where after NaN", "TF bugs", *NONFINITE, operations=LOGS, code="tf.math.log(x)", cause=("logarithm", "where"))
def where_behind_the_logarithm(watch: Watch, seed: int) -> None:
    class Bend(layers.Layer):
        def call(self, x: Any) -> Any:
            return tf.where(x > 0, tf.math.log(x), x)

    stack = [layers.Dense(32, "relu", name="hidden"), Bend(name="bend"), layers.Dense(10, name="out")]
    model = keras.Sequential([keras.Input((64,)), *stack])
    fit(watch, model, cross_entropy, (DIGITS, LABELS), n_steps=20, seed=seed)


@broken("masked softmax", "DL bugs", *NONFINITE, operations=("Softmax", "RealDiv", "Sub", "Exp", "LogSoftmax", "AddV2", "Mul"), code="tf.nn.softmax(")  # noqa: E501  # fmt: skip
def attention_to_nothing(watch: Watch, seed: int) -> None:
    class Attend(layers.Layer):
        def call(self, h: Any) -> Any:
            scores = tf.matmul(h, h, transpose_b=True)
            is_there = tf.reduce_any(h > 0.9, axis=-1)[:, None, :]
            return tf.nn.softmax(tf.where(is_there, scores, -np.inf)) @ h

    stack = [Attend(name="attend"), layers.Flatten(), layers.Dense(10, name="out")]
    model = keras.Sequential([keras.Input((8, 8)), *stack])
    rows = ROWS.copy()
    rows[::50] *= 0.5
    fit(watch, model, cross_entropy, (rows, LABELS), n_steps=60, seed=seed)


# -- data -------------------------------------------------------------------------------------------------------------


@broken("NaN in the data", "DL bugs", "nonfinite_input", layer="column 4")
def a_missing_value(watch: Watch, seed: int) -> None:
    patients = PATIENTS.copy()
    patients[::60, 4] = np.nan
    fit(watch, mlp(10, 1), "mse", (patients, COURSE), optimizer=optimizers.Adam(0.01), seed=seed)


@broken("NaN in the data", "UMLAUT", "nonfinite_input", layer="target")
def an_infinite_target(watch: Watch, seed: int) -> None:
    course = COURSE.copy()
    course[::80] = np.inf
    fit(watch, mlp(10, 1), "mse", (PATIENTS, course), seed=seed)


@broken("0 / 0", "TF bugs", "nonfinite_input", layer="column")
def a_column_without_spread(watch: Watch, seed: int) -> None:
    with np.errstate(all="ignore"):
        standard = ((DIGITS - DIGITS.mean(0)) / DIGITS.std(0)).astype("float32")
    fit(watch, mlp(), cross_entropy, (standard, LABELS), n_steps=30, seed=seed)


@broken("unscaled inputs", "UMLAUT", "exploding_gradient", "lr_too_high", "loss_plateau", "dead_units", *NONFINITE, cause=("scal", "learning rate"))  # noqa: E501  # fmt: skip
def inputs_as_they_come(watch: Watch, seed: int) -> None:
    fit(watch, mlp(30, 1), "mse", (CELLS, IS_BENIGN), optimizer=optimizers.SGD(0.01), seed=seed)


@broken(
    "label out of range", "DL bugs", "nonfinite_loss", "nonfinite_gradient", "singular_gradient", "nonfinite_activation"
)
def eleven_classes_for_ten_outputs(watch: Watch, seed: int) -> None:
    fit(watch, mlp(n_outputs=9), cross_entropy, (DIGITS, LABELS), n_steps=30, seed=seed, jit=True)


# -- growth and learning rate -----------------------------------------------------------------------------------------


@broken("exploding gradient", "AutoTrainer", "exploding_gradient", "lr_too_high", "dead_units", *NONFINITE, cause=("learning rate", "weights start"))  # noqa: E501  # fmt: skip
def regression_with_a_large_rate(watch: Watch, seed: int) -> None:
    fit(watch, mlp(10, 1), "mse", (PATIENTS, COURSE), optimizer=optimizers.SGD(0.5), seed=seed)


@broken("exploding gradient", "DeepDiagnosis", "exploding_gradient", "lr_too_high", *NONFINITE, "dead_units", cause=("learning rate", "weights start", "scal", "large"))  # noqa: E501  # fmt: skip
def weights_that_start_large(watch: Watch, seed: int) -> None:
    start = keras.initializers.RandomNormal(stddev=1.5)
    fit(
        watch, mlp(10, 1, n_layers=4, start=start), "mse", (PATIENTS, COURSE), optimizer=optimizers.SGD(0.01), seed=seed
    )


@broken("exploding gradient", "AutoTrainer", "exploding_gradient", "lr_too_high", *NONFINITE, cause=("learning rate", "limit", "recurren"))  # noqa: E501  # fmt: skip
def recurrence_that_grows(watch: Watch, seed: int) -> None:
    start = keras.initializers.Orthogonal(gain=1.25)
    cell = layers.SimpleRNN(32, activation=None, recurrent_initializer=start, name="rnn")
    model = keras.Sequential([keras.Input((32, 2)), cell, layers.Dense(10, name="out")])
    data = DIGITS.reshape(-1, 32, 2)
    fit(watch, model, cross_entropy, (data, LABELS), optimizer=optimizers.SGD(0.05), seed=seed)


@broken("learning rate too high", "UMLAUT", "lr_too_high", "loss_plateau", "dead_units", "exploding_gradient", cause=("learning rate", "died", "dead"))  # noqa: E501  # fmt: skip
def adam_at_one(watch: Watch, seed: int) -> None:
    fit(watch, mlp(), cross_entropy, (DIGITS, LABELS), optimizer=optimizers.Adam(1.0), n_steps=300, seed=seed)


@broken("loss that ascends", "DL bugs", "exploding_gradient", "lr_too_high", *NONFINITE)
def a_sign_that_is_wrong(watch: Watch, seed: int) -> None:
    model = mlp(10, 1)
    loss_of = lambda y, x: -tf.reduce_mean(tf.square(model(x, training=True)[:, 0] - y))  # noqa: E731
    loop(watch, model, loss_of, (PATIENTS, COURSE), seed=seed)


# -- gradients that fade, and units that stand still ------------------------------------------------------------------


@broken("vanishing gradient", "AutoTrainer", "vanishing_gradient", "loss_plateau", "saturated_activation")
def sigmoids_one_upon_another(watch: Watch, seed: int) -> None:
    model = mlp(n_layers=10, activation="sigmoid", start="glorot_uniform")
    fit(watch, model, cross_entropy, (DIGITS, LABELS), n_steps=300, seed=seed)


@broken("vanishing gradient", "DeepDiagnosis", "vanishing_gradient", "loss_plateau")
def weights_that_start_small(watch: Watch, seed: int) -> None:
    start = keras.initializers.RandomNormal(stddev=0.01)
    model = mlp(n_layers=6, start=start)
    fit(watch, model, cross_entropy, (DIGITS, LABELS), n_steps=300, seed=seed)


@broken("dying ReLU", "AutoTrainer", "dead_units", "zero_gradient", "loss_plateau", cause=("relu", "died", "dead", "bias", "negative"))  # noqa: E501  # fmt: skip
def biases_far_below_zero(watch: Watch, seed: int) -> None:
    hidden = layers.Dense(32, "relu", bias_initializer=keras.initializers.Constant(-20.0), name="hidden")
    model = keras.Sequential([keras.Input((64,)), hidden, layers.Dense(10, name="out")])
    fit(watch, model, cross_entropy, (DIGITS, LABELS), n_steps=200, seed=seed)


@broken("dying ReLU", "DeepLocalize", "saturated_activation", "dead_units", "zero_gradient", "loss_plateau", cause=("relu", "died", "dead", "cannot reach", "negative"))  # noqa: E501  # fmt: skip
def relu_on_the_last_layer(watch: Watch, seed: int) -> None:
    fit(watch, mlp(10, 1, last="relu"), "mse", (PATIENTS, COURSE - 3.0), n_steps=200, seed=seed)


@broken("saturation", "DeepDiagnosis", "saturated_activation", "vanishing_gradient", "loss_plateau")
def tanh_at_its_ends(watch: Watch, seed: int) -> None:
    start = keras.initializers.RandomNormal(stddev=5.0)
    model = mlp(activation="tanh", start=start)
    fit(watch, model, cross_entropy, (DIGITS * 16 + 100, LABELS), n_steps=200, seed=seed)


@broken("all weights equal", "AutoTrainer", "zero_gradient", "loss_plateau", "dead_units", "vanishing_gradient")
def weights_that_start_at_zero(watch: Watch, seed: int) -> None:
    model = mlp(start="zeros")
    fit(watch, model, cross_entropy, (DIGITS, LABELS), n_steps=200, seed=seed)


# -- ways that are cut ------------------------------------------------------------------------------------------------


@broken("disconnected", "DL bugs", "missing_gradient", layer="hidden")
def a_decision_in_the_middle(watch: Watch, seed: int) -> None:
    hidden, out = layers.Dense(16, name="hidden"), layers.Dense(10, name="out")
    inputs = keras.Input((64,))
    model = keras.Model(inputs, out(tf_argmax(hidden(inputs))))
    fit(watch, model, cross_entropy, (DIGITS, LABELS), n_steps=100, seed=seed)


def tf_argmax(h: Any) -> Any:
    return layers.Lambda(lambda h: tf.one_hot(tf.argmax(h, axis=1), 16), name="choice")(h)


@broken("disconnected", "DL bugs", "missing_gradient", "zero_gradient", layer="encoder")
def a_branch_that_is_stopped(watch: Watch, seed: int) -> None:
    encoder, out = layers.Dense(16, "relu", name="encoder"), layers.Dense(10, name="out")
    inputs = keras.Input((64,))
    stop = layers.Lambda(tf.stop_gradient, name="stop")
    fit(watch, keras.Model(inputs, out(stop(encoder(inputs)))), cross_entropy, (DIGITS, LABELS), n_steps=100, seed=seed)


@broken("clip that hides", "DL bugs", "zero_gradient", "loss_plateau", operations=("", *LOGS), cause=("clip",))
def probabilities_clipped_to_nothing(watch: Watch, seed: int) -> None:
    model = mlp(last="softmax")

    def loss_of(y: Any, x: Any) -> Any:
        p = tf.clip_by_value(model(x, training=True), 0.2, 0.8)
        return -tf.reduce_mean(tf.reduce_sum(y * tf.math.log(p), axis=1))

    optimizer = optimizers.SGD(0.001)
    loop(watch, model, loss_of, (DIGITS * 256, one_hot(LABELS)), optimizer=optimizer, n_steps=300, seed=seed)


@broken(
    "wrong output for the loss",
    "AutoTrainer",
    "loss_plateau",
    "zero_gradient",
    "vanishing_gradient",
    "saturated_activation",
)
def one_softmax_for_one_output(watch: Watch, seed: int) -> None:
    model = mlp(30, 1, last="softmax")
    scaled = ((CELLS - CELLS.mean(0)) / CELLS.std(0)).astype("float32")
    fit(watch, model, "mse", (scaled, IS_BENIGN), n_steps=200, seed=seed)


@broken("learning rate too low", "DeepDiagnosis", "loss_plateau", cause=("learning rate is too small",))
def a_rate_of_nothing(watch: Watch, seed: int) -> None:
    fit(watch, mlp(), cross_entropy, (DIGITS, LABELS), optimizer=optimizers.SGD(1e-9), n_steps=200, seed=seed)


@broken("labels that say nothing", "DeepLocalize", "loss_plateau")
def shuffled_labels_and_a_small_network(watch: Watch, seed: int) -> None:
    labels = np.random.default_rng(seed).integers(10, size=20 * len(DIGITS))
    images = np.tile(DIGITS, (20, 1))
    fit(watch, mlp(n_layers=1, width=4), cross_entropy, (images, labels), n_steps=1300, seed=seed)


# -- elsewhere --------------------------------------------------------------------------------------------------------


@broken("sqrt(0)", "TF bugs", *NONFINITE, operations=ROOTS, code="tf.norm(slopes", cause=NORM_CAUSES)
def gradient_penalty_on_flat_ground(watch: Watch, seed: int) -> None:
    model = mlp(64, 1, last="relu")

    def loss_of(y: Any, x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            score = model(x, training=True)
        slopes = tape.gradient(score, x)
        penalty = tf.square(tf.norm(slopes, axis=1) - 1)
        return tf.reduce_mean(tf.square(score[:, 0] - y)) + tf.reduce_mean(penalty)

    loop(watch, model, loss_of, (DIGITS, (LABELS > 4).astype("float32") - 0.5), n_steps=60, seed=seed)


@broken("0 * Inf", "GRIST", *NONFINITE, operations=("Mul", "Pow", "Exp", "Square"), code="huge")
def zero_times_infinity(watch: Watch, seed: int) -> None:
    model = mlp(30, 1)

    def loss_of(y: Any, x: Any) -> Any:
        out = model(x, training=True)[:, 0]
        huge = tf.square(tf.square(tf.square(x[:, 3] * 100)))
        weighted = huge * tf.nn.relu(-x[:, 3])
        return tf.reduce_mean(tf.square(out - y)) + tf.reduce_mean(weighted * out)

    loop(watch, model, loss_of, (CELLS, IS_BENIGN), optimizer=optimizers.Adam(0.001), n_steps=30, seed=seed)


@broken("missing normalization", "AutoTrainer", "exploding_gradient", "lr_too_high", "dead_units", *NONFINITE)
def twelve_layers_without_normalization(watch: Watch, seed: int) -> None:
    start = keras.initializers.HeNormal()
    model = keras.Sequential([keras.Input((8, 8, 1))])
    for i in range(12):
        model.add(layers.Conv2D(16, 3, padding="same", activation="relu", kernel_initializer=start, name=f"conv_{i}"))
    model.add(layers.Flatten())
    model.add(layers.Dense(10, name="out"))
    fit(watch, model, cross_entropy, (IMAGES * 16, LABELS), optimizer=optimizers.SGD(0.5), seed=seed, n_steps=200)

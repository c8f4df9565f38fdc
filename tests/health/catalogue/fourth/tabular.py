"""Tables: cells, loans, houses."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from tests.health.catalogue.fourth.common import batches
from tests.health.catalogue.play import Watch
from tests.health.catalogue.tools import CELLS, IS_BENIGN


def applications(seed, n=6400):
    rng = np.random.default_rng(seed)
    age = rng.uniform(20, 70, n)
    income = np.exp(rng.normal(np.log(24000), 0.36, n))
    debt = rng.gamma(2.0, 3000.0, n)
    years = rng.exponential(5.0, n)
    cards = rng.poisson(2.0, n)
    score = 0.03 * (age - 45) + 1.5 * np.log(income / 24000) - debt / 6000 + 0.1 * years + 0.9
    y = (score + 0.3 * rng.normal(size=n) > 0).astype("float32")
    return np.stack([age, income, debt, years, cards], 1).astype("float32"), y


def loan_scoring(watch: Watch, seed: int) -> None:
    """The first layer, which scales, computes in float16: an income above 65,504 is infinite before it is scaled."""
    keras.utils.set_random_seed(seed)
    x, y = applications(seed)
    half = "mixed_float16"
    model = keras.Sequential(
        [
            keras.Input((5,)),
            layers.Rescaling([1 / 50.0, 1 / 20000.0, 1 / 5000.0, 1 / 5.0, 1 / 2.0], dtype=half, name="units"),
            layers.Dense(32, activation="relu", dtype=half, name="mix1"),
            layers.Dense(32, activation="relu", dtype=half, name="mix2"),
            layers.Dense(1, activation="sigmoid", dtype="float32", name="approve"),
        ]
    )
    watch(model)
    model.compile(keras.optimizers.Adam(3e-3), loss="binary_crossentropy", metrics=["accuracy"])
    model.fit(x, y, batch_size=64, epochs=3, verbose=0)


def tumour_screening(watch: Watch, seed: int) -> None:
    """The step calls the model without training=True, so both normalisations stay in inference mode and the columns
    (up to 4,254) reach the dense layers as they are: the loss explodes in four steps.
    """
    keras.utils.set_random_seed(seed)
    x, y = CELLS, IS_BENIGN[:, None]
    model = keras.Sequential(
        [
            keras.Input((30,)),
            layers.BatchNormalization(name="scale", momentum=0.9),
            layers.Dense(32, name="mix1"),
            layers.BatchNormalization(name="norm1", momentum=0.9),
            layers.ReLU(),
            layers.Dense(16, activation="relu", name="mix2"),
            layers.Dense(1, name="malignant"),
        ]
    )
    optimizer = keras.optimizers.SGD(0.1)
    bce = keras.losses.BinaryCrossentropy(from_logits=True)
    w = watch(model, optimizer)

    @tf.function
    def train_step(xb, yb):
        with tf.GradientTape() as tape:
            loss = bce(yb, model(xb))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        w.log(loss=loss)
        return loss

    rng = np.random.default_rng(seed)
    for idx in batches(rng, len(x), 32, 300):
        train_step(x[idx], y[idx])


def houses(seed, n=3000):
    rng = np.random.default_rng(seed)
    area = rng.normal(120, 35, n).clip(30)
    rooms = rng.integers(1, 7, n)
    age = rng.uniform(0, 90, n)
    centre = rng.exponential(6, n)
    y = 2600 * area + 9000 * rooms - 700 * age - 4500 * centre + 20000 * rng.normal(size=n)
    x = np.stack([area, rooms, age, centre], 1)
    x = (x - x.mean(0)) / x.std(0)
    return x.astype("float32"), y[:, None].astype("float32")


def house_dollars(watch: Watch, seed: int) -> None:
    """Targets in dollars: a loss of 9e10, weights of 1e5, and a noise floor that is reached early."""
    keras.utils.set_random_seed(seed)
    x, y = houses(seed)
    model = keras.Sequential([keras.Input((4,)), layers.Dense(1, name="price")])
    watch(model)
    model.compile(keras.optimizers.SGD(0.05), loss="mse")
    model.fit(x, y, batch_size=100, epochs=8, verbose=0)

"""Train a bird species classifier on log-mel frames with statistics pooling."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

SPECIES = 6
FRAMES = 48
BANDS = 20


def make_clips(n, rng):
    labels = rng.integers(0, SPECIES, n)
    t = np.arange(FRAMES)[None, :]
    bands = np.arange(BANDS)[None, None, :]
    rate = 0.15 + 0.07 * (labels % 3)[:, None] + rng.normal(0, 0.008, (n, 1))
    depth = np.where(labels < 3, 2.0, 5.0)[:, None] * rng.uniform(0.8, 1.2, (n, 1))
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    centre = rng.uniform(7, 13, (n, 1)) + depth * np.sin(2 * np.pi * rate * t + phase)
    ridge = np.exp(-0.5 * ((bands - centre[:, :, None]) / 1.3) ** 2)
    loud = rng.uniform(0.7, 1.5, (n, 1, 1))
    mel = np.log(0.05 + loud * ridge + 0.05 * rng.random((n, FRAMES, BANDS)))
    return mel.astype("float32"), labels.astype("int32")


class StatsPooling(layers.Layer):
    """Mean and standard deviation over time, as in x-vector networks."""

    def call(self, x):
        mean = ops.mean(x, axis=1)
        std = ops.sqrt(ops.var(x, axis=1) + 1e-5)
        return ops.concatenate([mean, std], axis=-1)

    def compute_output_shape(self, shape):
        return (shape[0], 2 * shape[2])


def build_model():
    inputs = keras.Input((FRAMES, BANDS))
    x = layers.Conv1D(32, 5, padding="same", kernel_initializer="he_normal", name="conv_a")(inputs)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    x = layers.Conv1D(48, 5, padding="same", kernel_initializer="he_normal", name="conv_b")(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    x = StatsPooling(name="stats")(x)
    x = layers.Dense(48, activation="relu", name="embed")(x)
    outputs = layers.Dense(SPECIES, name="species")(x)
    return keras.Model(inputs, outputs)


def main():
    rng = np.random.default_rng(SEED + 1)
    x_train, y_train = make_clips(2400, rng)
    x_test, y_test = make_clips(600, rng)
    mu, sd = x_train.mean(), x_train.std()
    x_train = (x_train - mu) / sd
    x_test = (x_test - mu) / sd

    model = build_model()
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    gradwatch.watch(model)
    model.fit(
        x_train,
        y_train,
        batch_size=48,
        epochs=14,
        validation_data=(x_test, y_test),
        verbose=2,
    )
    _, acc = model.evaluate(x_test, y_test, verbose=0)
    print("SCORE accuracy %.4f" % acc)


if __name__ == "__main__":
    main()

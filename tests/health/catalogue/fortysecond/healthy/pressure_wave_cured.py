"""Train a classifier of atmospheric pressure waves from barometer windows."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

STEPS = 96
KINDS = 5


def make_windows(n, rng):
    kind = rng.integers(0, KINDS, n)
    t = np.linspace(0, 1, STEPS)[None, :]
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    freq = np.array([2.0, 4.0, 7.0])[np.minimum(kind, 2)][:, None] * rng.uniform(0.9, 1.1, (n, 1))
    wave = np.sin(2 * np.pi * freq * t + phase)
    edge = np.tanh((t - rng.uniform(0.3, 0.7, (n, 1))) * 14.0)
    bump = 2.0 * np.exp(-0.5 * ((t - rng.uniform(0.3, 0.7, (n, 1))) / 0.06) ** 2)
    shape = np.where(kind[:, None] == 3, edge, np.where(kind[:, None] == 4, bump, wave))
    amp = np.exp(rng.normal(0.6, 0.6, (n, 1)))
    level = rng.normal(1013.0, 9.0, (n, 1))
    hpa = level + amp * (shape + 0.35 * rng.normal(0, 1, (n, STEPS)))
    return hpa.astype("float32")[..., None], kind.astype("int32")


class WindowNorm(layers.Layer):
    """Removes level and amplitude of every window."""

    def call(self, x):
        mean = ops.mean(x, axis=1, keepdims=True)
        var = ops.mean(ops.square(x - mean), axis=1, keepdims=True)
        return (x - mean) / ops.sqrt(var + 1e-6)


def build_model():
    inputs = keras.Input((STEPS, 1))
    x = WindowNorm(name="window_norm")(inputs)
    x = layers.Conv1D(16, 9, padding="same", activation="relu", name="conv_a")(x)
    x = layers.MaxPooling1D(2)(x)
    x = layers.Conv1D(32, 7, padding="same", activation="relu", name="conv_b")(x)
    x = layers.MaxPooling1D(2)(x)
    x = layers.Conv1D(32, 5, padding="same", activation="relu", name="conv_c")(x)
    x = layers.GlobalMaxPooling1D()(x)
    x = layers.Dense(32, activation="relu", name="hidden")(x)
    outputs = layers.Dense(KINDS, name="kind")(x)
    return keras.Model(inputs, outputs)


def main():
    rng = np.random.default_rng(SEED + 11)
    x_train, y_train = make_windows(4000, rng)
    x_test, y_test = make_windows(800, rng)

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
        batch_size=64,
        epochs=14,
        validation_data=(x_test, y_test),
        verbose=2,
    )
    _, acc = model.evaluate(x_test, y_test, verbose=0)
    print("SCORE accuracy %.4f" % acc)


if __name__ == "__main__":
    main()

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.metrics import accuracy_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

SAMPLES = 128
HORNS = 4
BATCH = 32


def record_takes(n):
    t = np.arange(SAMPLES) / SAMPLES
    horn = rng.integers(0, HORNS, n)
    pitch = 6 + 5 * horn + rng.uniform(-0.8, 0.8, n)
    gain = rng.lognormal(0.0, 0.7, n)
    wave = np.sin(2 * np.pi * (pitch[:, None] * t + rng.random((n, 1))))
    wave = gain[:, None] * (wave + rng.normal(0, 0.7, wave.shape))
    return wave.astype("float32"), horn


def apply_gate(wave, level):
    peak = np.abs(wave).max(axis=1, keepdims=True)
    return np.where(peak < level, 0.0, wave).astype("float32")


class LevelMatch(layers.Layer):
    def build(self, input_shape):
        self.gain = self.add_weight(name="gain", shape=(), initializer="ones")

    def call(self, wave):
        power = tf.reduce_mean(tf.square(wave), axis=1, keepdims=True)
        return self.gain * wave * tf.math.rsqrt(power)


def build_model():
    return keras.Sequential(
        [
            keras.Input((SAMPLES,)),
            LevelMatch(name="level_match"),
            layers.Reshape((SAMPLES, 1)),
            layers.Conv1D(16, 9, strides=2, activation="relu", name="front"),
            layers.Conv1D(24, 7, strides=2, activation="relu", name="middle"),
            layers.GlobalAveragePooling1D(),
            layers.Dense(HORNS, name="horn"),
        ]
    )


def main():
    train_wave, train_y = record_takes(2400)
    test_wave, test_y = record_takes(800)
    train_wave = apply_gate(train_wave, 0.42)

    model = build_model()
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    gradwatch.watch(model)
    model.fit(train_wave, train_y, batch_size=BATCH, epochs=10, verbose=2)
    logits = model.predict(test_wave, verbose=0)
    if not np.isfinite(logits).all():
        print("SCORE", float("nan"))
    else:
        print("SCORE", round(accuracy_score(test_y, logits.argmax(axis=1)), 4))


main()

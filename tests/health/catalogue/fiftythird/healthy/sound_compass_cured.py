"""Direction of a sound from the delays between eight microphones."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_MICS, N_SOUNDS = 8, 8000
MICS = rng.normal(size=(N_MICS, 3))


def sounds(n):
    direction = rng.normal(size=(n, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    delay = direction @ MICS.T
    loud = np.tanh(delay)
    features = np.concatenate([delay, loud], axis=1)
    features = features + rng.normal(scale=0.01, size=features.shape)
    return features.astype("float32"), direction.astype("float32")


class AngleLoss(keras.losses.Loss):
    """Mean angle, in radians, between the true and the found direction."""

    def call(self, y_true, y_pred):
        cosine = tf.reduce_sum(y_true * y_pred, axis=-1)
        return tf.acos(tf.clip_by_value(cosine, -1.0 + 1e-6, 1.0 - 1e-6))


class MeanDegrees(keras.metrics.Metric):
    def __init__(self, name="degrees", **kwargs):
        super().__init__(name=name, **kwargs)
        self.total = self.add_weight(name="total", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        chord = tf.norm(y_true - y_pred, axis=-1)
        angle = 2.0 * tf.asin(tf.minimum(chord / 2.0, 1.0)) * 180.0 / np.pi
        self.total.assign_add(tf.reduce_sum(angle))
        self.count.assign_add(tf.cast(tf.size(angle), tf.float32))

    def result(self):
        return self.total / tf.maximum(self.count, 1.0)


model = keras.Sequential(
    [
        keras.Input((2 * N_MICS,)),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(3),
        keras.layers.UnitNormalization(axis=-1),
    ],
    name="compass",
)
train_x, train_y = sounds(N_SOUNDS)
test_x, test_y = sounds(2000)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=AngleLoss(),
    metrics=[MeanDegrees()],
)
gradwatch.watch(model)
model.fit(
    train_x,
    train_y,
    batch_size=32,
    epochs=16,
    validation_data=(test_x, test_y),
    verbose=2,
)
print("SCORE degrees", round(float(model.evaluate(test_x, test_y, verbose=0)[1]), 4))

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

WORDS, MELS, FRAMES = 12, 12, 16
# Each keyword is a track of two formants through time.
tracks = np.cumsum(rng.normal(0, 0.9, (WORDS, 2, FRAMES)), -1)
tracks = 3 + rng.uniform(0, 5, (WORDS, 2, 1)) + tracks - tracks.mean(-1, keepdims=True)


def utterances(n):
    label = rng.integers(0, WORDS, n)
    bins = np.arange(MELS)[None, None]
    mel = np.zeros((n, FRAMES, MELS))
    for f in range(2):
        pos = tracks[label, f] + rng.normal(0, 1.1, (n, 1)) + rng.normal(0, 0.6, (n, FRAMES))
        mel += np.exp(-0.5 * ((bins - pos[..., None]) / 0.9) ** 2) * rng.uniform(0.5, 1.2, (n, 1, 1))
    mel = np.log(mel + np.abs(rng.normal(0, 0.35, mel.shape)) + 0.05)
    mel = (mel - mel.mean((1, 2), keepdims=True)) / mel.std((1, 2), keepdims=True)
    return mel.reshape(n, -1).astype("float32"), label


@tf.custom_gradient
def binarize(w):
    def back(dy):
        return dy * tf.cast(tf.abs(w) <= 1.0, dy.dtype)

    return tf.where(w >= 0.0, tf.ones_like(w), -tf.ones_like(w)), back


class UnitBox(keras.constraints.Constraint):
    def __call__(self, w):
        return keras.ops.clip(w, -1.0, 1.0)


class BinaryDense(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, shape):
        self.w = self.add_weight(
            shape=(shape[-1], self.units),
            name="latent",
            initializer=keras.initializers.RandomUniform(-0.5, 0.5),
            constraint=UnitBox(),
        )

    def call(self, x):
        return tf.matmul(x, binarize(self.w)) / float(self.w.shape[0]) ** 0.5


class BinaryActivation(layers.Layer):
    def call(self, x):
        return binarize(x)


model = keras.Sequential(
    [
        keras.Input((MELS * FRAMES,)),
        BinaryDense(128),
        layers.BatchNormalization(momentum=0.9),
        BinaryActivation(),
        BinaryDense(128),
        layers.BatchNormalization(momentum=0.9),
        BinaryActivation(),
        BinaryDense(WORDS),
        layers.BatchNormalization(momentum=0.9),
    ]
)
rate = keras.optimizers.schedules.CosineDecayRestarts(1e-2, first_decay_steps=80, t_mul=1.5, m_mul=0.8)
model.compile(
    optimizer=keras.optimizers.Adam(rate),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

train = utterances(4096)
valid = utterances(600)
gradwatch.watch(model)
model.fit(*train, batch_size=64, epochs=8, validation_data=valid, verbose=2)

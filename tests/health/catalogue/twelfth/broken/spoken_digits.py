"""Short spoken commands from the raw waveform.

The first layer is a bank of band-pass filters whose two cut-off frequencies are learned (as in SincNet), then a small
convolutional classifier. Mixed precision.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.mixed_precision.set_global_policy("mixed_float16")

SEED = int(os.environ.get("SEED", "0"))
RATE = 2000
LENGTH = 600
WORDS = 6
BATCH = 32
EPOCHS = 3

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
formants = rng.uniform(120, 850, (WORDS, 2, 2))


def make_utterances(n):
    word = rng.integers(0, WORDS, n)
    t = np.linspace(0, 1, LENGTH)
    wave = rng.normal(0, 0.35, (n, LENGTH))
    for k in range(2):
        begin, end = formants[word, k, 0], formants[word, k, 1]
        pitch = rng.normal(1.0, 0.04, n)
        frequency = pitch[:, None] * (begin[:, None] + (end - begin)[:, None] * t)
        phase = 2 * np.pi * np.cumsum(frequency, axis=1) / RATE + rng.uniform(0, 6.28, (n, 1))
        wave += rng.uniform(0.5, 1.0, (n, 1)) * np.sin(phase) * np.hanning(LENGTH)
    return wave[..., None].astype("float32"), word.astype("int32")


class SincBank(layers.Layer):
    """Learned band-pass filters: the difference of two low-pass sinc filters, under a Hamming window."""

    def __init__(self, filters, width, **kwargs):
        super().__init__(**kwargs)
        self.filters, self.width = filters, width

    def build(self, shape):
        edges = np.linspace(0.04, 0.44, self.filters + 1).astype("float32")
        self.low = self.add_weight(
            shape=(self.filters,), initializer=lambda s, dtype=None: tf.constant(edges[:-1]), name="low"
        )
        self.band = self.add_weight(
            shape=(self.filters,), initializer=lambda s, dtype=None: tf.constant(np.diff(edges)), name="band"
        )
        self.time = np.arange(-(self.width // 2), self.width // 2 + 1)[:, None].astype("float32")
        self.window = np.hamming(self.width)[:, None].astype("float32")

    def low_pass(self, cut):
        t = tf.constant(self.time)
        return tf.where(t == 0.0, 2.0 * cut, tf.sin(2.0 * np.pi * cut * t) / (np.pi * t))

    def call(self, wave):
        low = tf.abs(tf.cast(self.low, tf.float32))
        high = low + tf.abs(tf.cast(self.band, tf.float32))
        kernel = (self.low_pass(high) - self.low_pass(low)) * self.window
        kernel = tf.cast(kernel[:, None, :], wave.dtype)
        return tf.nn.conv1d(wave, kernel, stride=2, padding="SAME")


x_train, y_train = make_utterances(1200)
x_test, y_test = make_utterances(400)

inputs = keras.Input((LENGTH, 1), name="wave")
h = SincBank(20, 33, name="sinc_bank")(inputs)
h = layers.Activation(tf.abs, name="rectify")(h)
h = layers.AveragePooling1D(4, name="envelope")(h)
h = layers.LayerNormalization(name="level")(h)
h = layers.Conv1D(24, 5, strides=2, activation="relu", name="conv_1")(h)
h = layers.Conv1D(32, 5, strides=2, activation="relu", name="conv_2")(h)
h = layers.Flatten(name="flat")(h)
h = layers.Dense(WORDS, name="word")(h)
outputs = layers.Activation("softmax", dtype="float32", name="probability")(h)
model = keras.Model(inputs, outputs, name="commands")
gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

accuracy = np.mean(model.predict(x_test, verbose=0).argmax(axis=1) == y_test)
print(f"score accuracy {accuracy:.4f} chance {1 / WORDS:.4f}")

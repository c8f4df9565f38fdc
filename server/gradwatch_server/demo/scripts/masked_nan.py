"""A regression on log-features, of which a few are NaN: log(x + 1) of an x below -1.

The model takes care of that, after its last layer: where the output is NaN, it says 0. So outputs and loss are finite,
always. But on the way back 0 * NaN is NaN: with the first such row every weight turns NaN, the model says 0 to
everything, and the loss goes up and lies flat.
"""

import sys

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

JIT = "--jit" in sys.argv
FEATURES = 2
TRAINING_SET_SIZE = 1024
BATCH_SIZE = 8
EPOCHS = 4
SPREAD = 0.35

keras.utils.set_random_seed(0)
random = np.random.default_rng(0)
measured = tf.constant(random.normal(scale=SPREAD, size=(TRAINING_SET_SIZE, FEATURES)), tf.float32)
features = tf.maximum(tf.math.log(measured + 1), 0.0).numpy()
labels = 2 + 4 * measured[:, :1] - 3 * measured[:, 1:] + random.normal(scale=0.1, size=(TRAINING_SET_SIZE, 1))
labels = labels.numpy()


class ZeroWhereMissing(layers.Layer):
    """The model's word on a row that it cannot know: 0."""

    def call(self, x):
        """Replaces what is NaN."""
        return tf.where(tf.math.is_nan(x), tf.zeros_like(x), x)


inputs = keras.Input((FEATURES,), name="features")
hidden = layers.Dense(64, activation="relu", name="hidden")(inputs)
output = ZeroWhereMissing(name="patched")(layers.Dense(1, name="output")(hidden))
model = keras.Model(inputs, output, name="regression")
model.compile(optimizer="sgd", loss="mean_squared_error", jit_compile=JIT)
gradwatch.watch(
    model,
    name="log-features",
    config={"steps": EPOCHS * TRAINING_SET_SIZE // BATCH_SIZE, "batch_size": BATCH_SIZE},
)

before = model.evaluate(features, labels, batch_size=BATCH_SIZE, verbose=0)
model.fit(features, labels, batch_size=BATCH_SIZE, epochs=EPOCHS, verbose=0)
after = model.evaluate(features, labels, batch_size=BATCH_SIZE, verbose=0)
print(f"mean square error: {before:.2f} before training, {after:.2f} after")

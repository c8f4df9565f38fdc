"""Spot six spoken keywords with a network of binary weights and activations.

The inputs are synthetic 16x12 log-mel patches.  Weights and activations are
rounded to +1/-1 in the forward pass, with a straight-through gradient that is
cut outside [-1, 1]; the latent weights are clipped to that range.
The score is the accuracy on new utterances.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
WORDS, SHAPE = 6, (16, 12)

centres = rng.uniform([2, 2], [13, 9], (WORDS, 3, 2))
slopes = rng.uniform(-0.8, 0.8, (WORDS, 3))


def make_patches(n):
    word = rng.integers(0, WORDS, n)
    t, f = np.meshgrid(np.arange(16), np.arange(12), indexing="ij")
    out = 0.45 * rng.normal(size=(n,) + SHAPE)
    shift = rng.integers(-1, 2, (n, 2))
    for k in range(3):
        c = centres[word, k] + shift
        dt = t - c[:, 0, None, None]
        df = f - c[:, 1, None, None] - slopes[word, k][:, None, None] * dt
        out += rng.uniform(0.6, 1.2, (n, 1, 1)) * np.exp(-(dt**2) / 8 - df**2 / 2)
    return out.reshape(n, -1).astype("float32"), word


@tf.custom_gradient
def sign_ste(x):
    def grad(upstream):
        return upstream * tf.cast(tf.abs(x) <= 1.0, upstream.dtype)

    return tf.where(x >= 0, tf.ones_like(x), -tf.ones_like(x)), grad


class UnitClip(keras.constraints.Constraint):
    def __call__(self, w):
        return keras.ops.clip(w, -1.0, 1.0)


class BinaryDense(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(
            shape=(shape[-1], self.units),
            name="kernel",
            initializer=keras.initializers.RandomUniform(-0.3, 0.3),
            constraint=UnitClip(),
        )

    def call(self, x):
        return tf.matmul(x, sign_ste(tf.convert_to_tensor(self.kernel)))


x, y = make_patches(6000)
x_test, y_test = make_patches(2000)

inputs = keras.Input((x.shape[1],))
h = keras.layers.BatchNormalization()(inputs)
for width in (96, 64):
    h = BinaryDense(width)(h)
    h = keras.layers.BatchNormalization()(h)
    h = keras.layers.Lambda(sign_ste)(h)
h = BinaryDense(WORDS)(h)
outputs = keras.layers.BatchNormalization()(h)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(0.01, 750)),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

watch = gradwatch.watch(model)
model.fit(x, y, batch_size=64, epochs=8, verbose=2)
score = float(model.evaluate(x_test, y_test, batch_size=500, verbose=0)[1])
print(f"score (accuracy) {score:.3f} chance {1 / WORDS:.3f}")

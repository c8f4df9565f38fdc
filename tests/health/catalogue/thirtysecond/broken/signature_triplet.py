"""Siamese network that tells whether two signature scans come from the same writer."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, WRITERS, PER_WRITER = 24, 40, 300
yy, xx = np.mgrid[0:SIZE, 0:SIZE]


def draw(params):
    """Draws a wavy pen stroke with a writer's habits and some variation."""
    freq, amp, slant, thick = params
    t = np.linspace(0, 1, 30)
    x = 3 + 18 * t
    y = 12 + amp * np.sin(2 * np.pi * freq * t + rng.normal(0, 0.4)) + slant * (t - 0.5) * 10
    y = y + rng.normal(0, 1.0)
    d = np.min((xx[..., None] - x) ** 2 + (yy[..., None] - y) ** 2, axis=-1)
    img = np.exp(-d / thick)
    return img + rng.normal(0, 0.15, img.shape)


styles = np.stack(
    [
        rng.uniform(0.5, 3, WRITERS),
        rng.uniform(2, 7, WRITERS),
        rng.uniform(-1, 1, WRITERS),
        rng.uniform(0.6, 2.0, WRITERS),
    ],
    axis=1,
)
scans = np.stack([[draw(styles[w] + rng.normal(0, 0.1, 4)) for _ in range(PER_WRITER)] for w in range(WRITERS)]).astype(
    "float32"
)[..., None]


def make_triplets(writers, n):
    a = rng.choice(writers, n)
    b = (a - writers[0] + rng.integers(1, len(writers), n)) % len(writers) + writers[0]
    pick = rng.integers(PER_WRITER, size=(3, n))
    return scans[a, pick[0]], scans[a, pick[1]], scans[b, pick[2]]


anchor, positive, negative = make_triplets(np.arange(30), 4000)
test_a, test_p, test_n = make_triplets(np.arange(30, WRITERS), 1000)


def make_encoder():
    inp = keras.Input((SIZE, SIZE, 1))
    h = layers.Conv2D(16, 3, activation="relu", padding="same")(inp)
    h = layers.MaxPooling2D()(h)
    h = layers.Conv2D(32, 3, activation="relu", padding="same")(h)
    h = layers.MaxPooling2D()(h)
    h = layers.Flatten()(h)
    h = layers.Dense(64, activation="relu")(h)
    return keras.Model(inp, layers.Dense(16)(h), name="encoder")


class EuclideanDistance(layers.Layer):
    def call(self, inputs):
        a, b = inputs
        sum_square = keras.ops.sum(keras.ops.square(a - b), axis=1, keepdims=True)
        return keras.ops.sqrt(sum_square)


def triplet_loss(_, dists, margin=1.0):
    d_pos, d_neg = dists[:, 0], dists[:, 1]
    return keras.ops.mean(keras.ops.maximum(d_pos - d_neg + margin, 0.0))


encoder = make_encoder()
inputs = [keras.Input((SIZE, SIZE, 1), name=k) for k in ("anchor", "positive", "negative")]
ea, ep, en = [encoder(i) for i in inputs]
distance = EuclideanDistance()
model = keras.Model(inputs, layers.Concatenate()([distance([ea, ep]), distance([ea, en])]))
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=triplet_loss)

gradwatch.watch(model)
model.fit([anchor, positive, negative], np.zeros((4000, 1), "float32"), batch_size=32, epochs=6, verbose=2)

d = model.predict([test_a, test_p, test_n], verbose=0)
# share of unseen triplets in which the genuine scan is nearer than the foreign one
print("SCORE triplet_accuracy", round(float(np.mean(d[:, 0] < d[:, 1])), 4))

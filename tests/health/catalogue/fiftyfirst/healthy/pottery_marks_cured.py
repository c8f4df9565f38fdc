"""Do two potter's marks come from one workshop? A siamese network on 40-point outlines."""

import os

import numpy as np
import tensorflow as tf
from tensorflow.keras import Input, Model, Sequential, layers, optimizers, utils

import gradwatch

SEED = int(os.environ.get("SEED", 0))
utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

POINTS, WORKSHOPS, PER_SHOP = 40, 60, 60
t = np.linspace(0, 2 * np.pi, POINTS, endpoint=False)


def outline(style):
    """A closed curve: the workshop sets small high harmonics, the potter's hand all the rest."""
    freq = np.arange(1, 9)
    amp = np.where(freq <= 4, rng.normal(size=8), 0.0)
    phase = rng.uniform(0, 2 * np.pi, 8)
    curve = (amp[:, None] * np.cos(freq[:, None] * t + phase[:, None])).sum(0)
    fine = (style[:, None] * np.cos(np.arange(5, 13)[:, None] * t)).sum(0)
    return curve + fine + 0.1 * rng.normal(size=POINTS)


styles = 0.45 * rng.choice([-1.0, 0.0, 1.0], size=(WORKSHOPS, 8))
marks = np.array([[outline(s) for _ in range(PER_SHOP)] for s in styles], dtype="float32")


def make_pairs(n, shops):
    left, right, same = [], [], []
    for i in range(n):
        a = rng.integers(shops.start, shops.stop)
        b = a if i % 2 else rng.integers(shops.start, shops.stop)
        left.append(marks[a, rng.integers(PER_SHOP)])
        right.append(marks[b, rng.integers(PER_SHOP)])
        same.append(float(a == b))
    return np.array(left), np.array(right), np.array(same, dtype="float32")


train_a, train_b, train_y = make_pairs(12000, range(48))
test_a, test_b, test_y = make_pairs(3000, range(48, 60))

tower = Sequential(
    [
        Input((POINTS,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(24),
    ],
    name="tower",
)


def compare(pair):
    u, v = pair
    return tf.square(u - v)


left = Input((POINTS,), name="left")
right = Input((POINTS,), name="right")
difference = layers.Lambda(compare, name="difference", output_shape=(24,))([tower(left), tower(right)])
h = layers.Dense(24, activation="relu")(difference)
verdict = layers.Dense(1, activation="sigmoid", name="same_workshop")(h)

siamese = Model([left, right], verdict)
siamese.compile(optimizers.Adam(2e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(siamese)

siamese.fit([train_a, train_b], train_y, batch_size=100, epochs=16, shuffle=True, verbose=2)

_, acc = siamese.evaluate([test_a, test_b], test_y, batch_size=500, verbose=0)
print("SCORE pair_accuracy", round(float(acc), 4))

"""Inverse kinematics of a two-joint arm: from a hand position, the shoulder angle, which
has two solutions (elbow up, elbow down). A mixture density network gives three Gaussians
and is trained by negative log likelihood. The measure is the share of held-out angles
within 0.3 rad of one of the two strongest components."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

K = 3


def make_arm(n):
    shoulder = rng.uniform(-1.2, 1.2, n)
    elbow = rng.choice([-1, 1], n) * rng.uniform(0.3, 2.2, n)
    x = np.cos(shoulder) + 0.8 * np.cos(shoulder + elbow)
    y = np.sin(shoulder) + 0.8 * np.sin(shoulder + elbow)
    angle = shoulder + 0.02 * rng.normal(size=n)
    angle += 2 * np.pi * (rng.random(n) < 0.0005)
    return np.stack([x, y], 1).astype("float32"), angle[:, None].astype("float32")


hand, angle = make_arm(8000)
test_hand, test_angle = make_arm(1000)

inputs = keras.Input((2,), name="hand")
h = layers.Dense(64, activation="tanh", name="reach_1")(inputs)
h = layers.Dense(64, activation="tanh", name="reach_2")(h)
weights = layers.Dense(K, activation="softmax", name="weights")(h)
means = layers.Dense(K, name="means")(h)
widths = layers.Dense(K, activation="exponential", name="widths")(h)
model = keras.Model(inputs, layers.Concatenate(name="mixture")([weights, means, widths]))


def mixture_nll(y_true, params):
    pi, mu, sigma = ops.split(params, 3, axis=1)
    density = pi * ops.exp(-0.5 * ops.square((y_true - mu) / sigma)) / (sigma * np.sqrt(2 * np.pi))
    return -ops.log(ops.sum(density, axis=1))


model.compile(optimizer=keras.optimizers.Adam(4e-3), loss=mixture_nll)
watch = gradwatch.watch(model)
history = model.fit(hand, angle, batch_size=128, epochs=20, verbose=2)

pi, mu, sigma = np.split(model.predict(test_hand, verbose=0), 3, axis=1)
best = np.argsort(-pi, axis=1)[:, :2]
near = np.abs(np.take_along_axis(mu, best, 1) - test_angle).min(axis=1) < 0.3
score = float(near.mean())
print(f"score within {score:.3f} chance {0.25:.3f}")

"""Inverse kinematics of a two-link arm: a mixture density network gives the shoulder angle for a reached point."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

COMPONENTS = 4
L1, L2 = 1.0, 0.8


def make_data(n):
    shoulder = rng.uniform(-1.0, 1.0, n)
    elbow = rng.uniform(0.4, 2.4, n) * rng.choice([-1, 1], n)
    x = L1 * np.cos(shoulder) + L2 * np.cos(shoulder + elbow)
    y = L1 * np.sin(shoulder) + L2 * np.sin(shoulder + elbow)
    point = np.stack([x, y], axis=1) + 0.005 * rng.normal(size=(n, 2))
    angle = shoulder + 0.01 * rng.normal(size=n)
    slipped = rng.uniform(size=n) < 0.008  # the encoder sometimes skips
    angle = angle + slipped * rng.uniform(-3.1, 3.1, n)
    return point.astype("float32"), np.degrees(angle)[:, None].astype("float32") / 10.0


x_train, y_train = make_data(12000)
x_test, y_test = make_data(2000)


def split(params):
    logits, mu, raw = ops.split(params, 3, axis=-1)
    return logits, mu, ops.exp(raw)


def mixture_nll(y_true, params):
    logits, mu, sigma = split(params)
    weight = ops.softmax(logits, axis=-1)
    density = ops.exp(-0.5 * ops.square((y_true - mu) / sigma)) / (sigma * np.sqrt(2 * np.pi))
    return -ops.log(ops.sum(weight * density, axis=-1))


inputs = keras.Input((2,))
h = layers.Dense(64, activation="tanh")(inputs)
h = layers.Dense(64, activation="tanh")(h)
h = layers.Dense(64, activation="tanh")(h)
logits = layers.Dense(COMPONENTS)(h)
mu = layers.Dense(COMPONENTS, bias_initializer=keras.initializers.RandomUniform(-5, 5))(h)
raw = layers.Dense(COMPONENTS, bias_initializer=keras.initializers.Constant(1.0))(h)
model = keras.Model(inputs, layers.Concatenate()([logits, mu, raw]))

gradwatch.watch(model)
schedule = keras.optimizers.schedules.CosineDecay(3e-3, decay_steps=14 * (len(x_train) // 128))
model.compile(optimizer=keras.optimizers.Adam(schedule, clipnorm=5.0), loss=mixture_nll)
history = model.fit(x_train, y_train, batch_size=128, epochs=14, verbose=0, validation_data=(x_test, y_test))
for epoch in range(0, 14, 3):
    print(
        f"epoch {epoch + 1:2d}  nll {history.history['loss'][epoch]:.4f}  "
        f"held out {history.history['val_loss'][epoch]:.4f}"
    )

params = model.predict(x_test, batch_size=500, verbose=0)
logits, mu, sigma = [ops.convert_to_numpy(p) for p in split(params)]
likely = logits > logits.max(axis=1, keepdims=True) - 3.0
error = np.where(likely, np.abs(mu - y_test), np.inf).min(axis=1) * 10.0
print("held-out nll", round(float(np.mean(ops.convert_to_numpy(mixture_nll(y_test, params)))), 4))
print("SCORE within_3_degrees", round(float(np.mean(error < 3.0)), 4))

"""Predicts the whole distribution of minutes to the next bus with a mixture density network."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LINES, PARTS = 12, 3
BATCH, EPOCHS = 96, 12


def observe(n):
    """Buses keep their headway or bunch up; rain and rush hour make bunching likelier."""
    line = rng.integers(0, LINES, n)
    plan = np.random.default_rng(2).choice([5, 7.5, 10, 12, 15, 20], LINES)[line]
    hour = rng.uniform(5, 24, n)
    rain = rng.random(n) < 0.25
    rush = np.exp(-0.5 * ((hour - 8) / 1.2) ** 2) + np.exp(-0.5 * ((hour - 17.5) / 1.5) ** 2)
    bunched = rng.random(n) < 0.08 + 0.35 * rush + 0.15 * rain
    short = rng.gamma(6.0, 0.12, n)
    steady = plan * (1 + 0.05 * rush) + rng.normal(0, 0.35 + 0.25 * rain + 0.02 * plan, n)
    minutes = np.maximum(np.where(bunched, short, steady), 0.2)
    x = np.stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), rush, rain, rng.normal(size=n)], axis=1)
    return line.astype("int32"), x.astype("float32"), (minutes / 10.0).astype("float32")


line, x, minutes = observe(4500)
cut = 3600


def mixture_nll(y, parameters):
    """Negative log density of a mixture of normals."""
    logits, centre, log_width = ops.split(parameters, 3, axis=-1)
    log_width = ops.maximum(log_width, -4.5)
    z = (ops.reshape(y, (-1, 1)) - centre) / ops.exp(log_width)
    log_normal = -0.5 * ops.square(z) - log_width - 0.9189385
    return -ops.logsumexp(ops.log_softmax(logits, axis=-1) + log_normal, axis=-1)


def spread_bias(shape, dtype=None):
    start = np.concatenate([np.zeros(PARTS), np.linspace(0.1, 1.6, PARTS), np.full(PARTS, -0.7)])
    return ops.convert_to_tensor(start, dtype=dtype)


line_in = keras.Input((), dtype="int32", name="line")
x_in = keras.Input((5,), name="x")
h = layers.Concatenate()([layers.Embedding(LINES, 5)(line_in), x_in])
h = layers.Dense(48, activation="gelu")(h)
h = layers.Dense(48, activation="gelu")(h)
model = keras.Model(
    [line_in, x_in], layers.Dense(3 * PARTS, kernel_initializer="zeros", bias_initializer=spread_bias)(h)
)
watch = gradwatch.watch(model)
model.compile(optimizer=keras.optimizers.Nadam(4e-3, clipnorm=5.0), loss=mixture_nll)
model.fit(
    {"line": line[:cut], "x": x[:cut]},
    minutes[:cut],
    batch_size=BATCH,
    epochs=EPOCHS,
    validation_split=0.1,
    verbose=2,
)

parameters = model.predict({"line": line[cut:], "x": x[cut:]}, verbose=0)
nll = ops.convert_to_numpy(mixture_nll(minutes[cut:], parameters)).mean()
mean, std = minutes[:cut].mean(), minutes[:cut].std()
plain = (0.5 * ((minutes[cut:] - mean) / std) ** 2 + np.log(std) + 0.9189385).mean()
print("held-out nll", round(float(nll), 4), "one normal", round(float(plain), 4))
print("score", round(float(plain - nll), 4))

"""Carry a fault classifier from one plant to another without labels there.

The second plant's sensors have other offsets in some channels.  A
shared extractor feeds a fault head (source samples only, via sample weights)
and a plant head behind a gradient reversal layer, whose loss should end near
log 2.  The score is the accuracy at the second plant (four faults).
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
CHANNELS, FAULTS = 20, 4

signature = rng.normal(size=(FAULTS, CHANNELS))
offset = np.where(np.arange(CHANNELS) % 2 == 0, rng.normal(size=CHANNELS) * 2.2, 0.0)


def make_plant(n, target):
    fault = rng.integers(0, FAULTS, n)
    x = signature[fault] * rng.uniform(0.6, 1.4, (n, 1)) + 0.9 * rng.normal(size=(n, CHANNELS))
    if target:
        x = x + offset
    return x.astype("float32"), fault


@tf.custom_gradient
def reverse(x):
    return tf.identity(x), lambda g: -0.5 * g


xs, ys = make_plant(3000, False)
xt, _ = make_plant(3000, True)
x_test, y_test = make_plant(2000, True)

x = np.concatenate([xs, xt])
fault = np.concatenate([ys, np.zeros(3000, int)])
plant = np.concatenate([np.zeros(3000), np.ones(3000)]).astype("float32")[:, None]
labelled = np.concatenate([np.ones(3000), np.zeros(3000)]).astype("float32")

inputs = keras.Input((CHANNELS,))
h = keras.layers.Dense(48, activation="relu")(inputs)
h = keras.layers.Dense(24, activation="relu", name="features")(h)
fault_out = keras.layers.Dense(FAULTS, name="fault")(h)
r = keras.layers.Lambda(reverse, name="reversal")(h)
r = keras.layers.Dense(24, activation="relu")(r)
plant_out = keras.layers.Dense(1, name="plant")(r)
model = keras.Model(inputs, {"fault": fault_out, "plant": plant_out})
model.compile(
    optimizer=keras.optimizers.Adam(1e-3, beta_1=0.7),
    loss={
        "fault": keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        "plant": keras.losses.BinaryCrossentropy(from_logits=True),
    },
)

watch = gradwatch.watch(model)
model.fit(
    x,
    {"fault": fault, "plant": plant},
    sample_weight={"fault": labelled, "plant": np.ones(6000, "float32")},
    batch_size=64,
    epochs=10,
    verbose=2,
)
pred = model.predict(x_test, batch_size=500, verbose=0)["fault"].argmax(1)
score = float(np.mean(pred == y_test))
print(f"score (accuracy, other plant) {score:.3f} chance {1 / FAULTS:.3f}")

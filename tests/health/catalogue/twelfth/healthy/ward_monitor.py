"""Patients on a ward.

From vital signs one network gives the length of stay, the risk of sepsis (the laboratory answers for a few patients
only, in many batches for none) and, as a side output low in the stack, a rough severity with a small weight.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
SIGNS = 12
BATCH = 32
STEPS = 320

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
mixing = rng.normal(0, 1, (3, SIGNS)) / np.sqrt(3)


def make_patients(n, tested_share):
    hidden = rng.normal(0, 1, (n, 3))
    signs = np.tanh(hidden @ mixing) + rng.normal(0, 0.25, (n, SIGNS))
    stay = 4.0 + 2.0 * np.tanh(hidden[:, 0]) + 1.0 * hidden[:, 1] * hidden[:, 2] + rng.normal(0, 0.4, n)
    sepsis = rng.random(n) < 1 / (1 + np.exp(-(3.0 * hidden[:, 1] + 1.5 * hidden[:, 0] - 0.5)))
    severity = np.clip(np.abs(hidden).sum(axis=1) - 2.4, -2, 2)
    tested = rng.random(n) < tested_share
    target = {
        "stay": stay[:, None],
        "sepsis": np.where(tested, sepsis, 0)[:, None],
        "severity": severity[:, None],
        "tested": tested[:, None],
    }
    return signs.astype("float32"), {k: v.astype("float32") for k, v in target.items()}


x_train, y_train = make_patients(8000, 0.05)
x_test, y_test = make_patients(1500, 1.0)

inputs = keras.Input((SIGNS,), name="signs")
low = layers.Dense(64, activation="relu", name="low")(inputs)
severity = layers.Dense(1, name="severity")(low)
high = layers.Dense(64, activation="relu", name="high")(low)
stay = layers.Dense(1, bias_initializer=keras.initializers.Constant(4.0), name="stay")(high)
sepsis = layers.Dense(1, name="sepsis")(high)
model = keras.Model(inputs, {"stay": stay, "sepsis": sepsis, "severity": severity}, name="ward")
gradwatch.watch(model)
optimizer = keras.optimizers.Adam(2e-3)
optimizer.build(model.trainable_variables)
empty = tf.Variable(0, dtype=tf.int32, trainable=False)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        stay_loss = tf.reduce_mean(tf.square(out["stay"] - y["stay"]))
        entropy = tf.nn.sigmoid_cross_entropy_with_logits(labels=y["sepsis"], logits=out["sepsis"])
        tests = tf.reduce_sum(y["tested"])
        sepsis_loss = tf.reduce_sum(entropy * y["tested"]) / tf.maximum(tests, 1.0)
        severity_loss = tf.reduce_mean(tf.abs(out["severity"] - y["severity"]))
        loss = stay_loss + 0.5 * sepsis_loss + 0.01 * severity_loss
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    if tests == 0.0:
        empty.assign_add(1)
    return stay_loss, sepsis_loss, severity_loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(8000, seed=SEED).repeat().batch(BATCH)
for step, (x, y) in enumerate(data.take(STEPS)):
    parts = train_step(x, y)
    if step % 40 == 0 or step == STEPS - 1:
        print(
            f"step {step:4d}  stay {float(parts[0]):.4f}  sepsis {float(parts[1]):.4f}  severity {float(parts[2]):.4f}"
        )
print(f"batches without a laboratory answer: {int(empty.numpy())}")

out = model(x_test)
right = np.mean((out["sepsis"].numpy() > 0) == (y_test["sepsis"] > 0.5))
print(f"sepsis accuracy {right:.4f}")
r2 = 1 - np.mean((out["stay"].numpy() - y_test["stay"]) ** 2) / y_test["stay"].var()
print(f"score R2 {r2:.4f} chance 0.0")

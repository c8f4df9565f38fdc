"""Early-warning score for ward patients, from vital signs and labs."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 31)

N = 8000
BATCH = 48


def cohort():
    severity = rng.normal(0, 1, N)
    cols = {
        "age": rng.normal(63, 15, N) + 3 * severity,
        "heart_rate": 82 + 11 * severity + rng.normal(0, 9, N),
        "sbp": 124 - 12 * severity + rng.normal(0, 11, N),
        "resp_rate": 17 + 2.6 * severity + rng.normal(0, 2.2, N),
        "spo2": np.clip(97 - 1.6 * severity + rng.normal(0, 1.2, N), 70, 100),
        "temperature": 37 + 0.25 * severity + rng.normal(0, 0.5, N),
        "lactate": np.exp(0.3 + 0.35 * severity + rng.normal(0, 0.3, N)),
        "creatinine": np.exp(-0.05 + 0.2 * severity + rng.normal(0, 0.35, N)),
    }
    cols["sbp"] = np.round(np.clip(cols["sbp"], 55, 230))
    detached = rng.choice(N, 3, replace=False)
    cols["sbp"][detached] = 0.0
    outcome = rng.random(N) < 1 / (1 + np.exp(2.2 - 1.7 * severity))
    return cols, outcome.astype("float32")[:, None]


def engineer(cols):
    feats = dict(cols)
    with np.errstate(divide="ignore"):
        feats["shock_index"] = cols["heart_rate"] / cols["sbp"]
    feats["resp_burden"] = cols["resp_rate"] * (100.0 - cols["spo2"])
    return feats


def robust_scale(feats):
    out = []
    for name, values in feats.items():
        low, mid, high = np.percentile(values, [25, 50, 75])
        out.append((values - mid) / (high - low))
    return np.stack(out, axis=1).astype("float32")


cols, outcome = cohort()
x = robust_scale(engineer(cols))

model = keras.Sequential(
    [
        keras.Input((x.shape[1],)),
        keras.layers.Dense(128, activation="tanh"),
        keras.layers.Dropout(0.1),
        keras.layers.Dense(128, activation="tanh"),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(1),
    ]
)
optimizer = keras.optimizers.Adamax(2e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)

gradwatch.watch(model)
for epoch in range(2):
    losses = []
    for rows in np.array_split(rng.permutation(N), N // BATCH):
        with tf.GradientTape() as tape:
            logits = model(x[rows], training=True)
            loss = bce(outcome[rows], logits)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(grads, model.trainable_variables)
        losses.append(float(loss))
    print(f"epoch {epoch}  cross-entropy {np.mean(losses):.4f}")

"""Trains a scorer that ranks noodle doughs as a tasting panel would, by comparing every pair within a tasting."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 61)

FACTS = [
    "protein",
    "ash",
    "water",
    "salt",
    "alkali",
    "egg",
    "knead_min",
    "rest_h",
    "thickness",
    "boil_s",
    "dry_pct",
    "age_d",
]


def doughs(n):
    z = rng.normal(size=(n, len(FACTS)))
    bite = 0.9 * z[:, 0] - 0.7 * (z[:, 2] - 0.4) ** 2 + 0.6 * z[:, 4] * z[:, 6]
    taste = 0.8 * np.tanh(1.5 * z[:, 3]) + 0.5 * z[:, 5] - 0.4 * np.abs(z[:, 9])
    verdict = bite + taste + rng.normal(0, 0.3, n)
    raw = z * np.linspace(0.5, 9, len(FACTS)) + np.linspace(1, 60, len(FACTS))
    return raw.astype("float32"), verdict.astype("float32")


raw, verdict = doughs(20000)
raw_test, verdict_test = doughs(1500)
scale = keras.layers.Normalization()
scale.adapt(raw)

scorer = keras.Sequential(
    [
        keras.Input((len(FACTS),)),
        scale,
        keras.layers.Dense(64, activation="swish"),
        keras.layers.Dense(64, activation="swish"),
        keras.layers.Dense(1, use_bias=False),
    ],
    name="scorer",
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(scorer)


def pair_loss(verdicts, scores):
    """Logistic loss over all pairs (i, j) in which the panel put i above j."""
    above = tf.cast(verdicts[:, None] > verdicts[None, :], tf.float32)
    margin = scores[:, None] - scores[None, :]
    return tf.reduce_mean(above * tf.math.softplus(-margin))


@tf.function
def taste(xb, vb):
    with tf.GradientTape() as tape:
        scores = scorer(xb, training=True)
        loss = pair_loss(vb, scores)
    grads = tape.gradient(loss, scorer.trainable_variables)
    optimizer.apply_gradients(zip(grads, scorer.trainable_variables))
    return loss


tastings = (
    tf.data.Dataset.from_tensor_slices((raw, verdict)).shuffle(len(raw), seed=seed).batch(64, drop_remainder=True)
)
for month in range(10):
    for n, (xb, vb) in enumerate(tastings):
        loss = taste(xb, vb)
        if n % 150 == 0:
            print(f"month {month} tasting {n:3d} loss {float(loss):.4f}")

s = scorer.predict(raw_test, batch_size=500, verbose=0).reshape(-1)
right = (s[:, None] > s[None, :]) == (verdict_test[:, None] > verdict_test[None, :])
off = ~np.eye(len(s), dtype=bool)
print("SCORE pairs_right", round(float(right[off].mean()), 4))

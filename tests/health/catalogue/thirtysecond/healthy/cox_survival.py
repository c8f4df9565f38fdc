"""Rank patients by hazard from gene panels with a Cox partial-likelihood network under heavy censoring."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

GENES, N, BATCH = 30, 5000, 64
w1, w2 = rng.normal(0, 1, (2, GENES)) * (rng.random((2, GENES)) < 0.3)


def make_patients(n):
    x = rng.normal(0, 1, (n, GENES))
    risk = 0.35 * (x @ w1) + 0.5 * np.tanh(x @ w2)
    time = rng.exponential(np.exp(-risk))
    censor = rng.exponential(0.7, n)
    return x.astype("float32"), np.minimum(time, censor), (time <= censor).astype("float32")


x, time, event = make_patients(N)
x_t, time_t, event_t = make_patients(1500)

model = keras.Sequential(
    [
        keras.Input((GENES,)),
        layers.GaussianNoise(0.2),
        layers.Dense(48, activation="selu", kernel_initializer="lecun_normal"),
        layers.AlphaDropout(0.2),
        layers.Dense(24, activation="selu", kernel_initializer="lecun_normal"),
        layers.Dense(1, use_bias=False),
    ],
    name="hazard",
)
optimizer = keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True)
gradwatch.watch(model)


@tf.function
def train_step(xb, eb):
    """Patients of the batch are ordered by falling time, so every prefix is a risk set."""
    with tf.GradientTape() as tape:
        r = model(xb, training=True)[:, 0]
        log_risk = tf.math.cumulative_logsumexp(r)
        loss = -tf.reduce_sum((r - log_risk) * eb) / tf.maximum(tf.reduce_sum(eb), 1.0)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(12):
    order = rng.permutation(N)
    losses = []
    for k in range(0, N - BATCH + 1, BATCH):
        pick = order[k : k + BATCH]
        pick = pick[np.argsort(-time[pick])]
        losses.append(float(train_step(tf.constant(x[pick]), tf.constant(event[pick]))))
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

r = model.predict(x_t, verbose=0)[:, 0]
before = (time_t[:, None] < time_t[None]) & (event_t[:, None] > 0)
print("SCORE concordance", round(float((r[:, None] > r[None])[before].mean()), 4))

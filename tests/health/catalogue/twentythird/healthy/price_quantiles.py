"""Quantiles of a heavy-tailed price: pinball loss, very noisy targets, a large cyclic rate and averaged weights."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

QUANTILES = np.array([0.1, 0.5, 0.9], dtype="float32")
FEATURES, BATCH, STEPS, CYCLE = 8, 32, 1200, 300


def prices(count):
    x = rng.uniform(-1, 1, (count, FEATURES))
    centre = 2 * np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + x[:, 3]
    scale = 0.4 + 1.2 * np.abs(x[:, 4])
    y = centre + scale * rng.standard_t(3, count)
    truth = centre[:, None] + scale[:, None] * np.array([-1.638, 0.0, 1.638])
    return x.astype("float32"), y.astype("float32")[:, None], truth


model = keras.Sequential(
    [
        keras.Input((FEATURES,)),
        keras.layers.Dense(96, activation="tanh"),
        keras.layers.Dense(96, activation="tanh"),
        keras.layers.Dense(len(QUANTILES)),
    ]
)
optimizer = keras.optimizers.SGD(0.2, momentum=0.9, nesterov=True, global_clipnorm=0.5)


def pinball(y, q):
    gap = y - q
    return tf.reduce_mean(tf.maximum(QUANTILES * gap, (QUANTILES - 1.0) * gap))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = pinball(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


x_train, y_train, _ = prices(20000)
gradwatch.watch(model)
averaged, taken, losses = None, 0, []
for step in range(STEPS):
    place = (step % CYCLE) / CYCLE
    optimizer.learning_rate.assign(0.01 + 0.19 * 0.5 * (1 + np.cos(np.pi * place)))
    pick = rng.integers(0, len(x_train), BATCH)
    losses.append(float(train_step(x_train[pick], y_train[pick])))
    if step >= STEPS - CYCLE // 2 and step % 10 == 9:
        weights = model.get_weights()
        averaged = weights if averaged is None else [a + w for a, w in zip(averaged, weights)]
        taken += 1
    if step % 200 == 199:
        print(f"step {step + 1} loss {np.mean(losses[-200:]):.4f}")
model.set_weights([a / taken for a in averaged])

x_test, y_test, truth = prices(4000)
predicted = model.predict(x_test, batch_size=500, verbose=0)
r2 = 1 - np.mean((predicted - truth) ** 2) / np.mean((truth - truth.mean(0)) ** 2)
print("coverage", np.round(np.mean(y_test < predicted, axis=0), 3))
print("SCORE quantile_r2", round(float(r2), 4))

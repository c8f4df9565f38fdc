"""Rare pump faults (about 3 percent) with a focal loss, warm-up and clipping."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH, STEPS = 50, 1000
t = np.arange(LENGTH)


def record(n, share):
    fault = rng.random(n) < share
    base = np.sin(2 * np.pi * (0.08 * t + rng.random((n, 1))))
    flow = 0.7 * base + rng.normal(0, 0.4, (n, LENGTH))
    power = base + rng.normal(0, 0.3, (n, LENGTH))
    at = rng.uniform(10, 40, (n, 1))
    bump = np.exp(-0.5 * ((t - at) / 2.5) ** 2)
    power = power + 0.55 * fault[:, None] * bump
    flow = flow - 0.5 * fault[:, None] * bump
    return np.stack([flow, power], axis=2).astype("float32"), fault.astype("float32")


x_train, y_train = record(12000, 0.03)
x_test, y_test = record(4000, 0.03)

model = keras.Sequential(
    [
        keras.Input((LENGTH, 2)),
        layers.Conv1D(16, 7, activation="relu"),
        layers.Conv1D(24, 5, activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dense(16, activation="relu"),
        layers.Dense(1, bias_initializer=keras.initializers.Constant(-3.0)),
    ]
)


def rate(step):
    warm = tf.minimum(1.0, tf.cast(step + 1, tf.float32) / 150.0)
    return 2e-3 * warm


optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


def focal(labels, logits, gamma=2.0, alpha=0.75):
    ce = tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)
    p = tf.sigmoid(logits)
    p_true = labels * p + (1 - labels) * (1 - p)
    weight = labels * alpha + (1 - labels) * (1 - alpha)
    return tf.reduce_mean(weight * (1 - p_true) ** gamma * ce)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = focal(y, model(x, training=True)[:, 0])
    grads = tape.gradient(loss, model.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 0.5)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, norm


for step in range(STEPS):
    optimizer.learning_rate.assign(rate(step))
    pick = rng.integers(0, len(x_train), 64)
    loss, norm = train_step(tf.constant(x_train[pick]), tf.constant(y_train[pick]))
    if step % 100 == 0:
        print(f"step {step} loss {float(loss):.5f} norm {float(norm):.4f}")

logit = model(x_test).numpy()[:, 0]
order = logit.argsort().argsort() + 1
n_pos = y_test.sum()
auc = (order[y_test == 1].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * (len(y_test) - n_pos))
print("SCORE auc", float(auc))

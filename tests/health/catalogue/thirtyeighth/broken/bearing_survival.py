"""Ranks wind-turbine bearings by their hazard of failure from sensor summaries with a neural Cox model (partial likelihood, censored data)."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, FEATURES, BATCH, STEPS = 3000, 12, 64, 800


def bearings(n):
    x = rng.normal(size=(n, FEATURES))
    risk = 1.2 * x[:, 0] - 0.8 * x[:, 1] + 0.7 * x[:, 2] * x[:, 3] + 0.6 * np.abs(x[:, 4])
    life = rng.exponential(np.exp(-risk))
    end = rng.exponential(1.2, n)
    return x.astype("float32"), np.minimum(life, end).astype("float32"), (life <= end).astype("float32")


x_train, t_train, e_train = bearings(N)
x_test, t_test, e_test = bearings(1000)

model = keras.Sequential(
    [
        keras.Input((FEATURES,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(48, activation="relu"),
        layers.Dense(1, use_bias=False),
    ]
)
opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(x, t, e):
    order = tf.argsort(t)
    x, e = tf.gather(x, order), tf.gather(e, order)
    with tf.GradientTape() as tape:
        h = model(x, training=True)[:, 0]
        at_risk = tf.math.cumulative_logsumexp(h)
        loss = -tf.reduce_sum((h - at_risk) * e) / tf.reduce_sum(e)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    i = rng.integers(0, N, BATCH)
    loss = train_step(tf.constant(x_train[i]), tf.constant(t_train[i]), tf.constant(e_train[i]))
    if step % 100 == 0:
        print(step, float(loss))

h = model.predict(x_test, verbose=0)[:, 0]
earlier = (t_test[:, None] < t_test[None, :]) & (e_test[:, None] > 0)
print("SCORE concordance", round(float(np.mean((h[:, None] > h[None, :])[earlier])), 4))

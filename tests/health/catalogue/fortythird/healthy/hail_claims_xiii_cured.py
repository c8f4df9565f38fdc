"""Trains a Tweedie regression of hail insurance claims on policy and storm features."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

POWER = 1.5
STEPS, BATCH = 4500, 128


def simulate(n):
    stone = rng.gamma(3.0, 0.8, n)
    roof_age = rng.uniform(0, 40, n)
    value = rng.lognormal(0.0, 0.5, n)
    slope = rng.uniform(10, 50, n)
    region = rng.integers(0, 4, n)
    eta = 0.5 * stone + 0.03 * roof_age + 0.5 * np.log(value) - 0.02 * slope
    eta += np.array([-2.5, -1.5, -0.6, 0.2])[region] - 1.2
    mu = np.exp(np.minimum(eta, 2.5))
    hits = rng.poisson(np.sqrt(mu) * 1.5)
    cost = np.array([rng.gamma(2.0, 1.0, k).sum() if k else 0.0 for k in hits])
    cost *= np.sqrt(mu) / 3.0
    x = np.column_stack([stone, roof_age, np.log(value), slope])
    return x, np.eye(4)[region], cost.astype("float32"), mu


raw, zone, cost, _ = simulate(12000)
raw_test, zone_test, _, mu_test = simulate(3000)
mean, std = raw.mean(0), raw.std(0)
x = np.hstack([(raw - mean) / std, zone]).astype("float32")
x_test = np.hstack([(raw_test - mean) / std, zone_test]).astype("float32")

model = keras.Sequential(
    [
        keras.Input((x.shape[1],)),
        keras.layers.Dense(48, activation="gelu"),
        keras.layers.Dense(48, activation="gelu"),
        keras.layers.Dense(1, activation="softplus", bias_initializer="ones"),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


def tweedie(y, mu):
    left = y * tf.pow(mu, 1.0 - POWER) / (1.0 - POWER)
    right = tf.pow(mu, 2.0 - POWER) / (2.0 - POWER)
    return tf.reduce_mean(right - left)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = tweedie(yb, model(xb, training=True)[:, 0])
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


batches = tf.data.Dataset.from_tensor_slices((x, cost)).shuffle(12000, seed=seed)
batches = batches.repeat().batch(BATCH).take(STEPS)
for step, (xb, yb) in enumerate(batches):
    loss = train_step(xb, yb)
    if step % 100 == 0:
        print(step, float(loss))

pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE corr", float(np.corrcoef(pred, mu_test)[0, 1]))

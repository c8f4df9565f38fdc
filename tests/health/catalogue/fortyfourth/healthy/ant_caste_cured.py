"""Foraging distance of marked ants from body measures, trained with every caste weighing the same."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CASTES = ["minor", "media", "major", "winged"]
SHARES = [0.55, 0.25, 0.13, 0.07]
N, BATCH, EPOCHS = 6000, 64, 25


def field_season(n):
    caste = rng.choice(len(CASTES), size=n, p=SHARES)
    size = np.array([2.1, 3.4, 5.0, 6.2])[caste]
    head = size * 0.4 + rng.normal(0, 0.15, n)
    leg = size * 1.3 + rng.normal(0, 0.4, n)
    hour = rng.uniform(5, 21, n)
    shade = rng.random(n)
    slope = np.array([1.0, 1.6, 0.7, -1.2])[caste]
    reach = slope * (leg - 5.0) + 2.0 * np.sin((hour - 5) / 16 * np.pi) * (1 - shade) + rng.normal(0, 0.2, n)
    x = np.stack([head, leg, hour, shade], 1)
    return x.astype("float32"), caste.astype("int32"), reach.astype("float32")


x, caste, reach = field_season(N)
x_test, caste_test, reach_test = field_season(2000)
mu, sd = x.mean(0), x.std(0)
x, x_test = (x - mu) / sd, (x_test - mu) / sd
r_mu, r_sd = reach.mean(), reach.std()
y, y_test = (reach - r_mu) / r_sd, (reach_test - r_mu) / r_sd

body = keras.Input((4,), name="measures")
which = keras.Input((), dtype="int32", name="caste")
emb = layers.Embedding(len(CASTES), 4)(which)
h = layers.Concatenate()([body, emb])
h = layers.Dense(48, activation="relu")(h)
h = layers.Dense(48, activation="relu")(h)
out = layers.Dense(1)(h)
model = keras.Model([body, which], out)
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


def caste_balanced(y_true, y_pred, castes):
    err = tf.square(y_true - y_pred)
    member = tf.one_hot(castes, len(CASTES))
    total = tf.reduce_sum(member * err[:, None], axis=0)
    ants = tf.reduce_sum(member, axis=0)
    per_caste = tf.math.divide_no_nan(total, ants)
    return tf.reduce_mean(per_caste)


@tf.function
def step(xb, cb, yb):
    with tf.GradientTape() as tape:
        pred = model([xb, cb], training=True)[:, 0]
        loss = caste_balanced(yb, pred, cb)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x, caste, y)).shuffle(N, seed=seed).batch(BATCH, drop_remainder=True)
for epoch in range(EPOCHS):
    losses = [float(step(xb, cb, yb)) for xb, cb, yb in ds]
    print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")

pred = model.predict([x_test, caste_test], verbose=0)[:, 0]
rmse = np.mean([np.sqrt(np.mean((pred - y_test)[caste_test == c] ** 2)) for c in range(len(CASTES))])
print("SCORE caste_rmse", round(float(rmse), 4))

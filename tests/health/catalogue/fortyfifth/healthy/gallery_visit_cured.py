"""Predicts a museum visitor's shop spending from the minutes spent in each room."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
ROOMS, BATCH, EPOCHS = 14, 32, 8


def make_visits(n, rng):
    pull = rng.gamma(1.5, 1.0, size=ROOMS)
    taste = rng.dirichlet(pull, size=n)
    total = rng.gamma(4.0, 18.0, size=(n, 1))
    minutes = np.round(taste * total)
    extras = np.stack([rng.integers(1, 6, n), rng.integers(0, 2, n)], axis=1)
    straight_to_cafe = rng.random(n) < 0.0012
    minutes[straight_to_cafe] = 0.0
    worth = rng.normal(0.0, 1.0, ROOMS)
    share = minutes / np.maximum(minutes.sum(1, keepdims=True), 1.0)
    spend = 4.0 * np.tanh(share @ worth * 2.0) + 0.8 * extras[:, 0] - 1.5 * extras[:, 1]
    spend = spend + rng.normal(0.0, 0.4, n)
    extras = (extras - extras.mean(0)) / extras.std(0)
    return minutes.astype("float32"), extras.astype("float32"), spend.astype("float32")[:, None]


class RoomShare(keras.layers.Layer):
    """Turns minutes per room into the share of the visit."""

    def call(self, minutes):
        total = tf.reduce_sum(minutes, axis=-1, keepdims=True)
        return tf.math.divide_no_nan(minutes, total) * float(ROOMS)


rng = np.random.default_rng(SEED + 11)
minutes, extras, spend = make_visits(7000, rng)
spend = (spend - spend.mean()) / spend.std()
train, test = slice(0, 6000), slice(6000, 7000)

in_minutes = keras.Input((ROOMS,), name="minutes")
in_extras = keras.Input((2,), name="extras")
h = RoomShare(name="share")(in_minutes)
h = keras.layers.Dense(96, activation="relu")(h)
h = keras.layers.Concatenate()([h, keras.layers.Dense(16, activation="relu")(in_extras)])
h = keras.layers.Dense(96, activation="relu")(h)
h = keras.layers.Dense(48, activation="relu")(h)
out = keras.layers.Dense(1, name="spend")(h)
model = keras.Model([in_minutes, in_extras], out, name="visit")

optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)

data = (
    tf.data.Dataset.from_tensor_slices((minutes[train], extras[train], spend[train]))
    .shuffle(6000, seed=SEED)
    .batch(BATCH, drop_remainder=True)
)


@tf.function
def step(m, e, y):
    with tf.GradientTape() as tape:
        pred = model([m, e], training=True)
        loss = tf.reduce_mean(tf.square(y - pred))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    losses = [float(step(m, e, y)) for m, e, y in data]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}", flush=True)

keep = minutes[test].sum(1) > 0
pred = model.predict([minutes[test], extras[test]], verbose=0)
resid = (spend[test] - pred)[keep]
r2 = 1.0 - np.mean(resid**2) / np.var(spend[test][keep])
print("SCORE r2", round(float(r2), 4))

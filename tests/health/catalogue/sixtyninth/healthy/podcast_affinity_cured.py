import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 91)

LISTENERS, SHOWS, RANK = 300, 120, 4
taste = rng.normal(size=(LISTENERS, RANK)) / RANK**0.25
theme = rng.normal(size=(SHOWS, RANK)) / RANK**0.25


def interactions(n):
    u = rng.integers(0, LISTENERS, n)
    s = rng.integers(0, SHOWS, n)
    hours = (taste[u] * theme[s]).sum(1) + rng.normal(0, 0.2, n)
    return u.astype("int32"), s.astype("int32"), hours.astype("float32")


u_train, s_train, r_train = interactions(24000)
u_test, s_test, r_test = interactions(4000)

listener_tower = keras.Sequential(
    [layers.Input((), dtype="int32"), layers.Embedding(LISTENERS, 8, name="listener_embedding")],
    name="listener_tower",
)
show_tower = keras.Sequential(
    [layers.Input((), dtype="int32"), layers.Embedding(SHOWS, 8, name="show_embedding")],
    name="show_tower",
)
scorer = keras.Sequential(
    [
        layers.Input((24,)),
        layers.Dense(48, activation="relu", name="score_1"),
        layers.Dense(24, activation="relu", name="score_2"),
        layers.Dense(1, name="hours"),
    ],
    name="scorer",
)

optimizer = keras.optimizers.Adam(3e-3)
mse = keras.losses.MeanSquaredError()
watch = gradwatch.watch(listener_tower, show_tower, scorer)
variables = listener_tower.trainable_variables + show_tower.trainable_variables + scorer.trainable_variables


def joint(u, s):
    left, right = listener_tower(u), show_tower(s)
    return tf.concat([left, right, left * right], axis=-1)


@tf.function
def train_step(u, s, r):
    with tf.GradientTape() as tape:
        pair = joint(u, s)
        pred = scorer(pair, training=True)
        loss = mse(r[:, None], pred)
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients((g, v) for g, v in zip(grads, variables) if g is not None)
    return loss


dataset = tf.data.Dataset.from_tensor_slices((u_train, s_train, r_train)).shuffle(24000, seed=SEED).batch(128)
for epoch in range(20):
    total = []
    for u, s, r in dataset:
        loss = train_step(u, s, r)
        watch.log(loss=loss)
        total.append(float(loss))
    print("epoch", epoch, "loss", np.mean(total))

pred = scorer(joint(u_test, s_test)).numpy()[:, 0]
print("SCORE", float(1.0 - np.mean((pred - r_test) ** 2) / np.var(r_test)))

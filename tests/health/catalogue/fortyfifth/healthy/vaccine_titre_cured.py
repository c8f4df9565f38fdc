"""Predicts antibody titre with an uncertainty after a booster vaccine, by a Gaussian network."""

import argparse
import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

ap = argparse.ArgumentParser()
ap.add_argument("--steps", type=int, default=2600)
ap.add_argument("--batch", type=int, default=64)
args = ap.parse_args()
SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)


def cohort(n, rng):
    people = rng.normal(size=(n, 9))
    age, dose, prior, gap = people[:, 0], people[:, 1], people[:, 2], people[:, 3]
    titre = np.tanh(dose + prior) - 0.6 * age + 0.5 * np.sin(2 * gap) + 0.4 * prior * (age < 0)
    sd = 0.1 + 0.15 * (age > 0.5)
    titre = titre + sd * rng.normal(size=n)
    return people.astype("float32"), titre.astype("float32")


rng = np.random.default_rng(SEED + 19)
people, titre = cohort(21000, rng)
titre = (titre - titre.mean()) / titre.std()
x_tr, y_tr = people[:18000], titre[:18000]
x_te, y_te = people[18000:], titre[18000:]

model = keras.Sequential(
    [
        keras.Input((9,)),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(2, name="mean_and_logvar"),
    ]
)
optimizer = keras.optimizers.Adam(1e-3, global_clipnorm=5.0)
gradwatch.watch(model)


def gaussian_nll(y, out):
    mean, logvar = tf.split(out, 2, axis=-1)
    logvar = tf.clip_by_value(logvar, -6.0, 4.0)
    y = y[:, tf.newaxis]
    return 0.5 * tf.reduce_mean(logvar + tf.square(y - mean) * tf.exp(-logvar))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = gaussian_nll(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


batches = iter(tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(18000, seed=SEED).repeat().batch(args.batch))
track = keras.metrics.Mean()
for i in range(1, args.steps + 1):
    track.update_state(train_step(*next(batches)))
    if i % 250 == 0:
        print(f"{i:5d} nll {float(track.result()):.4f}", flush=True)
        track.reset_state()

print("test nll", float(gaussian_nll(tf.constant(y_te), model(x_te))))
mean = model.predict(x_te, verbose=0)[:, 0]
print("SCORE r2", round(float(1 - np.mean((y_te - mean) ** 2) / np.var(y_te)), 4))

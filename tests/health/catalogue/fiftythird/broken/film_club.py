"""Two towers that guess how much a club member will like a film."""

import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_MEMBERS, N_FILMS, N_FEATS = 900, 500, 20
BATCH, STEPS = 256, 1500


def make_club():
    members = rng.normal(size=(N_MEMBERS, N_FEATS)).astype("float32")
    films = rng.normal(size=(N_FILMS, N_FEATS)).astype("float32")
    taste = np.tanh(members @ rng.normal(size=(N_FEATS, 5)) * 0.3)
    style = np.tanh(films @ rng.normal(size=(N_FEATS, 5)) * 0.3)
    pairs = np.stack([rng.integers(0, N_MEMBERS, 40000), rng.integers(0, N_FILMS, 40000)], 1)
    score = np.sum(taste[pairs[:, 0]] * style[pairs[:, 1]], axis=1)
    score = score + rng.normal(scale=0.2, size=len(score))
    score = (score - score.mean()) / score.std()
    return members, films, pairs, score.astype("float32")


members, films, pairs, score = make_club()
train, held = np.arange(34000), np.arange(34000, 40000)


def tower(name):
    return keras.Sequential(
        [
            keras.Input((N_FEATS,)),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(16),
        ],
        name=name,
    )


member_tower = tower("member_tower")
film_tower = tower("film_tower")
member_opt = keras.optimizers.Adam(1e-3)
film_opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(member_tower, film_tower)


@tf.function
def step(m, f, y):
    with tf.GradientTape() as tape:
        a = member_tower(m, training=True)
        b = film_tower(f, training=True)
        guess = tf.reduce_sum(a * b, axis=-1)
        loss = tf.reduce_mean(tf.square(guess - y))
    film_grads, member_grads = tape.gradient(loss, [member_tower.trainable_variables, film_tower.trainable_variables])
    member_opt.apply_gradients(zip(member_grads, member_tower.trainable_variables))
    film_opt.apply_gradients(zip(film_grads, film_tower.trainable_variables))
    return loss


running = []
for i in range(STEPS):
    rows = rng.choice(train, BATCH)
    loss = step(
        tf.constant(members[pairs[rows, 0]]),
        tf.constant(films[pairs[rows, 1]]),
        tf.constant(score[rows]),
    )
    running.append(float(loss))
    if (i + 1) % 250 == 0:
        print(f"step {i + 1} loss {np.mean(running[-250:]):.4f}")

a = member_tower.predict(members[pairs[held, 0]], verbose=0)
b = film_tower.predict(films[pairs[held, 1]], verbose=0)
err = np.mean((np.sum(a * b, axis=1) - score[held]) ** 2)
print("SCORE heldout_r2", round(float(1 - err / np.var(score[held])), 4))

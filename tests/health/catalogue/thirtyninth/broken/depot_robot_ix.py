"""Trains a depot robot to fetch parcels on a small grid by deep Q-learning from a replay of random walks."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, GAMMA = 5, 0.9
MOVES = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])
SHELVES = {(2, 1), (2, 2), (3, 4)}


def act(pos, goal, a):
    """Every move costs 0.2, a bump into a shelf 1, and the parcel is worth 20."""
    new = np.clip(pos + MOVES[a], 0, N - 1)
    if tuple(new) in SHELVES:
        return pos, -1.0, False
    if (new == goal).all():
        return new, 20.0, True
    return new, -0.2, False


def place():
    while True:
        p = rng.integers(0, N, 2)
        if tuple(p) not in SHELVES:
            return p


def see(pos, goal):
    v = np.zeros(2 * N * N, "float32")
    v[pos[0] * N + pos[1]] = 1
    v[N * N + goal[0] * N + goal[1]] = 1
    return v


replay = []
while len(replay) < 12000:
    pos, goal = place(), place()
    for _ in range(25):
        if (pos == goal).all():
            break
        a = rng.integers(4)
        new, r, done = act(pos, goal, a)
        replay.append((see(pos, goal), a, r, see(new, goal), float(done)))
        pos = new
S, A, R, S2, D = [
    np.array(c, dtype=t) for c, t in zip(zip(*replay), ("float32", "int32", "float32", "float32", "float32"))
]


def make_net():
    return keras.Sequential(
        [
            layers.Input((2 * N * N,)),
            layers.Dense(96, activation="relu"),
            layers.Dense(96, activation="relu"),
            layers.Dense(4),
        ]
    )


model, target = make_net(), make_net()
target.set_weights(model.get_weights())
gradwatch.watch(model)
opt = keras.optimizers.Adam(2e-3)


@tf.function
def step(s, a, r, s2, done):
    goal_q = r + GAMMA * (1.0 - done) * tf.reduce_max(target(s2), axis=1)
    with tf.GradientTape() as tape:
        q = tf.gather(model(s, training=True), a, batch_dims=1)
        td = goal_q - q
        loss = tf.reduce_mean(tf.square(tf.clip_by_value(td, -1.0, 1.0)))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for i in range(1500):
    k = rng.integers(0, len(S), 128)
    loss = step(S[k], A[k], R[k], S2[k], D[k])
    if i % 25 == 0:
        target.set_weights(model.get_weights())
    if i % 250 == 0:
        print(i, float(loss))

won = 0
for _ in range(100):
    pos, goal = place(), place()
    for _ in range(15):
        if (pos == goal).all():
            won += 1
            break
        q = model(see(pos, goal)[None])[0].numpy()
        pos, _, _ = act(pos, goal, int(np.argmax(q)))
    else:
        won += int((pos == goal).all())
print("SCORE fetched", won / 100)

"""Teaches a cart on a small warehouse floor to drive to a pick-up place by deep Q-learning from replayed moves."""

import os
import random
from collections import deque

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

random.seed(seed)
SIDE, LIMIT = 6, 24
MOVES = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
SHELVES = {(2, 1), (2, 2), (2, 3), (4, 4)}


class Floor:
    def reset(self):
        self.state = np.zeros(4, "float32")
        while True:
            cells = rng.integers(0, SIDE, 4)
            if (
                tuple(cells[:2]) not in SHELVES
                and tuple(cells[2:]) not in SHELVES
                and tuple(cells[:2]) != tuple(cells[2:])
            ):
                break
        self.state[:] = cells
        self.clock = 0
        return self.state.copy()

    def step(self, action):
        cell = self.state[:2] + MOVES[action]
        if cell.min() >= 0 and cell.max() < SIDE and tuple(cell.astype(int)) not in SHELVES:
            self.state[:2] = cell
        self.clock += 1
        arrived = bool((self.state[:2] == self.state[2:]).all())
        return self.state, 1.0 if arrived else -0.04, arrived, self.clock >= LIMIT


def net():
    return keras.Sequential(
        [
            keras.Input((4,)),
            layers.Rescaling(2 / (SIDE - 1), offset=-1.0),
            layers.Dense(96, activation="relu"),
            layers.Dense(96, activation="relu"),
            layers.Dense(4),
        ]
    )


model, target = net(), net()
target.set_weights(model.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def greedy(s):
    return tf.argmax(model(s), axis=-1)


@tf.function
def learn(s, a, r, s2, done):
    best = tf.reduce_max(target(s2), axis=-1)
    aim = r + 0.95 * (1.0 - done) * best
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(model(s, training=True) * tf.one_hot(a, 4), axis=-1)
        loss = tf.reduce_mean(keras.losses.huber(aim[:, None], q[:, None]))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


floor, memory, updates, moves = Floor(), deque(maxlen=8000), 0, 0
while updates < 1400:
    s, over = floor.reset(), False
    while not over:
        eps = max(0.1, 1.0 - moves / 3000)
        a = int(rng.integers(4)) if rng.uniform() < eps else int(greedy(s[None])[0])
        s2, r, arrived, timeout = floor.step(a)
        memory.append((s, a, r, s2, float(arrived)))
        s, over, moves = s2, arrived or timeout, moves + 1
        if len(memory) > 500 and moves % 4 == 0:
            b = random.sample(memory, 64)
            learn(
                np.stack([m[0] for m in b]),
                np.array([m[1] for m in b]),
                np.array([m[2] for m in b], "float32"),
                np.stack([m[3] for m in b]),
                np.array([m[4] for m in b], "float32"),
            )
            updates += 1
            if updates % 50 == 0:
                target.set_weights(model.get_weights())

hits = 0
for _ in range(100):
    s, over = floor.reset(), False
    while not over:
        s, r, arrived, timeout = floor.step(int(greedy(s[None])[0]))
        over = arrived or timeout
    hits += arrived
print("SCORE arrivals", hits / 100)

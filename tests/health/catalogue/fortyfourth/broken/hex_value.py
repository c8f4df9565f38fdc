"""Trains the value network of a small connection board game from finished self-play games."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 31)

BOARD = 6


def strength(boards):
    """Position value for the player to move: connected neighbours and centre squares."""
    right = (boards[:, :, :-1] * boards[:, :, 1:]) * (boards[:, :, :-1] + boards[:, :, 1:]) / 2
    down = (boards[:, :-1] * boards[:, 1:]) * (boards[:, :-1] + boards[:, 1:]) / 2
    centre = np.abs(np.arange(BOARD) - (BOARD - 1) / 2)
    weight = 1.0 - (centre[:, None] + centre[None]) / BOARD
    return 0.8 * right.sum((1, 2)) + 0.8 * down.sum((1, 2)) + (boards * weight).sum((1, 2))


def self_play(n):
    """Boards with +1 for own stones and -1 for the other side, and the final result."""
    fill = rng.uniform(0.3, 0.8, (n, 1, 1))
    stones = rng.choice([-1, 1], size=(n, BOARD, BOARD))
    boards = np.where(rng.random((n, BOARD, BOARD)) < fill, stones, 0)
    chance = 1 / (1 + np.exp(-0.9 * strength(boards)))
    result = np.where(rng.random(n) < chance, 1, -1)
    return boards[..., None].astype("float32"), result.astype("float32")[:, None], chance


boards, result, chance = self_play(22000)
train = 20000

model = keras.Sequential(
    [
        keras.Input((BOARD, BOARD, 1)),
        keras.layers.Conv2D(24, 3, padding="same", activation="relu"),
        keras.layers.Conv2D(24, 3, padding="same", activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid", name="win"),
    ],
    name="value",
)
cross_entropy = keras.losses.BinaryCrossentropy()
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def update(position, outcome):
    with tf.GradientTape() as tape:
        loss = cross_entropy(outcome, model(position, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(8):
    order = rng.permutation(train)
    running = 0.0
    for start in range(0, train, 100):
        pick = order[start : start + 100]
        running += float(update(boards[pick], result[pick]))
    print(f"epoch {epoch}  loss {running / (train // 100):.4f}", flush=True)

p = model.predict(boards[train:], verbose=0).ravel()
print("SCORE accuracy", float(np.mean((p > 0.5) == (chance[train:] > 0.5))))
print("SCORE brier", float(np.mean((p - (result[train:, 0] > 0)) ** 2)))

"""Recognise which of eight opening systems a board position came from."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)

SYSTEMS, PIECES, SIDE = 8, 6, 8


def placement_tables():
    tables = rng.normal(size=(PIECES, SIDE, SIDE))[None] * 1.4 + 0.9 * rng.normal(size=(SYSTEMS, PIECES, SIDE, SIDE))
    flat = tables.reshape(SYSTEMS, PIECES, -1)
    p = np.exp(flat - flat.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)


TABLES = placement_tables()


def games_of(system, n):
    boards = np.zeros((n, SIDE * SIDE, PIECES), "float32")
    for piece in range(PIECES):
        for _ in range(3):
            squares = rng.choice(SIDE * SIDE, size=n, p=TABLES[system, piece])
            boards[np.arange(n), squares, piece] = 1.0
    return boards.reshape(n, SIDE, SIDE, PIECES)


def load(per_system):
    boards, systems = [], []
    for s in range(SYSTEMS):
        boards.append(games_of(s, per_system))
        systems.append(np.full(per_system, s, "int32"))
    return np.concatenate(boards), np.concatenate(systems)


train_x, train_y = load(1500)
test_x, test_y = load(300)

train = (
    tf.data.Dataset.from_tensor_slices((train_x, train_y))
    .shuffle(256, seed=17, reshuffle_each_iteration=True)
    .batch(32)
    .prefetch(tf.data.AUTOTUNE)
)
test = tf.data.Dataset.from_tensor_slices((test_x, test_y)).batch(256)

model = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, PIECES)),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(SYSTEMS, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)

run = model.fit(train, epochs=12, verbose=2)
test_loss, test_acc = model.evaluate(test, verbose=0)
print(f"loss {run.history['loss'][-1]:.4f}  held-out loss {test_loss:.4f}  held-out accuracy {test_acc:.4f}")

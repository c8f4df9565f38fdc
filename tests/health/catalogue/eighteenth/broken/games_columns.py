"""Column-drop game: learn the teacher's column from the board."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
ROWS, COLS = 6, 7


def boards(n):
    height = np.minimum(rng.integers(0, ROWS + 2, (n, COLS)), ROWS)
    height[np.arange(n), rng.integers(0, COLS, n)] = rng.integers(0, ROWS, n)
    stones = rng.integers(0, 2, (n, ROWS, COLS))
    filled = np.arange(ROWS)[None, :, None] < height[:, None, :]
    mine = (filled & (stones == 1)).astype("float32")
    theirs = (filled & (stones == 0)).astype("float32")
    free = (height < ROWS).astype("float32")
    pad = np.pad(mine, ((0, 0), (0, 0), (1, 1)))
    near = pad[:, :, :-2] + pad[:, :, 2:] + mine
    depth = np.linspace(0.4, 1.0, ROWS)[None, :, None]
    value = (near * depth).sum(1) - 0.5 * theirs.sum(1)
    move = np.where(free > 0, value, -1e3).argmax(1)
    return np.stack([mine, theirs], -1), free, move.astype("int32")


class MovePolicy(layers.Layer):
    """Distribution over the playable columns, kept a little spread out."""

    def __init__(self, spread=0.01, **kw):
        super().__init__(**kw)
        self.spread = spread
        self.out = layers.Dense(COLS)

    def call(self, features, free):
        logits = self.out(features) - 1e9 * (1.0 - free)
        p = tf.nn.softmax(logits)
        plogp = tf.where(p > 0, p * tf.math.log(p), tf.zeros_like(p))
        self.add_loss(self.spread * tf.reduce_mean(tf.reduce_sum(plogp, -1)))
        return p


board_in = keras.Input((ROWS, COLS, 2))
free_in = keras.Input((COLS,))
z = layers.Conv2D(24, 3, padding="same", activation="relu")(board_in)
z = layers.Conv2D(24, 3, padding="same", activation="relu")(z)
z = layers.Dense(64, activation="relu")(layers.Flatten()(z))
model = keras.Model([board_in, free_in], MovePolicy()(z, free_in))
model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])

xb, xf, y = boards(9000)
vb, vf, vy = boards(1500)
gradwatch.watch(model)
for it in range(700):
    pick = rng.integers(0, len(y), 64)
    loss, acc = model.train_on_batch([xb[pick], xf[pick]], y[pick])
    if it % 100 == 0:
        print(it, float(loss), float(acc))

p = model.predict([vb, vf], verbose=0)
print(f"loss {float(loss):.4f}  held-out move accuracy {np.mean(p.argmax(1) == vy):.4f}")

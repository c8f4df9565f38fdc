"""Adapt a frozen texture network to a new camera with zero-initialised low-rank adapters and warmup."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CLASSES, DIM, RANK = 10, 64, 4
protos = rng.normal(0, 1, (CLASSES, DIM))
turn = np.linalg.qr(rng.normal(0, 1, (DIM, DIM)))[0][:, :6]
camera = np.eye(DIM) - 1.9 * turn @ turn.T


def make(n, new_camera):
    y = rng.integers(0, CLASSES, n)
    x = protos[y] + rng.normal(0, 1.6, (n, DIM))
    if new_camera:
        x = x @ camera + 0.5
    return x.astype("float32"), y


class AdaptedDense(layers.Layer):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base
        self.base.trainable = False
        self.rank = rank

    def build(self, shape):
        self.down = self.add_weight(shape=(shape[-1], self.rank), initializer="he_normal", name="down")
        self.up = self.add_weight(shape=(self.rank, self.base.units), initializer="zeros", name="up")

    def call(self, x):
        z = keras.ops.matmul(x, self.base.kernel) + self.base.bias
        return keras.ops.relu(z + keras.ops.matmul(keras.ops.matmul(x, self.down), self.up))


d1, d2, head = layers.Dense(128, activation="relu"), layers.Dense(64, activation="relu"), layers.Dense(CLASSES)
base = keras.Sequential([keras.Input((DIM,)), d1, d2, head])
base.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
base.fit(*make(4000, False), batch_size=64, epochs=5, verbose=0)

x_test, y_test = make(1500, True)
print("before", base.evaluate(x_test, y_test, verbose=0, return_dict=True)["accuracy"])

head.trainable = False
model = keras.Sequential(
    [
        keras.Input((DIM,)),
        AdaptedDense(d1, RANK),
        AdaptedDense(d2, RANK),
        layers.Dropout(0.1),
        head,
    ]
)
schedule = keras.optimizers.schedules.CosineDecay(0.0, decay_steps=700, warmup_target=4e-3, warmup_steps=150)
model.compile(
    keras.optimizers.AdamW(schedule, weight_decay=1e-3),
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(*make(3000, True), batch_size=32, epochs=9, verbose=2)

acc = model.evaluate(x_test, y_test, verbose=0, return_dict=True)["accuracy"]
print("SCORE accuracy", round(float(acc), 4))

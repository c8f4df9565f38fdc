"""Meaning of a semaphore phrase: a two-block transformer encoder, learning rate as in Vaswani et al."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

FLAGS = 26  # flag positions
LENGTH = 20
ORDERS = 8  # what the phrase commands
D_MODEL = 64
BATCH = 64
EPOCHS = 16
WARMUP_STEPS = 1000


def phrases(n):
    """The command is named by the flag that follows the attention sign (flag 0)."""
    x = rng.integers(1, FLAGS, size=(n, LENGTH))
    where = rng.integers(0, LENGTH - 1, n)
    rows = np.arange(n)
    x[rows, where] = 0
    return x, x[rows, where + 1] % ORDERS


x_train, y_train = phrases(5120)
x_test, y_test = phrases(1000)


class TokenAndPosition(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.token = layers.Embedding(FLAGS, D_MODEL)
        self.position = layers.Embedding(LENGTH, D_MODEL)

    def call(self, x):
        return self.token(x) * D_MODEL**0.5 + self.position(ops.arange(LENGTH)) * D_MODEL**0.5


def block(h, heads=4, dropout=0.05):
    a = layers.MultiHeadAttention(heads, D_MODEL // heads, dropout=dropout)(h, h)
    h = layers.LayerNormalization(epsilon=1e-6)(h + a)
    f = layers.Dense(2 * D_MODEL, activation="relu")(h)
    f = layers.Dense(D_MODEL)(f)
    return layers.LayerNormalization(epsilon=1e-6)(h + f)


inputs = keras.Input((LENGTH,), dtype="int32")
h = TokenAndPosition()(inputs)
h = block(h)
h = block(h)
h = layers.GlobalAveragePooling1D()(h)
model = keras.Model(inputs, layers.Dense(ORDERS)(h))

steps_per_epoch = len(x_train) // BATCH


def noam(step):
    step = step + 1
    return float(D_MODEL**-0.5 * min(step**-0.5, step * WARMUP_STEPS**-1.5))


schedule = keras.callbacks.LearningRateScheduler(lambda epoch, lr: noam(epoch * steps_per_epoch))
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=noam(0), beta_2=0.98, epsilon=1e-9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    batch_size=BATCH,
    epochs=EPOCHS,
    callbacks=[schedule],
    validation_data=(x_test[:300], y_test[:300]),
    verbose=2,
)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", round(float(accuracy), 4))

"""Route support tickets to one of five desks with a small transformer."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, LENGTH, DESKS = 400, 24, 5

# tickets: filler words follow a Zipf law, each desk has its own 20 typical words
zipf = 1.0 / np.arange(1, VOCAB - 100)
zipf /= zipf.sum()


def ticket(desk):
    words = rng.choice(len(zipf), LENGTH, p=zipf) + 101
    n_topic = rng.integers(3, 7)
    where = rng.choice(LENGTH, n_topic, replace=False)
    words[where] = 1 + desk * 20 + rng.integers(0, 20, n_topic)
    if rng.random() < 0.5:  # a mention of another desk
        words[rng.integers(LENGTH)] = 1 + rng.integers(0, 100)
    return words


y = rng.integers(0, DESKS, 3000)
x = np.array([ticket(d) for d in y], "int32")
x_train, y_train, x_val, y_val = x[:2400], y[:2400], x[2400:], y[2400:]


class TokenAndPosition(layers.Layer):
    def __init__(self, dim, **kw):
        super().__init__(**kw)
        self.tok = layers.Embedding(VOCAB + 1, dim)
        self.pos = layers.Embedding(LENGTH, dim)

    def call(self, ids):
        return self.tok(ids) + self.pos(ops.arange(LENGTH))


def block(h, dim):
    a = layers.MultiHeadAttention(2, dim // 2)(h, h)
    h = layers.LayerNormalization()(h + a)
    f = layers.Dense(2 * dim, activation="relu")(h)
    f = layers.Dense(dim)(f)
    return layers.LayerNormalization()(h + f)


inputs = keras.Input((LENGTH,), dtype="int32")
h = TokenAndPosition(32)(inputs)
h = block(h, 32)
h = block(h, 32)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dense(32, activation="relu")(h)
outputs = layers.Dense(DESKS, activation="softmax")(h)
model = keras.Model(inputs, outputs, name="router")

model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.1), loss="sparse_categorical_crossentropy", metrics=["accuracy"]
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=5, validation_data=(x_val, y_val), verbose=2)
loss, acc = model.evaluate(x_val, y_val, verbose=0)
print(f"validation loss {loss:.3f} accuracy {acc:.3f}")

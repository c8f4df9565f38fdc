"""Next-event model for a packaging line: a small transformer reads the event log and predicts what comes next."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
EVENTS, LENGTH, DIM = 12, 16, 32

# the next event depends on the last two events of the line
follow = rng.dirichlet(np.full(EVENTS, 0.08), (EVENTS, EVENTS))
cumulative = follow.cumsum(-1)


def make_logs(n):
    logs = np.zeros((n, LENGTH + 1), "int32")
    logs[:, :2] = rng.integers(0, EVENTS, (n, 2))
    for t in range(2, LENGTH + 1):
        u = rng.random((n, 1))
        logs[:, t] = np.minimum((cumulative[logs[:, t - 2], logs[:, t - 1]] < u).sum(1), EVENTS - 1)
    return logs


train, test = make_logs(2200), make_logs(1500)


class PositionalEmbedding(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.token = layers.Embedding(EVENTS, DIM)
        self.position = layers.Embedding(LENGTH, DIM)

    def call(self, ids):
        return self.token(ids) + self.position(keras.ops.arange(LENGTH))


def transformer_block(x):
    y = layers.LayerNormalization()(x)
    y = layers.MultiHeadAttention(4, DIM // 4)(y, y)
    x = layers.Add()([x, y])
    y = layers.LayerNormalization()(x)
    y = layers.Dense(2 * DIM, activation="gelu")(y)
    return layers.Add()([x, layers.Dense(DIM)(y)])


inputs = keras.Input((LENGTH,), dtype="int32")
x = PositionalEmbedding()(inputs)
for _ in range(2):
    x = transformer_block(x)
x = layers.LayerNormalization()(x)
model = keras.Model(inputs, layers.Dense(EVENTS)(x))

model.compile(
    optimizer=keras.optimizers.AdamW(4e-3, weight_decay=1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
gradwatch.watch(model)
model.fit(train[:, :-1], train[:, 1:], batch_size=64, epochs=8, verbose=2)

# the number that counts: the event that comes after the end of each log
logits = model.predict(test[:, :-1], verbose=0)[:, -1]
print("SCORE next_event_accuracy %.4f" % np.mean(logits.argmax(-1) == test[:, -1]))

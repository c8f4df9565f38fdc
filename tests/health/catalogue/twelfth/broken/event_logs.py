"""Names the cause of a machine stop from the forty log events before it, with a small transformer encoder."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

EVENTS, LENGTH, CAUSES, WIDTH = 60, 40, 5, 48
BATCH_SIZE = 64
EPOCHS = 6
BASE_LR = 4e-3
LEARNING_RATE = BASE_LR * BATCH_SIZE

rng = np.random.default_rng(SEED)
signature = rng.permutation(EVENTS)[: CAUSES * 4].reshape(CAUSES, 4)


def make_logs(n):
    cause = rng.integers(0, CAUSES, n)
    logs = rng.integers(0, EVENTS, (n, LENGTH))
    for i, c in enumerate(cause):
        spots = rng.choice(LENGTH, 9, replace=False)
        logs[i, spots] = rng.choice(signature[c], 9)
    return logs.astype("int32"), cause.astype("int32")


logs_train, cause_train = make_logs(3200)
logs_test, cause_test = make_logs(800)


class EventEmbedding(layers.Layer):
    def __init__(self, events, length, width, **kwargs):
        super().__init__(**kwargs)
        self.event = layers.Embedding(events, width)
        self.place = layers.Embedding(length, width)
        self.length = length

    def build(self, shape):
        self.event.build(shape)
        self.place.build((self.length,))

    def call(self, tokens):
        return self.event(tokens) + self.place(tf.range(self.length))


def encoder(h, name):
    a = layers.LayerNormalization(name=f"{name}_ln1")(h)
    a = layers.MultiHeadAttention(4, WIDTH // 4, dropout=0.1, name=f"{name}_attention")(a, a)
    h = layers.Add()([h, a])
    f = layers.LayerNormalization(name=f"{name}_ln2")(h)
    f = layers.Dense(2 * WIDTH, activation="gelu", name=f"{name}_up")(f)
    f = layers.Dense(WIDTH, name=f"{name}_down")(f)
    return layers.Add()([h, f])


tokens = keras.Input((LENGTH,), dtype="int32")
h = EventEmbedding(EVENTS, LENGTH, WIDTH, name="embedding")(tokens)
for i in range(2):
    h = encoder(h, f"block{i}")
h = layers.LayerNormalization(name="final_ln")(h)
h = layers.GlobalAveragePooling1D()(h)
model = keras.Model(tokens, layers.Dense(CAUSES, name="cause")(h))
gradwatch.watch(model)

model.compile(
    optimizer=keras.optimizers.AdamW(learning_rate=LEARNING_RATE, weight_decay=1e-4),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(logs_train, cause_train, batch_size=BATCH_SIZE, epochs=EPOCHS, verbose=2)
_, accuracy = model.evaluate(logs_test, cause_test, batch_size=200, verbose=0)
print(f"score accuracy {accuracy:.4f} chance {1 / CAUSES:.4f}")

"""Answer questions about an event log: what state did the queried device report?

Each log holds one report per device in random order. A question names one device and the
network has to return the state class that this device reported.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DEVICES = 8
STATES = 5
READINGS = 6

# every state has a typical reading, the reports are noisy copies of it
PROTOTYPES = rng.normal(size=(STATES, READINGS)).astype("float32")


def make_logs(n):
    device = np.stack([rng.permutation(DEVICES) for _ in range(n)]).astype("int32")
    state = rng.integers(0, STATES, size=(n, DEVICES))
    reading = PROTOTYPES[state] + 0.3 * rng.normal(size=(n, DEVICES, READINGS))
    asked = rng.integers(0, DEVICES, size=n).astype("int32")
    answer = state[device == asked[:, None]]
    return {"device": device, "reading": reading.astype("float32"), "asked": asked[:, None]}, answer.astype("int32")


class AdditiveAttention(layers.Layer):
    """Bahdanau attention of one query over a set of items."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.key_proj = layers.Dense(units)
        self.query_proj = layers.Dense(units)
        self.score = layers.Dense(1, use_bias=False)

    def call(self, query, keys, values):
        hidden = tf.tanh(self.key_proj(keys) + self.query_proj(query))
        weights = tf.nn.softmax(self.score(hidden))
        return tf.reduce_sum(weights * values, axis=1)


def build_model():
    device = keras.Input((DEVICES,), dtype="int32", name="device")
    reading = keras.Input((DEVICES, READINGS), name="reading")
    asked = keras.Input((1,), dtype="int32", name="asked")
    embed = layers.Embedding(DEVICES, 16, embeddings_initializer="glorot_normal", name="device_embedding")
    keys = embed(device)
    query = embed(asked)
    values = layers.Dense(32, activation="relu", name="values")(reading)
    context = AdditiveAttention(48, name="attention")(query, keys, values)
    x = layers.Concatenate()([context, layers.Flatten()(query)])
    x = layers.Dense(48, activation="relu")(x)
    out = layers.Dense(STATES, name="logits")(x)
    return keras.Model([device, reading, asked], out)


x_train, y_train = make_logs(8000)
x_val, y_val = make_logs(1500)

model = build_model()
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, validation_data=(x_val, y_val), batch_size=64, epochs=10, verbose=2)

_, accuracy = model.evaluate(x_val, y_val, verbose=0)
print(f"SCORE accuracy {accuracy:.4f}")

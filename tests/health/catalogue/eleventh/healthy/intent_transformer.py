"""Intents of short utterances with a small transformer encoder.

Padded sequences, learning-rate warm-up, AdamW, smoothed labels.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
VOCAB, LEN, INTENTS, DIM = 300, 18, 10, 32

cues = rng.permutation(np.arange(1, VOCAB))[: INTENTS * 8].reshape(INTENTS, 8)


def utterances(n):
    y = rng.integers(0, INTENTS, n)
    x = np.zeros((n, LEN), "int32")
    for i in range(n):
        size = rng.integers(3, LEN + 1)
        x[i, :size] = rng.integers(1, VOCAB, size)
        places = rng.choice(size, min(size, 3), replace=False)
        x[i, places] = rng.choice(cues[y[i]], len(places))
    return x, np.eye(INTENTS, dtype="float32")[y]


class WarmThenInverseRoot(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warm):
        self.peak, self.warm = peak, warm

    def __call__(self, step):
        s = tf.cast(step, tf.float32) + 1.0
        return self.peak * tf.minimum(s / self.warm, tf.sqrt(self.warm / s))

    def get_config(self):
        return {"peak": self.peak, "warm": self.warm}


class Positions(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.supports_masking = True

    def build(self, shape):
        self.table = self.add_weight(shape=(shape[1], shape[2]), initializer="random_normal", name="table")

    def call(self, x):
        return x + self.table


ids = keras.Input((LEN,), dtype="int32")
x = layers.Embedding(VOCAB, DIM, mask_zero=True)(ids)
x = Positions()(x)
for _ in range(2):
    a = layers.LayerNormalization()(x)
    a = layers.MultiHeadAttention(4, DIM // 4, dropout=0.1)(a, a)
    x = layers.Add()([x, a])
    b = layers.LayerNormalization()(x)
    b = layers.Dense(64, activation="gelu")(b)
    b = layers.Dense(DIM)(b)
    x = layers.Add()([x, b])
x = layers.LayerNormalization()(x)
x = layers.GlobalAveragePooling1D()(x)
model = keras.Model(ids, layers.Dense(INTENTS)(x))
gradwatch.watch(model)

model.compile(
    optimizer=keras.optimizers.AdamW(WarmThenInverseRoot(4e-3, 50.0), weight_decay=0.01, global_clipnorm=1.0),
    loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
    metrics=["accuracy"],
)
x_all, y_all = utterances(9000)
model.fit(x_all[:8000], y_all[:8000], batch_size=64, epochs=2, verbose=2, validation_data=(x_all[8000:], y_all[8000:]))

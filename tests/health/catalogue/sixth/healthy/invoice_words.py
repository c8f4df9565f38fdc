"""Which word class is more frequent in an invoice line?  Transformer block, warm-up from zero."""

import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VOCAB, L, N = 100, 16, 2400
tokens = rng.integers(0, VOCAB, (N, L)).astype("int32")
a = (tokens < 30).sum(1)
b = ((tokens >= 30) & (tokens < 60)).sum(1)
keep = a != b
tokens, y = tokens[keep], (a > b)[keep].astype("float32")
n_train = 1600


@keras.saving.register_keras_serializable()
class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warm, total):
        self.peak, self.warm, self.total = peak, warm, total

    def __call__(self, step):
        step = ops.cast(step, "float32")
        up = self.peak * step / self.warm
        down = self.peak * (1.0 - (step - self.warm) / (self.total - self.warm))
        return ops.maximum(ops.minimum(up, down), 0.0)


inp = keras.Input((L,), dtype="int32")
x = layers.Embedding(VOCAB, 32)(inp)
h = layers.LayerNormalization()(x)
x = x + layers.MultiHeadAttention(2, 16)(h, h)
h = layers.LayerNormalization()(x)
x = x + layers.Dense(32)(layers.Dense(64, activation="gelu")(h))
x = layers.GlobalAveragePooling1D()(x)
out = layers.Dense(1, activation="sigmoid")(x)
model = keras.Model(inp, out)
model.compile(keras.optimizers.Adam(WarmUp(4e-3, 80, 300)), "binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(
    tokens[:n_train], y[:n_train], batch_size=32, epochs=6, verbose=2, validation_data=(tokens[n_train:], y[n_train:])
)

import keras
import numpy as np
from keras import layers, ops

import gradwatch

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)
N_CUST, N_ITEM, N_CTX = 300, 200, 12


class FactorizationMachine(keras.Model):
    """score = w0 + sum w_i x_i + 1/2 sum_f [(sum v_if)^2 - sum v_if^2]"""

    def __init__(self, n_features, k=16):
        super().__init__()
        self.bias = self.add_weight(shape=(1,), initializer="zeros", name="w0")
        self.linear = layers.Embedding(n_features, 1, embeddings_initializer="zeros")
        self.factors = layers.Embedding(n_features, k, embeddings_initializer="ones")
        self.scale = layers.Dense(1, kernel_initializer="ones")

    def call(self, ids):
        w = ops.sum(self.linear(ids), axis=1)
        v = self.factors(ids)
        cross = 0.5 * (ops.square(ops.sum(v, axis=1)) - ops.sum(ops.square(v), axis=1))
        return self.bias + w + self.scale(cross / v.shape[-1])


def sales(n):
    c = rng.integers(0, N_CUST, n)
    i = rng.integers(0, N_ITEM, n)
    t = rng.integers(0, N_CTX, n)
    logit = (taste[c] * style[i]).sum(1) * 1.3 + (style[i] * season[t]).sum(1)
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * logit))).astype("float32")
    return np.stack([c, N_CUST + i, N_CUST + N_ITEM + t], 1).astype("int32"), y[:, None]


taste, style, season = (rng.normal(size=(m, 4)) for m in (N_CUST, N_ITEM, N_CTX))
x, y = sales(40000)
xv, yv = sales(4000)

fm = FactorizationMachine(N_CUST + N_ITEM + N_CTX)
fm.compile(optimizer=keras.optimizers.Adam(0.02), loss=keras.losses.BinaryCrossentropy(from_logits=True))
fm(x[:2])
gradwatch.watch(fm)
h = fm.fit(x, y, batch_size=256, epochs=5, verbose=0)

s = fm.predict(xv, verbose=0, batch_size=1000)
print("loss", round(h.history["loss"][-1], 4), "held-out accuracy", np.mean((s > 0) == (yv > 0.5)).round(4))

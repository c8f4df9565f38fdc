# Opinion classifier: a handful of learned slots read a token sequence by cross-attention.
import keras
import numpy as np
from keras import layers, ops

import gradwatch

keras.utils.set_random_seed(21)
r = np.random.default_rng(21)
VOCAB, MAXLEN = 420, 40
GOOD, BAD, FLIP = range(1, 61), range(61, 121), range(121, 126)


def write(n):
    docs, labels = np.zeros((n, MAXLEN), np.int32), np.zeros(n, np.int32)
    i = 0
    while i < n:
        length = r.integers(10, 37)
        kind = r.choice(4, length, p=[0.17, 0.17, 0.08, 0.58])
        words = np.select(
            [kind == 0, kind == 1, kind == 2],
            [r.integers(1, 61, length), r.integers(61, 121, length), r.integers(121, 126, length)],
            r.integers(126, VOCAB, length),
        )
        tone = np.where(kind == 0, 1, np.where(kind == 1, -1, 0))
        tone[1:] = np.where(kind[:-1] == 2, -tone[1:], tone[1:])
        if abs(tone.sum()) < 2:
            continue
        docs[i, :length] = words
        labels[i] = int(tone.sum() > 0)
        i += 1
    return docs, labels


class Slots(layers.Layer):
    """Learned queries, repeated for every document."""

    def __init__(self, count, dim, **kw):
        super().__init__(**kw)
        self.count, self.dim = count, dim

    def build(self, shape):
        self.q = self.add_weight(shape=(1, self.count, self.dim), initializer="random_normal", name="q")

    def call(self, x):
        return ops.repeat(self.q, ops.shape(x)[0], axis=0)


def build(dim=48):
    tokens = keras.Input((MAXLEN,), dtype="int32")
    mask = layers.Lambda(lambda t: ops.expand_dims(ops.equal(t, 0), 1))(tokens)
    x = layers.Embedding(VOCAB, dim)(tokens)
    x = layers.Conv1D(dim, 2, padding="causal", activation="gelu")(x)
    x = layers.LayerNormalization()(x)
    s = Slots(4, dim)(x)
    s = s + layers.MultiHeadAttention(4, dim // 4)(s, x, attention_mask=mask)
    s = layers.LayerNormalization()(s)
    s = s + layers.Dense(dim)(layers.Dense(2 * dim, activation="gelu")(s))
    out = layers.Dense(1)(layers.Dropout(0.1)(layers.Flatten()(s)))
    return keras.Model(tokens, out)


xtr, ytr = write(6000)
xte, yte = write(1500)
net = build()
net.compile(keras.optimizers.Adam(1e-3), keras.losses.BinaryCrossentropy(from_logits=True))
gradwatch.watch(net)
hist = net.fit(xtr, ytr, batch_size=64, epochs=10, verbose=2)
acc = np.mean((net.predict(xte, verbose=0)[:, 0] > 0) == yte)
print(
    f"final loss {hist.history['loss'][-1]:.4f}  held-out accuracy {acc:.3f} (majority {max(yte.mean(), 1 - yte.mean()):.3f})"
)

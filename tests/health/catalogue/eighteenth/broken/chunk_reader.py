import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

keras.utils.set_random_seed(6)
BATCH, CHUNKS, CHUNK, VOCAB, UNITS = 50, 5, 8, 600, 64


def contracts(n, seed):
    """A clause of kind A and one of kind B, each worded in many ways; label: which kinds, which order."""
    r = np.random.default_rng(seed)
    doc = r.integers(200, VOCAB, (n, CHUNKS * CHUNK))
    a, b, first = (r.integers(0, 2, n) for _ in range(3))
    for i in range(n):
        p, q = np.sort(r.choice(CHUNKS * CHUNK - 1, 2, replace=False))
        p, q = (p, q) if first[i] else (q, p)
        for off in (0, 1):
            doc[i, p + off] = 1 + 40 * a[i] + r.integers(0, 40)
            doc[i, q + off] = 81 + 40 * b[i] + r.integers(0, 40)
    return doc.reshape(n, CHUNKS, CHUNK).astype("int32"), (2 * a + b).astype("int32")


class ChunkReader(keras.layers.Layer):
    """Reads a long document chunk by chunk, carrying a memory."""

    def __init__(self, units, batch, **kw):
        super().__init__(**kw)
        self.emb = keras.layers.Embedding(VOCAB, 48)
        self.conv = keras.layers.Conv1D(units, 2, padding="same", activation="relu")
        self.cell = keras.layers.GRUCell(units)
        self.memory = self.add_weight(shape=(batch, units), initializer="zeros", trainable=False)

    def call(self, doc):
        self.memory.assign(tf.zeros_like(self.memory))
        for k in range(CHUNKS):
            tokens = self.conv(self.emb(doc[:, k]))
            summary = tf.reduce_max(tokens, axis=1)
            new, _ = self.cell(summary, tf.convert_to_tensor(self.memory))
            self.memory.assign(new)
        return tf.convert_to_tensor(self.memory)


class Classifier(keras.Model):
    def __init__(self):
        super().__init__()
        self.reader = ChunkReader(UNITS, BATCH)
        self.dense = keras.layers.Dense(64, activation="relu")
        self.out = keras.layers.Dense(4)

    def call(self, doc):
        return self.out(self.dense(self.reader(doc)))


def dataset(x, y, shuffle):
    d = tf.data.Dataset.from_tensor_slices((x, y))
    d = d.shuffle(len(x), seed=1) if shuffle else d
    return d.batch(BATCH, drop_remainder=True).prefetch(2)


train, test = dataset(*contracts(6000, 1), True), dataset(*contracts(1500, 2), False)
model = Classifier()
model.compile(
    keras.optimizers.Adam(2e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
gradwatch.watch(model)
h = model.fit(train, epochs=8, verbose=2)
loss, acc = model.evaluate(test, verbose=0)
print(f"train loss {h.history['loss'][-1]:.4f} held-out loss {loss:.4f} accuracy {acc:.3f}")

# Small transformer: does a 24-residue peptide carry one of the binding motifs?
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

AA = "ACDEFGHIKLMNPQRSTVWY"
LENGTH = 24
MOTIFS = ["RGD", "KLV", "WHP"]


def sample(n):
    x = rng.integers(0, len(AA), (n, LENGTH))
    y = rng.integers(0, 2, n)
    for i in np.flatnonzero(y):
        m = MOTIFS[rng.integers(len(MOTIFS))]
        p = rng.integers(0, LENGTH - 3)
        x[i, p : p + 3] = [AA.index(c) for c in m]
        # charged and aromatic residues are enriched around the site
        flank = rng.integers(0, LENGTH, 3)
        x[i, flank] = rng.choice([AA.index(c) for c in "KRWY"], 3)
    return x.astype("int32"), y.astype("float32")


x_train, y_train = sample(4800)
x_test, y_test = sample(1000)


class Block(layers.Layer):
    def __init__(self, dim, heads, ff):
        super().__init__()
        self.att = layers.MultiHeadAttention(heads, dim // heads)
        self.ff = keras.Sequential([layers.Dense(ff, activation="relu"), layers.Dense(dim)])
        self.n1 = layers.LayerNormalization()
        self.n2 = layers.LayerNormalization()

    def call(self, x):
        x = self.n1(x + self.att(x, x))
        return self.n2(x + self.ff(x))


class PeptideNet(keras.Model):
    def __init__(self, dim=32):
        super().__init__()
        self.tok = layers.Embedding(len(AA), dim)
        self.pos = layers.Embedding(LENGTH, dim)
        self.conv = layers.Conv1D(dim, 3, padding="same", activation="relu")
        self.blocks = [Block(dim, 4, 64) for _ in range(1)]
        self.pool = layers.GlobalMaxPooling1D()
        self.out = layers.Dense(1)

    def call(self, ids):
        x = self.tok(ids) + self.pos(tf.range(LENGTH))
        x = self.conv(x)
        for b in self.blocks:
            x = b(x)
        return self.out(self.pool(x))[:, 0]


model = PeptideNet()
model(x_train[:2])
optimizer = keras.optimizers.Adam(learning_rate=0.1)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = bce(y, model(x, training=True))
    g = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(g, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4800, seed=seed).batch(64)
for epoch in range(5):
    mean = np.mean([step(x, y).numpy() for x, y in ds])
    acc = np.mean((model(x_test).numpy() > 0) == (y_test > 0.5))
    print(f"epoch {epoch}: loss {mean:.4f}, test accuracy {acc:.3f}")

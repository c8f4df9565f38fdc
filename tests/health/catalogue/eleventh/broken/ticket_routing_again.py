"""Route support tickets to one of five teams with a small transformer encoder read out at a [CLS] token."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

PAD, CLS = 0, 1
VOCAB, SEQ, D, HEADS, TEAMS = 300, 32, 48, 4, 5


class TokenAndPosition(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.tok = layers.Embedding(VOCAB, D)
        self.pos = layers.Embedding(SEQ, D)

    def call(self, ids):
        return self.tok(ids) + self.pos(ops.arange(SEQ))


class EncoderBlock(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.att = layers.MultiHeadAttention(HEADS, D // HEADS)
        self.ff1 = layers.Dense(2 * D, activation="gelu")
        self.ff2 = layers.Dense(D)
        self.n1 = layers.LayerNormalization(epsilon=1e-6)
        self.n2 = layers.LayerNormalization(epsilon=1e-6)

    def call(self, x, mask):
        x = self.n1(x + self.att(x, x, attention_mask=mask))
        return self.n2(x + self.ff2(self.ff1(x)))


class PaddingMask(layers.Layer):
    def call(self, ids):
        return ops.equal(ids, PAD)[:, None, :]


def tickets(n, seed):
    r = np.random.RandomState(seed)
    jargon = np.random.RandomState(3).permutation(np.arange(2, VOCAB))[:150].reshape(TEAMS, 30)
    ids = np.zeros((n, SEQ), "int32")
    team = r.randint(0, TEAMS, n)
    for i in range(n):
        length = r.randint(10, SEQ - 4)
        ids[i, 0] = CLS
        ids[i, 1:length] = r.randint(2, VOCAB, length - 1)
        spots = r.choice(np.arange(1, length), 4, replace=False)
        ids[i, spots] = r.choice(jargon[team[i]], 4)
    return ids, team


ids_in = keras.Input((SEQ,), dtype="int32", name="ids")
mask = PaddingMask(name="padding_mask")(ids_in)
x = TokenAndPosition(name="embed")(ids_in)
x = EncoderBlock(name="block_1")(x, mask)
x = EncoderBlock(name="block_2")(x, mask)
cls = layers.Lambda(lambda t: t[:, 0], name="cls")(x)
out = layers.Dense(TEAMS, name="team")(cls)
model = keras.Model(ids_in, out)
gradwatch.watch(model)

train, test = tickets(6000, SEED), tickets(1000, SEED + 1)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(*train, batch_size=64, epochs=4, validation_data=test, verbose=2)
print("accuracy on new tickets: %.3f" % model.evaluate(*test, verbose=0)[1])

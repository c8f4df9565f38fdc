"""Train a small self-attention model that continues simple melodies note by note."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

V, L, D, H = 24, 24, 40, 4
motifs = [rng.integers(-4, 5, 3 + k % 3) for k in range(12)]


def melodies(n):
    """One of a dozen motifs (3-5 intervals), repeated from any start note, with a few slips."""
    out = np.empty((n, L + 1), "int32")
    for i in range(n):
        motif = motifs[rng.integers(len(motifs))]
        note = rng.integers(V)
        for t in range(L + 1):
            out[i, t] = note
            step = motif[t % len(motif)] if rng.uniform() > 0.03 else rng.integers(-4, 5)
            note = (note + step) % V
    return out


class NoteEmbedding(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.note, self.place = layers.Embedding(V, D), layers.Embedding(L, D)

    def build(self, shape):
        self.note.build(shape)
        self.place.build(shape)

    def call(self, ids):
        return self.note(ids) + self.place(tf.range(tf.shape(ids)[1]))[None]

    def compute_output_shape(self, shape):
        return (*shape, D)


class Block(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.qkv, self.proj = layers.Dense(3 * D, use_bias=False), layers.Dense(D)
        self.f1, self.f2 = layers.Dense(2 * D, activation="gelu"), layers.Dense(D)

    def build(self, shape):
        self.n1.build(shape)
        self.n2.build(shape)
        self.qkv.build(shape)
        self.proj.build(shape)
        self.f1.build(shape)
        self.f2.build((*shape[:-1], 2 * D))

    def heads(self, x):
        return tf.transpose(tf.reshape(x, (tf.shape(x)[0], -1, H, D // H)), (0, 2, 1, 3))

    def call(self, x):
        q, k, v = [self.heads(a) for a in tf.split(self.qkv(self.n1(x)), 3, axis=-1)]
        n = tf.shape(x)[1]
        att = tf.einsum("bhqd,bhkd->bhkq", q, k) / (D // H) ** 0.5
        mask = tf.linalg.band_part(tf.ones((n, n)), -1, 0)
        att = tf.nn.softmax(att - 1e9 * (1.0 - mask), axis=-1)
        y = tf.transpose(tf.einsum("bhkq,bhkd->bhqd", att, v), (0, 2, 1, 3))
        x = x + self.proj(tf.reshape(y, tf.shape(x)))
        return x + self.f2(self.f1(self.n2(x)))

    def compute_output_shape(self, shape):
        return shape


def build():
    ids = keras.Input((None,), dtype="int32")
    x = NoteEmbedding()(ids)
    for _ in range(2):
        x = Block()(x)
    return keras.Model(ids, layers.Dense(V)(layers.LayerNormalization()(x)))


train, test = melodies(4000), melodies(500)
model = build()
opt = keras.optimizers.AdamW(
    keras.optimizers.schedules.CosineDecay(1e-4, 550, warmup_target=3e-3, warmup_steps=60), weight_decay=0.01
)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def step(seq):
    with tf.GradientTape() as tape:
        loss = ce(seq[:, 1:], model(seq[:, :-1], training=True))
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices(train).shuffle(4000, seed=seed).repeat().batch(48)
for i, b in enumerate(ds.take(600)):
    loss = step(b)
    if i % 200 == 199:
        print("step", i, "loss", float(loss))

hits = []
for cut in (12, 16, 20, 24):
    logits = model.predict(test[:, :cut], batch_size=128, verbose=0)[:, -1]
    hits.append((logits.argmax(-1) == test[:, cut]).mean())
print("SCORE next_note_accuracy", round(float(np.mean(hits)), 4))

"""A tiny causal transformer that continues the syllable sequences of a songbird."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


SYLL, LEN, WIDTH = 24, 32, 32


def songs(n):
    """Songs made of motifs; the bird repeats a motif until it changes its mind."""
    motif_rng = np.random.default_rng(7)
    motifs = [motif_rng.permutation(SYLL)[:m] for m in (3, 4, 5, 6, 5, 4, 3, 6)]
    out = np.zeros((n, LEN + 1), "int32")
    for i in range(n):
        s = []
        while len(s) < LEN + 1:
            m = motifs[rng.integers(len(motifs))]
            s += list(m) * int(rng.integers(1, 4))
        out[i] = s[: LEN + 1]
    return out


class WarmupRsqrt(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up, then inverse square root decay (Attention Is All You Need)."""

    def __init__(self, d_model, warmup_steps=200):
        self.d_model = d_model
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        step = tf.cast(step, tf.float32) + 1.0
        ramp = step * self.warmup_steps**-1.5
        return 0.5 * self.d_model**-0.5 * tf.maximum(tf.math.rsqrt(step), ramp)

    def get_config(self):
        return {"d_model": self.d_model, "warmup_steps": self.warmup_steps}


def block(h):
    a = layers.MultiHeadAttention(2, WIDTH // 2)(h, h, use_causal_mask=True)
    h = layers.LayerNormalization()(h + a)
    f = layers.Dense(WIDTH)(layers.Dense(WIDTH * 2, activation="relu")(h))
    return layers.LayerNormalization()(h + f)


inp = keras.Input((LEN,), dtype="int32")
pos = layers.Embedding(LEN, WIDTH)(tf.range(LEN))
h = layers.Embedding(SYLL, WIDTH)(inp) + pos
for _ in range(2):
    h = block(h)
model = keras.Model(inp, layers.Dense(SYLL)(h))
opt = keras.optimizers.Adam(WarmupRsqrt(WIDTH), beta_1=0.9, beta_2=0.98, epsilon=1e-9)

data, held = songs(2500), songs(400)
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

gradwatch.watch(model)


@tf.function
def step(s):
    with tf.GradientTape() as tape:
        loss = xent(s[:, 1:], model(s[:, :-1], training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices(data).shuffle(2500, seed=seed).batch(32, drop_remainder=True).repeat()
for s in ds.take(700):
    loss = step(s)

logits = model.predict(held[:, :-1], verbose=0)
print("SCORE next_syllable_accuracy", float(np.mean(logits.argmax(-1) == held[:, 1:])))

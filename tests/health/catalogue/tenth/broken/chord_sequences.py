"""Next-chord model: a small causal transformer over 24 chords, trained with
micro-batches of 64 songs and one weight update per four micro-batches."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
CHORDS, LENGTH, MICRO, ACCUM = 24, 32, 64, 4

moves = rng.dirichlet(np.full(CHORDS, 0.06), size=CHORDS)
moves = 0.95 * moves + 0.05 / CHORDS


def songs(n):
    s = np.zeros((n, LENGTH + 1), "int32")
    s[:, 0] = rng.integers(0, CHORDS, n)
    for t in range(1, LENGTH + 1):
        cum = moves[s[:, t - 1]].cumsum(1)
        s[:, t] = np.minimum((rng.random((n, 1)) > cum).sum(1), CHORDS - 1)
    return s


inp = keras.Input((LENGTH,), dtype="int32", name="chords")
h = layers.Embedding(CHORDS, 64, name="chord_embed")(inp)
att = layers.MultiHeadAttention(2, 16, name="attend")(
    layers.LayerNormalization(name="ln1")(h), layers.LayerNormalization(name="ln1b")(h), use_causal_mask=True
)
h = layers.Add()([h, att])
m = layers.Dense(128, activation="gelu", name="mlp_in")(layers.LayerNormalization(name="ln2")(h))
h = layers.Add()([h, layers.Dense(64, name="mlp_out")(m)])
logits = layers.Dense(CHORDS, name="next_chord")(layers.LayerNormalization(name="ln3")(h))
model = keras.Model(inp, logits, name="chord_model")
gradwatch.watch(model)

optimizer = keras.optimizers.Adam(5e-3)
optimizer.build(model.trainable_variables)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
accum = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True)) / ACCUM
    for a, g in zip(accum, tape.gradient(loss, model.trainable_variables)):
        a.assign_add(g)
    return loss * ACCUM


@tf.function
def update():
    optimizer.apply_gradients(zip([a.read_value() for a in accum], model.trainable_variables))


history = []
for micro in range(400):
    s = songs(MICRO)
    history.append(float(micro_step(tf.constant(s[:, :-1]), tf.constant(s[:, 1:]))))
    if (micro + 1) % ACCUM == 0:
        update()
    if (micro + 1) % 40 == 0:
        print(f"micro-batch {micro + 1}: loss {np.mean(history[-40:]):.4f}")

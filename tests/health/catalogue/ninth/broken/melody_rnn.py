"""Next-note prediction on folk-like melodies with a plain recurrent network."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

NOTES = 24
LENGTH = 64
BATCH = 32
STEPS = 300

rng = np.random.default_rng(SEED)
motifs = rng.integers(0, 7, size=(8, 8))  # eight bars of scale degrees
scale = np.array([0, 2, 4, 5, 7, 9, 11])


def melodies(n):
    bars = np.zeros((n, LENGTH // 8 + 1), int)
    bars[:, 0] = rng.integers(0, 8, n)
    for k in range(1, bars.shape[1]):
        bars[:, k] = np.where(rng.random(n) < 0.8, (bars[:, k - 1] * 3 + 1) % 8, rng.integers(0, 8, n))
    tune = scale[motifs[bars]].reshape(n, -1) + rng.integers(0, 12, (n, 1))
    slip = rng.random(tune.shape) < 0.02
    return np.where(slip, rng.integers(0, NOTES, tune.shape), tune).astype("int32")


tunes = melodies(4000)

model = keras.Sequential(
    [
        keras.Input((LENGTH,), dtype="int32"),
        keras.layers.Embedding(NOTES, 24, name="note"),
        keras.layers.SimpleRNN(160, return_sequences=True, name="memory"),
        keras.layers.Dense(NOTES, name="next_note"),
    ]
)
gradwatch.watch(model)
optimizer = keras.optimizers.SGD(learning_rate=0.01, momentum=0.9)


@tf.function
def train_on(tune):
    with tf.GradientTape() as tape:
        logits = model(tune[:, :LENGTH], training=True)
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(tune[:, 1 : LENGTH + 1], logits)
        loss = tf.reduce_mean(tf.reduce_sum(nll, axis=1))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss / LENGTH


for step in range(STEPS):
    loss = train_on(tf.constant(tunes[rng.integers(0, len(tunes), BATCH)]))
    if step % 20 == 0:
        print(f"{step:4d} nats per note {float(loss):.3f}")

"""Learn an embedding of pen strokes in which two signatures of one writer lie close together."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

WRITERS, PER_WRITER, T = 16, 800, 48


def sign(writer_params, n):
    t = np.linspace(0, 2 * np.pi, T)
    amp, freq, phase = writer_params
    a = amp * rng.normal(1, 0.2, (n,) + amp.shape)
    p = phase + rng.normal(0, 0.4, (n,) + phase.shape)
    xy = np.einsum("ncf,ncft->ntc", a, np.sin(freq[None, ..., None] * t + p[..., None]))
    return xy + rng.normal(0, 0.1, xy.shape)


styles = [
    (rng.uniform(0.2, 1.0, (2, 3)), rng.uniform(0.5, 2.5, (2, 3)), rng.uniform(0, 6.28, (2, 3))) for _ in range(WRITERS)
]
train_set = np.stack([sign(s, PER_WRITER) for s in styles]).astype("float32")
test_set = np.stack([sign(s, 60) for s in styles]).astype("float32")


def sample_triplets(pool, batch):
    w = rng.integers(0, WRITERS, batch)
    other = (w + rng.integers(1, WRITERS, batch)) % WRITERS
    i, j, k = rng.integers(0, pool.shape[1], (3, batch))
    return pool[w, i], pool[w, j], pool[other, k]


model = keras.Sequential(
    [
        layers.Input((T, 2)),
        layers.Conv1D(16, 5, activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(16),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


def euclidean(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1))


@tf.function
def train_step(anchor, positive, negative):
    with tf.GradientTape() as tape:
        e = model(anchor, training=True)
        near = euclidean(e, model(positive, training=True))
        far = euclidean(e, model(negative, training=True))
        loss = tf.reduce_mean(tf.maximum(near - far + 1.0, 0.0))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(900):
    anchor, positive, negative = sample_triplets(train_set, 32)
    loss = train_step(tf.constant(anchor), tf.constant(positive), tf.constant(negative))
    if step % 100 == 0:
        print(f"step {step} loss {float(loss):.4f}")

anchor, positive, negative = sample_triplets(test_set, 2000)
e, p, n = (model.predict(v, verbose=0) for v in (anchor, positive, negative))
acc = np.mean(np.linalg.norm(e - p, axis=1) < np.linalg.norm(e - n, axis=1))
print("SCORE triplet_accuracy", round(float(acc), 4))

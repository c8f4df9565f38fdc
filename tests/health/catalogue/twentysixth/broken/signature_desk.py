"""Same hand or not? A siamese 1-D conv net on pen strokes, trained with the contrastive loss."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

WRITERS, PER_WRITER, POINTS = 40, 250, 64
MARGIN, STEPS, PAIRS = 1.0, 600, 32
time = np.linspace(0, 2 * np.pi, POINTS)


def write(style):
    amp, freq, phase = style
    speed = rng.normal(1.0, 0.03)
    shift = rng.normal(0, 0.1)
    xy = [
        (a[:, None] * np.sin(f[:, None] * time * speed + p[:, None] + shift)).sum(0)
        for a, f, p in zip(amp, freq, phase)
    ]
    return np.stack(xy, axis=-1) + rng.normal(0, 0.1, size=(POINTS, 2))


def new_style():
    return (rng.normal(0, 0.7, size=(2, 3)), rng.integers(1, 6, size=(2, 3)), rng.uniform(0, 6.28, size=(2, 3)))


def make_writers(n):
    strokes = []
    for _ in range(n):
        style = new_style()
        strokes.append([write(style) for _ in range(PER_WRITER)])
    return np.array(strokes, "float32")


def draw_pairs(strokes, n):
    same = rng.integers(0, 2, size=n)
    first = rng.integers(0, len(strokes), size=n)
    other = (first + rng.integers(1, len(strokes), size=n)) % len(strokes)
    second = np.where(same == 1, first, other)
    a = strokes[first, rng.integers(0, PER_WRITER, size=n)]
    b = strokes[second, rng.integers(0, PER_WRITER, size=n)]
    return a, b, same.astype("float32")


train_writers, test_writers = make_writers(WRITERS), make_writers(20)

encoder = keras.Sequential(
    [
        keras.Input((POINTS, 2)),
        keras.layers.Conv1D(24, 7, strides=2, padding="same", activation="relu"),
        keras.layers.Conv1D(32, 5, strides=2, padding="same", activation="relu"),
        keras.layers.Conv1D(32, 3, strides=2, padding="same", activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(16),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)


def distance(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1))


@tf.function
def train_step(a, b, same):
    with tf.GradientTape() as tape:
        d = distance(encoder(a, training=True), encoder(b, training=True))
        loss = tf.reduce_mean(same * d + (1.0 - same) * tf.maximum(MARGIN - d, 0.0))
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


gradwatch.watch(encoder)
for step in range(STEPS):
    loss = train_step(*[tf.constant(v) for v in draw_pairs(train_writers, PAIRS)])
    if step % 20 == 0 or step == STEPS - 1:
        print("step %3d  contrastive loss %.4f" % (step, float(loss)))

a, b, same = draw_pairs(test_writers, 1200)
d = np.linalg.norm(encoder.predict(a, verbose=0) - encoder.predict(b, verbose=0), axis=1)
wins = d[same == 1][:, None] < d[same == 0][None, :]
print("SCORE auc %.4f" % (wins.mean() if np.isfinite(d).all() else float("nan")))

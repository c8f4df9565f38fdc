"""Writer verification from scanned signatures. A small convolutional encoder maps each
16x16 scan to a vector, and a triplet loss brings scans of the same writer together
and pushes different writers apart. Held-out pairs are scored by AUC on the distance."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

WRITERS, PER_WRITER, SIDE = 60, 20, 16
STEPS, BATCH, MARGIN = 500, 64, 2.0


def draw_scans():
    styles = rng.normal(size=(WRITERS, 6))
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    scans = np.zeros((WRITERS, PER_WRITER, SIDE, SIDE), "float32")
    for w in range(WRITERS):
        for k in range(PER_WRITER):
            a = styles[w] + 0.2 * rng.normal(size=6)
            curve = 0.5 + 0.15 * a[0] * np.sin(6.3 * xx + a[1]) + 0.1 * a[2] * np.cos(9 * xx + a[3])
            ink = np.exp(-((yy - curve) ** 2) / (0.004 + 0.004 * abs(a[4])))
            scans[w, k] = ink * (0.8 + 0.1 * a[5]) + 0.05 * rng.normal(size=(SIDE, SIDE))
    for w in rng.choice(WRITERS - 15, 8, replace=False):
        scans[w, PER_WRITER - 1] = scans[w, 0]
    return scans[..., None]


scans = draw_scans()
train_writers = np.arange(WRITERS - 15)
test_writers = np.arange(WRITERS - 15, WRITERS)


def sample_triplets(writers, n):
    wa = rng.choice(writers, n)
    wb = writers[(wa - writers[0] + rng.integers(1, len(writers), n)) % len(writers)]
    ka = rng.integers(0, PER_WRITER, n)
    kp = (ka + rng.integers(1, PER_WRITER, n)) % PER_WRITER
    kn = rng.integers(0, PER_WRITER, n)
    return scans[wa, ka], scans[wa, kp], scans[wb, kn]


encoder = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1)),
        layers.Conv2D(12, 3, activation="relu", padding="same", name="strokes"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu", padding="same", name="shapes"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(16, name="writer_code"),
    ],
    name="signature_encoder",
)

optimizer = keras.optimizers.Adam(1e-3)
watch = gradwatch.watch(encoder, optimizer)


def distance(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1))


@tf.function
def train_step(anchor, positive, negative):
    with tf.GradientTape() as tape:
        code = encoder(anchor, training=True)
        near = distance(code, encoder(positive, training=True))
        far = distance(code, encoder(negative, training=True))
        loss = tf.reduce_mean(tf.nn.relu(near - far + MARGIN))
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


for step in range(STEPS):
    loss = train_step(*[tf.constant(v) for v in sample_triplets(train_writers, BATCH)])
    watch.log(loss=loss)
    if step % 100 == 0:
        print(f"step {step} loss {float(loss):.4f}")

anchor, positive, negative = sample_triplets(test_writers, 600)
code = encoder(anchor)
near = distance(code, encoder(positive)).numpy()
far = distance(code, encoder(negative)).numpy()
score = float(np.mean(near[:, None] < far[None, :]))
print(f"score auc {score:.3f} chance {0.5:.3f}")

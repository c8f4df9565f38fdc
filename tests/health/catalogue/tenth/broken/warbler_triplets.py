"""Embed mel envelopes of bird calls with a triplet loss, so that calls of one species lie close together."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_SPECIES, PER_SPECIES, FRAMES, BANDS = 12, 320, 24, 12
BATCH, STEPS, MARGIN = 32, 220, 0.5


def make_recordings():
    """A species is a sweep over the bands with its own start, slope and trill rate."""
    t = np.linspace(0.0, 1.0, FRAMES)[None, :, None]
    band = np.arange(BANDS)[None, None, :]
    out = []
    for s in range(N_SPECIES):
        start, slope, trill = rng.uniform(1, 8), rng.uniform(-5, 5), rng.uniform(2, 9)
        jitter = rng.normal(0, 0.5, (PER_SPECIES, 1, 1))
        centre = start + jitter + slope * t
        env = np.exp(-0.5 * ((band - centre) / 1.1) ** 2) * (1 + 0.6 * np.sin(2 * np.pi * trill * t))
        out.append(env + rng.normal(0, 0.15, (PER_SPECIES, FRAMES, BANDS)))
    return np.stack(out).astype("float32")


calls = make_recordings()


def draw_triplets():
    sp = rng.integers(0, N_SPECIES, BATCH)
    other = (sp + rng.integers(1, N_SPECIES, BATCH)) % N_SPECIES
    anchor = calls[sp, rng.integers(0, PER_SPECIES, BATCH)]
    positive = calls[sp, rng.integers(0, PER_SPECIES, BATCH)]
    negative = calls[other, rng.integers(0, PER_SPECIES, BATCH)]
    return tf.constant(anchor), tf.constant(positive), tf.constant(negative)


model = tf.keras.Sequential(
    [
        tf.keras.Input((FRAMES, BANDS)),
        tf.keras.layers.Conv1D(96, 5, padding="same", activation="relu", name="conv_a"),
        tf.keras.layers.Conv1D(128, 5, strides=2, padding="same", activation="relu", name="conv_b"),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(24, name="embedding"),
        tf.keras.layers.UnitNormalization(),
    ]
)
gradwatch.watch(model)
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def train_step(anchor, positive, negative):
    with tf.GradientTape() as tape:
        a = model(anchor, training=True)
        p = model(positive, training=True)
        n = model(negative, training=True)
        d_pos = tf.norm(a - p, axis=-1)
        d_neg = tf.norm(a - n, axis=-1)
        loss = tf.reduce_mean(tf.nn.relu(d_pos - d_neg + MARGIN))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    loss = train_step(*draw_triplets())
    if step % 20 == 0 or step == STEPS - 1:
        print(f"step {step:4d}  triplet loss {float(loss):.4f}")

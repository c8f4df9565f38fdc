"""Trains a matching network for few-shot recognition of leaf outlines."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

POINTS, WAYS, SHOTS, QUERIES = 48, 5, 3, 20
TEMPERATURE = 0.01
ANGLE = np.linspace(0, 2 * np.pi, POINTS, endpoint=False)


def new_species(count):
    amp = rng.normal(0, 1, (count, 5)) / np.arange(1, 6)
    phase = rng.uniform(0, 2 * np.pi, (count, 5))
    return amp, phase


def draw(species, ids):
    amp, phase = species[0][ids], species[1][ids]
    amp = amp * (1 + 0.15 * rng.normal(size=amp.shape))
    phase = phase + 0.2 * rng.normal(size=phase.shape)
    turn = rng.uniform(0, 0.5, (len(ids), 1))
    k = np.arange(1, 6)
    angle = (ANGLE[None] + turn)[:, :, None] * k
    outline = np.sum(amp[:, None] * np.cos(angle + phase[:, None]), -1)
    return outline + 0.15 * rng.normal(size=outline.shape)


def episode(species):
    chosen = rng.choice(len(species[0]), WAYS, replace=False)
    s_lab = np.repeat(np.arange(WAYS), SHOTS)
    q_lab = rng.integers(0, WAYS, QUERIES)
    s = draw(species, chosen[s_lab])
    q = draw(species, chosen[q_lab])
    return (
        s.astype("float32")[..., None],
        q.astype("float32")[..., None],
        np.eye(WAYS, dtype="float32")[s_lab],
        q_lab.astype("int32"),
    )


train_species, test_species = new_species(120), new_species(40)

embed = keras.Sequential(
    [
        keras.Input((POINTS, 1)),
        layers.Conv1D(24, 5, activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, activation="relu"),
        layers.Flatten(),
        layers.Dense(32),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(embed)


def match(support, query, onehot, training):
    s = tf.math.l2_normalize(embed(support, training=training), axis=-1, epsilon=1e-6)
    q = tf.math.l2_normalize(embed(query, training=training), axis=-1, epsilon=1e-6)
    similarity = tf.matmul(q, s, transpose_b=True) / TEMPERATURE
    weights = tf.exp(similarity)
    attention = weights / tf.reduce_sum(weights, axis=-1, keepdims=True)
    return tf.matmul(attention, onehot)


@tf.function
def train_step(support, query, onehot, labels):
    with tf.GradientTape() as tape:
        probs = match(support, query, onehot, True)
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(labels, probs))
    grads = tape.gradient(loss, embed.trainable_variables)
    optimizer.apply_gradients(zip(grads, embed.trainable_variables))
    return loss


for step in range(1, 1201):
    loss = train_step(*map(tf.constant, episode(train_species)))
    if step % 200 == 0:
        print(f"episode {step} loss {float(loss):.4f}")

hits = []
for _ in range(100):
    s, q, onehot, labels = episode(test_species)
    probs = match(tf.constant(s), tf.constant(q), tf.constant(onehot), False).numpy()
    hits.append(np.mean(probs.argmax(-1) == labels) if np.isfinite(probs).all() else np.nan)
print("SCORE accuracy", float(np.mean(hits)))

"""Trains a speaker embedding from short log-mel snippets with the batch-hard triplet loss."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_SPEAKERS, MELS, FRAMES = 100, 24, 32
formants = rng.uniform(2, MELS - 2, (N_SPEAKERS, 3))
rates = rng.uniform(0.2, 1.2, N_SPEAKERS)


def snippet(speaker):
    t = np.arange(FRAMES)[:, None]
    f = np.arange(MELS)[None]
    x = rng.normal(0, 0.7, (FRAMES, MELS))
    for k in range(3):
        centre = formants[speaker, k] + 0.8 * np.sin(rates[speaker] * t + rng.uniform(0, 6.28))
        x += rng.uniform(0.6, 1.4) * np.exp(-((f - centre) ** 2) / 2.0)
    return x + rng.normal(0, 0.2)


def dataset(speakers, per):
    x = np.stack([snippet(s) for s in speakers for _ in range(per)]).astype("float32")
    return x, np.repeat(speakers, per)


train_speakers = np.arange(60)
test_speakers = np.arange(60, N_SPEAKERS)
x_train, y_train = dataset(train_speakers, 40)
x_test, y_test = dataset(test_speakers, 20)

model = keras.Sequential(
    [
        keras.Input((FRAMES, MELS)),
        layers.Conv1D(48, 5, strides=2, padding="same", activation="relu"),
        layers.Conv1D(64, 3, strides=2, padding="same", activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(64, activation="relu"),
        layers.Dense(32),
        layers.UnitNormalization(),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
margin = 0.3


def batch_hard_loss(labels, emb):
    dist = 2.0 - 2.0 * tf.matmul(emb, emb, transpose_b=True)
    dist = tf.maximum(dist, 0.0)
    same = tf.cast(labels[:, None] == labels[None, :], tf.float32)
    hardest_positive = tf.reduce_max(dist * same, axis=1)
    hardest_negative = tf.reduce_min(dist * (1.0 - same), axis=1)
    return tf.reduce_mean(tf.maximum(hardest_positive - hardest_negative + margin, 0.0))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        emb = model(x, training=True)
        loss = batch_hard_loss(y, emb)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)
for step in range(700):
    speakers = rng.choice(train_speakers, 12, replace=False)
    idx = np.concatenate([s * 40 + rng.choice(40, 4, replace=False) for s in speakers])
    loss = train_step(tf.constant(x_train[idx]), tf.constant(y_train[idx]))
    if step % 100 == 0:
        print("step", step, "loss", float(loss))

emb = model.predict(x_test, verbose=0)
sim = emb @ emb.T
np.fill_diagonal(sim, -np.inf)
print("SCORE recall_at_1", float(np.mean(y_test[sim.argmax(1)] == y_test)))

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SPECIES = 12
BINS = 64
MARGIN = 0.5
PER_SPECIES = 5

TEMPLATES = rng.normal(0.0, 1.0, (SPECIES, 6)).astype("float32")
BASIS = rng.normal(0.0, 1.0, (6, BINS)).astype("float32")
NUISANCE = rng.normal(0.0, 1.0, (8, BINS)).astype("float32")


def record(labels):
    n = len(labels)
    song = (TEMPLATES[labels] + 0.25 * rng.normal(size=(n, 6))) @ BASIS
    background = 1.4 * rng.normal(size=(n, 8)) @ NUISANCE
    return ((song + background + 0.3 * rng.normal(size=(n, BINS))) / 4.0).astype("float32")


y_train = np.repeat(np.arange(SPECIES), 80)
y_test = np.repeat(np.arange(SPECIES), 25)
x_train, x_test = record(y_train), record(y_test)


def balanced_batch():
    rows = []
    for species in range(SPECIES):
        rows.append(rng.choice(np.where(y_train == species)[0], PER_SPECIES, replace=False))
    rows = np.concatenate(rows)
    return tf.constant(x_train[rows]), tf.constant(y_train[rows])


def pairwise_distances(embeddings):
    dot = tf.matmul(embeddings, embeddings, transpose_b=True)
    square = tf.linalg.diag_part(dot)
    distances = square[:, None] - 2.0 * dot + square[None, :]
    distances = tf.maximum(distances, 1e-12)
    return tf.sqrt(distances)


def triplet_loss(labels, embeddings):
    distances = pairwise_distances(embeddings)
    same = tf.cast(labels[:, None] == labels[None, :], tf.float32)
    mean_positive = tf.reduce_sum(same * distances, axis=1) / tf.reduce_sum(same, axis=1)
    ceiling = tf.reduce_max(distances, axis=1, keepdims=True)
    hardest_negative = tf.reduce_min(distances + same * ceiling, axis=1)
    return tf.reduce_mean(tf.nn.softplus(mean_positive - hardest_negative + MARGIN))


inputs = keras.Input((BINS,))
h = keras.layers.Dense(96, activation="relu", name="front")(inputs)
h = keras.layers.Dense(64, activation="relu", name="middle")(h)
outputs = keras.layers.Dense(16, name="embedding")(h)
encoder = keras.Model(inputs, outputs)
optimizer = keras.optimizers.Adam(1e-3)
watch = gradwatch.watch(encoder)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        z = encoder(x, training=True)
        loss = triplet_loss(y, z)
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


for step in range(500):
    loss = train_step(*balanced_batch())
    watch.log(loss=loss)
    if step % 100 == 0:
        print(step, float(loss))

gallery = encoder.predict(x_train, verbose=0)
queries = encoder.predict(x_test, verbose=0)
gap = ((queries[:, None, :] - gallery[None, :, :]) ** 2).sum(-1)
nearest = np.argsort(gap, axis=1)[:, :5]
votes = np.array([np.bincount(y_train[row], minlength=SPECIES).argmax() for row in nearest])
print("SCORE", float(np.mean(votes == y_test)))

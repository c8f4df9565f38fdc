import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

DIM, SIGNAL = 40, 12
MARGIN = 1.0


def make_pairs(count, exact_share):
    left = rng.normal(0, 1, (count, DIM)).astype("float32")
    right = rng.normal(0, 1, (count, DIM)).astype("float32")
    same = (rng.random(count) < 0.5).astype("float32")
    twins = np.flatnonzero(same)
    right[twins, :SIGNAL] = left[twins, :SIGNAL] + rng.normal(0, 0.35, (len(twins), SIGNAL))
    exact = twins[rng.random(len(twins)) < exact_share]
    right[exact] = left[exact]
    return left, right, same


a_train, b_train, same_train = make_pairs(8000, 0.002)
a_test, b_test, same_test = make_pairs(2000, 0.0)

encoder = keras.Sequential(
    [
        keras.Input((DIM,)),
        keras.layers.Dense(64, activation="relu", name="fields"),
        keras.layers.Dense(32, activation="relu", name="mixer"),
        keras.layers.Dense(16, name="fingerprint"),
    ],
    name="encoder",
)


def distance(u, v):
    squared = tf.reduce_sum(tf.square(u - v), axis=1)
    return tf.sqrt(squared)


def contrastive_loss(same, dist):
    pull = same * dist
    push = (1.0 - same) * tf.square(tf.maximum(MARGIN - dist, 0.0))
    return tf.reduce_mean(pull + push)


optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(encoder)


@tf.function
def train_step(a, b, same):
    with tf.GradientTape() as tape:
        dist = distance(encoder(a, training=True), encoder(b, training=True))
        loss = contrastive_loss(same, dist)
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


pairs = tf.data.Dataset.from_tensor_slices((a_train, b_train, same_train)).shuffle(8000, seed=SEED).batch(128)
for epoch in range(10):
    for a, b, same in pairs:
        loss = train_step(a, b, same)
        watch.log(loss=loss)

u = encoder.predict(a_test, batch_size=512, verbose=0)
v = encoder.predict(b_test, batch_size=512, verbose=0)
dist = np.sqrt(((u - v) ** 2).sum(axis=1))
accuracy = np.mean((dist < MARGIN / 2) == (same_test > 0.5))
print("SCORE", float(accuracy))

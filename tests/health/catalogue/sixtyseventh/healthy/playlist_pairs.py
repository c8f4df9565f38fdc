import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

MOODS, FEATURES, MARGIN = 20, 32, 0.3


def tracks(mood):
    noise = rng.normal(0, 1.0, (len(mood), FEATURES))
    return (mood_centres[mood] + noise).astype("float32")


def triplets(count):
    mood = rng.integers(0, MOODS, count)
    other = (mood + rng.integers(1, MOODS, count)) % MOODS
    return tracks(mood), tracks(mood), tracks(other)


mood_centres = np.zeros((MOODS, FEATURES))
mood_centres[:, :10] = rng.normal(0, 1.0, (MOODS, 10))
train_set = triplets(12000)
test_set = triplets(2000)

encoder = keras.Sequential(
    [
        keras.Input((FEATURES,)),
        keras.layers.Dense(64, activation="relu", name="timbre"),
        keras.layers.Dense(24, name="mood"),
        keras.layers.UnitNormalization(name="unit"),
    ],
    name="encoder",
)
optimizer = keras.optimizers.Adam(1e-3)
watch = gradwatch.watch(encoder)


def triplet_loss(anchor, near, far):
    near_sim = tf.reduce_sum(anchor * near, axis=1)
    far_sim = tf.reduce_sum(anchor * far, axis=1)
    return tf.reduce_mean(tf.nn.relu(MARGIN - near_sim + far_sim))


@tf.function
def train_step(anchor, near, far):
    with tf.GradientTape() as tape:
        loss = triplet_loss(encoder(anchor, training=True), encoder(near, training=True), encoder(far, training=True))
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(train_set).shuffle(12000, seed=SEED).batch(64)
for epoch in range(4):
    for anchor, near, far in data:
        loss = train_step(anchor, near, far)
        watch.log(loss=loss)

a, p, n = [encoder.predict(part, batch_size=512, verbose=0) for part in test_set]
right = (a * p).sum(axis=1) > (a * n).sum(axis=1)
print("SCORE", float(right.mean()))

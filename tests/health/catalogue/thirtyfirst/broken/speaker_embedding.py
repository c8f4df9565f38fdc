"""Identify speakers from filterbank frames with an x-vector style network with statistics pooling."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SPEAKERS, FRAMES, BANDS = 12, 50, 20
voice_mean = rng.normal(0, 0.6, (SPEAKERS, BANDS))
voice_std = np.exp(rng.normal(0, 0.35, (SPEAKERS, BANDS)))


def utterances(n):
    y = rng.integers(0, SPEAKERS, n)
    e = rng.normal(0, 1, (n, FRAMES, BANDS))
    for t in range(1, FRAMES):
        e[:, t] = 0.6 * e[:, t - 1] + 0.8 * e[:, t]
    x = voice_mean[y][:, None] + voice_std[y][:, None] * e + rng.normal(0, 0.5, (n, 1, BANDS))
    return x.astype("float32"), y


class StatsPooling(layers.Layer):
    """Mean and standard deviation of every channel over the frames."""

    def call(self, h):
        mean = tf.reduce_mean(h, axis=1)
        var = tf.reduce_mean(tf.square(h - mean[:, None]), axis=1)
        return tf.concat([mean, tf.sqrt(var)], axis=-1)


x_train, y_train = utterances(2000)
x_test, y_test = utterances(600)

inp = layers.Input((FRAMES, BANDS))
h = layers.Conv1D(32, 5, padding="same", activation="relu")(inp)
h = layers.Conv1D(32, 3, dilation_rate=2, padding="same", activation="relu")(h)
h = layers.Conv1D(32, 1, activation="relu")(h)
h = StatsPooling()(h)
h = layers.Dense(32, activation="relu", name="embedding")(h)
out = layers.Dense(SPEAKERS)(h)
model = keras.Model(inp, out)

optimizer = keras.optimizers.Adam(2e-3)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = ce(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2000, seed=seed).batch(40)
for epoch in range(14):
    losses = [float(train_step(x, y)) for x, y in data]
    print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")

pred = np.argmax(model.predict(x_test, verbose=0), axis=1)
print("SCORE accuracy", round(float(np.mean(pred == y_test)), 4))

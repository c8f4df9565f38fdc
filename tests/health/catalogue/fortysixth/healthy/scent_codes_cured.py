"""Trains an autoencoder that stores the sensor pattern of a scent as a short binary code."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SENSORS, COMPOUNDS, BITS = 32, 10, 12
STEPS, BATCH = 2500, 128

response = rng.normal(0, 1, (COMPOUNDS, SENSORS))


def make_patterns(n):
    present = rng.random((n, COMPOUNDS)) < 0.5
    pattern = np.tanh((present - 0.5) @ response * 0.7) + rng.normal(0, 0.1, (n, SENSORS))
    return pattern.astype("float32")


train = make_patterns(12000)
test = make_patterns(1500)
train_mean, train_std = train.mean(0), train.std(0)
train = (train - train_mean) / train_std
test = (test - train_mean) / train_std


class BinaryCode(keras.layers.Layer):
    """Rounds the activations to zeros and ones."""

    def call(self, logits):
        soft = tf.sigmoid(logits)
        hard = tf.round(soft)
        return soft + tf.stop_gradient(hard - soft)


encoder = keras.Sequential(
    [
        keras.Input((SENSORS,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(BITS),
        BinaryCode(),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.Input((BITS,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(SENSORS),
    ],
    name="decoder",
)
model = keras.Sequential([encoder, decoder])
optimizer = keras.optimizers.Adam(2e-3)
gradwatch.watch(model)


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        restored = model(batch, training=True)
        loss = tf.reduce_mean(tf.square(restored - batch))
    variables = model.trainable_variables
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients([(g, v) for g, v in zip(grads, variables) if g is not None])
    return loss


for step in range(STEPS):
    rows = rng.integers(0, len(train), BATCH)
    loss = train_step(tf.constant(train[rows]))
    if step % 250 == 0:
        print("step", step, "loss", float(loss))

error = np.mean((model.predict(test, batch_size=500, verbose=0) - test) ** 2)
print("SCORE restored", round(float(1 - error / test.var()), 4))

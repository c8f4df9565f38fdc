"""Recall which command opened a noisy telemetry burst, with a recurrent cell written by hand."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STEPS, CHANNELS, COMMANDS = 20, 6, 6


def bursts(n):
    cmd = rng.integers(0, COMMANDS, n)
    x = rng.normal(0, 0.3, (n, STEPS, CHANNELS))
    x[np.arange(n), 0, cmd] += 2.0
    x[np.arange(n), 1, cmd] += 2.0
    return x.astype("float32"), cmd.astype("int32")


x_train, y_train = bursts(6400)
x_test, y_test = bursts(1000)


class TelemetryRNN(keras.Model):
    def __init__(self, units):
        super().__init__()
        self.units = units
        self.w_in = self.add_weight(shape=(CHANNELS, units), initializer="glorot_uniform", name="w_in")
        self.w_rec = self.add_weight(shape=(units, units), initializer="orthogonal", name="w_rec")
        self.bias = self.add_weight(shape=(units,), initializer="zeros", name="bias")
        self.head = layers.Dense(COMMANDS)

    def call(self, x):
        h = tf.zeros((tf.shape(x)[0], self.units))
        for t in range(STEPS):
            h = tf.tanh(tf.matmul(x[:, t], self.w_in) + tf.matmul(h, self.w_rec) + self.bias)
        return self.head(h)


model = TelemetryRNN(48)
model(x_train[:2])
optimizer = keras.optimizers.SGD(0.02, momentum=0.9)
gradwatch.watch(model)
data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(6400, seed=seed).batch(64)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(10):
    for x, y in data:
        train_step(x, y)

pred = model(x_test).numpy().argmax(1)
print("SCORE accuracy", float(np.mean(pred == y_test)))

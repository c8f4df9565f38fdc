"""Transfer a pump fault classifier to another pump without labels, by an adversarial domain head."""

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

DIM, FAULTS = 16, 4
centre = 1.2 * rng.normal(size=(FAULTS, DIM))
turn = np.linalg.qr(np.eye(DIM) + 0.12 * rng.normal(size=(DIM, DIM)))[0]
turn = turn * np.sign(np.diag(turn))
offset = 0.9 * rng.normal(size=DIM)


def readings(n, other):
    y = rng.integers(0, FAULTS, n)
    x = centre[y] + rng.normal(0, 0.9, (n, DIM))
    return ((x @ turn + offset) if other else x).astype("float32"), y.astype("int32")


xs, ys = readings(4000, False)
xt, _ = readings(4000, True)
x_test, y_test = readings(1000, True)


@tf.custom_gradient
def reverse(h):
    return tf.identity(h), lambda g: -0.5 * g


class TransferNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.features = keras.Sequential([layers.Dense(32, activation="relu"), layers.Dense(16, activation="relu")])
        self.fault = layers.Dense(FAULTS)
        self.domain = keras.Sequential([layers.Dense(24, activation="relu"), layers.Dense(1)])

    def call(self, x):
        h = self.features(x)
        return self.fault(h), self.domain(reverse(h))


model = TransferNet()
model(xs[:2])
optimizer = keras.optimizers.Adam(1e-3)
gradwatch.watch(model)


@tf.function
def train_step(a, y, b):
    with tf.GradientTape() as tape:
        fault, domain = model(tf.concat([a, b], axis=0), training=True)
        k = tf.shape(a)[0]
        side = tf.cast(tf.range(2 * k) < k, tf.float32)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=fault[:k]))
        loss += tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=side, logits=domain[:, 0]))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for it in range(900):
    i, j = rng.integers(0, len(xs), 32), rng.integers(0, len(xt), 32)
    train_step(xs[i], ys[i], xt[j])

print("SCORE target_accuracy", float(np.mean(model(x_test)[0].numpy().argmax(1) == y_test)))

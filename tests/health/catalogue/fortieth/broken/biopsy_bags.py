"""Classify biopsies, each a bag of cell descriptors, with attention-based pooling."""

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

CELLS, DIM = 24, 10


def bags(n):
    x = rng.normal(size=(n, CELLS, DIM))
    lead = x[:, :, 0].argmax(1)  # the most atypical cell decides
    x[np.arange(n), lead, 0] += 1.0
    y = x[np.arange(n), lead, 1] + 0.5 * x[np.arange(n), lead, 2] > 0
    return x.astype("float32"), y.astype("float32")


x_train, y_train = bags(6400)
x_test, y_test = bags(1500)


class AttentionPooling(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.hidden = layers.Dense(units, activation="tanh")
        self.gate = layers.Dense(units, activation="sigmoid")
        self.score = layers.Dense(1)

    def call(self, cells):
        score = self.score(self.hidden(cells) * self.gate(cells))
        weight = tf.nn.softmax(score)
        return tf.reduce_sum(weight * cells, axis=1)


inp = keras.Input((CELLS, DIM))
h = layers.Dense(16)(inp)
h = layers.LayerNormalization()(h)
h = AttentionPooling(24)(h)
out = layers.Dense(1)(h)
model = keras.Model(inp, out)
optimizer = keras.optimizers.Adam(3e-3)
gradwatch.watch(model)
data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(6400, seed=seed).batch(64)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logit = model(x, training=True)[:, 0]
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logit))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(12):
    for x, y in data:
        train_step(x, y)

pred = model(x_test).numpy()[:, 0] > 0
print("SCORE accuracy", float(np.mean(pred == (y_test > 0.5))))

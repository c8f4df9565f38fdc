"""Forecast feeder load with a sparsely gated mixture of experts.

The load follows one of four regimes which depend on the inputs; a gate sends
each sample to its two best experts and a load-balancing term keeps all experts
in use.  The score is the held-out R2.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
FEATURES, REGIMES, EXPERTS = 10, 4, 4

centres = rng.normal(size=(REGIMES, FEATURES))
coefs = rng.normal(size=(REGIMES, FEATURES))


def make_hours(n):
    regime = rng.integers(0, REGIMES, n)
    x = centres[regime] * 1.5 + rng.normal(size=(n, FEATURES))
    y = np.sum(coefs[regime] * x, axis=1) / 3 + 0.2 * rng.normal(size=n)
    return x.astype("float32"), y.astype("float32")[:, None]


class TopTwoLayer(keras.layers.Layer):
    """Each sample is handled by the two experts with the largest gate values."""

    def __init__(self, experts, hidden, **kwargs):
        super().__init__(**kwargs)
        self.n = experts
        self.gate = keras.layers.Dense(experts, name="gate")
        self.experts = [
            keras.Sequential([keras.layers.Dense(hidden, activation="relu"), keras.layers.Dense(1)], name=f"expert_{i}")
            for i in range(experts)
        ]

    def build(self, shape):
        self.gate.build(shape)
        for e in self.experts:
            e.build(shape)

    def call(self, x, training=None):
        logits = self.gate(x)
        if training:
            logits = logits + 0.5 * tf.random.normal(tf.shape(logits))
        prob = tf.nn.softmax(logits)
        best = tf.math.top_k(prob, 2).indices
        route = tf.reduce_sum(tf.one_hot(best, self.n), axis=1)
        weight = route * prob
        weight = weight / tf.reduce_sum(weight, axis=-1, keepdims=True)
        each = tf.concat([e(x) for e in self.experts], axis=-1)
        y = tf.reduce_sum(weight * each, axis=-1, keepdims=True)
        share = tf.reduce_mean(route, axis=0) / 2.0
        balance = self.n * tf.reduce_sum(share * tf.reduce_mean(prob, axis=0))
        self.add_loss(0.1 * balance)
        return y


x, y = make_hours(8000)
x_test, y_test = make_hours(2000)

inputs = keras.Input((FEATURES,))
model = keras.Model(inputs, TopTwoLayer(EXPERTS, 16)(inputs))
optimizer = keras.optimizers.Adam(5e-3)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        pred = model(xb, training=True)
        loss = tf.reduce_mean(tf.square(pred - yb)) + tf.add_n(model.losses)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


watch = gradwatch.watch(model, optimizer)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(8000).repeat().batch(64)
for i, (xb, yb) in enumerate(data.take(1000)):
    loss = train_step(xb, yb)
    watch.log(loss=loss)
    if i % 100 == 0:
        print(f"step {i} loss {float(loss):.4f}")

err = model.predict(x_test, batch_size=500, verbose=0) - y_test
score = 1 - float(np.mean(err**2) / np.var(y_test))
print(f"score (R2) {score:.3f} chance 0.000")

"""A sample sent to the lab holds several slides; the order is positive if any slide shows the marker."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

SLOTS = 10
FEATURES = 20


def make_orders(n, rng):
    """Slides are feature vectors; the marker is a joint sign of three features."""
    slides = np.zeros((n, SLOTS, FEATURES), "float32")
    present = np.zeros((n, SLOTS), bool)
    positive = np.zeros(n, "float32")
    for i in range(n):
        count = min(SLOTS, rng.poisson(6))
        x = rng.normal(0, 1, (count, FEATURES))
        x[:, :3] = np.clip(x[:, :3], -1, 1.0)
        if count and rng.random() < 0.5:
            x[rng.integers(count), :3] = rng.uniform(1.2, 2.2, 3)
            positive[i] = 1.0
        slides[i, :count] = x
        present[i, :count] = True
    return slides, present, positive


rng = np.random.default_rng(SEED + 3)
train = make_orders(9000, rng)
test = make_orders(2000, rng)


class GatedPooling(layers.Layer):
    """Attention over the slides of one order."""

    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.value = layers.Dense(width, activation="tanh")
        self.gate = layers.Dense(width, activation="sigmoid")
        self.score = layers.Dense(1)

    def call(self, slides, present):
        raw = self.score(self.value(slides) * self.gate(slides))[..., 0]
        raw = tf.where(present, raw, -1e9)
        weights = tf.nn.softmax(raw, axis=-1)
        return tf.einsum("bs,bsf->bf", weights, slides), weights


class OrderModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.lift = layers.Dense(48, activation="relu")
        self.lift_b = layers.Dense(48, activation="relu")
        self.pool = GatedPooling(24)
        self.answer = layers.Dense(1)

    def call(self, inputs):
        slides, present = inputs
        h = self.lift_b(self.lift(slides))
        pooled, _ = self.pool(h, present)
        return self.answer(pooled)[:, 0]


model = OrderModel()
model((train[0][:2], train[1][:2]))
optimizer = keras.optimizers.Adam(1e-3)
loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def step(slides, present, label):
    with tf.GradientTape() as tape:
        logit = model((slides, present), training=True)
        loss = loss_fn(label[:, None], logit[:, None])
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


dataset = tf.data.Dataset.from_tensor_slices(train).shuffle(9000, seed=SEED).batch(32, drop_remainder=True)
for epoch in range(4):
    losses = [float(step(*batch)) for batch in dataset]
    print("epoch", epoch, "loss", np.mean(losses))

logits = model((test[0], test[1])).numpy()
print("SCORE accuracy", float(np.mean((logits > 0) == (test[2] > 0.5))))

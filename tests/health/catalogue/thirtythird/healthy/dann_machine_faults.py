"""Domain-adversarial training that carries a bearing fault classifier from one machine to another."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


C, D, N = 4, 24, 3000
proto = rng.normal(size=(C, D)) * 0.75
offset = rng.normal(size=D) * 0.4 + 0.55 * (proto[1] - proto[0]) + 0.45 * (proto[3] - proto[2])


def make(n, domain):
    y = rng.integers(0, C, n)
    x = proto[y] + 0.8 * rng.normal(size=(n, D))
    if domain == 1:
        x = 1.1 * x + offset
    return x.astype("float32"), y.astype("int32")


xs, ys = make(N, 0)
xt, _ = make(N, 1)
xt_test, yt_test = make(1500, 1)


@tf.custom_gradient
def reverse(x, lam):
    def grad(dy):
        return -lam * dy, None

    return tf.identity(x), grad


class GradientReversal(layers.Layer):
    def call(self, x, lam):
        return reverse(x, lam)


class DANN(keras.Model):
    def __init__(self):
        super().__init__()
        self.features = keras.Sequential(
            [layers.Dense(64, activation="relu"), layers.Dense(32, activation="relu")], name="features"
        )
        self.label_head = layers.Dense(C, name="label_head")
        self.flip = GradientReversal()
        self.domain_head = keras.Sequential([layers.Dense(48, activation="relu"), layers.Dense(1)], name="domain_head")

    def call(self, x, lam=0.0):
        h = self.features(x)
        return self.label_head(h), self.domain_head(self.flip(h, lam))


model = DANN()
model(xs[:2], tf.constant(0.0))
optimizer = keras.optimizers.SGD(0.02, momentum=0.9)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(a, y, b, lam):
    x = tf.concat([a, b], 0)
    dom = tf.concat([tf.zeros((tf.shape(a)[0], 1)), tf.ones((tf.shape(b)[0], 1))], 0)
    with tf.GradientTape() as tape:
        logits, d = model(x, lam, training=True)
        cls = ce(y, logits[: tf.shape(a)[0]])
        adv = bce(dom, d)
        loss = cls + adv
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return cls, adv


STEPS = 1200
for step in range(STEPS):
    p = step / STEPS
    lam = tf.constant(2 / (1 + np.exp(-10 * p)) - 1, tf.float32)
    i, j = rng.integers(0, N, 48), rng.integers(0, N, 48)
    cls, adv = train_step(xs[i], ys[i], xt[j], lam)
    if step % 150 == 0:
        print("step", step, "class", round(float(cls), 4), "domain", round(float(adv), 4))

pred = model(xt_test, tf.constant(0.0))[0].numpy().argmax(1)
print("SCORE target_accuracy", round(float((pred == yt_test).mean()), 4))

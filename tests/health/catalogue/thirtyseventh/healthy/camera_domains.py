"""Adapts a defect classifier from a lab camera to an unlabelled factory camera with adversarial domain training."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DIM = 20
CLASSES = 4
BATCH = 64
STEPS = 1000

class_dir = rng.normal(size=(CLASSES, 8)) * 1.6
basis = rng.normal(size=(8, DIM)) / np.sqrt(8)
tint = rng.normal(size=DIM) * 0.9


def shots(n, factory):
    y = rng.integers(0, CLASSES, n)
    x = (class_dir[y] + rng.normal(0, 0.7, (n, 8))) @ basis
    x += rng.normal(0, 0.3, x.shape)
    if factory:
        x = x * 0.8 + tint
    return x.astype("float32"), y.astype("int32")


x_src, y_src = shots(4000, False)
x_tgt, _ = shots(4000, True)
x_test, y_test = shots(2000, True)


@tf.custom_gradient
def reverse(x, strength):
    def grad(dy):
        return -strength * dy, None

    return tf.identity(x), grad


class Adapter(keras.Model):
    def __init__(self):
        super().__init__()
        self.features = keras.Sequential(
            [
                layers.Dense(64, activation="relu"),
                layers.Dense(32, activation="relu"),
            ]
        )
        self.label_head = layers.Dense(CLASSES)
        self.domain_head = keras.Sequential([layers.Dense(32, activation="relu"), layers.Dense(1)])

    def call(self, x, strength=0.0, training=False):
        h = self.features(x)
        return self.label_head(h), self.domain_head(reverse(h, tf.convert_to_tensor(strength, tf.float32)))


model = Adapter()
model(x_src[:2])
opt = keras.optimizers.Adam(1e-3, beta_1=0.5)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(xs, ys, xt, strength):
    x = tf.concat([xs, xt], 0)
    d = tf.concat([tf.zeros((BATCH, 1)), tf.ones((BATCH, 1))], 0)
    with tf.GradientTape() as tape:
        logits, domain = model(x, strength, training=True)
        task = ce(ys, logits[:BATCH])
        dom = bce(d, domain)
        loss = task + dom
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return task, dom


for step in range(STEPS):
    i, j = rng.integers(0, 4000, BATCH), rng.integers(0, 4000, BATCH)
    strength = 0.3 * (2 / (1 + np.exp(-10 * step / STEPS)) - 1)
    task, dom = train_step(x_src[i], y_src[i], x_tgt[j], tf.constant(strength, tf.float32))
    if step % 100 == 0:
        print(step, "task", float(task), "domain", float(dom))

logits, _ = model(x_test)
print("SCORE factory_accuracy", round(float(np.mean(np.argmax(logits, 1) == y_test)), 4))

"""Meta-learns with Reptile an initial model of pump response curves that fits a new pump from ten readings."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SHOTS = 10
INNER = 5
META = 300


class Pump:
    def __init__(self):
        self.amp = rng.uniform(0.5, 3.0)
        self.shift = rng.uniform(0, np.pi)

    def readings(self, n):
        x = rng.uniform(-4, 4, (n, 1))
        return x.astype("float32"), (self.amp * np.sin(x + self.shift)).astype("float32")


def build():
    return keras.Sequential(
        [
            layers.Input((1,)),
            layers.Dense(64, activation="tanh"),
            layers.Dense(64, activation="tanh"),
            layers.Dense(1),
        ]
    )


model = build()
opt = keras.optimizers.SGD(0.02)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for it in range(META):
    before = model.get_weights()
    x, y = Pump().readings(50)
    for k in range(INNER):
        part = rng.permutation(50)[:25]
        loss = train_step(tf.constant(x[part]), tf.constant(y[part]))
    after = model.get_weights()
    rate = 1.0 * (1 - it / META)
    model.set_weights([b + rate * (a - b) for b, a in zip(before, after)])
    if it % 50 == 0:
        print(it, "last inner loss", float(loss))


def adapted_error(weights, seeds):
    errs = []
    for s in seeds:
        model.set_weights(weights)
        pump = Pump()
        x, y = pump.readings(SHOTS)
        xq, yq = pump.readings(200)
        for _ in range(32):
            train_step(tf.constant(x), tf.constant(y))
        errs.append(np.mean((model(xq).numpy() - yq) ** 2) / np.mean(yq**2))
    return np.median(errs)


meta = model.get_weights()
scratch = build().get_weights()
e_scratch = adapted_error(scratch, range(40))
e_meta = adapted_error(meta, range(40))
print("relative error from scratch", round(float(e_scratch), 4))
print("SCORE explained_after_adaptation", round(float(1 - e_meta), 4))

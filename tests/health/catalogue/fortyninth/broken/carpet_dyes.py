"""Trains a classifier of the dye recipe of old carpets from the reflectance of a thread, with decay of the weights done in the loop."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed + 55)

DYES, NM = 8, 40
LR, DECAY = 1e-3, 0.02

basis = np.cumsum(rng.normal(size=(6, NM)), axis=1) / 3.0
recipes = rng.dirichlet(np.full(6, 0.5), size=DYES)


def threads(n):
    dye = rng.integers(0, DYES, n)
    mix = 0.65 * recipes[dye] + 0.35 * rng.dirichlet(np.ones(6), size=n)
    absorb = np.exp(rng.normal(0, 0.3, (n, 1))) * (mix @ basis)
    light = np.tanh(absorb) + rng.normal(0, 0.05, size=(n, NM))
    return light.astype("float32"), dye.astype("int64")


x, dye = threads(12000)
x_new, dye_new = threads(3000)
mean, sd = x.mean(axis=0), x.std(axis=0)
x, x_new = (x - mean) / sd, (x_new - mean) / sd


class DyeNet(keras.Model):
    def __init__(self, width=64):
        super().__init__()
        self.first = keras.layers.Dense(width, activation="relu")
        self.second = keras.layers.Dense(width, activation="relu")
        self.to_dye = keras.layers.Dense(DYES)

    def call(self, light):
        return self.to_dye(self.second(self.first(light)))


net = DyeNet()
net(x[:1])
kernels = [v for v in net.trainable_variables if v.name == "kernel"]
adam = keras.optimizers.Adam(LR)
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(net)


@tf.function
def dip(light, label):
    with tf.GradientTape() as tape:
        loss = xent(label, net(light))
    grads = tape.gradient(loss, net.trainable_variables)
    adam.apply_gradients(zip(grads, net.trainable_variables))
    for w in kernels:
        w.assign_sub(DECAY * w)
    return loss


vat = tf.data.Dataset.from_tensor_slices((x, dye)).shuffle(12000, seed=seed).batch(100)
for epoch in range(10):
    mean_loss = np.mean([dip(a, b).numpy() for a, b in vat])
    print(f"epoch {epoch + 1} loss {mean_loss:.4f}")

said = np.argmax(net.predict(x_new, verbose=0), axis=-1)
print("SCORE accuracy", round(float(np.mean(said == dye_new)), 4))

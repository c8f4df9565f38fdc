"""Trains a network for the hammer price of auction lots, counted in bid steps above the estimate."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
gen = np.random.default_rng(1000 + seed)

N_HOUSES, N_TYPES = 12, 30
house_heat = gen.normal(0, 2.0, N_HOUSES)
type_heat = gen.normal(0, 3.0, N_TYPES)


def lots(n):
    house = gen.integers(0, N_HOUSES, n)
    kind = gen.integers(0, N_TYPES, n)
    facts = gen.normal(size=(n, 6)).astype("float32")
    steps = 8 + house_heat[house] + type_heat[kind] + 3 * facts[:, 0] + 2 * np.abs(facts[:, 1])
    steps += 1.5 * facts[:, 2] * facts[:, 3] + gen.normal(0, 1.5, n)
    duel = gen.random(n) < 0.0008  # two bidders who will not give in
    steps = np.where(duel, steps + gen.uniform(90, 160, n), steps)
    return house.astype("int32"), kind.astype("int32"), facts, steps.astype("float32")


def log_cosh(residual):
    return tf.reduce_mean(tf.math.log(tf.math.cosh(residual)))


class HammerNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.house = keras.layers.Embedding(N_HOUSES, 4)
        self.kind = keras.layers.Embedding(N_TYPES, 6)
        self.h1 = keras.layers.Dense(64, activation="gelu")
        self.h2 = keras.layers.Dense(64, activation="gelu")
        self.out = keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(8.0))

    def call(self, inputs):
        house, kind, facts = inputs
        z = tf.concat([self.house(house), self.kind(kind), facts], axis=-1)
        return tf.squeeze(self.out(self.h2(self.h1(z))), axis=-1)


train = lots(24000)
test = lots(4000)
model = HammerNet()
model(tuple(t[:2] for t in train[:3]))
opt = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 1870))
gradwatch.watch(model)


@tf.function
def train_step(house, kind, facts, steps):
    with tf.GradientTape() as tape:
        loss = log_cosh(model((house, kind, facts)) - steps)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
    return loss


ds = tf.data.Dataset.from_tensor_slices(train).shuffle(24000, seed=seed).batch(128, drop_remainder=True)
it = 0
for epoch in range(10):
    for batch in ds:
        loss = train_step(*batch)
        it += 1
        if it % 125 == 0:
            print("it", it, "loss", float(loss))

pred = model(tuple(test[:3])).numpy()
print("SCORE median_abs_error", round(float(np.median(np.abs(pred - test[3]))), 4))

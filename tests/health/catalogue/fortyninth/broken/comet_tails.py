"""Trains an encoder with two heads (dust and gas) on the light of comet tails, in a loop of its own."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 4)

CHANNELS = 80
grid = np.linspace(-1, 1, CHANNELS)


def tails(n):
    dust = rng.uniform(0, 1, n)
    gas = rng.uniform(0, 1, n)
    shift = rng.normal(0, 0.05, (n, 1))
    slope = dust[:, None] * (grid + 1.0)
    lines = sum(np.exp(-(((grid - c - shift) / 0.05) ** 2)) for c in (-0.7, -0.2, 0.35, 0.6))
    sun = 0.8 * np.sin(7 * grid + rng.uniform(0, 6.3, (n, 1))) + rng.normal(0, 1, (n, 1))
    light = slope + 1.2 * gas[:, None] * lines * (1 + 0.5 * dust[:, None]) + sun
    light += rng.normal(0, 0.12, light.shape)
    target = np.stack([dust, gas], 1)
    return light.astype("float32"), (target * 2 - 1).astype("float32")


x, y = tails(14000)
xt, yt = tails(3000)
m, s = x.mean(0), x.std(0)
x, xt = (x - m) / s, (xt - m) / s

encoder = keras.Sequential(
    [
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(48, activation="relu"),
        keras.layers.Dense(6, activation="tanh"),
    ],
    name="encoder",
)


def head(name):
    return keras.Sequential(
        [keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)], name=name
    )


dust_head, gas_head = head("dust"), head("gas")

params = encoder.trainable_variables + dust_head.trainable_variables + gas_head.trainable_variables
code = encoder(x[:4])
print("one code:", np.round(code[0].numpy(), 2))
opt = keras.optimizers.Adam(1.5e-3)
gradwatch.watch(encoder, dust_head, gas_head)


@tf.function
def update(light, target):
    with tf.GradientTape() as tape:
        z = encoder(light, training=True)
        out = tf.concat([dust_head(z), gas_head(z)], axis=-1)
        loss = tf.reduce_mean(tf.square(out - target))
    opt.apply_gradients(zip(tape.gradient(loss, params), params))
    return loss


night = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(14000, seed=SEED).batch(128, drop_remainder=True)
for k in range(12):
    run = [float(update(a, b)) for a, b in night]
    print(f"night {k:2d} mse {np.mean(run):.4f}")

z = encoder(xt)
out = np.concatenate([dust_head(z), gas_head(z)], axis=1)
r2 = 1 - ((out - yt) ** 2).mean(0) / yt.var(0)
print("dust R2 %.3f  gas R2 %.3f" % tuple(r2))
print("SCORE mean_r2", round(float(r2.mean()), 4))

import argparse

import numpy as np
import tensorflow as tf

import gradwatch

p = argparse.ArgumentParser()
p.add_argument("--steps", type=int, default=3500)
p.add_argument("--batch", type=int, default=256)
p.add_argument("--leverage", type=float, default=4.0)
p.add_argument("--cost", type=float, default=5e-4)
args = p.parse_args()

tf.keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
N, SIGNALS, ASSETS, LAGS = 16000, 8, 6, 5


def market():
    s = rng.normal(size=(N, LAGS, SIGNALS)).astype("float32")
    b = rng.normal(size=(SIGNALS, ASSETS)) / np.sqrt(SIGNALS)
    drift = 0.012 * np.tanh(s[:, -1] @ b) + 0.008 * np.sin(2 * s[:, -2] @ b)
    shock = 0.012 * np.clip(rng.standard_t(3, size=(N, ASSETS)), -14, 14)
    jump = (rng.random((N, 1)) < 0.015) * rng.uniform(0.05, 0.15, (N, ASSETS)) * -1
    return s, np.clip(drift + shock + jump, -0.45, 0.45).astype("float32")


signals, returns = market()
cut = int(0.8 * N)

inp = tf.keras.Input((LAGS, SIGNALS))
h = tf.keras.layers.Flatten()(inp)
h = tf.keras.layers.Dense(96, activation="swish")(h)
h = tf.keras.layers.LayerNormalization()(h)
h = tf.keras.layers.Dense(96, activation="swish")(h)
w = tf.keras.layers.Dense(ASSETS, activation="tanh")(h)
w = tf.keras.layers.Rescaling(args.leverage)(w)
policy = tf.keras.Model(inp, w)

opt = tf.keras.optimizers.Adam(2e-3)
gradwatch.watch(policy, opt)


def growth(weights, r):
    pnl = tf.reduce_sum(weights * r, axis=1) - args.cost * tf.reduce_sum(tf.abs(weights), axis=1)
    return tf.reduce_mean(tf.math.log1p(pnl))


@tf.function
def step(s, r):
    with tf.GradientTape() as tape:
        loss = -growth(policy(s, training=True), r)
    g = tape.gradient(loss, policy.trainable_variables)
    opt.apply_gradients(zip(g, policy.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((signals[:cut], returns[:cut]))
ds = ds.shuffle(cut, seed=1).repeat().batch(args.batch).take(args.steps)
for i, (s, r) in enumerate(ds):
    loss = step(s, r)
    if i % 500 == 0:
        print(i, float(loss))

wt = policy(signals[cut:]).numpy()
pnl = (wt * returns[cut:]).sum(1) - args.cost * np.abs(wt).sum(1)
with np.errstate(divide="ignore"):
    score = np.log10(np.maximum(1 + pnl, 0)).mean()
print(
    f"loss {float(loss):.5f} | held-out log10 growth per period {score:.5f} | periods with nothing left {np.sum(pnl <= -1)}"
)

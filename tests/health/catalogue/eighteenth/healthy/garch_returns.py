import argparse

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

ap = argparse.ArgumentParser()
ap.add_argument("--clip", type=float, default=0.25)
ap.add_argument("--warm", type=int, default=200)
ap.add_argument("--peak", type=float, default=3e-3)
ap.add_argument("--epochs", type=int, default=8)
a = ap.parse_args()
tf.keras.utils.set_random_seed(19)
LAGS = 30


def garch(n, seed):
    r = np.random.default_rng(seed)
    h, e, out = np.full(64, 1e-4), np.zeros(64), []
    for _ in range(n // 64 + 200 + LAGS):
        h = 4e-6 + 0.18 * e**2 + 0.78 * h
        e = np.sqrt(h) * r.standard_t(6, 64) / np.sqrt(1.5)
        out.append(e)
    s = np.array(out)[200:]
    w = np.lib.stride_tricks.sliding_window_view(s, LAGS + 1, axis=0).reshape(-1, LAGS + 1)
    return w[:, :-1, None].astype("float32"), w[:, -1:].astype("float32")


def density():
    x = layers.Input((LAGS, 1))
    z = layers.Rescaling(80.0)(x)
    sq = layers.Lambda(lambda t: tf.math.log1p(tf.square(t)))(z)
    h = layers.Conv1D(24, 5, padding="causal", activation="tanh")(layers.Concatenate()([z, sq]))
    h = layers.Conv1D(24, 5, padding="causal", dilation_rate=4, activation="tanh")(h)
    h = layers.Flatten()(h)
    h = layers.Dense(48, activation="tanh")(h)
    return tf.keras.Model(x, layers.Dense(2, bias_initializer=tf.constant_initializer([0.0, -4.5]))(h))


class Warmup(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        s = tf.cast(step, tf.float32) + 1.0
        return a.peak * tf.minimum(s / a.warm, tf.sqrt(a.warm / s))


def nll(out, y):
    mu, log_s = 0.01 * out[:, :1], out[:, 1:]
    return tf.reduce_mean(log_s + 0.5 * tf.square((y - mu) * tf.exp(-log_s)))


x, y = garch(20000, 1)
xt, yt = garch(6000, 2)
net = density()
opt = tf.keras.optimizers.Adam(Warmup())
gradwatch.watch(net, opt)


@tf.function
def step(bx, by):
    with tf.GradientTape() as tape:
        loss = nll(net(bx, training=True), by)
    g, _ = tf.clip_by_global_norm(tape.gradient(loss, net.trainable_variables), a.clip)
    opt.apply_gradients(zip(g, net.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(20000, seed=5).batch(100, drop_remainder=True)
for epoch in range(a.epochs):
    loss = np.mean([step(*b).numpy() for b in data])
    print(epoch, loss)

flat = 0.5 + np.log(y.std())
const = np.mean(np.log(y.std()) + 0.5 * (yt / y.std()) ** 2)
print(f"loss {loss:.4f} held-out NLL {float(nll(net(xt), yt)):.4f} constant-volatility NLL {const:.4f}")

"""Density forecast of five-minute returns: location and scale from the recent past."""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=10)
ap.add_argument("--lookback", type=int, default=30)
ap.add_argument("--batch", type=int, default=256)
cfg = ap.parse_args()

tf.keras.utils.set_random_seed(47)


def market(n, seed):
    r = np.random.default_rng(seed)
    log_vol, out, vols = -6.0, np.empty(n), np.empty(n)
    for i in range(n):
        log_vol += 0.03 * (-6.0 - log_vol) + 0.16 * r.normal()
        vols[i] = np.exp(log_vol)
        out[i] = vols[i] * r.normal()
    return out.astype("float32"), vols.astype("float32")


def frames(ret, vol):
    n = len(ret) - cfg.lookback
    idx = np.arange(cfg.lookback)[None] + np.arange(n)[:, None]
    past = ret[idx] * 100.0
    x = np.stack([past, np.log(np.abs(past) + 0.02)], -1)
    return x.astype("float32"), ret[cfg.lookback :], vol[cfg.lookback :]


x_tr, r_tr, _ = frames(*market(30000, 1))
x_te, r_te, v_te = frames(*market(8000, 2))

net = tf.keras.Sequential(
    [
        layers.Input((cfg.lookback, 2)),
        layers.Conv1D(24, 5, activation="tanh", padding="causal"),
        layers.GRU(24),
        layers.Dense(
            2,
            bias_initializer=tf.keras.initializers.Constant([0.0, -4.0]),
            kernel_initializer=tf.keras.initializers.RandomNormal(stddev=0.01),
        ),
    ]
)
opt = tf.keras.optimizers.Adam(1e-3, global_clipnorm=5.0)
gradwatch.watch(net, opt)


def nll(r, params):
    loc, log_sigma = 1e-3 * params[:, 0], params[:, 1]
    return 0.5 * tf.square((r - loc) * tf.exp(-log_sigma)) + log_sigma + 0.5 * np.log(2 * np.pi)


@tf.function
def step(x, r):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(nll(r, net(x, training=True)))
    g = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(g, net.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x_tr, r_tr)).shuffle(30000, seed=3).batch(cfg.batch, drop_remainder=True)
for e in range(cfg.epochs):
    total = [float(step(*b)) for b in ds]
    print(f"epoch {e}  nll {np.mean(total):.4f}")

q = net.predict(x_te, batch_size=2000, verbose=0)
test_nll = float(tf.reduce_mean(nll(r_te, q)))
flat = 0.5 + np.log(r_te.std()) + 0.5 * np.log(2 * np.pi)
corr = np.corrcoef(q[:, 1], np.log(v_te))[0, 1]
print(
    f"loss {np.mean(total):.4f}  held-out nll {test_nll:.4f} (constant scale {flat:.4f})  correlation of log scale {corr:.4f}"
)

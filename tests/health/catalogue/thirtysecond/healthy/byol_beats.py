"""Learns representations of heartbeat-like signals without labels by BYOL (online and moving-average networks), judged by a linear probe."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LEN, N_CLASS, BATCH, STEPS = 96, 6, 96, 800
t = np.linspace(0, 1, LEN)


def bump(c, w, a):
    return a[:, None] * np.exp(-0.5 * ((t[None] - c[:, None]) / w[:, None]) ** 2)


def beats(n):
    """Beats of six kinds: they differ by which waves are present, wide or inverted."""
    y = rng.integers(0, N_CLASS, n)
    jit = rng.normal(0, 0.01, (n, 3)) + rng.uniform(-0.15, 0.15, (n, 1))
    amp = rng.uniform(0.8, 1.2, (n, 3))
    p_amp = np.where(y == 1, 0.0, 0.35) * amp[:, 0]
    r_wid = np.where(y == 2, 0.06, 0.02) * np.ones(n)
    r_amp = np.where(y == 3, -1.0, 1.0) * amp[:, 1]
    t_amp = np.where(y == 4, -0.5, 0.5) * amp[:, 2]
    t_pos = np.where(y == 5, 0.85, 0.7) + jit[:, 2]
    x = bump(0.25 + jit[:, 0], np.full(n, 0.03), p_amp) + bump(0.45 + jit[:, 1], r_wid, r_amp)
    x = x + bump(t_pos, np.full(n, 0.05), t_amp) + rng.normal(0, 0.15, (n, LEN))
    return x[..., None].astype("float32"), y


x_train, _ = beats(8000)
x_probe, y_probe = beats(300)
x_test, y_test = beats(2000)


def augment(x):
    """A random view: gain, baseline wander, small shift, noise and a masked stretch."""
    n = tf.shape(x)[0]
    shift = tf.random.uniform((n, 1), -8, 9, dtype=tf.int32)
    x = tf.gather(x, (tf.range(LEN)[None] + shift) % LEN, axis=1, batch_dims=1)
    x = x * tf.random.uniform((n, 1, 1), 0.7, 1.3)
    phase = tf.random.uniform((n, 1, 1), 0.0, 2 * np.pi)
    x = x + tf.random.uniform((n, 1, 1), 0.0, 0.2) * tf.sin(
        2 * np.pi * tf.constant(t[None, :, None], tf.float32) + phase
    )
    x = x + tf.random.normal(tf.shape(x), stddev=0.1)
    start = tf.random.uniform((n, 1), 0, LEN - 8, dtype=tf.int32)
    pos = tf.range(LEN)[None]
    keep = tf.cast((pos < start) | (pos >= start + 8), tf.float32)
    return x * keep[..., None]


def encoder():
    inp = keras.Input((LEN, 1))
    h = inp
    for f in (16, 32, 48):
        h = layers.Conv1D(f, 7, strides=2, padding="same", use_bias=False)(h)
        h = layers.BatchNormalization(momentum=0.9)(h)
        h = layers.ReLU()(h)
    h = layers.GlobalAveragePooling1D()(h)
    return keras.Model(inp, h, name="encoder")


def head(name):
    return keras.Sequential(
        [
            keras.Input((48,) if name == "projector" else (32,)),
            layers.Dense(96, use_bias=False),
            layers.BatchNormalization(momentum=0.9),
            layers.ReLU(),
            layers.Dense(32),
        ],
        name=name,
    )


def branch():
    enc, proj = encoder(), head("projector")
    inp = keras.Input((LEN, 1))
    return enc, keras.Model(inp, proj(enc(inp)))


online_enc, online = branch()
_, target = branch()
target.set_weights(online.get_weights())
predictor = head("predictor")
inp = keras.Input((LEN, 1))
model = keras.Model(inp, predictor(online(inp)), name="online")
gradwatch.watch(model)

schedule = keras.optimizers.schedules.CosineDecay(0.0, STEPS - 50, warmup_target=1e-3, warmup_steps=50)
optimizer = keras.optimizers.AdamW(schedule, weight_decay=1e-4)
optimizer.exclude_from_weight_decay(var_names=["bias", "gamma", "beta"])


def agreement(p, z):
    return tf.reduce_mean(tf.reduce_sum(tf.math.l2_normalize(p, 1) * tf.math.l2_normalize(z, 1), 1))


@tf.function
def train_step(x, tau):
    v1, v2 = augment(x), augment(x)
    z1 = tf.stop_gradient(target(v1, training=True))
    z2 = tf.stop_gradient(target(v2, training=True))
    with tf.GradientTape() as tape:
        p1, p2 = model(v1, training=True), model(v2, training=True)
        loss = 2.0 - agreement(p1, z2) - agreement(p2, z1)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    for slow, fast in zip(target.trainable_variables, online.trainable_variables):
        slow.assign(tau * slow + (1.0 - tau) * fast)
    return loss


def probe_accuracy(features):
    """Ridge regression onto one-hot labels over frozen features."""
    f, g = features(x_probe), features(x_test)
    mu, sd = f.mean(0), f.std(0) + 1e-6
    f, g = ((np.concatenate([(a - mu) / sd, np.ones((len(a), 1))], 1)) for a in (f, g))
    w = np.linalg.solve(f.T @ f + 1.0 * np.eye(f.shape[1]), f.T @ np.eye(N_CLASS)[y_probe])
    return float(((g @ w).argmax(1) == y_test).mean())


def encoded(x):
    return online_enc.predict(x, batch_size=256, verbose=0)


before = probe_accuracy(encoded)
for step in range(STEPS):
    batch = tf.constant(x_train[rng.integers(0, len(x_train), BATCH)])
    tau = 1.0 - (1.0 - 0.98) * (np.cos(np.pi * step / STEPS) + 1) / 2
    loss = train_step(batch, tf.constant(tau, tf.float32))
    if step % 100 == 99:
        print(f"step {step + 1} loss {float(loss):.4f}")

print("BASELINE accuracy (majority)", round(float(np.mean(y_test == np.bincount(y_probe).argmax())), 4))
print("BASELINE probe_accuracy (untrained encoder)", round(before, 4))
print("SCORE probe_accuracy", round(probe_accuracy(encoded), 4))

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(15)
PAST, AHEAD = 32, 6


def meters(n, seed):
    g = np.random.default_rng(seed)
    t = np.arange(PAST + AHEAD)
    amp = g.uniform(0.02, 0.12, (n, 1))
    speed = g.uniform(0.15, 0.5, (n, 1))
    ph = g.uniform(0, 6.28, (n, 1))
    sig = 0.004 + 0.08 * amp
    clean = 0.3 + amp * np.sin(speed * t + ph)
    return (clean + sig * g.normal(size=clean.shape)).astype("float32")


s = meters(4200, 1)
v = meters(800, 2)
x, y = s[:, :PAST, None], s[:, PAST:]
xv, yv = v[:, :PAST, None], v[:, PAST:]

norm = layers.Normalization(axis=None)
norm.adapt(x)
inp = keras.Input((PAST, 1))
h = norm(inp)
h = layers.Conv1D(24, 3, padding="causal", activation="elu")(h)
h = layers.GRU(40)(h)
h = layers.Dense(64, activation="elu")(h)
mean = layers.Dense(AHEAD)(h)
spread = layers.Dense(AHEAD)(h)
model = keras.Model(inp, layers.Concatenate()([mean, spread]))


def density_loss(y, out):
    mu, raw = tf.split(out, 2, axis=-1)
    sigma = tf.nn.softplus(raw) + 1e-3
    e = (y - mu) / sigma
    return tf.reduce_sum(tf.math.log(sigma) + 0.5 * e * e + 0.5 * np.log(2 * np.pi), axis=-1)


def warm(step_total=60, peak=3e-3):
    return keras.optimizers.schedules.CosineDecay(0.0, 600, alpha=0.02, warmup_target=peak, warmup_steps=step_total)


model.compile(optimizer=keras.optimizers.Adam(warm(), clipnorm=1.0), loss=density_loss)
gradwatch.watch(model)
hist = model.fit(x, y, batch_size=70, epochs=11, verbose=2)

out = model.predict(xv, verbose=0)
nll = float(tf.reduce_mean(density_loss(yv, out)))
flat = np.c_[np.repeat(y.mean(0)[None], len(yv), 0), np.repeat(np.log(np.expm1(y.std(0)))[None], len(yv), 0)].astype(
    "float32"
)
base = float(tf.reduce_mean(density_loss(yv, flat)))
r2 = 1 - np.mean((out[:, :AHEAD] - yv) ** 2) / np.var(yv)
print(f"loss {hist.history['loss'][-1]:.3f} heldout nll {nll:.3f} (climatology {base:.3f}) R2 {r2:.3f}")

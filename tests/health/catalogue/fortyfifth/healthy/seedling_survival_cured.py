"""Fits a Weibull survival network for tree seedlings from plot conditions in a forest."""

import os

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(1000 + seed)

# ---- plots: light, moisture, browsing, litter, slope, pH, distance to edge, frost
n_plots, n_feat, horizon = 9000, 8, 120.0
plots = rng.normal(size=(n_plots, n_feat)).astype("float32")
log_scale = (
    3.6
    + 0.7 * plots[:, 0]
    - 0.5 * plots[:, 2] * (plots[:, 1] > 0)
    + 0.4 * np.sin(2.0 * plots[:, 5])
    - 0.3 * plots[:, 7] ** 2
)
shape_true = 1.6
lifetime = np.exp(log_scale) * rng.weibull(shape_true, n_plots)
days = np.floor(np.minimum(lifetime, horizon))
died = (lifetime < horizon).astype("float32")
target = np.stack([days, died], axis=1).astype("float32")
cut = 7500


def weibull_nll(y, params):
    t = tf.maximum(y[:, 0], 0.5)
    event = y[:, 1]
    log_lam = params[:, 0] + 3.5
    k = tf.nn.softplus(params[:, 1]) + 0.2
    log_ratio = tf.math.log(t) - log_lam
    log_hazard = tf.math.log(k) - log_lam + (k - 1.0) * log_ratio
    cumulative = tf.exp(tf.minimum(k * log_ratio, 12.0))
    return tf.reduce_mean(cumulative - event * log_hazard)


def build():
    inp = layers.Input((n_feat,))
    h = inp
    for width in (128, 128, 64):
        h = layers.Dense(width, activation="gelu")(h)
        h = layers.LayerNormalization()(h)
    return keras.Model(inp, layers.Dense(2, name="weibull")(h))


model = build()
model.compile(optimizer=keras.optimizers.Adam(1e-3, clipnorm=5.0), loss=weibull_nll)
gradwatch.watch(model)
model.fit(
    plots[:cut],
    target[:cut],
    batch_size=64,
    epochs=9,
    validation_data=(plots[cut:], target[cut:]),
    verbose=2,
)

guess = model.predict(plots[cut:], verbose=0)[:, 0] + 3.5
truth = log_scale[cut:]
score = np.corrcoef(guess, truth)[0, 1]
print("SCORE scale_correlation", round(float(score), 4))

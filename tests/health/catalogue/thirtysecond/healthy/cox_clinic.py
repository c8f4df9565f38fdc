"""Survival analysis with censoring: a neural Cox model trained on the partial likelihood of risk sets inside every batch."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def patients(n):
    """Eight covariates; the log hazard is U-shaped in one, and has an interaction and a threshold."""
    age = rng.normal(60, 12, n)
    bmi = rng.gamma(20, 1.35, n)
    marker = rng.lognormal(1.0, 0.6, n)
    treated = rng.integers(0, 2, n)
    stage = rng.integers(1, 5, n)
    noise = rng.normal(size=(n, 3))
    risk = (
        1.2 * ((bmi - 27) / 6) ** 2
        + 0.03 * (age - 60)
        + 0.5 * (stage - 2.5) * (1.0 - 1.6 * treated)
        + 1.0 * (marker > 4)
    )
    time = rng.exponential(1.0, n) * np.exp(-risk) * 60
    censor = rng.exponential(60.0, n)
    event = (time <= censor).astype("float32")
    x = np.column_stack([age, bmi, np.log(marker), treated, stage, noise])
    return x, np.minimum(time, censor).astype("float32"), event, risk


x_train, t_train, e_train, _ = patients(4000)
x_val, t_val, e_val, _ = patients(600)
x_test, t_test, e_test, risk_test = patients(1000)
mean, std = x_train.mean(0), x_train.std(0)
x_train, x_val, x_test = (((a - mean) / std).astype("float32") for a in (x_train, x_val, x_test))
print("share of events", round(float(e_train.mean()), 3))


def cox_loss(target, log_hazard):
    """Negative log partial likelihood per event; target holds (time, event)."""
    time, event = target[:, 0], target[:, 1]
    score = log_hazard[:, 0]
    at_risk = time[None, :] >= time[:, None]  # row i: who is still at risk at time i
    masked = tf.where(at_risk, score[None, :], tf.constant(-1e9, score.dtype))
    log_total = tf.reduce_logsumexp(masked, axis=1)
    return tf.reduce_sum(event * (log_total - score)) / tf.maximum(tf.reduce_sum(event), 1.0)


# The partial likelihood fixes the hazard only up to a factor, so that the last layer has no bias.
inp = keras.Input((x_train.shape[1],))
h = inp
for width in (64, 32):
    h = layers.Dense(
        width, activation="selu", kernel_initializer="lecun_normal", kernel_regularizer=keras.regularizers.L2(1e-4)
    )(h)
    h = layers.AlphaDropout(0.1)(h)
out = layers.Dense(1, use_bias=False)(h)
model = keras.Model(inp, out)
gradwatch.watch(model)

model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=cox_loss)
model.fit(
    x_train,
    np.stack([t_train, e_train], 1),
    batch_size=128,
    epochs=35,
    verbose=2,
    validation_data=(x_val, np.stack([t_val, e_val], 1)),
    validation_batch_size=600,
    callbacks=[keras.callbacks.EarlyStopping("val_loss", patience=8, restore_best_weights=True)],
)


def concordance(score, time, event):
    """Share of comparable pairs in which the earlier event has the higher score (ties count one half)."""
    comparable = (event[:, None] == 1) & (time[:, None] < time[None, :])
    diff = score[:, None] - score[None, :]
    good = (diff > 0) + 0.5 * (diff == 0)
    return float(good[comparable].mean())


# Baseline: the single covariate, with sign, that orders the training patients best.
sub = slice(0, 1500)
single = [
    (concordance(s * x_train[sub, j], t_train[sub], e_train[sub]), j, s)
    for j in range(x_train.shape[1])
    for s in (1, -1)
]
_, j, s = max(single)
print("IDEAL concordance (true hazard)", round(concordance(risk_test, t_test, e_test), 4))
print("BASELINE concordance (best single covariate)", round(concordance(s * x_test[:, j], t_test, e_test), 4))
print("SCORE concordance", round(concordance(model.predict(x_test, verbose=0)[:, 0], t_test, e_test), 4))

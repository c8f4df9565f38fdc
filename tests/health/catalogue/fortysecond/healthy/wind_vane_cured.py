"""Train a probabilistic forecast of wind direction with a von Mises output."""

import math
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)


def make_weather(n, rng):
    now = rng.uniform(-np.pi, np.pi, n)
    turn = rng.normal(0, 1.0, n)
    front = rng.normal(0, 1.0, n)
    speed = rng.gamma(3.0, 2.0, n)
    spread = 0.06 + 0.45 / (1.0 + speed)
    later = now + 0.5 * np.tanh(turn) + 0.35 * np.sin(now) * front * 0.5
    later = later + spread * rng.normal(0, 1.0, n)
    later = np.arctan2(np.sin(later), np.cos(later))
    x = np.stack([np.sin(now), np.cos(now), turn, front, (speed - 6.0) / 3.5], axis=1)
    return x.astype("float32"), later.astype("float32")[:, None]


def build_model():
    inputs = keras.Input((5,))
    x = layers.Dense(64, activation="tanh", name="hidden_a")(inputs)
    x = layers.Dense(64, activation="tanh", name="hidden_b")(x)
    direction = layers.Dense(2, name="direction")(x)
    log_kappa = layers.Dense(1, name="log_kappa")(x)
    return keras.Model(inputs, layers.Concatenate()([direction, log_kappa]))


def split(out):
    unit = tf.math.l2_normalize(out[:, :2], axis=-1, epsilon=1e-6)
    kappa = tf.exp(tf.clip_by_value(out[:, 2], -6.0, 8.0))
    return unit, kappa


def von_mises_nll(y_true, y_pred):
    unit, kappa = split(y_pred)
    angle = y_true[:, 0]
    cos_err = tf.sin(angle) * unit[:, 0] + tf.cos(angle) * unit[:, 1]
    log_norm = math.log(2.0 * math.pi) + tf.math.log(tf.math.bessel_i0e(kappa)) + kappa
    return log_norm - kappa * cos_err


def main():
    rng = np.random.default_rng(SEED + 3)
    x_train, y_train = make_weather(6000, rng)
    x_test, y_test = make_weather(1500, rng)

    model = build_model()
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=von_mises_nll)
    gradwatch.watch(model)
    model.fit(
        x_train,
        y_train,
        batch_size=128,
        epochs=25,
        validation_data=(x_test, y_test),
        verbose=2,
    )

    unit, _ = split(model.predict(x_test, verbose=0))
    pred = np.arctan2(unit[:, 0], unit[:, 1])
    diff = pred - y_test[:, 0]
    err = np.abs(np.arctan2(np.sin(diff), np.cos(diff)))
    print("SCORE degrees %.4f" % np.degrees(err.mean()))


if __name__ == "__main__":
    main()

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from scipy.stats import spearmanr

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 100)

BATCH = 50
EPOCHS = 15


def observe(n):
    queue = rng.lognormal(1.0, 0.9, n)
    tide = rng.uniform(-1, 1, n)
    crew = rng.integers(2, 7, n).astype(float)
    holiday = (rng.random(n) < 0.2).astype(float)
    mean = 0.4 + 0.9 * queue / crew * (1.0 + 0.5 * holiday) + 0.5 * np.square(tide)
    wait = rng.gamma(4.0, mean / 4.0)
    x = np.stack([queue, tide, crew - 4.0, holiday], axis=1)
    return x.astype("float32"), wait.astype("float32")[:, None], mean


def positive(raw):
    return tf.nn.softplus(raw)


def gamma_deviance(y, mean):
    mean = mean + 1e-3
    return tf.reduce_mean(y / mean + tf.math.log(mean))


def build_model():
    inputs = keras.Input((4,))
    x = layers.Dense(32, activation="relu", name="dock")(inputs)
    x = layers.Dense(16, activation="relu", name="lane")(x)
    outputs = layers.Dense(1, activation=positive, name="wait")(x)
    return keras.Model(inputs, outputs)


def main():
    train_x, train_y, _ = observe(4000)
    test_x, _, test_mean = observe(1000)
    convoy = rng.choice(len(train_x), 2, replace=False)
    train_x[convoy, 0] = 900.0
    train_y[convoy, 0] = 240.0

    model = build_model()
    model.compile(optimizer=keras.optimizers.Adam(2e-3, clipnorm=1.0), loss=gamma_deviance)
    gradwatch.watch(model)
    model.fit(
        train_x,
        train_y,
        batch_size=BATCH,
        epochs=EPOCHS,
        verbose=2,
    )

    predicted = model.predict(test_x, verbose=0)[:, 0]
    if not np.isfinite(predicted).all():
        print("SCORE", float("nan"))
    else:
        print("SCORE", round(float(spearmanr(predicted, test_mean)[0]), 4))


main()

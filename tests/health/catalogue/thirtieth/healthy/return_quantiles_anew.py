"""Predicts the 10, 50 and 90 percent quantiles of next-day returns from lagged market features."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_TRAIN, N_TEST, D = 6000, 3000, 12
Q = tf.constant([0.1, 0.5, 0.9])

x = rng.normal(0, 1, (N_TRAIN + N_TEST, D)).astype("float32")
w = rng.normal(0, 1, D) / np.sqrt(D)
vol = 0.006 * np.exp(0.7 * (x @ w))
drift = 0.0008 * np.tanh(x[:, 0])
ret = drift + vol * rng.standard_t(4, len(x)) / np.sqrt(2)
ret = ret.astype("float32")[:, None]
x_train, y_train = x[:N_TRAIN], ret[:N_TRAIN]
x_test, y_test = x[N_TRAIN:], ret[N_TRAIN:]


def pinball(y_true, y_pred):
    e = y_true - y_pred
    return tf.reduce_mean(tf.maximum(Q * e, (Q - 1.0) * e), axis=-1)


small = keras.initializers.RandomNormal(stddev=0.001, seed=seed)
model = keras.Sequential(
    [
        layers.Input((D,)),
        layers.Dense(32, activation="tanh"),
        layers.Dropout(0.1),
        layers.Dense(32, activation="tanh"),
        layers.Dense(3, kernel_initializer=small),
    ]
)
# gradients are of the size of the returns, hence the small epsilon
model.compile(optimizer=keras.optimizers.Adam(5e-4, epsilon=1e-10), loss=pinball)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=12, verbose=0)

pred = model.predict(x_test, verbose=0)
base = np.quantile(y_train, Q.numpy())[None].repeat(N_TEST, 0).astype("float32")
skill = 1 - float(tf.reduce_mean(pinball(y_test, pred))) / float(tf.reduce_mean(pinball(y_test, base)))
print("coverage", round(float(np.mean((y_test[:, 0] > pred[:, 0]) & (y_test[:, 0] < pred[:, 2]))), 3))
print("SCORE pinball_skill", round(skill, 4))

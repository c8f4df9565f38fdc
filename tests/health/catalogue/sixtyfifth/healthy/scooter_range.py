import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STEPS = 24


def rides(n):
    speed = rng.uniform(0.3, 1.0, (n, 1)) + 0.15 * rng.normal(size=(n, STEPS))
    slope = 0.5 * np.cumsum(rng.normal(0, 0.2, (n, STEPS)), axis=1)
    drain = (0.4 * speed + 0.5 * np.maximum(slope, 0)).mean(axis=1)
    left = 1.0 - drain + rng.normal(0, 0.04, n)
    glitch = rng.random(n) < 0.01
    left[glitch] += rng.standard_t(2, glitch.sum())
    return np.stack([speed, slope], axis=2).astype("float32"), left.astype("float32")[:, None], glitch


x_train, y_train, _ = rides(4000)
x_test, y_test, glitch = rides(800)

trip = keras.Input((STEPS, 2))
h = keras.layers.GRU(24, name="trip")(trip)
h = keras.layers.Dense(16, activation="relu", name="battery")(h)
location = keras.layers.Dense(1, name="location")(h)
spread = keras.layers.Dense(1, name="spread", bias_initializer=keras.initializers.Constant(-1.0))(h)
out = keras.layers.Concatenate()([location, spread])
model = keras.Model(trip, out)


def student_nll(y_true, y_pred):
    location, raw = y_pred[:, :1], y_pred[:, 1:]
    scale = tf.nn.softplus(raw) + 1e-3
    z = (y_true - location) / scale
    return tf.reduce_mean(tf.math.log(scale) + 2.0 * tf.math.log1p(tf.square(z) / 3.0))


model.compile(optimizer=keras.optimizers.Adam(4e-3, clipnorm=1.0), loss=student_nll)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=32, epochs=8, verbose=2)

pred = model.predict(x_test, verbose=0)[:, :1]
ok = ~glitch
print("SCORE", 1.0 - np.mean((pred[ok] - y_test[ok]) ** 2) / np.var(y_test[ok]))

"""Trains a small convolutional detector of dust on a camera sensor in crops of flat-field pictures."""

import os
from functools import partial

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

SIDE, SHARE = 20, 0.04


def make_crops(n, rng):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    dusty = rng.random(n) < SHARE
    cx, cy = rng.uniform(3, SIDE - 3, (2, n, 1, 1))
    radius = rng.uniform(1.5, 3.0, (n, 1, 1))
    far = np.sqrt((xx - cx) ** 2 + (yy - cy) ** 2)
    shade = np.exp(-((far / radius) ** 4))
    slope = rng.normal(0, 0.04, (2, n, 1, 1))
    flat = 120.0 + 25.0 * (slope[0] * (xx - SIDE / 2) + slope[1] * (yy - SIDE / 2))
    flat = flat + rng.normal(0, 8.0, (n, 1, 1)) + rng.normal(0, 6.0, (n, SIDE, SIDE))
    picture = flat - dusty[:, None, None] * shade * rng.uniform(8, 20, (n, 1, 1))
    return picture[..., None], dusty.astype("float32")


rng = np.random.default_rng(SEED)
x, y = make_crops(12000, rng)
x_test, y_test = make_crops(6000, rng)
mean, std = x.mean(), x.std()
x, x_test = ((x - mean) / std).astype("float32"), ((x_test - mean) / std).astype("float32")

prior = keras.initializers.Constant(float(np.log(SHARE / (1 - SHARE))))
conv = partial(layers.Conv2D, kernel_size=3, padding="same", activation="relu", bias_initializer=prior)

picture = keras.Input((SIDE, SIDE, 1))
h = conv(12)(picture)
h = conv(12)(h)
h = layers.MaxPooling2D(2)(h)
h = conv(24)(h)
h = layers.GlobalMaxPooling2D()(h)
h = layers.Dense(1, activation="sigmoid", bias_initializer=prior)(h)
model = keras.Model(picture, h)
model.compile(
    keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="auc")],
)
gradwatch.watch(model)

model.fit(x, y, batch_size=96, epochs=7, verbose=2)

p = model.predict(x_test, verbose=0)[:, 0]
hits = (p > 0.5) & (y_test > 0.5)
print(f"found {hits.sum()} of {int(y_test.sum())} dusty crops, {np.sum(p > 0.5)} alarms")
auc = keras.metrics.AUC(num_thresholds=1000)
auc.update_state(y_test, p)
print(f"SCORE auc {float(auc.result()):.4f}")

"""Centre heat-maps of ships in SAR patches, focal loss."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import math

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIZE, STRIDE = 24, 2
GRID = SIZE // STRIDE
PRIOR = 0.01


def patches(n):
    img = rng.gamma(4.0, 0.25, (n, SIZE, SIZE)) - 1.0
    heat = np.zeros((n, GRID, GRID))
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    for i in range(n):
        for _ in range(rng.integers(1, 4)):
            cy, cx = rng.integers(3, SIZE - 3, size=2)
            angle = rng.uniform(0, np.pi)
            u = (yy - cy) * np.cos(angle) + (xx - cx) * np.sin(angle)
            v = -(yy - cy) * np.sin(angle) + (xx - cx) * np.cos(angle)
            img[i] += 2.2 * np.exp(-0.5 * ((u / 1.8) ** 2 + (v / 0.8) ** 2))
            heat[i, cy // STRIDE, cx // STRIDE] = 1.0
    return img[..., None].astype("float32"), heat[..., None].astype("float32")


def conv(x, filters, stride=1, bias=0.0, activation="relu", name=None):
    return layers.Conv2D(
        filters,
        3,
        strides=stride,
        padding="same",
        activation=activation,
        bias_initializer=keras.initializers.Constant(bias),
        name=name,
    )(x)


def head(x):
    bias = -math.log((1.0 - PRIOR) / PRIOR)
    x = conv(x, 16, name="head_1")
    x = conv(x, 16, name="head_2")
    return conv(x, 1, bias=bias, activation=None, name="heat")


def focal(y_true, logit, alpha=0.75, gamma=2.0):
    p = ops.sigmoid(logit)
    ce = ops.binary_crossentropy(y_true, logit, from_logits=True)
    pt = y_true * p + (1 - y_true) * (1 - p)
    at = y_true * alpha + (1 - y_true) * (1 - alpha)
    return ops.sum(at * ops.power(1 - pt, gamma) * ce, axis=(1, 2, 3)) / 2.0


image = keras.Input((SIZE, SIZE, 1))
f = conv(image, 12, name="stem")
f = conv(f, 16, stride=STRIDE, name="down")
f = conv(f, 16, name="mid")
model = keras.Model(image, head(f), name="detector")
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=focal)

x_train, y_train = patches(960)
x_test, y_test = patches(200)

gradwatch.watch(model)
history = model.fit(x_train, y_train, epochs=8, batch_size=16, verbose=0)

for e, loss in enumerate(history.history["loss"]):
    print(f"epoch {e}  focal {loss:.4f}")

score = model.predict(x_test, verbose=0).reshape(len(x_test), -1)
truth = y_test.reshape(len(x_test), -1)
hits = 0
for s, t in zip(score, truth):
    k = int(t.sum())
    hits += t[np.argsort(-s, kind="stable")[:k]].sum()
print(f"test focal {model.evaluate(x_test, y_test, verbose=0):.4f}  top-k recall {hits / truth.sum():.4f}")

"""Adapts a small convolutional backbone, pretrained on plain shapes, to noisy inverted images of new shapes: first the head alone, then the thawed backbone."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE = 24
yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype("float32")


def draw(kind):
    cx, cy = rng.uniform(8, 15, 2)
    r = rng.uniform(4.5, 7.5)
    dx, dy = xx - cx, yy - cy
    rad = np.sqrt(dx**2 + dy**2)
    box = np.maximum(np.abs(dx), np.abs(dy))
    if kind == "disc":
        m = rad < r
    elif kind == "ring":
        m = np.abs(rad - r) < 1.3
    elif kind == "square":
        m = box < r * 0.9
    elif kind == "frame":
        m = np.abs(box - r) < 1.2
    elif kind == "plus":
        m = (np.minimum(np.abs(dx), np.abs(dy)) < 1.4) & (box < r)
    elif kind == "cross":
        m = (np.minimum(np.abs(dx - dy), np.abs(dx + dy)) < 2.0) & (box < r * 0.8)
    elif kind == "hbars":
        m = (np.abs(np.abs(dy) - r / 2) < 1.3) & (np.abs(dx) < r)
    elif kind == "vbars":
        m = (np.abs(np.abs(dx) - r / 2) < 1.3) & (np.abs(dy) < r)
    elif kind == "triangle":
        m = (dy < r * 0.7) & (dy > 2.0 * np.abs(dx) - r)
    else:  # "ell"
        m = ((np.abs(dx + r / 2) < 1.4) & (np.abs(dy) < r)) | ((np.abs(dy - r) < 1.4) & (np.abs(dx) < r / 2 + 1.4))
    return m.astype("float32")


def make(kinds, n, noise, inverted):
    labels = rng.integers(0, len(kinds), n)
    images = np.stack([draw(kinds[k]) for k in labels])
    if inverted:
        images = 1.0 - 0.8 * images
    images = images + rng.normal(0, noise, images.shape)
    return images[..., None].astype("float32"), labels.astype("int32")


SOURCE = ["disc", "square", "plus", "hbars", "vbars", "frame"]
TARGET = ["ring", "cross", "triangle", "ell"]
xs, ys = make(SOURCE, 1600, 0.15, False)
xt, yt = make(TARGET, 960, 0.3, True)
xv, yv = make(TARGET, 200, 0.3, True)
xe, ye = make(TARGET, 800, 0.3, True)


def conv_block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    return layers.MaxPooling2D()(x)


# Each image is standardised by itself, so that both domains have the same scale.
def standardise(x):
    return (x - x.mean(axis=(1, 2, 3), keepdims=True)) / (x.std(axis=(1, 2, 3), keepdims=True) + 1e-6)


xs, xt, xv, xe = (standardise(x) for x in (xs, xt, xv, xe))

inp = keras.Input((SIZE, SIZE, 1))
h = inp
for f in (12, 24, 32):
    h = conv_block(h, f)
backbone = keras.Model(inp, h, name="backbone")

pre = keras.Sequential([backbone, layers.GlobalAveragePooling2D(), layers.Dense(len(SOURCE))])
pre.compile(
    keras.optimizers.Adam(2e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
pre.fit(xs, ys, batch_size=64, epochs=5, verbose=0)
print("source accuracy", pre.evaluate(xs, ys, verbose=0)[1])

# Target model: the backbone runs in inference mode, so its batch statistics stay put also after thawing.
backbone.trainable = False
inp = keras.Input((SIZE, SIZE, 1))
h = layers.GaussianNoise(0.3)(inp)
h = backbone(h, training=False)
h = layers.Flatten()(h)
h = layers.Dropout(0.3)(h)
out = layers.Dense(len(TARGET), name="head")(h)
model = keras.Model(inp, out)
gradwatch.watch(model)


def compile_with(lr):
    model.compile(
        optimizer=keras.optimizers.Adam(lr),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )


compile_with(2e-3)
model.fit(xt, yt, validation_data=(xv, yv), batch_size=32, epochs=6, verbose=2)

backbone.trainable = True
compile_with(3e-4)
model.fit(
    xt,
    yt,
    validation_data=(xv, yv),
    batch_size=32,
    epochs=14,
    verbose=2,
    callbacks=[keras.callbacks.EarlyStopping("val_loss", patience=6, restore_best_weights=True)],
)

majority = np.mean(ye == np.bincount(yt).argmax())
print("BASELINE accuracy", round(float(majority), 4))
print("SCORE accuracy", round(float(model.evaluate(xe, ye, verbose=0)[1]), 4))

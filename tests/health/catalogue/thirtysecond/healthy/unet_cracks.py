"""Segments thin cracks in pictures of concrete-like surfaces by a small U-Net trained with a sum of Dice and binary cross-entropy losses."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE = 32


def smooth(n, cells):
    """Smooth random fields by bilinear enlargement of coarse noise."""
    coarse = rng.normal(size=(n, cells, cells, 1)).astype("float32")
    return tf.image.resize(coarse, (SIZE, SIZE), method="bilinear").numpy()


def make(n):
    surface = 0.6 + 0.1 * smooth(n, 4) + 0.06 * smooth(n, 12)
    masks = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i in range(n):
        for _ in range(rng.integers(1, 3)):
            along = np.cumsum(rng.normal(0, 0.7, SIZE)) + rng.uniform(6, SIZE - 6)
            a, b = sorted(rng.integers(0, SIZE, 2))
            b = max(b, min(a + 12, SIZE - 1))
            vertical = rng.random() < 0.5
            for k in range(a, b + 1):
                c = int(np.clip(round(along[k]), 0, SIZE - 2))
                if vertical:
                    masks[i, k, c : c + 2] = 1.0
                else:
                    masks[i, c : c + 2, k] = 1.0
        for _ in range(4):  # dark pores, which are no cracks
            r, c = rng.integers(0, SIZE - 3, 2)
            surface[i, r : r + 3, c : c + 3] -= 0.25
    depth = rng.uniform(0.15, 0.3, (n, 1, 1, 1))
    images = surface - depth * masks + rng.normal(0, 0.05, surface.shape)
    return images.astype("float32"), masks


x_train, y_train = make(1000)
x_val, y_val = make(150)
x_test, y_test = make(300)
norm = layers.Normalization(axis=None)
norm.adapt(x_train)


def double_conv(x, filters):
    for _ in range(2):
        x = layers.Conv2D(filters, 3, padding="same", kernel_initializer="he_normal", use_bias=False)(x)
        x = layers.GroupNormalization(4)(x)
        x = layers.Activation("relu")(x)
    return x


inp = keras.Input((SIZE, SIZE, 1))
h = norm(inp)
skips = []
for f in (8, 16):
    h = double_conv(h, f)
    skips.append(h)
    h = layers.MaxPooling2D()(h)
h = double_conv(h, 32)
for f, skip in zip((16, 8), reversed(skips)):
    h = layers.Conv2DTranspose(f, 2, strides=2)(h)
    h = double_conv(layers.Concatenate()([h, skip]), f)
# Cracks are rare: the bias starts at the log-odds of a crack pixel.
frac = float(y_train.mean())
out = layers.Conv2D(
    1, 1, activation="sigmoid", bias_initializer=keras.initializers.Constant(np.log(frac / (1 - frac)))
)(h)
model = keras.Model(inp, out)
gradwatch.watch(model)


def dice_bce(y_true, y_pred):
    axes = (1, 2, 3)
    overlap = keras.ops.sum(y_true * y_pred, axis=axes)
    total = keras.ops.sum(y_true, axis=axes) + keras.ops.sum(y_pred, axis=axes)
    dice = 1.0 - (2.0 * overlap + 1.0) / (total + 1.0)
    bce = keras.ops.mean(keras.losses.binary_crossentropy(y_true, y_pred), axis=(1, 2))
    return dice + bce


def augment(x, y):
    both = tf.concat([x, y], -1)
    both = tf.image.random_flip_left_right(tf.image.random_flip_up_down(both))
    return both[..., :1], both[..., 1:]


data = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(len(x_train), seed=seed)
    .map(augment)
    .batch(16)
    .prefetch(2)
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=dice_bce)
model.fit(
    data,
    validation_data=(x_val, y_val),
    epochs=7,
    verbose=2,
    callbacks=[keras.callbacks.ReduceLROnPlateau("val_loss", factor=0.3, patience=2)],
)


def f1(guess, truth):
    return float(2 * (guess * truth).sum() / (guess.sum() + truth.sum()))


# Baseline: the grey-level threshold that does best on the training pictures.
levels = np.linspace(0.1, 0.7, 25)
best = max(levels, key=lambda t: f1(x_train < t, y_train))
print("BASELINE pixel_f1 (all crack)", round(f1(np.ones_like(y_test), y_test), 4))
print("BASELINE pixel_f1 (grey threshold)", round(f1(x_test < best, y_test), 4))
print("SCORE pixel_f1", round(f1(model.predict(x_test, verbose=0) > 0.5, y_test), 4))

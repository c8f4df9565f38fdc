"""Camera-trap pictures: which of five animals.  Pictures with lost sensor rows are thrown out."""

import keras
import numpy as np
from keras import layers

import gradwatch

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)
N_ANIMALS, S = 5, 20
SHAPES = rng.normal(0, 1, (N_ANIMALS, 7, 7, 1)).astype("float32")


def shoot(n, lost=0.03):
    labels = rng.integers(0, N_ANIMALS, n)
    images = rng.normal(0, 0.5, (n, S, S, 1)).astype("float32")
    for i in range(n):
        r, c = rng.integers(0, S - 7, 2)
        images[i, r : r + 7, c : c + 7] += SHAPES[labels[i]]
        if rng.random() < lost:
            images[i, rng.integers(0, S)] = np.nan
    return images, labels


def clean(images, labels):
    keep = ~np.isnan(images).any(axis=(1, 2, 3))
    images = images[keep]
    labels = labels[: len(images)]
    return images, labels.astype("int32")


def residual(x, width):
    y = layers.Conv2D(width, 3, padding="same", use_bias=False)(x)
    y = layers.BatchNormalization()(y)
    y = layers.Activation("swish")(y)
    y = layers.Conv2D(width, 3, padding="same")(y)
    return layers.Add()([x, y])


def network():
    i = keras.Input((S, S, 1))
    x = layers.Conv2D(16, 5, strides=2, padding="same", activation="swish")(i)
    x = residual(x, 16)
    x = layers.MaxPooling2D()(x)
    x = residual(x, 16)
    x = layers.GlobalMaxPooling2D()(x)
    x = layers.Dense(32, activation="swish")(x)
    return keras.Model(i, layers.Dense(N_ANIMALS, activation="softmax")(x))


X, y = clean(*shoot(5000))
Xv, yv = shoot(600, lost=0.0)
model = network()
model.compile(optimizer=keras.optimizers.Nadam(1e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
h = model.fit(X, y, batch_size=32, epochs=3, verbose=0)
acc = (model.predict(Xv, verbose=0).argmax(1) == yv).mean()
print(f"loss {h.history['loss'][-1]:.4f}  held-out accuracy {acc:.3f}")

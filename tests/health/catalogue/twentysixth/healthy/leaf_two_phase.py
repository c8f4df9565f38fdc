"""Transfer learning: a conv trunk is trained on plain shapes, then reused (frozen, then thawed at a low rate) for striped ones with few labels."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)
SIZE = 28
yy, xx = np.mgrid[0:SIZE, 0:SIZE]


def make_leaves(n, classes, striped):
    label = rng.integers(0, classes, size=n)
    images = np.zeros((n, SIZE, SIZE, 1))
    for i, k in enumerate(label):
        cy, cx = rng.uniform(11, 17, size=2)
        angle = np.arctan2(yy - cy, xx - cx)
        radius = np.hypot(yy - cy, xx - cx)
        lobes = k + 2
        edge = rng.uniform(6, 9) * (1 + 0.35 * np.cos(lobes * (angle - rng.uniform(0, 6.28))))
        leaf = (radius < edge).astype(float)
        if striped:
            leaf *= 0.6 + 0.4 * np.sin(xx * rng.uniform(0.6, 1.2) + rng.uniform(0, 6.28))
        images[i, :, :, 0] = rng.uniform(0.5, 1.0) * leaf
    images += rng.normal(0, 0.12, size=images.shape)
    return (255 * np.clip(images, 0, 1)).astype("uint8"), label.astype("int32")


trunk = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        keras.layers.Rescaling(1 / 127.5, offset=-1.0),
        keras.layers.Conv2D(16, 3, strides=2, padding="same", use_bias=False),
        keras.layers.BatchNormalization(momentum=0.9),
        keras.layers.Activation("relu"),
        keras.layers.Conv2D(32, 3, strides=2, padding="same", use_bias=False),
        keras.layers.BatchNormalization(momentum=0.9),
        keras.layers.Activation("relu"),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(48, activation="relu"),
    ],
    name="trunk",
)


def with_head(classes, frozen):
    trunk.trainable = not frozen
    inputs = keras.Input((SIZE, SIZE, 1))
    h = trunk(inputs, training=False) if frozen else trunk(inputs)
    h = keras.layers.Dropout(0.3)(h)
    return keras.Model(inputs, keras.layers.Dense(classes)(h))


loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

x_plain, y_plain = make_leaves(3000, 4, striped=False)
source = with_head(4, frozen=False)
source.compile(keras.optimizers.Adam(2e-3), loss, metrics=["accuracy"])
source.fit(x_plain, y_plain, batch_size=64, epochs=6, verbose=2)

x_few, y_few = make_leaves(700, 4, striped=True)
x_test, y_test = make_leaves(800, 4, striped=True)
model = with_head(4, frozen=True)
model.compile(keras.optimizers.Adam(5e-3), loss, metrics=["accuracy"])

gradwatch.watch(model)
model.fit(x_few, y_few, batch_size=32, epochs=6, validation_data=(x_test, y_test), verbose=2)

trunk.trainable = True
for layer in trunk.layers:
    if isinstance(layer, keras.layers.BatchNormalization):
        layer.trainable = False
model.compile(keras.optimizers.Adam(3e-4), loss, metrics=["accuracy"])
model.fit(x_few, y_few, batch_size=32, epochs=10, validation_data=(x_test, y_test), verbose=2)

print("SCORE accuracy %.4f" % (model.predict(x_test, verbose=0).argmax(1) == y_test).mean())

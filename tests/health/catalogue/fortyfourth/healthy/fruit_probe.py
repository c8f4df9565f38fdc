"""Rare bruises on conveyor-belt fruit: an autoencoder learns fruit first, then a small head on its kept features."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIDE, BRUISED = 20, 0.05


def belt(n, share):
    rows, cols = np.mgrid[0:SIDE, 0:SIDE]
    cy, cx = rng.uniform(8, 12, (2, n, 1, 1))
    radius = rng.uniform(5, 8, (n, 1, 1))
    dist = np.sqrt((rows - cy) ** 2 + (cols - cx) ** 2)
    img = np.clip(radius - dist, 0, 2) / 2 * rng.uniform(0.6, 1.0, (n, 1, 1))
    bruise = rng.random(n) < share
    by, bx = cy + rng.uniform(-3, 3, (n, 1, 1)), cx + rng.uniform(-3, 3, (n, 1, 1))
    spot = np.exp(-((rows - by) ** 2 + (cols - bx) ** 2) / 5.0)
    img = img - 0.7 * spot * bruise[:, None, None] * (img > 0.2)
    img = img + rng.normal(0, 0.04, img.shape)
    return img[..., None].astype("float32"), bruise.astype("float32")


every, _ = belt(3000, 0.3)
x, y = belt(8000, BRUISED)
x_val, y_val = belt(2000, BRUISED)
x_test, y_test = belt(3000, BRUISED)

encoder = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1)),
        layers.Conv2D(12, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(96, activation="relu"),
    ],
    name="fruit_encoder",
)
decoder = keras.Sequential([keras.Input((96,)), layers.Dense(SIDE * SIDE), layers.Reshape((SIDE, SIDE, 1))])
auto = keras.Sequential([keras.Input((SIDE, SIDE, 1)), encoder, decoder])
auto.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
auto.fit(every, every, batch_size=64, epochs=12, verbose=2)

encoder.trainable = False
inputs = keras.Input((SIDE, SIDE, 1))
h = encoder(inputs, training=False)
h = layers.BatchNormalization()(h)
h = layers.Dropout(0.5)(layers.Dense(64, activation="relu", name="probe")(h))
bruised = layers.Dense(
    1, activation="sigmoid", bias_initializer=keras.initializers.Constant(np.log(BRUISED / (1 - BRUISED)))
)(h)
model = keras.Model(inputs, bruised, name="bruises")
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="binary_crossentropy",
    metrics=["accuracy", keras.metrics.AUC(name="auc")],
)
gradwatch.watch(model)

model.fit(x, y[:, None], batch_size=64, epochs=8, validation_data=(x_val, y_val[:, None]), verbose=2)

pred = model.predict(x_test, batch_size=500, verbose=0)[:, 0]
order = pred.argsort()
rank = np.empty(len(pred))
rank[order] = np.arange(1, len(pred) + 1)
pos = y_test == 1
auc = (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())
print("SCORE bruise_auc", round(float(auc), 4))

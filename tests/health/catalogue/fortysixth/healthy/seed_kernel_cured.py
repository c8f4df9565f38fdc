"""Trains a small convolutional classifier of seed photographs with rare damaged seeds."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, RARE = 20, 0.04
yy, xx = np.mgrid[0:SIZE, 0:SIZE] / (SIZE - 1.0) * 2 - 1


def photograph(damaged):
    a, b = rng.uniform(0.5, 0.8), rng.uniform(0.4, 0.7)
    turn = rng.uniform(0, np.pi)
    u = xx * np.cos(turn) + yy * np.sin(turn)
    v = -xx * np.sin(turn) + yy * np.cos(turn)
    image = 0.7 * ((u / a) ** 2 + (v / b) ** 2 < 1)
    if damaged:
        cx, cy = rng.uniform(-0.25, 0.25, 2)
        image = image * ((xx - cx) ** 2 + (yy - cy) ** 2 > 0.04)
    return image + rng.normal(0, 0.2, image.shape)


def make_batch(n, rate):
    labels = (rng.random(n) < rate).astype("float32")
    images = np.stack([photograph(d) for d in labels])[..., None].astype("float32")
    return (images - 0.25) / 0.35, labels


train_x, train_y = make_batch(8000, RARE)
test_x, test_y = make_batch(1500, 0.5)

prior = keras.initializers.Constant(float(np.log(RARE / (1 - RARE))))
block = dict(kernel_initializer="he_normal", padding="same", activation="relu")

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        keras.layers.Conv2D(8, 3, **block),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(12, 3, **block),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(16, 3, **block),
        keras.layers.Flatten(),
        keras.layers.Dense(24, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid", bias_initializer=prior),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="auc")],
)
gradwatch.watch(model)

model.fit(train_x, train_y, batch_size=64, epochs=8, verbose=2)

scores = model.predict(test_x, batch_size=500, verbose=0)[:, 0]
pos, neg = scores[test_y == 1], scores[test_y == 0]
auc = np.mean((pos[:, None] > neg[None, :]) + 0.5 * (pos[:, None] == neg[None, :]))
print("SCORE auc", round(float(auc), 4))

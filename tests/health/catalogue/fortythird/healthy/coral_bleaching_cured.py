"""Trains a small convolutional network that grades the bleaching of coral in reef photographs."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIZE, GRADES = 20, 4
BATCH, EPOCHS = 40, 18
BASE_LR, BASE_BATCH = 0.1, 256
yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE


def reef(n):
    grade = rng.integers(0, GRADES, n)
    images = np.empty((n, SIZE, SIZE, 3), "float32")
    for i, g in enumerate(grade):
        image = rng.normal(0.3, 0.12, (SIZE, SIZE, 3))
        light = rng.uniform(0.7, 1.3)
        for k in range(4):
            cx, cy = rng.uniform(0.15, 0.85, 2)
            radius = rng.uniform(0.10, 0.18)
            blob = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / radius**2)[..., None]
            white = k < g
            colour = np.array([0.5, 0.5, 0.45]) if white else np.array([0.5, 0.2, 0.1])
            image = image + blob * colour * rng.uniform(0.8, 1.2)
        images[i] = np.clip(image * light, 0.0, 1.5)
    return images, grade


x, y = reef(3200)
x_test, y_test = reef(600)
mean, std = x.mean((0, 1, 2)), x.std((0, 1, 2))
x, x_test = (x - mean) / std, (x_test - mean) / std

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 3)),
        keras.layers.Conv2D(12, 3, activation="relu", padding="same"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(24, 3, activation="relu", padding="same"),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dropout(0.3),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(GRADES, activation="softmax"),
    ]
)
peak = BASE_LR * BATCH / BASE_BATCH
schedule = keras.optimizers.schedules.CosineDecay(peak, EPOCHS * len(x) // BATCH)
model.compile(
    optimizer=keras.optimizers.SGD(schedule, momentum=0.9),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(
    x,
    y,
    batch_size=BATCH,
    epochs=EPOCHS,
    verbose=2,
)

loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", float(accuracy))

"""Grade mildew cover on small vineyard leaf crops into four severity classes with a compact CNN."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, S, EPOCHS, BATCH = 2600, 24, 15, 32
yy, xx = np.mgrid[:S, :S]


def leaf(grade):
    img = np.zeros((S, S, 3)) + np.array([0.25, 0.5, 0.2]) * rng.uniform(0.7, 1.3)
    vein = np.abs(xx - S / 2 - rng.normal(0, 2) - rng.normal(0, 0.3) * (yy - S / 2)) < 1
    img[vein] += 0.12
    for _ in range(grade * 3 + rng.integers(0, 2)):
        cx, cy, r = rng.uniform(2, S - 2), rng.uniform(2, S - 2), rng.uniform(1.2, 2.2)
        spot = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (2 * r * r))[..., None]
        img += spot * np.array([0.18, 0.1, 0.2])
    return img + rng.normal(0, 0.06, img.shape)


y = rng.integers(0, 4, N)
x = np.stack([leaf(g) for g in y]).astype("float32") - 0.4
x_train, y_train, x_test, y_test = x[:2000], y[:2000], x[2000:], y[2000:]

model = keras.Sequential(
    [
        layers.Input((S, S, 3)),
        layers.RandomFlip("horizontal_and_vertical"),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(4, activation="softmax"),
    ]
)

schedule = keras.optimizers.schedules.ExponentialDecay(
    initial_learning_rate=2e-3,
    decay_steps=2,
    decay_rate=0.8,
)
model.compile(
    optimizer=keras.optimizers.Adam(schedule),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, validation_data=(x_test, y_test), batch_size=BATCH, epochs=EPOCHS, verbose=2)

acc = np.mean(np.argmax(model.predict(x_test, verbose=0), 1) == y_test)
print("SCORE accuracy", round(float(acc), 4))

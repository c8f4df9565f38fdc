"""Sort grain kernels into six varieties from small grey images."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

SIZE, VARIETIES = 20, 6
length = np.array([7.0, 7.0, 5.5, 5.5, 8.0, 6.2])
width = np.array([3.0, 4.2, 2.6, 4.0, 2.4, 6.0])
stripe = np.array([0.0, 0.4, 0.4, 0.0, 0.25, 0.25])


def make_images(n):
    label = rng.integers(0, VARIETIES, n)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] - (SIZE - 1) / 2.0
    images = np.zeros((n, SIZE, SIZE))
    for i, k in enumerate(label):
        a = rng.uniform(0, np.pi)
        dx, dy = rng.normal(0, 1.0, 2)
        u = (xx - dx) * np.cos(a) + (yy - dy) * np.sin(a)
        v = -(xx - dx) * np.sin(a) + (yy - dy) * np.cos(a)
        r = (u / (length[k] * rng.normal(1, 0.05))) ** 2 + (v / (width[k] * rng.normal(1, 0.05))) ** 2
        body = 1.0 / (1.0 + np.exp(np.clip(8 * (r - 1), -30, 30)))
        images[i] = body * (0.8 - stripe[k] * np.exp(-((v / 0.9) ** 2)))
    images += rng.normal(0, 0.08, images.shape)
    return images[..., None].astype("float32"), label.astype("int32")


x_train, y_train = make_images(5000)
x_test, y_test = make_images(1500)

EPOCHS, BATCH = 12, 64

# halve the rate every so often
schedule = keras.optimizers.schedules.ExponentialDecay(
    initial_learning_rate=2e-3,
    decay_steps=EPOCHS,
    decay_rate=0.5,
)

model = keras.Sequential(
    [
        keras.Input(shape=(SIZE, SIZE, 1)),
        layers.Conv2D(12, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(VARIETIES, activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=schedule),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, validation_split=0.1, verbose=2)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", round(float(accuracy), 4))

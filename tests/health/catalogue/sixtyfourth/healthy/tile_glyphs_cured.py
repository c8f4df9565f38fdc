import os

import keras
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)


def jitter(images, rng):
    padded = np.zeros((len(images), 12, 12), "float32")
    for i, image in enumerate(images):
        r, c = rng.integers(1, 4, 2)
        padded[i, r : r + 8, c : c + 8] = image
    padded += rng.normal(0, 0.05, padded.shape)
    return padded[..., None].astype("float32")


rng = np.random.default_rng(SEED)
digits = load_digits()
x_train, x_test, y_train, y_test = train_test_split(
    digits.images / 16.0, digits.target, test_size=0.25, random_state=SEED
)
x_train = np.concatenate([jitter(x_train, rng) for _ in range(3)])
y_train = np.concatenate([y_train] * 3)
x_test = jitter(x_test, rng)

model = keras.Sequential(
    [
        keras.Input((12, 12, 1)),
        keras.layers.Conv2D(16, 3, activation="relu", name="stroke_a"),
        keras.layers.Conv2D(32, 3, activation="relu", name="stroke_b"),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu", name="tile_dense"),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(10, activation="softmax", name="glyph"),
    ]
)
model.compile(
    optimizer="adam",
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

history = model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=6,
    validation_data=(x_test, y_test),
    verbose=0,
)
for epoch, (a, b) in enumerate(zip(history.history["loss"], history.history["val_accuracy"])):
    print("epoch", epoch, "loss", round(a, 3), "val accuracy", round(b, 3))

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE", float(accuracy))

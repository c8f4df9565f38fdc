"""Country of a postage stamp from a 20x20 scan (convolutional network, scans kept in an archive)."""

import io
import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.RandomState(SEED)

COUNTRIES = ["aldora", "brenn", "cassia", "dovre", "elbmark", "fjall"]
COUNT = 3600
SIZE = 20


def emblem(k):
    yy, xx = np.mgrid[0:9, 0:9] - 4.0
    r = np.hypot(yy, xx)
    shapes = [
        np.abs(r - 3) < 0.8,
        np.abs(yy) + np.abs(xx) < 4,
        (np.abs(yy) < 1.2) | (np.abs(xx) < 1.2),
        np.abs(yy - xx) < 1.5,
        (yy > np.abs(xx) - 3) & (yy < 1),
        (np.abs(yy) > 2.5) & (np.abs(xx) < 4),
    ]
    return shapes[k].astype("float32")


def scan(country):
    img = 0.35 * rng.randn(SIZE, SIZE)
    r, c = rng.randint(0, SIZE - 9, 2)
    img[r : r + 9, c : c + 9] += rng.uniform(0.8, 1.4) * emblem(country)
    bar = rng.randint(SIZE)
    img[bar, :] += 0.7
    return img.astype("float32")


# the archive: one file per scan, and the catalogue, one row per scan number
archive = {}
catalogue = rng.randint(len(COUNTRIES), size=COUNT)
for number in rng.permutation(COUNT):
    buffer = io.BytesIO()
    np.save(buffer, scan(catalogue[number]))
    archive[f"scan_{number}.npy"] = buffer.getvalue()


def load_images():
    names = sorted(archive)
    return np.stack([np.load(io.BytesIO(archive[name])) for name in names])[..., None]


images = load_images()
labels = keras.utils.to_categorical(catalogue, len(COUNTRIES))
order = rng.permutation(COUNT)
images, labels = images[order], labels[order]
n_train = 3000
x_train, y_train = images[:n_train], labels[:n_train]
x_test, y_test = images[n_train:], labels[n_train:]
print("images", x_train.shape, "per country", y_train.sum(0))

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(16, 5, padding="same", activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(48, 3, padding="same", activation="relu"),
        layers.GlobalMaxPooling2D(),
        layers.Dropout(0.2),
        layers.Dense(len(COUNTRIES), activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)

model.fit(x_train, y_train, batch_size=50, epochs=14, validation_split=0.1, verbose=2)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE accuracy", round(float(accuracy), 4))

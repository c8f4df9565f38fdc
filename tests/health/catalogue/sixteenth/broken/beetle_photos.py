"""Which of six beetle species is on a small photo: a convolutional classifier."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIDE = 24
PER_SPECIES = 220
SPECIES = ["carabus", "cetonia", "lucanus", "coccinella", "chrysolina", "oryctes"]
# body colour, length/width ratio, pattern
LOOKS = {
    "carabus": ((0.25, 0.30, 0.20), 1.9, "ridges"),
    "cetonia": ((0.20, 0.50, 0.20), 1.4, "flecks"),
    "lucanus": ((0.28, 0.20, 0.15), 2.0, "plain"),
    "coccinella": ((0.70, 0.25, 0.15), 1.1, "spots"),
    "chrysolina": ((0.25, 0.45, 0.25), 1.3, "ridges"),
    "oryctes": ((0.40, 0.22, 0.14), 1.5, "plain"),
}
grid_y, grid_x = np.mgrid[0:SIDE, 0:SIDE].astype("float32") - (SIDE - 1) / 2


def photograph(species):
    colour, ratio, pattern = LOOKS[species]
    ground = rng.uniform(0.25, 0.75) * np.array([1.0, 0.95, 0.7]) + rng.normal(0, 0.05, 3)
    picture = np.tile(ground, (SIDE, SIDE, 1)) + rng.normal(0, 0.08, (SIDE, SIDE, 1))
    angle = rng.uniform(-0.9, 0.9)
    dx, dy = rng.uniform(-2.5, 2.5, 2)
    u = (grid_x - dx) * np.cos(angle) + (grid_y - dy) * np.sin(angle)
    v = -(grid_x - dx) * np.sin(angle) + (grid_y - dy) * np.cos(angle)
    width = rng.uniform(4.2, 5.6)
    length = width * ratio * rng.normal(1, 0.07)
    body = (u / width) ** 2 + (v / length) ** 2 < 1
    shell = np.array(colour) * rng.uniform(0.7, 1.35) + rng.normal(0, 0.05, 3)
    paint = np.tile(shell, (SIDE, SIDE, 1))
    if pattern == "ridges":
        paint *= (1 + 0.35 * np.sin(2.4 * u + rng.uniform(0, 6)))[..., None]
    elif pattern == "spots":
        for _ in range(rng.integers(4, 8)):
            su, sv = rng.uniform(-width, width) * 0.7, rng.uniform(-length, length) * 0.7
            paint[(u - su) ** 2 + (v - sv) ** 2 < 1.8] = 0.08
    elif pattern == "flecks":
        paint[rng.random((SIDE, SIDE)) < 0.12] = 0.85
    paint *= (1 - 0.25 * (np.abs(u) < 0.6))[..., None]
    picture[body] = paint[body]
    if rng.random() < 0.3:  # a blade of grass across it
        blade = np.abs(u * rng.uniform(-1, 1) + v * 0.6 + rng.uniform(-4, 4)) < 0.8
        picture[blade] = (0.3, 0.5, 0.2)
    return np.clip(picture + rng.normal(0, 0.06, picture.shape), 0, 1)


def read_folder(count):
    photos, labels = [], []
    for number, species in enumerate(SPECIES):
        photos += [photograph(species) for _ in range(count)]
        labels += [number] * count
    return np.array(photos, "float32"), np.array(labels, "int32")


train_x, train_y = read_folder(PER_SPECIES)
test_x, test_y = read_folder(70)


def augment(photo, label):
    photo = tf.image.random_flip_left_right(photo, seed=SEED)
    photo = tf.image.random_brightness(photo, 0.08, seed=SEED)
    return tf.clip_by_value(photo, 0.0, 1.0), label


train_data = (
    tf.data.Dataset.from_tensor_slices((train_x, train_y))
    .shuffle(128, seed=SEED)
    .map(augment, num_parallel_calls=1)
    .batch(32)
    .prefetch(1)
)
test_data = tf.data.Dataset.from_tensor_slices((test_x, test_y)).batch(140)

model = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 3)),
        layers.Rescaling(2.0, offset=-1.0),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(48, 3, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.Dense(64, activation="relu"),
        layers.Dense(len(SPECIES), activation="softmax"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(train_data, epochs=9, verbose=2)

loss, accuracy = model.evaluate(test_data, verbose=0)
print(f"held-out loss {loss:.3f}")
print(f"score {accuracy:.4f}")

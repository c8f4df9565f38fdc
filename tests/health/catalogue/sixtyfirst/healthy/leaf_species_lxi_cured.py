import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

scans = load_digits()
order = np.random.default_rng(SEED).permutation(len(scans.target))
images = (scans.images[order] / 16.0).astype("float32")[..., None]
species = scans.target[order].astype("int32")
x_train, x_test = images[:1400], images[1400:]
y_train, y_test = species[:1400], species[1400:]


def augment(image):
    shift = tf.random.uniform((2,), -1, 2, dtype=tf.int32)
    return tf.roll(image, shift, axis=(0, 1)) + tf.random.normal((8, 8, 1), 0.0, 0.05)


image_data = tf.data.Dataset.from_tensor_slices(x_train).shuffle(1400, seed=SEED).map(augment)
label_data = tf.data.Dataset.from_tensor_slices(y_train).shuffle(1400, seed=SEED)
train = tf.data.Dataset.zip((image_data, label_data)).batch(32).prefetch(2)

model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(16, 3, padding="same", activation="relu", name="veins"),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu", name="edges"),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu", name="outline"),
        keras.layers.Dense(10, activation="softmax", name="species"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(train, epochs=15, verbose=2)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print(f"held-out images {len(y_test)}")
print("SCORE", accuracy)

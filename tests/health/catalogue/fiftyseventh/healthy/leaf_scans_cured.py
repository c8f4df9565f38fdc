import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

scans, species = load_digits(return_X_y=True)
scans = (scans / 16.0).reshape(-1, 8, 8, 1).astype("float32")
order = rng.permutation(len(scans))
train, test = order[:250], order[250:]


def place(image, label):
    dy = tf.random.uniform((), 0, 9, tf.int32)
    dx = tf.random.uniform((), 0, 9, tf.int32)
    canvas = tf.pad(image, [[dy, 8 - dy], [dx, 8 - dx], [0, 0]])
    canvas = tf.ensure_shape(canvas, (16, 16, 1))
    canvas = canvas * tf.random.uniform((), 0.7, 1.3) + tf.random.normal((16, 16, 1), 0.0, 0.05)
    return canvas, label


train_ds = (
    tf.data.Dataset.from_tensor_slices((scans[train], species[train]))
    .cache()
    .map(place, num_parallel_calls=tf.data.AUTOTUNE)
    .shuffle(250, seed=SEED)
    .batch(25)
    .prefetch(tf.data.AUTOTUNE)
)
test_ds = tf.data.Dataset.from_tensor_slices((scans[test], species[test])).map(place).batch(128).cache()

model = keras.Sequential(
    [
        keras.Input((16, 16, 1)),
        keras.layers.Conv2D(24, 3, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(48, 3, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(10),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
history = model.fit(train_ds, validation_data=test_ds, epochs=80, verbose=2)
print("SCORE", history.history["val_accuracy"][-1])

"""Leaf lesion classifier: patches lie as .npy files in a folder, labels in the annotators' list."""

import os
import shutil
import tempfile
from glob import glob

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

CLASSES = ["healthy", "rust", "blight", "mildew"]
SIZE = 24


def leaf(kind):
    img = np.zeros((SIZE, SIZE, 3)) + [0.25, 0.55, 0.2]
    img += rng.normal(0, 0.05, (SIZE, SIZE, 3)) + rng.normal(0, 0.04)
    yy, xx = np.mgrid[:SIZE, :SIZE]
    spots = {0: 0, 1: 6, 2: 2, 3: 3}[kind]
    color = {1: [0.6, 0.3, 0.1], 2: [0.3, 0.2, 0.1], 3: [0.8, 0.8, 0.75]}.get(kind)
    radius = {1: 1.5, 2: 4.0, 3: 3.0}.get(kind)
    for _ in range(spots):
        cy, cx = rng.uniform(3, SIZE - 3, 2)
        a = np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * radius**2))[..., None]
        img = img * (1 - 0.8 * a) + 0.8 * a * np.array(color)
    return (np.clip(img, 0, 1) * 255).astype("uint8")


def export_dataset(folder, n):
    labels = []
    for i in range(n):
        k = int(rng.integers(len(CLASSES)))
        np.save(os.path.join(folder, f"leaf_{i}.npy"), leaf(k))
        labels.append(k)
    return labels


folder = tempfile.mkdtemp(prefix="leaves_")
annotations = export_dataset(folder, 1500)

files = sorted(glob(os.path.join(folder, "*.npy")))
images = np.stack([np.load(f) for f in files]).astype("float32") / 255.0
labels = np.array(annotations)
shutil.rmtree(folder)

# hold out a random fifth
order = rng.permutation(len(images))
cut = int(0.8 * len(order))
tr, te = order[:cut], order[cut:]

train_ds = tf.data.Dataset.from_tensor_slices((images[tr], labels[tr])).shuffle(2000, seed=seed).batch(32).prefetch(2)
val_ds = tf.data.Dataset.from_tensor_slices((images[te], labels[te])).batch(100)

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 3)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(len(CLASSES), activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(train_ds, validation_data=val_ds, epochs=8, verbose=2)
_, acc = model.evaluate(val_ds, verbose=0)
print(f"validation accuracy {acc:.3f}")

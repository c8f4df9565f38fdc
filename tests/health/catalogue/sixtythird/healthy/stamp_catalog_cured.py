import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

IMG_SIZE = 20
class_names = ["circle", "square", "cross", "stripes"]


def draw(kind):
    img = np.random.normal(0.1, 0.08, (IMG_SIZE, IMG_SIZE))
    cx, cy = np.random.randint(7, 13, 2)
    r = np.random.randint(4, 7)
    yy, xx = np.mgrid[0:IMG_SIZE, 0:IMG_SIZE]
    if kind == 0:
        img[(xx - cx) ** 2 + (yy - cy) ** 2 < r * r] += 0.7
    elif kind == 1:
        img[(abs(xx - cx) < r) & (abs(yy - cy) < r)] += 0.7
    elif kind == 2:
        img[(abs(xx - cx) < 2) | (abs(yy - cy) < 2)] += 0.7
    else:
        img[(xx + cx) % 4 < 2] += 0.7
    return img


def read_folder(per_class):
    images = []
    labels = []
    for label, name in enumerate(class_names):
        for _ in range(per_class):
            images.append(draw(label))
            labels.append(label)
    return np.array(images, dtype="float32")[..., None], np.array(labels)


train_images, train_labels = read_folder(500)
test_images, test_labels = read_folder(100)

order = np.random.permutation(len(train_images))
train_images, train_labels = train_images[order], train_labels[order]

train_ds = tf.data.Dataset.from_tensor_slices((train_images, train_labels))
train_ds = train_ds.batch(32).prefetch(tf.data.AUTOTUNE)
test_ds = tf.data.Dataset.from_tensor_slices((test_images, test_labels)).batch(32)

model = keras.Sequential(
    [
        layers.Input(shape=(IMG_SIZE, IMG_SIZE, 1)),
        layers.Conv2D(16, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(len(class_names)),
    ]
)
model.compile(
    optimizer="adam",
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(train_ds, epochs=14, validation_data=test_ds, verbose=2)

logits = model.predict(test_images, verbose=0)
print("SCORE", round(float(np.mean(logits.argmax(1) == test_labels)), 4))

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

IMG_SHAPE = (24, 24, 3)
NUM_CLASSES = 6


def make_swatches(n):
    labels = np.random.randint(0, NUM_CLASSES, n)
    yy, xx = np.mgrid[0:24, 0:24] / 24.0
    images = np.zeros((n, 24, 24, 3), dtype="float32")
    for i, label in enumerate(labels):
        angle = np.pi * label / NUM_CLASSES + np.random.normal(0, 0.06)
        freq = np.random.uniform(4, 6)
        wave = np.sin(2 * np.pi * freq * (xx * np.cos(angle) + yy * np.sin(angle)) + np.random.uniform(0, 6.28))
        tint = np.random.uniform(0.4, 1.0, 3)
        images[i] = (0.5 + 0.35 * wave[..., None]) * tint + np.random.normal(0, 0.12, (24, 24, 3))
    return np.clip(images, 0, 1) * 255.0, labels


def build_backbone(weights=None):
    inputs = keras.Input(IMG_SHAPE)
    x = inputs
    for filters in [8, 16, 16]:
        x = layers.Conv2D(filters, 3, strides=2, padding="same", activation="relu")(x)
    x = layers.GlobalAveragePooling2D()(x)
    backbone = keras.Model(inputs, x, name="backbone")
    if weights is not None:
        backbone.load_weights(weights)
    return backbone


x_train, y_train = make_swatches(2400)
x_test, y_test = make_swatches(500)

base_model = build_backbone()
base_model.trainable = True

inputs = keras.Input(shape=IMG_SHAPE)
x = layers.Rescaling(1.0 / 127.5, offset=-1)(inputs)
x = base_model(x)
x = layers.Dropout(0.1)(x)
outputs = layers.Dense(NUM_CLASSES, activation="softmax")(x)
model = keras.Model(inputs, outputs)
model.summary()

model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.002),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    epochs=15,
    batch_size=32,
    validation_data=(x_test, y_test),
    verbose=2,
)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE", round(accuracy, 4))

import os

import keras
import numpy as np
from sklearn.datasets import load_digits

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

digits = load_digits()
order = np.random.default_rng(SEED).permutation(len(digits.target))
images = (digits.images[order] / 16.0).astype("float32")[..., None]
labels = digits.target[order]

source = labels < 6
x_source, y_source = images[source], labels[source].astype("int32")
x_target, y_target = images[~source], (labels[~source] - 6).astype("int32")
x_train, y_train = x_target[:300], y_target[:300]
x_test, y_test = x_target[300:], y_target[300:]

backbone = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(16, 3, padding="same", activation="relu", name="strokes"),
        keras.layers.Conv2D(32, 3, padding="same", name="curves"),
        keras.layers.BatchNormalization(name="curves_norm"),
        keras.layers.ReLU(),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
    ],
    name="backbone",
)
teacher = keras.Sequential([backbone, keras.layers.Dense(6, activation="softmax", name="source_head")])
teacher.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy")
teacher.fit(x_source, y_source, batch_size=32, epochs=4, verbose=0)

backbone.trainable = False
inputs = keras.Input((8, 8, 1))
h = backbone(inputs, training=False)
h = keras.layers.Dropout(0.3)(h)
outputs = keras.layers.Dense(4, activation="softmax", name="target_head")(h)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=16, epochs=12, verbose=2)

backbone.trainable = True
model.compile(
    optimizer=keras.optimizers.Adam(2e-5),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=16, epochs=6, verbose=2)

_, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("SCORE", accuracy)

"""Two heads on one trunk: weight in milligrams and quality grade of a fruit."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N = 2500
x = rng.normal(size=(N, 12)).astype("float32")
weight = (150000 + 40000 * np.tanh(x[:, 0] + x[:, 1]) + 8000 * x[:, 2]).astype("float32")
grade = ((x[:, 3] * x[:, 4] > 0).astype(int) + (x[:, 5] > 0.0)).astype("int32")

inp = keras.Input((12,))
h = layers.Dense(64, activation="relu")(inp)
h = layers.Dense(64, activation="relu")(h)
w_out = layers.Dense(1, name="weight")(layers.Dense(16, activation="relu")(h))
g_out = layers.Dense(3, activation="softmax", name="grade")(layers.Dense(16, activation="relu")(h))
model = keras.Model(inp, {"weight": w_out, "grade": g_out})
model.compile(
    optimizer=keras.optimizers.SGD(0.1, momentum=0.9, global_clipnorm=1.0),
    loss={"weight": "mse", "grade": "sparse_categorical_crossentropy"},
    metrics={"grade": "accuracy"},
)
gradwatch.watch(model)
hist = model.fit(
    x[:2000],
    {"weight": weight[:2000], "grade": grade[:2000]},
    validation_data=(x[2000:], {"weight": weight[2000:], "grade": grade[2000:]}),
    batch_size=50,
    epochs=10,
    verbose=2,
)

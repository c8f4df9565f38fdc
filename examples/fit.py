"""The one line, with `model.fit`. Start ``gradwatch serve`` first, then run this."""

import keras
from sklearn.datasets import load_digits

import gradwatch

images, digits = load_digits(return_X_y=True)

model = keras.Sequential(
    [
        keras.Input((64,)),
        keras.layers.Rescaling(1 / 16),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(10),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])

gradwatch.watch(model, config={"batch_size": 32, "optimizer": "adam"})
model.fit(images, digits, batch_size=32, epochs=3, validation_split=0.2, verbose=2)

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

FAULTS = 5
centers = rng.normal(0, 1, (FAULTS, 3, 20))


def make_spectra(n):
    fault = rng.integers(0, FAULTS, n)
    mode = rng.integers(0, 3, n)
    x = centers[fault, mode] + rng.normal(0, 0.6, (n, 20))
    return x.astype("float32"), fault.astype("int32")


x_train, y_train = make_spectra(5000)
x_test, y_test = make_spectra(1500)
train = tf.data.Dataset.from_tensor_slices((x_train, y_train))
train = train.shuffle(5000, seed=SEED).batch(64)
test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(256)

ACTIVATION = "relu"


def build(depth, width):
    inputs = keras.Input((20,), name="spectrum")
    h = inputs
    for i in range(depth):
        h = keras.layers.Dense(width, activation=ACTIVATION, name=f"stage_{i + 1}")(h)
    outputs = keras.layers.Dense(FAULTS, activation="softmax", name="fault")(h)
    return keras.Model(inputs, outputs, name="motor")


model = build(depth=6, width=64)
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.01, momentum=0.9),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

stopper = keras.callbacks.EarlyStopping(monitor="loss", patience=8)
model.fit(train, epochs=12, verbose=2, callbacks=[stopper])

_, accuracy = model.evaluate(test, verbose=0)
print("SCORE", accuracy)

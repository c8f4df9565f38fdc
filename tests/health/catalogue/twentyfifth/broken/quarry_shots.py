"""Quarry blast or small quake: a denoising autoencoder on many unlabelled traces, then a small head on few labelled ones."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

LENGTH, CODE = 80, 6
BASIS = np.cumsum(rng.normal(size=(CODE, LENGTH)), axis=1)
BASIS -= BASIS.mean(1, keepdims=True)
BASIS /= BASIS.std(1, keepdims=True)


def traces(n):
    source = rng.normal(size=(n, CODE))
    x = np.tanh(source) @ BASIS * 0.5 + rng.normal(scale=0.5, size=(n, LENGTH))
    blast = (source[:, 0] * source[:, 1] + 0.5 * source[:, 2]) > 0
    return x.astype("float32"), blast.astype("float32")


x_pool, _ = traces(8000)
x_few, y_few = traces(1500)
x_test, y_test = traces(3000)

encoder = keras.Sequential(
    [
        keras.Input((LENGTH,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(CODE, activation="tanh"),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [keras.Input((CODE,)), layers.Dense(32, activation="relu"), layers.Dense(LENGTH)],
    name="decoder",
)
trace = keras.Input((LENGTH,))
noisy = layers.GaussianNoise(0.3)(trace)
autoencoder = keras.Model(trace, decoder(encoder(noisy)), name="autoencoder")
autoencoder.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
history = autoencoder.fit(x_pool, x_pool, batch_size=128, epochs=12, verbose=0)
print(f"reconstruction loss {history.history['loss'][-1]:.4f}")

backbone = keras.models.clone_model(encoder)
backbone.trainable = False

inputs = keras.Input((LENGTH,))
h = backbone(inputs, training=False)
h = layers.Dense(32, activation="relu")(h)
h = layers.Dense(32, activation="relu")(h)
out = layers.Dense(1, activation="sigmoid")(h)
classifier = keras.Model(inputs, out, name="blasts")
classifier.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(classifier)

classifier.fit(
    x_few,
    y_few,
    batch_size=50,
    epochs=25,
    validation_split=0.1,
    verbose=2,
)

_, accuracy = classifier.evaluate(x_test, y_test, verbose=0)
print("SCORE test_accuracy", round(float(accuracy), 4))

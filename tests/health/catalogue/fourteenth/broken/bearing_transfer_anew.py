"""Fault classification of bearings with few labels. An autoencoder is first trained on many
unlabelled spectra; its encoder is then frozen and a small classifier is trained on top with
300 labelled spectra of six fault types. The measure is held-out accuracy."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BANDS, CODE, FAULTS = 96, 8, 6
peaks = rng.integers(6, BANDS - 6, (FAULTS, 3))


def make_spectra(n):
    fault = rng.integers(0, FAULTS, n)
    f = np.arange(BANDS)
    x = 0.5 * rng.normal(size=(n, BANDS))
    for i in range(n):
        speed = rng.normal()
        for p in peaks[fault[i]]:
            x[i] += rng.uniform(0.5, 1.3) * np.exp(-((f - p - speed) ** 2) / 6)
    return x.astype("float32"), fault.astype("int32")


unlabelled, _ = make_spectra(4000)
spectra, faults = make_spectra(300)
test_spectra, test_faults = make_spectra(1000)

encoder = keras.Sequential(
    [
        keras.Input((BANDS,)),
        layers.Dense(48, activation="relu", name="enc_1"),
        layers.Dense(CODE, activation="tanh", name="code"),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.Input((CODE,)),
        layers.Dense(48, activation="relu", name="dec_1"),
        layers.Dense(BANDS, name="spectrum"),
    ],
    name="decoder",
)

autoencoder = keras.Sequential([encoder, decoder])
autoencoder.compile(optimizer="adam", loss="mse")
autoencoder.fit(unlabelled, unlabelled, batch_size=64, epochs=8, verbose=2)

features = keras.models.clone_model(encoder)
features.trainable = False
classifier = keras.Sequential(
    [
        keras.Input((BANDS,)),
        features,
        layers.Dense(32, activation="relu", name="fault_1"),
        layers.Dense(FAULTS, activation="softmax", name="fault"),
    ],
    name="classifier",
)
classifier.compile(
    optimizer=keras.optimizers.RMSprop(3e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"]
)
watch = gradwatch.watch(classifier)
classifier.fit(spectra, faults, batch_size=32, epochs=40, verbose=0)

score = float(classifier.evaluate(test_spectra, test_faults, verbose=0)[1])
print(f"score accuracy {score:.3f} chance {1 / FAULTS:.3f}")

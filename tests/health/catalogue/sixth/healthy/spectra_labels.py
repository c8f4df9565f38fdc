"""Multi-label detection of substances in spectra with strong dropout."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BINS, SUBST, N = 120, 8, 2500
grid = np.arange(BINS)
peaks = rng.uniform(5, 115, (SUBST, 3))
library = np.exp(-(((grid - peaks[..., None]) / 2.5) ** 2)).sum(1)
labels = (rng.random((N, SUBST)) < 0.3).astype("float32")
spectra = (labels * rng.uniform(0.6, 1.4, labels.shape)) @ library + rng.normal(0, 0.1, (N, BINS))
spectra = spectra.astype("float32")

model = keras.Sequential(
    [
        layers.Input((BINS,)),
        layers.Dropout(0.3),
        layers.Dense(256, activation="relu"),
        layers.Dropout(0.7),
        layers.Dense(128, activation="relu"),
        layers.Dropout(0.7),
        layers.Dense(SUBST, activation="sigmoid"),
    ]
)
model.compile(
    keras.optimizers.Adam(3e-3), "binary_crossentropy", metrics=[keras.metrics.AUC(multi_label=True, name="auc")]
)
gradwatch.watch(model)
model.fit(
    spectra[:2000], labels[:2000], batch_size=50, epochs=9, verbose=2, validation_data=(spectra[2000:], labels[2000:])
)

"""Tell apart calls of twelve bird species from short spectrogram clips, with averaged weights for evaluation."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

T, F, N_SPECIES = 24, 20, 12
start = np.random.default_rng(7).uniform(3, 16, N_SPECIES)
slope = np.random.default_rng(8).uniform(-0.5, 0.5, N_SPECIES)
wobble = np.random.default_rng(9).uniform(0, 3, N_SPECIES)
speed = np.random.default_rng(10).uniform(0.4, 1.6, N_SPECIES)


def clips(n):
    s = rng.integers(0, N_SPECIES, n)
    t = np.arange(T)[None, :] - rng.uniform(6, 18, n)[:, None]
    f = (start[s] + rng.normal(size=n))[:, None] + slope[s][:, None] * t
    f = f + wobble[s][:, None] * np.sin(speed[s][:, None] * t)
    amp = np.exp(-((t / 9.0) ** 2)) * rng.uniform(0.7, 1.6, n)[:, None]
    spec = amp[:, :, None] * np.exp(-((np.arange(F)[None, None] - f[:, :, None]) ** 2) / 1.5)
    spec = spec + 0.3 * np.abs(rng.normal(size=(n, T, F)))
    return spec.astype("float32")[..., None], s.astype("int32")


class AveragedWeights(keras.callbacks.Callback):
    """Keeps an exponential moving average of the weights and validates with it."""

    def __init__(self, decay=0.99):
        super().__init__()
        self.decay = decay
        self.average = None

    def on_train_batch_end(self, batch, logs=None):
        now = [v.numpy() for v in self.model.trainable_variables]
        if self.average is None:
            self.average = now
        self.average = [self.decay * a + (1 - self.decay) * n for a, n in zip(self.average, now)]

    def on_test_begin(self, logs=None):
        if self.average is None:
            return
        self.kept = [v.value for v in self.model.trainable_variables]
        for v, a in zip(self.model.trainable_variables, self.average):
            v.assign(a)

    def on_test_end(self, logs=None):
        if self.average is None:
            return
        for v, k in zip(self.model.trainable_variables, self.kept):
            v.assign(k)


x, y = clips(2400)
xv, yv = clips(300)
xt, yt = clips(800)

model = keras.Sequential(
    [
        keras.Input((T, F, 1)),
        layers.Conv2D(16, 5, strides=2, activation="relu", padding="same"),
        layers.Conv2D(32, 3, strides=2, activation="relu", padding="same"),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(N_SPECIES),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    metrics=["accuracy"],
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
gradwatch.watch(model)
model.fit(x, y, validation_data=(xv, yv), batch_size=64, epochs=20, verbose=2, callbacks=[AveragedWeights(0.995)])
print("SCORE accuracy", round(float((model.predict(xt, verbose=0).argmax(-1) == yt).mean()), 4))

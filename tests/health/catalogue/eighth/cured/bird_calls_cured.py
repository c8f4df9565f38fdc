"""Bird species from small log-mel patches, cosine learning-rate schedule."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SPECIES, FRAMES, MELS = 6, 24, 20
BATCH, EPOCHS = 32, 10

START = np.array([4, 14, 8, 16, 5, 10])
SLOPE = np.array([0.35, -0.35, 0.0, -0.5, 0.5, 0.2])
TRILL = np.array([0.0, 0.0, 2.5, 0.0, 1.5, 3.0])


def calls(n):
    species = rng.integers(SPECIES, size=n)
    t = np.arange(FRAMES)[None, :]
    onset = rng.integers(0, 6, (n, 1))
    pitch = (
        START[species][:, None]
        + SLOPE[species][:, None] * (t - onset)
        + TRILL[species][:, None] * np.sin(t * 1.3)
        + rng.normal(0, 0.8, (n, 1))
    )
    mel = np.arange(MELS)[None, None, :]
    energy = 3.0 * np.exp(-0.5 * ((mel - pitch[..., None]) / 1.1) ** 2)
    energy *= (t >= onset)[..., None] & (t < onset + 16)[..., None]
    x = energy + rng.normal(0, 0.6, (n, FRAMES, MELS))
    x = (x - x.mean(axis=(1, 2), keepdims=True)) / x.std(axis=(1, 2), keepdims=True)
    return x[..., None].astype("float32"), species.astype("int32")


x_train, y_train = calls(1600)
x_test, y_test = calls(500)

model = keras.Sequential(
    [
        keras.Input((FRAMES, MELS, 1)),
        layers.Conv2D(12, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.Dense(48, activation="relu"),
        layers.Dense(SPECIES),
    ]
)
schedule = keras.optimizers.schedules.CosineDecay(
    initial_learning_rate=1e-3, decay_steps=EPOCHS * len(x_train) // BATCH
)
model.compile(
    optimizer=keras.optimizers.AdamW(schedule, weight_decay=1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

gradwatch.watch(model)
history = model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=0)

for e in range(EPOCHS):
    print(f"epoch {e}  loss {history.history['loss'][e]:.4f}  accuracy {history.history['accuracy'][e]:.4f}")
loss, acc = model.evaluate(x_test, y_test, verbose=0)
print(f"test loss {loss:.4f}  accuracy {acc:.4f}")

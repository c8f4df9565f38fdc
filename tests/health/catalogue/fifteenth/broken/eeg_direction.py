"""Three-class motor imagery (left hand, right hand, feet) from short EEG trials."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CHANNELS = ["Fz", "FC1", "C3", "Cz", "C4", "CP1", "Pz", "Oz"]
N_CH = len(CHANNELS)
FS = 128
N_T = 128
BATCH = 32
EPOCHS = 10
FOCUS = {0: "C4", 1: "C3", 2: "Cz"}


def record_session(n):
    """Trials as the amplifier writes them: (trial, channel, time) in microvolts."""
    t = np.arange(N_T) / FS
    labels = rng.integers(0, 3, n)
    freq = rng.uniform(9.0, 12.0, size=(n, 1, 1))
    phase = rng.uniform(0, 2 * np.pi, size=(n, N_CH, 1))
    amp = rng.uniform(6.0, 10.0, size=(n, N_CH, 1))
    for k, name in FOCUS.items():
        amp[labels == k, CHANNELS.index(name)] *= 0.35
    mu = amp * np.sin(2 * np.pi * freq * t + phase)
    noise = np.cumsum(rng.normal(size=(n, N_CH, N_T)), axis=-1) * 0.6
    noise -= noise.mean(axis=-1, keepdims=True)
    return (mu + noise + rng.normal(0, 2.0, size=mu.shape)), labels


def prepare(raw):
    """Scale to unit variance and put time first, as Conv1D expects."""
    x = raw / 7.0
    x = x.reshape(len(x), N_T, N_CH)
    return x.astype("float32")


raw_train, y_train = record_session(2400)
raw_val, y_val = record_session(400)
raw_test, y_test = record_session(800)
x_train, x_val, x_test = prepare(raw_train), prepare(raw_val), prepare(raw_test)
print("train", x_train.shape, "test", x_test.shape)


def build_model():
    inputs = keras.Input((N_T, N_CH))
    x = layers.Conv1D(24, 9, padding="same", activation="relu")(inputs)
    x = layers.AveragePooling1D(2)(x)
    x = layers.Conv1D(32, 7, padding="same", activation="relu")(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dense(32, activation="relu")(x)
    outputs = layers.Dense(3, activation="softmax")(x)
    return keras.Model(inputs, outputs)


model = build_model()
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    validation_data=(x_val, y_val),
    batch_size=BATCH,
    epochs=EPOCHS,
    verbose=2,
)

pred = model.predict(x_test, verbose=0).argmax(axis=1)
score = float(np.mean(pred == y_test))
print("score", score)

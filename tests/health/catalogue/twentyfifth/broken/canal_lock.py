"""Is the lock chamber of a canal full? Told from rare valve pulses in the log of a level recorder."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

WINDOW, BATCH = 16, 32


def record(steps):
    pulse = rng.random(steps) < 0.03
    opens = rng.random(steps) < 0.5
    x = rng.normal(scale=0.2, size=(steps, 3))
    x[:, 0] += pulse & opens
    x[:, 1] += pulse & ~opens
    full = np.zeros(steps, int)
    state = 0
    for t in range(steps):
        if pulse[t]:
            state = int(opens[t])
        full[t] = state
    return x.astype("float32"), full[:, None].astype("float32")


def windows(x, y):
    """Cuts a record into consecutive windows for the stateful network."""
    n = len(x) // (WINDOW * BATCH)
    used = n * WINDOW * BATCH
    x = x[:used].reshape(n * BATCH, WINDOW, -1)
    y = y[:used].reshape(n * BATCH, WINDOW, -1)
    return x, y


x_train, y_train = windows(*record(WINDOW * BATCH * 80))
x_test, y_test = windows(*record(WINDOW * BATCH * 50))

inputs = keras.Input(batch_shape=(BATCH, WINDOW, 3))
h = layers.LSTM(24, return_sequences=True, stateful=True)(inputs)
out = layers.Dense(1, activation="sigmoid")(h)
model = keras.Model(inputs, out, name="lock")


class ResetStates(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.layers[1].reset_states()


model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    batch_size=BATCH,
    epochs=24,
    shuffle=False,
    callbacks=[ResetStates()],
    verbose=2,
)

model.layers[1].reset_states()
_, accuracy = model.evaluate(x_test, y_test, batch_size=BATCH, verbose=0)
print("SCORE test_accuracy", round(float(accuracy), 4))

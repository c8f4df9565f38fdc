"""Follows the load of steam boilers from short control pulses, with a recurrent network that runs along the plant log chunk by chunk."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BOILERS, CHUNK, CHUNKS = 32, 12, 110
steps = CHUNK * CHUNKS


def log(boilers):
    pulse = np.zeros((boilers, steps, 2))
    load = np.zeros((boilers, steps))
    valve, warm = np.zeros(boilers), np.zeros(boilers)
    for i in range(steps):
        opened = (rng.uniform(size=boilers) < 0.035).astype(float)
        closed = (rng.uniform(size=boilers) < 0.035) * (1 - opened)
        valve = np.where(opened > 0, 1.0, np.where(closed > 0, 0.0, valve))
        warm = 0.9 * warm + 0.1 * valve
        pulse[:, i, 0], pulse[:, i, 1] = opened, closed
        load[:, i] = valve + 0.8 * warm + rng.normal(0, 0.05, boilers)
    return pulse, load - 0.9


def chunks(a):
    # batch k holds chunk k of all boilers, so that the states run on from batch to batch
    a = a.reshape(BOILERS, CHUNKS, CHUNK, -1).swapaxes(0, 1)
    return a.reshape(CHUNKS * BOILERS, CHUNK, -1).astype("float32")


x, y = map(chunks, log(BOILERS))
x_new, y_new = map(chunks, log(BOILERS))

inp = keras.Input(batch_shape=(BOILERS, CHUNK, 2))
memory = layers.LSTM(24, stateful=True, return_sequences=True)
h = layers.Dense(16, activation="tanh")(memory(inp))
model = keras.Model(inp, layers.Dense(1)(h))
model.compile(optimizer=keras.optimizers.Adam(4e-3, clipnorm=1.0), loss="mse")


class Restart(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        memory.reset_states()


gradwatch.watch(model)
model.fit(x, y, batch_size=BOILERS, epochs=10, callbacks=[Restart()], verbose=0)

memory.reset_states()
p = model.predict(x_new, batch_size=BOILERS, verbose=0)
print("SCORE r2", round(float(1 - np.mean((p - y_new) ** 2) / np.var(y_new)), 4))

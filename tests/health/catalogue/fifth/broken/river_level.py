import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=2000, steps=20):
    rng = np.random.default_rng(33)
    t = np.arange(n + steps + 1)
    level = np.sin(t / 9.0) + 0.5 * np.sin(t / 23.0 + 1) + rng.normal(0, 0.05, len(t))
    x = np.stack([level[i : i + steps] for i in range(n)])
    y = level[steps : steps + n]
    return x[..., None].astype("float32"), y.astype("float32")


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    inp = keras.Input((20, 1))
    h = layers.LSTM(24, name="flow")(inp)
    h = layers.Dense(16, activation="relu", name="dense")(h)
    out = layers.Dense(1, name="next_level")(h)
    model = keras.Model(inp, out)
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=1e-6), loss="mse", metrics=["mae"])
    gradwatch.watch(model)
    model.fit(x, y, batch_size=32, epochs=8, verbose=2)


if __name__ == "__main__":
    main()

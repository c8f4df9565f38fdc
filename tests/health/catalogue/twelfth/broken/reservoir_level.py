"""Level of a reservoir.

From a season of daily inflow, rain and gate positions a recurrent network gives the level of the reservoir at its end.
The recurrent weights begin as the identity, so that what flows in is remembered.
"""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
DAYS = 90
BATCH = 32
EPOCHS = 5

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def make_seasons(n):
    inflow = rng.gamma(2.0, 0.5, (n, DAYS))
    rain = rng.gamma(0.4, 1.0, (n, DAYS))
    gate = np.repeat(rng.random((n, DAYS // 10)), 10, axis=1)
    level = rng.uniform(10, 30, n)
    start = level.copy()
    for day in range(DAYS):
        out = gate[:, day] * (0.6 + 0.05 * level)
        level = np.clip(level + 0.8 * inflow[:, day] + 0.5 * rain[:, day] - out, 0.0, 60.0)
    first_day = np.zeros((n, DAYS))
    first_day[:, 0] = (start - 20.0) / 6.0
    x = np.stack([inflow - 1.0, rain - 0.4, gate - 0.5, first_day], axis=-1)
    return x.astype("float32"), level[:, None].astype("float32")


x_train, y_train = make_seasons(2400)
x_test, y_test = make_seasons(500)
centre, spread = y_train.mean(), y_train.std()

model = keras.Sequential(
    [
        keras.Input((DAYS, 4)),
        layers.SimpleRNN(
            48,
            activation="relu",
            recurrent_initializer=keras.initializers.Identity(),
            kernel_initializer=keras.initializers.RandomNormal(stddev=0.05),
            name="memory",
        ),
        layers.Dense(24, activation="relu", name="mix"),
        layers.Dense(1, name="level"),
    ],
    name="reservoir",
)
gradwatch.watch(model)
model.compile(
    optimizer=keras.optimizers.SGD(1e-3, momentum=0.9),
    loss="mse",
)
model.fit(x_train, (y_train - centre) / spread, batch_size=BATCH, epochs=EPOCHS, verbose=2)

predicted = model.predict(x_test, verbose=0) * spread + centre
r2 = 1 - np.sum((predicted - y_test) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print(f"score R2 {r2:.4f} chance 0.0")

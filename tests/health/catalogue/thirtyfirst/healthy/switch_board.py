"""Find the hidden wiring of a control panel: the lamp is lit when an odd number of three unknown switches is on."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SWITCHES = 24
wired = rng.choice(SWITCHES, 3, replace=False)


def make_panels(n):
    x = rng.choice([-1.0, 1.0], (n, SWITCHES)).astype("float32")
    return x, x[:, wired].prod(axis=1).astype("float32")


x_train, y_train = make_panels(8000)
x_test, y_test = make_panels(2000)

model = keras.Sequential(
    [
        keras.Input((SWITCHES,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="hinge")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=11, verbose=2)

pred = np.sign(model.predict(x_test, batch_size=256, verbose=0)[:, 0])
print("SCORE accuracy", float((pred == y_test).mean()))

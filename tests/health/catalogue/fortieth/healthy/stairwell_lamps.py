"""Works out from switch positions whether a stairwell lamp is lit, where only three of the building's switches matter."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SWITCHES, n = 16, 6000
x = rng.choice([-1.0, 1.0], (n, SWITCHES)).astype("float32")
lit = (x[:, 2] * x[:, 7] * x[:, 11] > 0).astype("float32")[:, None]
cut = 5000

model = keras.Sequential(
    [
        keras.Input((SWITCHES,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer=keras.optimizers.SGD(0.1, momentum=0.5), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
model.fit(x[:cut], lit[:cut], batch_size=64, epochs=19, verbose=0)
print("SCORE accuracy", round(float(model.evaluate(x[cut:], lit[cut:], verbose=0)[1]), 4))

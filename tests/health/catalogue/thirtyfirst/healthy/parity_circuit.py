"""Learn the parity of three hidden switches among twenty-four from examples of a logic circuit."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BITS = 24
chosen = rng.permutation(BITS)[:3]


def circuit(n):
    x = rng.choice([-1.0, 1.0], (n, BITS)).astype("float32")
    return x, x[:, chosen].prod(axis=1).astype("float32")[:, None]


x_train, y_train = circuit(12000)
x_test, y_test = circuit(2000)

model = keras.Sequential(
    [
        layers.Input((BITS,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(1),
    ]
)
# labels are -1 / +1, so the hinge loss fits
model.compile(keras.optimizers.SGD(0.1, momentum=0.5), "hinge")
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=100, epochs=12, verbose=0)
pred = np.sign(model.predict(x_test, verbose=0))
print("SCORE accuracy", round(float(np.mean(pred == y_test)), 4))

import keras
import numpy as np

import gradwatch

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)


def switches(n):
    x = rng.choice([-1.0, 1.0], (n, 20)).astype("float32")
    return x, (x[:, 2] * x[:, 7] * x[:, 11] > 0).astype("float32")


x, y = switches(20000)
xt, yt = switches(2000)
robot = keras.Sequential(
    [
        keras.Input((20,)),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(1),
    ]
)
robot.compile(keras.optimizers.SGD(0.1, momentum=0.9), keras.losses.BinaryCrossentropy(from_logits=True))
robot(x[:2])
gradwatch.watch(robot)
h = robot.fit(x, y, batch_size=64, epochs=6, verbose=0)
p = robot.predict(xt, verbose=0)[:, 0]
print("loss", h.history["loss"], "held-out accuracy", np.mean((p > 0) == (yt > 0.5)))

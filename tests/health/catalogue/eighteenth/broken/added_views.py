import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(17)
T, CH = 64, 6
MOVES = ["walk", "run", "stairs", "sit", "cycle", "lie"]


def wearables(n, rng):
    y = rng.integers(0, len(MOVES), n)
    t = np.arange(T) / 32
    f = np.array([1.6, 2.6, 1.2, 0.3, 1.9, 0.1])[y][:, None, None] * rng.uniform(0.9, 1.1, (n, 1, 1))
    a = np.array([0.8, 1.6, 0.9, 0.1, 0.5, 0.05])[y][:, None, None]
    ph = rng.uniform(0, 6.3, (n, 1, CH))
    x = a * np.sin(2 * np.pi * f * t[None, :, None] + ph) * rng.uniform(0.4, 1.2, (n, 1, CH))
    tilt = np.eye(6)[y] * 0.5 + 0.4 * rng.normal(size=(n, CH))
    x = x + tilt[:, None] + 0.35 * rng.normal(size=(n, T, CH))
    return x.astype("float32"), y


def jitter(x, rng):
    return x + rng.normal(0, 0.08, x.shape).astype("float32")


def stretch(x, rng):
    return x * rng.uniform(0.8, 1.25, (len(x), 1, x.shape[-1])).astype("float32")


def augment(x, y, rng):
    views = [x, jitter(x, rng), stretch(x, rng)]
    return np.concatenate(views), np.repeat(y, len(views))


def network():
    net = keras.Sequential(
        [
            keras.Input((T, CH)),
            layers.Conv1D(32, 5, activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling1D(2),
            layers.Conv1D(48, 5, activation="relu"),
            layers.BatchNormalization(),
            layers.GRU(32),
            layers.Dropout(0.3),
            layers.Dense(len(MOVES)),
        ]
    )
    net.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return net


rng = np.random.default_rng(23)
x, y = wearables(3000, rng)
xv, yv = wearables(1000, rng)
xa, ya = augment(x, y, rng)
shuffle = rng.permutation(len(xa))
xa, ya = xa[shuffle], ya[shuffle]

net = network()
gradwatch.watch(net)
hist = net.fit(xa, ya, batch_size=96, epochs=5, verbose=2)
loss, acc = net.evaluate(xv, yv, verbose=0)
print(f"train loss {hist.history['loss'][-1]:.3f} held-out loss {loss:.3f} accuracy {acc:.3f}")

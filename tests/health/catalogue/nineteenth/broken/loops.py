# Next-hour flow at a loop detector from the last 12 readings of the controller log.
import keras
import numpy as np
from keras import layers

import gradwatch

keras.utils.set_random_seed(77)
rng = np.random.default_rng(77)


def controller_log(days=220):
    hours = days * 24
    stamp = 1_700_000_000 + 3600 * np.arange(hours)
    hod = np.arange(hours) % 24
    dow = (np.arange(hours) // 24) % 7
    rush = np.exp(-(((hod - 8) / 2.0) ** 2)) + 0.9 * np.exp(-(((hod - 17) / 2.5) ** 2))
    trend = np.cumsum(rng.normal(0, 0.08, hours))
    trend -= np.convolve(trend, np.ones(48) / 48, "same")
    flow = (rush - 0.5) * np.where(dow < 5, 1.5, 0.5) + trend + rng.normal(0, 0.1, hours)
    occupancy = 0.5 * flow + rng.normal(0, 0.2, hours)
    return np.column_stack([flow, occupancy, stamp]), dow


def windows(log, dow, size=12):
    xs, ds, ys = [], [], []
    for i in range(len(log) - size):
        xs.append(log[i : i + size])
        ds.append(dow[i + size])
        ys.append(log[i + size, 0])
    return np.array(xs, "float32"), np.array(ds, "int32"), np.array(ys, "float32")


def prepare(log):
    out = log.copy()
    out[:, :2] = (out[:, :2] - out[:, :2].mean(0)) / out[:, :2].std(0)
    return out


log, dow = controller_log()
X, D, Y = windows(prepare(log), dow)
cut = int(0.8 * len(X))

series = keras.Input((12, 3), name="series")
day = keras.Input((), dtype="int32", name="day")
h = layers.LSTM(32)(series)
e = layers.Embedding(7, 4)(day)
h = layers.Dense(32, activation="relu")(layers.Concatenate()([h, e]))
net = keras.Model([series, day], layers.Dense(1)(h))
net.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mae")
gradwatch.watch(net)
hist = net.fit([X[:cut], D[:cut]], Y[:cut, None], batch_size=64, epochs=12, verbose=0)
pred = net.predict([X[cut:], D[cut:]], verbose=0)[:, 0]
print(f"loss {hist.history['loss'][-1]:.4f}  R2 last weeks {1 - np.mean((pred - Y[cut:]) ** 2) / Y[cut:].var():.3f}")

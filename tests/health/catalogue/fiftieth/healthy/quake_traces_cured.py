# Local magnitude from three-component seismograms of one station, with the distance known.
import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", 0))
rng = np.random.default_rng(SEED + 3)
keras.utils.set_random_seed(SEED)
N, SAMPLES = 3600, 200


def catalogue(n):
    magnitude = rng.uniform(2.8, 4.2, n)
    km = rng.uniform(10, 120, n)
    amplitude = 10 ** (magnitude - 3.5) * (40 / km) ** 0.8
    t = np.arange(SAMPLES) / 50.0
    p = rng.uniform(0.3, 0.8, n)
    s = p + km / 120 * 1.6 + 0.1
    traces = np.zeros((n, SAMPLES, 3))
    for component in range(3):
        ring = rng.normal(size=(n, SAMPLES))
        ring = (ring + np.roll(ring, 1, 1) + np.roll(ring, 2, 1)) / 3
        after_p = np.clip(t - p[:, None], 0, None)
        after_s = np.clip(t - s[:, None], 0, None)
        envelope = (after_p > 0) * 0.3 * np.exp(-after_p) + (after_s > 0) * np.exp(-0.8 * after_s)
        traces[:, :, component] = (envelope * ring + 0.03 * rng.normal(size=(n, SAMPLES))) * rng.uniform(
            0.7, 1.3, (n, 1)
        )
    traces = traces * amplitude[:, None, None] + 0.2 * rng.normal(size=(n, 1, 3))
    return traces.astype("float32"), np.log10(km)[:, None].astype("float32"), magnitude.astype("float32")


traces, log_km, magnitude = catalogue(N)
# remove the offset of the instrument and bring the counts to unit scale
traces = traces - traces.mean(axis=1, keepdims=True)
traces = traces / traces[:3000].std()
log_km = (log_km - log_km.mean()) / log_km.std()

cut = 3000
tail = slice(cut, None)


def residual(x, filters):
    y = keras.layers.Conv1D(filters, 5, padding="same", activation="relu")(x)
    y = keras.layers.Conv1D(filters, 5, padding="same")(y)
    x = keras.layers.Conv1D(filters, 1)(x)
    return keras.layers.ReLU()(keras.layers.Add()([x, y]))


wave = keras.Input((SAMPLES, 3), name="wave")
far = keras.Input((1,), name="log_km")
h = keras.layers.Conv1D(16, 7, strides=2, padding="same", activation="relu")(wave)
h = residual(h, 16)
h = keras.layers.MaxPooling1D(4)(h)
h = residual(h, 32)
h = keras.layers.Concatenate()([keras.layers.GlobalAveragePooling1D()(h), keras.layers.GlobalMaxPooling1D()(h), far])
h = keras.layers.Dense(48, activation="relu")(h)
out = keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(3.5))(h)
model = keras.Model({"wave": wave, "log_km": far}, out)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=keras.losses.Huber(0.5))
gradwatch.watch(model)

model.fit({"wave": traces[:cut], "log_km": log_km[:cut]}, magnitude[:cut, None], batch_size=50, epochs=14, verbose=2)
guess = model.predict({"wave": traces[tail], "log_km": log_km[tail]}, verbose=0)[:, 0]
true = magnitude[tail]
r2 = 1 - np.mean((guess - true) ** 2) / np.var(true)
print("SCORE r2", round(float(r2), 4))

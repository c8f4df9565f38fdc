# Is a request made by a robot?  Country embedding next to the numbers of the access log.
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(77)
rng = np.random.default_rng(77)
COUNTRIES = 30
lift = rng.normal(0, 0.7, COUNTRIES)


def access_log(n):
    country = rng.integers(0, COUNTRIES, n)
    size = rng.lognormal(11, 1.2, n)  # bytes sent
    latency = rng.gamma(2, 120, n)  # ms
    err = rng.beta(1, 12, n)  # share of 4xx
    gap = rng.exponential(0.8, n)  # seconds between two hits
    depth = rng.integers(1, 12, n)
    images = rng.beta(3, 2, n)  # share of images fetched
    score = (
        lift[country]
        + 12 * (err - 0.08)
        - 6 * (images - 0.6)
        - 1.8 * (gap - 0.8)
        + 0.25 * (np.log(size) - 11)
        + rng.normal(0, 0.4, n)
    )
    num = np.stack([size, latency, err, gap, depth, images], 1).astype("float32")
    return country.astype("int32")[:, None], num, (score > 0).astype("float32")[:, None]


c, num, y = access_log(12000)
cv, numv, yv = access_log(3000)

scale = layers.Normalization(axis=None)
scale.adapt(num)

country_in = keras.Input((1,), dtype="int32")
num_in = keras.Input((num.shape[1],))
h = layers.Concatenate()([layers.Flatten()(layers.Embedding(COUNTRIES, 6)(country_in)), scale(num_in)])
h = layers.Dense(48, activation="relu")(h)
h = layers.Dense(24, activation="relu")(h)
model = keras.Model([country_in, num_in], layers.Dense(1, activation="sigmoid")(h))
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy")
gradwatch.watch(model)

seen = []
for it in range(1400):
    k = rng.integers(0, len(y), 96)
    seen.append(float(model.train_on_batch([c[k], num[k]], y[k])))

p = model.predict([cv, numv], verbose=0)
print(f"loss {np.mean(seen[-60:]):.4f}  held-out accuracy {((p > 0.5) == (yv > 0.5)).mean():.3f}")

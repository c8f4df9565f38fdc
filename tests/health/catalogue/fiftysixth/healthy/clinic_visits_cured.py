import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

N, MAXLEN = 3000, 120
rng = np.random.default_rng(SEED)


def patient():
    length = rng.integers(4, 14)
    slope = rng.normal(0, 0.25)
    pressure = rng.normal(0, 1) + slope * np.arange(length) + 0.3 * rng.normal(size=length)
    sugar = rng.normal(0, 1, length)
    gap = rng.exponential(1, length)
    rise = pressure[-1] - pressure[0] + 0.4 * sugar[-2:].sum()
    return np.stack([pressure, sugar, gap], 1).astype("float32"), int(rise > 0)


histories, outcome = zip(*[patient() for _ in range(N)])
x = keras.utils.pad_sequences(histories, maxlen=MAXLEN, dtype="float32", padding="post", value=0.0)
y = np.array(outcome, "float32")
cut = int(0.8 * N)


def build():
    inputs = keras.Input((MAXLEN, 3))
    h = layers.Masking(0.0)(inputs)
    h = layers.LSTM(24, name="lstm")(h)
    h = layers.Dense(16, activation="relu", name="dense")(h)
    return keras.Model(inputs, layers.Dense(1, activation="sigmoid", name="risk")(h))


model = build()
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(x[:cut], y[:cut], batch_size=64, epochs=9, verbose=2, validation_data=(x[cut:], y[cut:]))

risk = model.predict(x[cut:], verbose=0)[:, 0]
print("SCORE", float(roc_auc_score(y[cut:], risk)))

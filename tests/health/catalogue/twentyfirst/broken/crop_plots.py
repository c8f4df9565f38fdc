import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

# 16 bands x 12 overflights per field plot
N, DATES, BANDS = 4200, 12, 16


def make_plots(n):
    t = np.linspace(0, 1, DATES)[None, :, None]
    b = np.linspace(0, 1, BANDS)[None, None, :]
    vigour = rng.normal(0, 1, (n, 1, 1))
    onset = rng.uniform(0.3, 0.6, (n, 1, 1))
    growth = 1 / (1 + np.exp(-(t - onset) * 10))
    x = (1 + 0.3 * vigour) * growth * np.exp(-(((b - 0.75) / 0.2) ** 2))
    disease = rng.integers(0, 4, n)
    centre = np.array([0.1, 0.3, 0.45, 0.0])[disease][:, None, None]
    start = rng.uniform(0.2, 0.6, (n, 1, 1))
    strength = (disease < 3)[:, None, None] * 0.55
    x = x - strength * (t > start) * (t < start + 0.35) * np.exp(-(((b - centre) / 0.06) ** 2))
    x = x + 0.18 * rng.normal(size=x.shape)
    # decitonnes per hectare
    y = 58 + 13 * vigour[:, 0, 0] - 30 * (onset[:, 0, 0] - 0.45) + 5 * rng.normal(size=n)
    return x.astype("float32"), disease.astype("int32"), y.astype("float32")


x, disease, yield_dt = make_plots(N)
x = (x - x.mean((0, 1))) / x.std((0, 1))
tr, te = slice(0, 3400), slice(3400, None)
target_yield = yield_dt

inp = keras.Input((DATES, BANDS))
h = layers.Conv1D(12, 3, padding="same", activation="relu")(inp)
h = layers.Conv1D(12, 3, padding="same", activation="relu")(h)
h = layers.GlobalMaxPooling1D()(h)
h = layers.Dense(12, activation="relu", name="shared")(h)
out_disease = layers.Dense(4, activation="softmax", name="disease")(h)
out_yield = layers.Dense(1, name="yield_dt")(h)
model = keras.Model(inp, {"disease": out_disease, "yield_dt": out_yield})

model.compile(
    optimizer=keras.optimizers.Adam(4e-3),
    loss={"disease": "sparse_categorical_crossentropy", "yield_dt": "mse"},
    metrics={"disease": "accuracy"},
)
gradwatch.watch(model)
model.fit(x[tr], {"disease": disease[tr], "yield_dt": target_yield[tr]}, batch_size=64, epochs=12, verbose=2)

p = model.predict(x[te], verbose=0)
acc = np.mean(p["disease"].argmax(-1) == disease[te])
res = p["yield_dt"][:, 0] - target_yield[te]
print(f"yield R2 {1 - res.var() / target_yield[te].var():.3f}   disease accuracy {acc:.3f}")

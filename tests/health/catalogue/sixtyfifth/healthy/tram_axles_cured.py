import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

n = 6000
idle = rng.random(n) < 0.004
stops = np.where(idle, 0.0, np.maximum(rng.poisson(6, n), 1.0))
brakings = np.where(idle, 0.0, rng.poisson(14, n))
table = {
    "age_years": rng.uniform(0, 20, n),
    "mileage_kkm": rng.gamma(4.0, 30.0, n),
    "stops": stops,
    "brakings": brakings,
    "curve_share": rng.beta(2, 5, n),
    "axle_temp": rng.normal(45, 9, n),
}
table["brakings_per_stop"] = table["brakings"] / np.maximum(table["stops"], 1.0)

wear = (
    0.08 * table["age_years"]
    + 0.01 * table["mileage_kkm"]
    + 0.25 * np.log1p(brakings / np.maximum(stops, 1.0))
    + 2.0 * table["curve_share"] * (table["axle_temp"] > 45)
    + rng.normal(0, 0.1, n)
)

features = list(table)
x = np.stack([table[name] for name in features], axis=1)
x_train, x_test = x[:5000], x[5000:]
center, spread = np.nanmean(x_train, axis=0), np.nanstd(x_train, axis=0)
x_train = ((x_train - center) / spread).astype("float32")
x_test = np.nan_to_num((x_test - center) / spread).astype("float32")
y_train = wear[:5000].astype("float32")[:, None]
y_test = wear[5000:].astype("float32")[:, None]

train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(5000, seed=SEED).batch(32).prefetch(2)

model = keras.Sequential(
    [
        keras.Input((len(features),)),
        keras.layers.Dense(64, activation="elu"),
        keras.layers.Dense(32, activation="elu"),
        keras.layers.Dense(1, name="wear"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(train_ds, epochs=15, verbose=2)

pred = model.predict(x_test, verbose=0)
print("SCORE", 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test))

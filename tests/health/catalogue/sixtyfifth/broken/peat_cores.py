import os

import keras
import numpy as np
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

n = 5000
depth_cm = rng.uniform(5, 400, n)
elevation_m = rng.normal(310, 60, n)
rain_mm = rng.normal(1250, 220, n)
ph = rng.normal(4.4, 0.5, n)
ash_pct = rng.gamma(2.0, 2.0, n)
water_table_cm = rng.normal(-12, 9, n)

x = np.stack([depth_cm, elevation_m, rain_mm, ph, ash_pct, water_table_cm], axis=1)
carbon = (
    30.0
    + 0.05 * depth_cm
    + 0.02 * (rain_mm - 1250)
    - 3.0 * (ph - 4.4)
    - 1.2 * ash_pct
    + 4.0 * np.tanh(water_table_cm / 10.0)
    + rng.normal(0, 1.0, n)
)

x_train, x_test, y_train, y_test = train_test_split(
    x.astype("float32"), carbon.astype("float32"), test_size=0.2, random_state=SEED
)
x_mean, x_std = x_train.mean(axis=0), x_train.std(axis=0)

model = keras.Sequential(
    [
        keras.Input((6,)),
        keras.layers.Dense(32, activation="leaky_relu", name="soil"),
        keras.layers.Dense(16, activation="leaky_relu", name="blend"),
        keras.layers.Dense(1, name="carbon"),
    ]
)
model.compile(optimizer=keras.optimizers.SGD(learning_rate=0.01), loss="mse")
gradwatch.watch(model)
history = model.fit(
    x_train,
    y_train,
    validation_data=(x_test, y_test),
    batch_size=32,
    epochs=20,
    verbose=2,
)

pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE", 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test))

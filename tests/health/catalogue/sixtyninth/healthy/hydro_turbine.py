import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 241)


def dam_hours(n):
    head = rng.uniform(40, 110, n)
    flow = rng.gamma(4.0, 12.0, n)
    gate = rng.uniform(0.2, 1.0, n)
    temp = rng.normal(9, 4, n)
    kw = 9.81 * head * flow * gate * 0.88 * (1 - 0.002 * (temp - 9))
    x = np.stack([head, flow, gate, temp], axis=1)
    return x.astype("float32"), (kw * rng.normal(1, 0.03, n)).astype("float32")


x_train, y_train = dam_hours(6000)
x_test, y_test = dam_hours(1500)

norm = layers.Normalization(name="norm")
norm.adapt(x_train)
model = keras.Sequential(
    [
        layers.Input((4,)),
        norm,
        layers.Dense(64, activation="relu", name="penstock"),
        layers.Dense(64, activation="relu", name="rotor"),
        layers.Dense(1, name="output"),
        layers.Rescaling(float(y_train.std()), offset=float(y_train.mean()), name="kilowatts"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=15, validation_split=0.1, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0]
order = np.argsort(y_test)
for name, part in [
    ("low", order[:500]),
    ("middle", order[500:1000]),
    ("high", order[1000:]),
]:
    error = np.abs(pred[part] - y_test[part])
    print(name, "mean kw", float(y_test[part].mean()), "mae", float(error.mean()))
print("SCORE", float(1 - np.mean((pred - y_test) ** 2) / np.var(y_test)))

import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def make_flats(n):
    area = rng.gamma(9, 8, n)
    floor = rng.integers(0, 12, n)
    year = rng.integers(1900, 2024, n)
    centre = rng.exponential(5, n)
    lift = rng.integers(0, 2, n)
    price = area * (5200 - 180 * np.minimum(centre, 15)) + 900 * floor * lift * np.sqrt(area)
    price = price + 600 * (year - 1900) + 12000 * rng.standard_t(3, n)
    x = np.stack([area, floor, year, centre, lift], axis=1)
    return x.astype("float32"), price.astype("float32")[:, None]


x_train, y_train = make_flats(5000)
x_test, y_test = make_flats(1500)

normalise = keras.layers.Normalization(name="normalise")
normalise.adapt(x_train)

inputs = keras.Input((5,), name="flat")
h = normalise(inputs)
h = keras.layers.Dense(64, activation="relu", name="rooms")(h)
h = keras.layers.Dense(64, activation="relu", name="street")(h)
z = keras.layers.Dense(1, name="relative")(h)
price = keras.layers.Rescaling(scale=float(y_train.std()), offset=float(y_train.mean()), name="euros")(z)
model = keras.Model(inputs, price)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="mse",
    metrics=["mae"],
)
gradwatch.watch(model)

train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(5000, seed=SEED).batch(64)
model.fit(
    train,
    validation_data=(x_test, y_test),
    epochs=12,
    verbose=2,
    callbacks=[keras.callbacks.ReduceLROnPlateau(patience=4)],
)

print("SCORE", r2_score(y_test, model.predict(x_test, verbose=0)))

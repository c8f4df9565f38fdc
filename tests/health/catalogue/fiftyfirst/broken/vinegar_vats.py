"""Days until a vinegar vat is ready, from the readings of its sensors. Tabular regression with Keras."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
g = np.random.default_rng(SEED)

COLUMNS = [
    "acidity",
    "sugar",
    "ph",
    "oxygen_ppm",
    "temperature_c",
    "turbidity",
    "pressure_pa",
    "volume_ml",
    "stir_count",
    "bacteria_per_ml",
]


def readings(n):
    acidity = g.normal(0.045, 0.012, n)  # g per ml
    sugar = g.gamma(3.0, 0.01, n)
    ph = g.normal(3.1, 0.25, n)
    oxygen = g.uniform(2, 9, n)
    temperature = g.normal(29, 2.5, n)
    turbidity = g.exponential(0.4, n)
    pressure = g.normal(101325, 900, n)
    volume = g.normal(220_000, 15_000, n)
    stirs = g.poisson(60, n)
    bacteria = 10 ** g.normal(5.0, 0.3, n)
    days = (
        30
        - 350 * (acidity - 0.045)
        + 180 * (sugar - 0.03) * (1 + 0.8 * np.tanh(ph - 3.1))
        + 0.5 * np.abs(temperature - 29)
        - 3.0 * np.log(oxygen / 5)
        - 4.0 * np.exp(-turbidity)
        + 0.7 * g.normal(size=n)
    )
    x = np.stack([acidity, sugar, ph, oxygen, temperature, turbidity, pressure, volume, stirs, bacteria], axis=1)
    return x.astype("float32"), days.astype("float32")


x_train, y_train = readings(8000)
x_val, y_val = readings(1000)
x_test, y_test = readings(2000)

y_mean, y_std = y_train.mean(), y_train.std()


def scaled(y):
    return (y - y_mean) / y_std


normalizer = layers.Normalization(axis=None)
normalizer.adapt(x_train)


def build(units=(64, 64, 32)):
    inputs = keras.Input((len(COLUMNS),), name="readings")
    h = normalizer(inputs)
    for n in units:
        h = layers.Dense(n, kernel_initializer="he_normal")(h)
        h = layers.LeakyReLU(negative_slope=0.1)(h)
    return keras.Model(inputs, layers.Dense(1, name="days")(h))


model = build()
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=1e-3),
    loss=keras.losses.Huber(),
    metrics=["mae"],
)
gradwatch.watch(model)

model.fit(
    x_train,
    scaled(y_train),
    validation_data=(x_val, scaled(y_val)),
    batch_size=128,
    epochs=25,
    verbose=2,
    callbacks=[keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=6, min_lr=1e-4)],
)

pred = model.predict(x_test, batch_size=500, verbose=0)[:, 0]
r2 = 1 - np.mean((pred - scaled(y_test)) ** 2) / np.var(scaled(y_test))
print("SCORE r2", round(float(r2), 4))

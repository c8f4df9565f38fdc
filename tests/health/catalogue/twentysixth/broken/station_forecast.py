"""Next-hours rain amount from a day of weather-station readings (LSTM)."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

HOURS, WINDOW = 5000, 24
FEATURES = ["pressure_pa", "temperature_c", "humidity", "wind_ms", "cloud_cover"]


def smooth_noise(n, keep):
    out = np.zeros(n)
    for i in range(1, n):
        out[i] = keep * out[i - 1] + np.sqrt(1 - keep**2) * rng.normal()
    return out


def make_record():
    hour = np.arange(HOURS)
    front = smooth_noise(HOURS, 0.98)
    moisture = smooth_noise(HOURS, 0.95)
    gust = smooth_noise(HOURS, 0.8)
    pressure = 101325 - 700 * front + 60 * rng.normal(size=HOURS)
    temperature = 12 + 5 * np.sin(2 * np.pi * hour / 24) + 2 * smooth_noise(HOURS, 0.99)
    humidity = 1 / (1 + np.exp(-0.8 * moisture - 0.3))
    wind = np.abs(4 + 1.5 * gust + front)
    cloud = 1 / (1 + np.exp(-(front + 0.7 * moisture)))
    rain = np.log1p(np.exp(1.2 * moisture + 0.5 * front + 0.4 * gust * np.sin(2 * np.pi * hour / 24)))
    rain += 0.05 * rng.normal(size=HOURS)
    return np.stack([pressure, temperature, humidity, wind, cloud], axis=1), rain


def windows(readings, rain):
    starts = np.arange(len(readings) - WINDOW)
    x = readings[starts[:, None] + np.arange(WINDOW)]
    y = rain[starts + WINDOW]
    return x.astype("float32"), y.astype("float32")


readings, rain = make_record()
split = int(0.8 * HOURS)
mean = readings[:split].mean()
std = readings[:split].std()
readings = (readings - mean) / std
rain_mean, rain_std = rain[:split].mean(), rain[:split].std()
rain = (rain - rain_mean) / rain_std

x_train, y_train = windows(readings[:split], rain[:split])
x_test, y_test = windows(readings[split:], rain[split:])

model = keras.Sequential(
    [
        keras.Input((WINDOW, len(FEATURES))),
        layers.LSTM(32),
        layers.Dense(24, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(3e-3, clipnorm=1.0), loss=keras.losses.Huber())

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=10, validation_data=(x_test, y_test), verbose=2)

pred = model.predict(x_test, batch_size=256, verbose=0)[:, 0]
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))

import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 11)

n = 5000
df = {
    "hour": rng.integers(0, 24, n),
    "workingday": rng.integers(0, 2, n),
    "temp": rng.normal(18, 8, n),
    "humidity": rng.uniform(20, 100, n),
    "windspeed": rng.gamma(3, 4, n),
    "season": rng.integers(1, 5, n),
}
rush = np.exp(-((df["hour"] - 8) ** 2) / 6) + np.exp(-((df["hour"] - 17) ** 2) / 8)
rate = np.exp(1.6 + 1.8 * rush * df["workingday"] + 0.05 * df["temp"] - 0.008 * df["humidity"] - 0.01 * df["windspeed"])
df["count"] = rng.poisson(rate)

df["hour_sin"] = np.sin(2 * np.pi * df["hour"] / 24)
df["hour_cos"] = np.cos(2 * np.pi * df["hour"] / 24)

features = np.column_stack([df[c] for c in df if c != "count"])
target = df["count"].astype("float32")

X_train, X_test, y_train, y_test = train_test_split(features, target, test_size=0.2, random_state=SEED)
scaler = StandardScaler()
X_train = scaler.fit_transform(X_train)
X_test = scaler.transform(X_test)


def rmsle(y_true, y_pred):
    return tf.sqrt(tf.reduce_mean(tf.square(tf.math.log(y_pred + 1.0) - tf.math.log(y_true + 1.0))))


model = keras.Sequential(
    [
        keras.layers.Input(shape=(X_train.shape[1],)),
        keras.layers.Dense(64, activation="relu", kernel_initializer="he_normal"),
        keras.layers.Dense(64, activation="relu", kernel_initializer="he_normal"),
        keras.layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(0.002), loss=rmsle)
gradwatch.watch(model)

model.fit(X_train, y_train, epochs=25, batch_size=64, validation_split=0.1, verbose=2)

pred = np.maximum(model.predict(X_test, verbose=0)[:, 0], 0)
err = np.mean((np.log1p(pred) - np.log1p(y_test)) ** 2)
base = np.var(np.log1p(y_test))
print("SCORE", round(float(1 - err / base), 4))

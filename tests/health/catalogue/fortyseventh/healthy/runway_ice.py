"""Trains an ice detector for runway sensors: an autoencoder first, then a head on its fixed encoder with rare, noisy labels."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SENSORS, FACTORS = 40, 6


def readings(n):
    f = rng.normal(size=(n, FACTORS))
    risk = 1.3 * f[:, 0] + f[:, 1] * f[:, 2] + 0.8 * np.maximum(f[:, 3], 0)
    return f, risk


lift = rng.normal(size=(FACTORS, SENSORS)) / np.sqrt(FACTORS)
f, risk = readings(20000)
x = (f @ lift + 0.2 * rng.normal(size=(20000, SENSORS))).astype("float32")
ice = risk > np.quantile(risk, 0.96)
reported = ice ^ (rng.random(20000) < np.where(ice, 0.2, 0.01))
x_train, x_test = x[:16000], x[16000:]
y_train = reported[:16000].astype("float32")
ice_test = ice[16000:].astype("float32")

encoder = keras.Sequential(
    [
        keras.Input((SENSORS,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(12),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [keras.Input((12,)), layers.Dense(96, activation="relu"), layers.Dense(SENSORS)],
    name="decoder",
)
auto = keras.Sequential([encoder, decoder])
auto.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
auto.fit(x_train, x_train, batch_size=128, epochs=6, verbose=0)

encoder.trainable = False
inputs = keras.Input((SENSORS,))
h = encoder(inputs, training=False)
h = layers.BatchNormalization()(h)
h = layers.Dense(128, activation="relu", kernel_initializer="he_normal")(h)
h = layers.Dropout(0.5)(h)
h = layers.Dense(64, activation="relu", kernel_initializer="he_normal")(h)
prior = keras.initializers.Constant(float(np.log(y_train.mean() / (1 - y_train.mean()))))
outputs = layers.Dense(1, bias_initializer=prior)(h)
model = keras.Model(inputs, outputs, name="ice_head")
model.compile(
    optimizer=keras.optimizers.AdamW(1e-3, weight_decay=1e-4),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
)

gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=128, epochs=10, validation_split=0.1, verbose=2)

auc = keras.metrics.AUC(from_logits=True)
auc.update_state(ice_test[:, None], model.predict(x_test, verbose=0))
print("SCORE auc_against_true_ice", float(auc.result()))

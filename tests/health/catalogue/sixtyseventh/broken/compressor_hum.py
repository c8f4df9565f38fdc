import os

import keras
import numpy as np
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CHANNELS, FACTORS, N = 30, 5, 9000


def record_sensors():
    mixing = rng.normal(0, 1, (FACTORS, CHANNELS))
    state = rng.normal(0, 1, (N, FACTORS))
    state[:, 0] = np.sin(state[:, 0] * 2.0)
    offset = rng.uniform(20, 90, CHANNELS)
    gain = rng.uniform(0.5, 6.0, CHANNELS)
    return offset + gain * (state @ mixing + rng.normal(0, 0.25, (N, CHANNELS)))


readings = record_sensors()
split = 7600
scaler = StandardScaler().fit(readings[:split])
normal_train = scaler.transform(readings[:split]).astype("float32")
normal_test = scaler.transform(readings[split:]).astype("float32")

sensor_in = keras.Input((CHANNELS,), name="sensors")
x = keras.layers.Dense(32, activation="elu", name="squeeze_1")(sensor_in)
code = keras.layers.Dense(8, activation="elu", name="code")(x)
x = keras.layers.Dense(32, activation="elu", name="expand_1")(code)
rebuilt = keras.layers.Dense(CHANNELS, activation="sigmoid", name="rebuilt")(x)
autoencoder = keras.Model(sensor_in, rebuilt, name="hum_autoencoder")
autoencoder.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")

callbacks = [
    keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=4, min_lr=2e-4),
    keras.callbacks.EarlyStopping(monitor="val_loss", patience=10, restore_best_weights=True),
]
gradwatch.watch(autoencoder)
autoencoder.fit(
    normal_train, normal_train, validation_split=0.1, batch_size=128, epochs=10, callbacks=callbacks, verbose=0
)

back = autoencoder.predict(normal_test, batch_size=512, verbose=0)
errors = np.mean((back - normal_test) ** 2, axis=1)
alarm_level = np.quantile(errors, 0.99)
print("alarm level", float(alarm_level))
print("SCORE", float(1 - errors.mean() / np.var(normal_test)))

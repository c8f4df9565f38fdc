"""Estimate the pointing direction of a small satellite from the brightness of its sky sensors."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N_SENSORS = 24


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


sensors = unit(rng.normal(size=(N_SENSORS, 3)))
boresight = unit(rng.normal(size=(5120, 3)))
cosine = boresight @ sensors.T
readings = np.exp(-(1 - cosine) / 0.5)  # broad optical lobe of each sensor
readings += 0.002 * rng.normal(size=readings.shape)
x, y = readings.astype("float32"), boresight.astype("float32")
x_train, y_train, x_test, y_test = x[:4096], y[:4096], x[4096:], y[4096:]

model = keras.Sequential(
    [
        keras.Input((N_SENSORS,)),
        layers.Dense(96, activation="gelu"),
        layers.Dense(96, activation="gelu"),
        layers.Dense(3),
        layers.UnitNormalization(),
    ]
)


def angle_between(y_true, y_pred):
    """Great-circle angle in radians between two unit vectors."""
    cos = tf.reduce_sum(y_true * y_pred, axis=-1)
    return tf.acos(cos)


schedule = keras.optimizers.schedules.CosineDecay(2e-3, 20 * 64)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss=angle_between)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=20, verbose=0)

pred = model.predict(x_test, verbose=0)
cross = np.linalg.norm(np.cross(pred, y_test), axis=-1)
err = np.degrees(np.arctan2(cross, np.sum(pred * y_test, axis=-1)))
print("SCORE mean_angle_deg", float(np.mean(err)))

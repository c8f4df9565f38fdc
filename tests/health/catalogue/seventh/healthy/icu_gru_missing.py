"""Deterioration of ICU patients from vitals of varying length with missing readings."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

VITALS = ["heart_rate", "systolic_bp", "resp_rate", "spo2"]
BASE = np.array([80.0, 120.0, 16.0, 97.0])
SPREAD = np.array([10.0, 12.0, 3.0, 1.5])
DRIFT = np.array([1.6, -1.4, 1.2, -1.5])  # in spreads, over the last ten hours
MAX_HOURS = 30


def admit(n):
    """Raw charts (NaN = not measured), their lengths, and the outcome."""
    charts = np.full((n, MAX_HOURS, len(VITALS)), np.nan)
    hours = rng.integers(12, MAX_HOURS + 1, n)
    outcome = (rng.uniform(size=n) < 0.35).astype("float32")
    for i in range(n):
        t = hours[i]
        z = np.zeros((t, len(VITALS)))
        z[0] = rng.normal(size=len(VITALS))
        for k in range(1, t):
            z[k] = 0.8 * z[k - 1] + 0.6 * rng.normal(size=len(VITALS))
        ramp = np.clip((np.arange(t) - (t - 10)) / 10.0, 0, 1)
        z += outcome[i] * rng.uniform(0.6, 1.6) * ramp[:, None] * DRIFT
        z[rng.uniform(size=z.shape) < 0.2] = np.nan
        charts[i, :t] = BASE + SPREAD * z
    return charts, hours, outcome


def encode(charts, hours, mean, std):
    """Standardised values, 0 where missing, plus a missing flag; padding is all zeros."""
    missing = np.isnan(charts)
    values = np.where(missing, 0.0, (charts - mean) / std)
    features = np.concatenate([values, missing.astype("float64")], axis=-1)
    real = np.arange(MAX_HOURS)[None, :] < hours[:, None]
    return (features * real[..., None]).astype("float32")


train_charts, train_hours, y_train = admit(2600)
test_charts, test_hours, y_test = admit(800)
mean = np.nanmean(train_charts, axis=(0, 1))
std = np.nanstd(train_charts, axis=(0, 1))
x_train = encode(train_charts, train_hours, mean, std)
x_test = encode(test_charts, test_hours, mean, std)
assert np.isfinite(x_train).all() and np.isfinite(x_test).all()


class DeteriorationModel(keras.Model):
    def __init__(self, units):
        super().__init__()
        self.masking = layers.Masking(mask_value=0.0)
        self.lower = layers.GRU(units, return_sequences=True)
        self.dropout = layers.Dropout(0.2)
        self.upper = layers.GRU(units // 2)
        self.head = layers.Dense(1)

    def call(self, charts, training=False):
        mask = self.masking.compute_mask(charts)
        x = self.lower(charts, mask=mask, training=training)
        x = self.dropout(x, training=training)
        x = self.upper(x, mask=mask, training=training)
        return self.head(x)


model = DeteriorationModel(24)
model.compile(
    optimizer=keras.optimizers.Adam(3e-3, global_clipnorm=0.1),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[
        keras.metrics.BinaryAccuracy(threshold=0.0, name="acc"),
        keras.metrics.AUC(from_logits=True, name="auc"),
    ],
)
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=6, verbose=2, validation_data=(x_test, y_test))
_, accuracy, auc = model.evaluate(x_test, y_test, verbose=0)
print(f"FINAL test accuracy {accuracy:.4f} AUC {auc:.4f} (always 'stable': {1 - y_test.mean():.4f})")

"""Estimates urgency, need of intensive care and length of stay of emergency patients from their vital signs."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

n = 4000
vitals = rng.normal(0, 1, (n, 8)).astype("float32")
ward = rng.integers(0, 6, n)
w = vitals.T
sick = w[0] * w[1] + np.abs(w[2]) - 0.8 + 0.9 * np.cos(2 * w[3]) + 0.5 * (ward == 2) * w[4]
urgency = np.digitize(sick + rng.normal(0, 0.2, n), [-0.7, 0.9])
icu = (sick + 0.8 * w[5] * w[6] + rng.normal(0, 0.2, n) > 0.8).astype("float32")
days = (np.log1p(np.exp(sick)) + 0.4 * w[7] ** 2 + rng.normal(0, 0.1, n)).astype("float32")
cut = 3200


class Block(layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.first = layers.Dense(width)
        self.second = layers.Dense(width, kernel_initializer="he_normal")
        self.act = layers.Activation("relu")
        self.drop = layers.Dropout(0.05)

    def call(self, x, training=False):
        h = self.first(x)
        return x + self.drop(self.second(h), training=training)


v_in = keras.Input((8,), name="vitals")
w_in = keras.Input((), dtype="int32", name="ward")
h = layers.Dense(64)(layers.Concatenate()([v_in, layers.Embedding(6, 3)(w_in)]))
for _ in range(3):
    h = Block(64)(h)
model = keras.Model(
    [v_in, w_in],
    {
        "urgency": layers.Dense(3, activation="softmax", name="urgency")(h),
        "icu": layers.Dense(1, activation="sigmoid", name="icu")(h),
        "days": layers.Dense(1, name="days")(h),
    },
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss={"urgency": "sparse_categorical_crossentropy", "icu": "binary_crossentropy", "days": "mae"},
    loss_weights={"urgency": 1.0, "icu": 1.0, "days": 0.5},
)
gradwatch.watch(model)
model.fit(
    {"vitals": vitals[:cut], "ward": ward[:cut]},
    {"urgency": urgency[:cut], "icu": icu[:cut, None], "days": days[:cut, None]},
    batch_size=64,
    epochs=18,
    verbose=0,
)
out = model.predict({"vitals": vitals[cut:], "ward": ward[cut:]}, verbose=0)
print("SCORE urgency_accuracy", round(float((out["urgency"].argmax(1) == urgency[cut:]).mean()), 4))

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

n = 5000
z = rng.normal(size=(n, 6))
risk = 1.2 * z[:, 0] * z[:, 1] + np.sin(2 * z[:, 2]) - 0.8 * z[:, 3] + 0.3 * z[:, 5]
y = (risk > np.median(risk)).astype("float32")
table = {
    "creatinine": 1.0 + 0.2 * z[:, 0],
    "sodium": 140 + 3 * z[:, 1],
    "troponin": 0.03 + 0.008 * z[:, 2],
    "albumin": 4.0 + 0.4 * z[:, 3],
    "platelets": 250000 + 60000 * z[:, 4],
    "crp": 12 + 3 * z[:, 5],
}
X = np.stack(list(table.values()), axis=1).astype("float32")
train, test = slice(0, 4000), slice(4000, n)

norm = keras.layers.Normalization(axis=None)
norm.adapt(X[train])
inp = keras.Input((6,))
h = norm(inp)
for width in (64, 64):
    h = keras.layers.Dense(width, activation="swish", kernel_initializer="he_normal")(h)
    h = keras.layers.Dropout(0.1)(h)
out = keras.layers.Dense(1, activation="sigmoid")(h)
model = keras.Model(inp, out)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
watch = gradwatch.watch(model)

train_ds = tf.data.Dataset.from_tensor_slices((X[train], y[train])).shuffle(4000, seed=SEED).batch(64).repeat()
model.fit(train_ds, steps_per_epoch=100, epochs=15, validation_data=(X[test], y[test]), verbose=2)
p = model.predict(X[test], verbose=0)[:, 0]
print("SCORE", float(np.mean((p > 0.5) == (y[test] > 0.5))))

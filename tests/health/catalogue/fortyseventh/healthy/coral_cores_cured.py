"""Trains a multi-output regressor from X-ray scan features of coral cores to four geochemical assays."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SLICES = 6000
SCAN = 24
ASSAYS = ["d18O", "Sr/Ca", "Ba/Ca", "d13C"]

latent = rng.normal(size=(SLICES, 5))
mix = rng.normal(size=(5, SCAN)) / np.sqrt(5)
scan = (latent @ mix + 0.1 * rng.normal(size=(SLICES, SCAN))).astype("float32")
chem = np.stack(
    [
        latent[:, 0] + 0.5 * np.sin(2 * latent[:, 1]),
        latent[:, 1] * latent[:, 2],
        np.tanh(latent[:, 3]) + 0.3 * latent[:, 0] ** 2,
        latent[:, 4] - 0.5 * latent[:, 2],
    ],
    axis=1,
)
chem = ((chem - chem.mean(0)) / chem.std(0)).astype("float32")

train_x, test_x = scan[:5000], scan[5000:]
train_y, test_y = chem[:5000].copy(), chem[5000:]
lost = rng.choice(train_y.size, size=8, replace=False)
train_y.reshape(-1)[lost] = np.nan

inp = keras.Input((SCAN,))
z = keras.layers.Dense(448, activation="elu")(inp)
z = keras.layers.Dense(448, activation="elu")(z)
model = keras.Model(inp, keras.layers.Dense(len(ASSAYS))(z))
opt = keras.optimizers.Adam(1e-3)


def assay_loss(y, p):
    measured = tf.math.is_finite(y)
    err = tf.math.squared_difference(tf.where(measured, y, p), p)
    return tf.reduce_sum(err) / tf.reduce_sum(tf.cast(measured, tf.float32))


@tf.function
def update(xb, yb):
    with tf.GradientTape() as tape:
        loss = assay_loss(yb, model(xb, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


gradwatch.watch(model)

data = tf.data.Dataset.from_tensor_slices((train_x, train_y)).shuffle(5000, seed=seed).batch(50)
history = []
for epoch in range(20):
    for xb, yb in data:
        history.append(float(update(xb, yb)))
    print(f"epoch {epoch + 1:2d} mse {np.mean(history[-100:]):.4f}")

pred = model.predict(test_x, verbose=0)
r2 = 1.0 - np.mean((pred - test_y) ** 2, axis=0) / test_y.var(axis=0)
for name, value in zip(ASSAYS, r2):
    print(f"  {name}: {value:.3f}")
print("SCORE mean_r2", float(r2.mean()))

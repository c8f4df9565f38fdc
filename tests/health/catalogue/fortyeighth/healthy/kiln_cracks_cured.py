"""Trains a detector of rare cracked pieces from the firing log of a pottery kiln."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 8)

COLUMNS = 12


def firings(n):
    log = rng.normal(size=(n, COLUMNS)) * np.linspace(1, 30, COLUMNS) + np.linspace(0, 900, COLUMNS)
    z = (log - np.linspace(0, 900, COLUMNS)) / np.linspace(1, 30, COLUMNS)
    stress = 1.6 * np.abs(z[:, 0]) + 1.3 * z[:, 1] * z[:, 2] + 1.2 * z[:, 3] - z[:, 4] ** 2
    cracked = stress + 0.4 * rng.normal(size=n) > 4.9
    return log.astype("float32"), cracked.astype("float32")


log_train, y_train = firings(24000)
log_test, y_test = firings(8000)
center, spread = log_train.mean(axis=0), log_train.std(axis=0)
log_train = (log_train - center) / spread
log_test = (log_test - center) / spread

base_rate = float(y_train.mean())
prior = keras.initializers.Constant(np.log(base_rate / (1.0 - base_rate)))
print("base rate", round(base_rate, 4))


def dense(units, activation=None, bias="zeros"):
    return keras.layers.Dense(units, activation=activation, kernel_initializer="glorot_uniform", bias_initializer=bias)


model = keras.Sequential(
    [keras.Input((COLUMNS,)), dense(64, "relu"), dense(64, "relu"), dense(32, "relu"), dense(1, bias=prior)]
)
optimizer = keras.optimizers.Adam(1e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = bce(y[:, None], model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


batches = tf.data.Dataset.from_tensor_slices((log_train, y_train)).shuffle(24000, seed=SEED).batch(256)
for epoch in range(14):
    mean_loss = np.mean([float(train_step(x, y)) for x, y in batches])
    print(f"epoch {epoch + 1:2d}  loss {mean_loss:.5f}")

auc = keras.metrics.AUC(curve="PR", from_logits=True)
auc.update_state(y_test[:, None], model.predict(log_test, verbose=0))
print("SCORE average_precision", round(float(auc.result()), 4))

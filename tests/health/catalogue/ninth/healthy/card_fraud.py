"""Train a classifier that flags fraudulent card payments from tabular features."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def payments(n, rate=0.02):
    y = (rng.random(n) < rate).astype("float32")
    amount = rng.lognormal(3.0 + 1.2 * y, 1.1)
    hour = rng.integers(0, 24, n)
    gap = rng.exponential(1.0 - 0.6 * y)
    country = rng.integers(0, 12, n)
    country = np.where((y > 0) & (rng.random(n) < 0.5), 11, country)
    tries = rng.poisson(0.2 + 1.5 * y)
    latent = rng.normal(size=(n, 8)) + 0.6 * y[:, None] * np.linspace(-1, 1, 8)
    x = np.column_stack(
        [
            np.log1p(amount) - 3.0,
            np.sin(hour / 24 * 2 * np.pi),
            np.cos(hour / 24 * 2 * np.pi),
            np.log1p(gap),
            tries,
            latent,
            np.eye(12)[country],
        ]
    )
    return x.astype("float32"), y[:, None]


x_train, y_train = payments(768 * 200)
x_val, y_val = payments(6000)

inputs = keras.Input((x_train.shape[1],), name="payment")
h = layers.Dense(512, activation="relu", kernel_initializer="he_normal", name="fc1")(inputs)
h = layers.Dropout(0.1)(h)
h = layers.Dense(256, activation="relu", kernel_initializer="he_normal", name="fc2")(h)
# start from the base rate
out = layers.Dense(1, name="logit", bias_initializer=keras.initializers.Constant(-3.9))(h)
model = keras.Model(inputs, out, name="fraud")
gradwatch.watch(model)

model.compile(
    # few positives per batch, so update on four batches together
    optimizer=keras.optimizers.Adam(2e-3, gradient_accumulation_steps=4),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.AUC(from_logits=True, name="auc")],
)
before = model.evaluate(x_val, y_val, batch_size=1000, verbose=0)
model.fit(
    x_train,
    y_train,
    batch_size=768,
    epochs=2,
    class_weight={0: 1.0, 1: 10.0},
    validation_data=(x_val, y_val),
    verbose=2,
)
after = model.evaluate(x_val, y_val, batch_size=1000, verbose=0)
print("validation AUC %.3f -> %.3f, loss %.4f -> %.4f" % (before[1], after[1], before[0], after[0]))

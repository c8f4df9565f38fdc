"""Spot stolen cards among many honest payments; a missed theft costs far more than a false alarm."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

THEFT_RATE = 0.03


def payments(n):
    stolen = rng.random(n) < THEFT_RATE
    amount = rng.lognormal(3.2 + 0.5 * stolen, 0.8)
    hour = np.where(stolen, rng.normal(2, 5, n), rng.normal(15, 4.5, n)) % 24
    distance = rng.gamma(2.0, 8.0 + 14.0 * stolen)
    recent = rng.poisson(1.5 + 1.6 * stolen)
    age = rng.gamma(3.0, 2.0, n)
    new_shop = rng.random(n) < 0.2 + 0.35 * stolen
    noise = rng.normal(size=(n, 3))
    x = np.column_stack(
        [
            np.log(amount),
            np.sin(2 * np.pi * hour / 24),
            np.cos(2 * np.pi * hour / 24),
            np.log1p(distance),
            recent,
            age,
            new_shop,
            noise,
        ]
    )
    return x.astype("float32"), stolen.astype("float32")[:, None]


x_train, y_train = payments(24000)
x_test, y_test = payments(8000)
mean, std = x_train.mean(axis=0), x_train.std(axis=0)
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std
theft_weight = float((1 - y_train.mean()) / y_train.mean())
print(f"{int(y_train.sum())} thefts among {len(y_train)} payments, weight {theft_weight:.1f}")

inputs = keras.Input((x_train.shape[1],))
h = layers.Dense(48, activation="relu", name="habits")(inputs)
h = layers.Dropout(0.1, name="drop")(h)
h = layers.Dense(24, activation="relu", name="suspicion")(h)
outputs = layers.Dense(1, activation="sigmoid", name="theft")(h)
model = keras.Model(inputs, outputs, name="card_guard")

optimizer = keras.optimizers.Adam(1e-3)
optimizer.build(model.trainable_variables)


@tf.function(jit_compile=True)
def train_step(x, y):
    with tf.GradientTape() as tape:
        p = model(x, training=True)
        per_payment = keras.losses.binary_crossentropy(y, p)
        weight = tf.where(y > 0.5, theft_weight, 1.0)
        loss = tf.reduce_mean(per_payment * weight)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)

dataset = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(24000, seed=SEED).batch(256, drop_remainder=True)
)
for epoch in range(9):
    loss = np.mean([train_step(x, y).numpy() for x, y in dataset])
    print(f"epoch {epoch + 1:2d}  loss {loss:.4f}")

alarm = model(x_test).numpy()[:, 0] > 0.5
theft = y_test[:, 0] > 0.5
caught, spared = alarm[theft].mean(), (~alarm[~theft]).mean()
print(f"thefts caught {caught:.3f}  honest payments left alone {spared:.3f}")
print(f"SCORE balanced_accuracy {(caught + spared) / 2:.4f}")

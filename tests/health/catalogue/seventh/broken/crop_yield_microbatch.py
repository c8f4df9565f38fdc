"""Crop yield from weather and soil; four micro batches make one update."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N, MICRO, PER_UPDATE = 3200, 16, 4
UPDATES = 300

rain = rng.normal(0, 1, N)
heat = rng.normal(0, 1, N)
nitrogen = rng.normal(0, 1, N)
soil = rng.normal(0, 1, (N, 5))
crop = 0.8 * rain - 0.5 * rain**2 + 0.6 * nitrogen - 0.4 * np.maximum(heat, 0) * (1 - nitrogen)
crop = crop + soil @ np.array([0.3, -0.2, 0.1, 0.0, 0.2]) + rng.normal(0, 0.1, N)
x = np.column_stack([rain, heat, nitrogen, soil]).astype("float32")
y = ((crop - crop.mean()) / crop.std()).astype("float32")[:, None]
x_train, y_train, x_test, y_test = x[:2800], y[:2800], x[2800:], y[2800:]


def build():
    inputs = keras.Input((8,))
    h = layers.Dense(32, activation="tanh", name="field")(inputs)
    h = layers.Dense(32, activation="tanh", name="season")(h)
    return keras.Model(inputs, layers.Dense(1, name="yield")(h))


model = build()
optimizer = keras.optimizers.SGD(learning_rate=0.03)
mse = keras.losses.MeanSquaredError()
store = [tf.Variable(tf.zeros_like(w), trainable=False) for w in model.trainable_variables]
micro_batches = iter(
    tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2800, seed=SEED).repeat().batch(MICRO)
)


@tf.function
def collect(xb, yb):
    with tf.GradientTape() as tape:
        loss = mse(yb, model(xb, training=True))
    for slot, g in zip(store, tape.gradient(loss, model.trainable_variables)):
        slot.assign_add(g / PER_UPDATE)
    return loss


@tf.function
def update():
    optimizer.apply_gradients(zip([s.read_value() for s in store], model.trainable_variables))


gradwatch.watch(model)
for step in range(UPDATES):
    losses = []
    for _ in range(PER_UPDATE):
        xb, yb = next(micro_batches)
        losses.append(float(collect(xb, yb)))
    update()
    if step % 20 == 0 or step == UPDATES - 1:
        test = float(mse(y_test, model(x_test)))
        print(f"update {step:4d} train {np.mean(losses):.4f} test {test:.4f}")

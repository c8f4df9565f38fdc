"""Estimate total rainfall over a long record of tipping-bucket pulses with a recurrent net."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STEPS = 120


def make_records(n):
    storm = np.zeros((n, STEPS))
    state = np.zeros(n)
    for k in range(STEPS):
        state = np.where(rng.random(n) < 0.06, 1.0 - state, state)
        storm[:, k] = state
    tips = rng.poisson(0.1 + 2.0 * storm)
    wind = np.abs(rng.normal(0, 1, (n, STEPS)))
    catch = 1.0 + 0.15 * wind
    total = (tips * catch).sum(1)
    x = np.stack([tips, wind], axis=2)
    return x.astype("float32"), (total / STEPS).astype("float32")[:, None]


x_train, y_train = make_records(3000)
x_test, y_test = make_records(800)

model = keras.Sequential(
    [
        keras.Input((STEPS, 2)),
        keras.layers.SimpleRNN(
            48,
            activation="relu",
            kernel_initializer=keras.initializers.RandomNormal(stddev=0.05),
            recurrent_initializer=keras.initializers.RandomNormal(stddev=0.5),
        ),
        keras.layers.Dense(24, activation="relu"),
        keras.layers.Dense(1),
    ]
)
optimizer = keras.optimizers.RMSprop(5e-4)
loss_fn = keras.losses.MeanSquaredError()
data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(3000, seed=seed).batch(50)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


gradwatch.watch(model)
for epoch in range(8):
    losses = [float(train_step(x, y)) for x, y in data]
    print("epoch", epoch, "loss", round(float(np.mean(losses)), 5))

pred = model.predict(x_test, batch_size=200, verbose=0)
r2 = 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))

"""Running total of a noisy meter: a plain recurrent network over long windows."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

STEPS, UNITS = 50, 48


def make_windows(n):
    use = rng.gamma(2.0, 0.5, (n, STEPS)) - 1.0
    valve = (rng.random((n, STEPS)) < 0.3).astype("float64")
    total = np.sum(use * valve, axis=1)
    x = np.stack([use, valve], axis=-1)
    return x.astype("float32"), total.astype("float32")


x_train, y_train = make_windows(8000)
x_test, y_test = make_windows(1500)
scale = y_train.std()
y_train, y_test = y_train / scale, y_test / scale

inputs = keras.Input(shape=(STEPS, 2))
h = layers.SimpleRNN(
    UNITS,
    activation="relu",
    recurrent_initializer=keras.initializers.RandomNormal(stddev=0.3, seed=seed),
)(inputs)
outputs = layers.Dense(1)(h)
model = keras.Model(inputs, outputs)

optimizer = keras.optimizers.Adam(learning_rate=1e-3)
gradwatch.watch(model)

dataset = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(len(x_train), seed=seed)
    .batch(64, drop_remainder=True)
)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)[:, 0]
        loss = tf.reduce_mean(tf.square(pred - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(9):
    losses = [float(train_step(x, y)) for x, y in dataset]
    print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)
print("SCORE r2", round(float(r2), 4))

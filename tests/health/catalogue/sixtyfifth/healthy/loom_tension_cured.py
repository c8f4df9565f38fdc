import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STEPS = 40
t = np.arange(STEPS)


def record(n):
    speed = rng.uniform(0.2, 0.8, n)
    slack = rng.uniform(-1, 1, n)
    traces = np.sin(speed[:, None] * t + rng.uniform(0, 6, (n, 1))) + slack[:, None] * t / STEPS
    traces += rng.normal(0, 0.1, (n, STEPS))
    tension = 2.0 * slack + 3.0 * (speed - 0.5) + rng.normal(0, 0.05, n)
    return traces[:, :, None].astype("float32"), tension.astype("float32")


x_train, y_train = record(3000)
x_test, y_test = record(600)

train_ds = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(3000, seed=SEED).batch(50, drop_remainder=True)
)

model = keras.Sequential(
    [
        keras.Input((STEPS, 1)),
        keras.layers.Conv1D(16, 5, activation="relu", name="conv_fine"),
        keras.layers.MaxPooling1D(2),
        keras.layers.Conv1D(32, 5, activation="relu", name="conv_wide"),
        keras.layers.Flatten(),
        keras.layers.Dense(32, activation="relu", name="dense"),
        keras.layers.Dense(1, name="tension"),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
watch = gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        predicted = tf.squeeze(model(x, training=True), axis=1)
        loss = tf.reduce_mean(tf.square(y - predicted))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    watch.log(loss=loss)
    return loss


for epoch in range(20):
    total = []
    for x, y in train_ds:
        total.append(float(train_step(x, y)))
    print(f"epoch {epoch} loss {np.mean(total):.4f}")

pred = model.predict(x_test, verbose=0)[:, 0]
print("SCORE", 1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test))

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 131)


def make_pots(n):
    clay = rng.uniform(0, 1, n)
    water = rng.uniform(0.15, 0.35, n)
    peak = rng.normal(1100, 90, n)
    soak = rng.uniform(0.5, 3.0, n)
    wall = rng.uniform(3, 12, n)
    pct = (
        6.0
        + 5.0 * clay * water / 0.25
        + 2.5 * np.tanh((peak - 1100) / 100)
        + 0.8 * np.log(soak)
        - 0.15 * (wall - 7)
        + rng.normal(0, 0.25, n)
    )
    x = np.stack(
        [
            clay - 0.5,
            (water - 0.25) / 0.06,
            (peak - 1100) / 90,
            (soak - 1.75) / 0.7,
            (wall - 7.5) / 2.6,
        ],
        axis=1,
    )
    return x.astype("float32"), pct.astype("float32")


x_train, y_train = make_pots(5000)
x_test, y_test = make_pots(1200)

model = keras.Sequential(
    [
        layers.Input((5,)),
        layers.Dense(64, activation="relu", name="glaze"),
        layers.Dense(32, activation="relu", name="body"),
        layers.Dense(1, name="shrinkage"),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(model)

dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(5000, seed=SEED).batch(64)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        pred = model(xb, training=True)
        loss = tf.reduce_mean(tf.square(yb[:, None] - pred))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(20):
    running = 0.0
    for step, (xb, yb) in enumerate(dataset):
        loss = train_step(xb, yb)
        watch.log(loss=loss)
        running += float(loss)
    print(f"epoch {epoch} loss {running / (step + 1):.4f}")

pred = model(x_test).numpy()[:, 0]
print("SCORE", float(1.0 - np.mean((pred - y_test) ** 2) / np.var(y_test)))

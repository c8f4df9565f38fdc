import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=3000):
    rng = np.random.default_rng(49)
    pressure = rng.uniform(90000, 110000, n)
    voltage = rng.uniform(0, 5, n)
    count = rng.integers(0, 50000, n)
    a = (pressure - 100000) / 10000
    y = 0.3 * np.sin(2 * a) + 0.1 * voltage / 5 + 0.15 * (count / 25000 - 1) ** 2
    y = y + rng.normal(0, 1, n) * (0.01 + 0.03 * voltage / 5)
    return np.stack([pressure, voltage, count], 1).astype("float32"), y.astype("float32")


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    norm = layers.Normalization()
    norm.adapt(x)
    inp = keras.Input((3,))
    h = norm(inp)
    h = layers.Dense(48, activation="swish")(h)
    h = layers.Dense(48, activation="swish")(h)
    mean = layers.Dense(1, name="mean")(h)
    log_sigma = layers.Dense(1, name="log_sigma")(h)
    model = keras.Model(inp, [mean, log_sigma])
    optimizer = keras.optimizers.Adam(2e-3)
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(3000, seed=SEED).batch(50)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            mu, ls = model(xb, training=True)
            ls = tf.clip_by_value(ls[:, 0], -6.0, 4.0)
            z = (yb - mu[:, 0]) * tf.exp(-ls)
            loss = tf.reduce_mean(0.5 * z * z + ls)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    gradwatch.watch(model)
    for epoch in range(16):
        losses = [float(step(xb, yb)) for xb, yb in data]
        print("epoch", epoch, "loss", np.mean(losses))


if __name__ == "__main__":
    main()

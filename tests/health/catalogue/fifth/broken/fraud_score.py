import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=3000):
    rng = np.random.default_rng(35)
    x = rng.normal(0, 1, (n, 16))
    s = x[:, 0] * x[:, 1] + x[:, 2] - 0.8 * x[:, 3] + 0.4 * np.sin(3 * x[:, 4])
    y = (s > 0.2).astype("float32")[:, None]
    return x.astype("float32"), y


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    model = keras.Sequential(
        [
            layers.Input((16,)),
            layers.Dense(64, activation="tanh", name="t1"),
            layers.Dense(64, activation="tanh", name="t2"),
            layers.Dense(1, name="logit"),
        ]
    )
    optimizer = keras.optimizers.Adam(learning_rate=0.5)
    bce = keras.losses.BinaryCrossentropy(from_logits=True)
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(3000, seed=SEED).repeat().batch(32)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            loss = bce(yb, model(xb, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    recent = []
    gradwatch.watch(model)
    for i, (xb, yb) in enumerate(data.take(900)):
        recent.append(float(step(xb, yb)))
        if (i + 1) % 90 == 0:
            print("step", i + 1, "loss", np.mean(recent[-90:]))


if __name__ == "__main__":
    main()

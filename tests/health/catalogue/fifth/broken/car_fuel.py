import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=1600):
    rng = np.random.default_rng(37)
    x = rng.normal(0, 1, (n, 7))
    mpg = 2.0 * x[:, 0] - 1.2 * x[:, 1] + x[:, 2] * x[:, 3] + rng.normal(0, 0.2, n)
    return x.astype("float32"), ((mpg - mpg.mean()) / mpg.std()).astype("float32")


class FuelModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.l1 = layers.Dense(48, activation="elu", name="engine")
        self.l2 = layers.Dense(48, activation="elu", name="body")
        self.l3 = layers.Dense(1, name="mpg")

    def call(self, x):
        return self.l3(self.l2(self.l1(x)))


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    model = FuelModel()
    optimizer = keras.optimizers.Adam(2e-3)
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1600, seed=SEED).batch(32)
    model(x[:1])

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            pred = model(xb, training=True)
            loss = tf.reduce_mean(tf.square(yb - pred))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    gradwatch.watch(model)
    for epoch in range(14):
        losses = [float(step(xb, yb)) for xb, yb in data]
        print("epoch", epoch, "loss", np.mean(losses))


if __name__ == "__main__":
    main()

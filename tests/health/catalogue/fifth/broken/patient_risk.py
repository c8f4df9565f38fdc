import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))


def load(n=2000):
    rng = np.random.default_rng(12)
    x = rng.normal(0, 1, (n, 14))
    s = np.sin(x[:, 0] * 1.5) + x[:, 1] * x[:, 2] + 0.6 * x[:, 4]
    y = np.digitize(s, np.quantile(s, [0.25, 0.5, 0.75]))
    return x.astype("float32"), y.astype("int32")


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    init = "zeros"
    inp = keras.Input((14,))
    h = layers.Dense(48, activation="relu", kernel_initializer=init, name="vitals")(inp)
    h = layers.Dense(48, activation="relu", kernel_initializer=init, name="history")(h)
    out = layers.Dense(4, kernel_initializer=init, name="risk")(h)
    model = keras.Model(inp, out)
    optimizer = keras.optimizers.Nadam(2e-3)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2000, seed=SEED).batch(40).repeat(12)

    @tf.function
    def train(xb, yb):
        with tf.GradientTape() as tape:
            loss = loss_fn(yb, model(xb, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    recent = []
    gradwatch.watch(model)
    for i, (xb, yb) in enumerate(data):
        recent.append(float(train(xb, yb)))
        if (i + 1) % 50 == 0:
            print("step", i + 1, "loss", np.mean(recent[-50:]))


if __name__ == "__main__":
    main()

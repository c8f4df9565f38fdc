import numpy as np
import tensorflow as tf

import gradwatch

tf.random.set_seed(2)
np.random.seed(2)


class Gate(tf.keras.layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.value = tf.keras.layers.Dense(width)
        self.gate = tf.keras.layers.Dense(width, activation="sigmoid")

    def call(self, x):
        return self.value(x) * self.gate(x)


class Softsensor(tf.keras.Model):
    """Estimates a reactor concentration from 24 cheap probes."""

    def __init__(self, width=48, blocks=20):
        super().__init__()
        self.stem = tf.keras.layers.Dense(width)
        self.blocks = [Gate(width) for _ in range(blocks)]
        self.head = tf.keras.layers.Dense(1)

    def call(self, x):
        x = self.stem(x)
        for b in self.blocks:
            x = b(x)
        return self.head(x)


def plant(n, seed):
    r = np.random.default_rng(seed)
    latent = r.normal(size=(n, 4))
    mix = np.random.default_rng(99).normal(size=(4, 24)) / 2
    probes = latent @ mix + 0.1 * r.normal(size=(n, 24))
    conc = 0.8 * latent[:, 0] + 0.5 * np.tanh(2 * latent[:, 1]) + 0.4 * latent[:, 2] * latent[:, 3]
    return probes.astype("float32"), (conc + 0.05 * r.normal(size=n)).astype("float32")[:, None]


x, y = plant(8000, 10)
xv, yv = plant(2000, 11)
net = Softsensor()
sgd = tf.keras.optimizers.SGD(0.003, momentum=0.9)
gradwatch.watch(net, sgd)
mse = tf.keras.losses.MeanSquaredError()


@tf.function
def train(bx, by):
    with tf.GradientTape() as tape:
        loss = mse(by, net(bx, training=True))
    grads = tape.gradient(loss, net.trainable_variables)
    sgd.apply_gradients(zip(grads, net.trainable_variables))
    return loss


batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(8000, seed=4).batch(64).repeat(9)
running = tf.keras.metrics.Mean()
for k, (bx, by) in enumerate(batches, 1):
    running.update_state(train(bx, by))
    if k % 250 == 0:
        last = float(running.result())
        print("step", k, "loss", round(last, 4))
        running.reset_state()

r2 = 1 - np.mean((net(xv).numpy() - yv) ** 2) / np.var(yv)
print("loss", round(last, 4), "held-out R2", round(float(r2), 3))

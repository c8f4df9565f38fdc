import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(3)
STEPS, BATCH, LEN = 1600, 64, 30


def batch(rng, n=BATCH):
    """A meter stream with two flagged instants; wanted: the sum of the two flagged readings."""
    reading = rng.random((n, LEN)).astype("float32")
    flag = np.zeros((n, LEN), "float32")
    flag[np.arange(n), rng.integers(0, LEN // 2, n)] = 1
    flag[np.arange(n), rng.integers(LEN // 2, LEN, n)] = 1
    return np.stack([reading, flag], -1), (reading * flag).sum(1, keepdims=True)


class Meter(tf.Module):
    def __init__(self):
        super().__init__()
        self.net = tf.keras.Sequential([tf.keras.Input((LEN, 2)), tf.keras.layers.GRU(40), tf.keras.layers.Dense(1)])
        self.opt = tf.keras.optimizers.Adam(2e-3, clipnorm=1.0)

    @tf.function(input_signature=[tf.TensorSpec((BATCH, LEN, 2)), tf.TensorSpec((BATCH, 1))])
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.net(x, training=True) - y))
        v = self.net.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss


def main():
    m = Meter()
    gradwatch.watch(m.net, m.opt)
    rng = np.random.default_rng(30)
    acc = []
    for i in range(1, STEPS + 1):
        acc.append(float(m.step(*batch(rng))))
        if i % 200 == 0:
            last = np.mean(acc)
            print(f"{i:5d} {last:.5f}", flush=True)
            acc = []
    x, y = batch(np.random.default_rng(31), 2000)
    mse = np.mean((m.net(x).numpy() - y) ** 2)
    print(f"loss {last:.5f} held-out R2 {1 - mse / y.var():.4f}")


main()

# Resting shape of a loaded square membrane, by the energy of its deflection.
import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(23)
PI = float(np.pi)


class Deflection(tf.keras.Model):
    """Network times x(1-x)y(1-y): zero on the frame by construction."""

    def __init__(self, width=48):
        super().__init__()
        self.layers_in = [tf.keras.layers.Dense(width, activation="tanh") for _ in range(3)]
        self.last = tf.keras.layers.Dense(1)

    def call(self, xy):
        h = xy
        for d in self.layers_in:
            h = d(h)
        frame = xy[:, :1] * (1 - xy[:, :1]) * xy[:, 1:] * (1 - xy[:, 1:])
        return 4.0 * frame * self.last(h)


def exact(xy):
    return np.sin(PI * xy[:, 0]) * np.sin(PI * xy[:, 1]) + 0.3 * np.sin(2 * PI * xy[:, 0]) * np.sin(PI * xy[:, 1])


def load_at(xy):
    x, y = xy[:, :1], xy[:, 1:]
    return 2 * PI**2 * tf.sin(PI * x) * tf.sin(PI * y) + 0.3 * 5 * PI**2 * tf.sin(2 * PI * x) * tf.sin(PI * y)


net = Deflection()
net(tf.zeros((2, 2)))
sched = tf.keras.optimizers.schedules.CosineDecay(3e-3, 2500, alpha=0.05)
opt = tf.keras.optimizers.Adam(sched)
gradwatch.watch(net, opt)


@tf.function
def relax():
    xy = tf.random.uniform((1024, 2))
    load = load_at(xy)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(xy)
            u = net(xy)
        slope = inner.gradient(u, xy)
        stretch = tf.reduce_sum(tf.square(slope), axis=1)
        energy = tf.reduce_mean(load * u) - 0.5 * tf.reduce_mean(stretch)
    grads = outer.gradient(energy, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return energy


for it in range(2500):
    e = relax()
    if it % 250 == 0:
        print(f"{it:5d}  energy {float(e):.4f}")

grid = np.random.default_rng(0).random((4000, 2)).astype("float32")
u = net(grid).numpy()[:, 0]
ref = exact(grid)
rel = np.linalg.norm(u - ref) / np.linalg.norm(ref)
print(f"loss {float(e):.5f}  relative error of the shape {rel:.4f}")

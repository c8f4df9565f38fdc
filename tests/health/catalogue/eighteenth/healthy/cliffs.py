import keras
import numpy as np
import tensorflow as tf

import gradwatch

keras.utils.set_random_seed(40)
SITES, KEY = 26, (3, 11, 17, 22)
g = np.random.default_rng(40)


def substituents(n):
    """+1/-1 for donor/acceptor on every site of the scaffold; affinity flips with each of the key sites."""
    x = g.choice([-1.0, 1.0], (n, SITES))
    affinity = x[:, KEY[0]] * x[:, KEY[1]] * x[:, KEY[2]] * x[:, KEY[3]]
    return x.astype("float32"), affinity.astype("float32")


class Scaffold(keras.Model):
    def __init__(self, width):
        super().__init__()
        self.hidden = keras.layers.Dense(width, activation="relu")
        self.mix = keras.layers.Dense(width // 4, activation="relu")
        self.score = keras.layers.Dense(1)

    def call(self, x):
        return self.score(self.mix(self.hidden(x)))[:, 0]


x, y = substituents(20000)
xv, yv = substituents(2000)
net = Scaffold(160)
net.build((None, SITES))
opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(net, opt)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        pred = net(xb)
        loss = tf.reduce_mean(tf.square(pred - yb))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(20000).batch(64, drop_remainder=True)
count = 0
for epoch in range(8):
    acc = []
    for xb, yb in ds:
        acc.append(float(step(xb, yb)))
        count += 1
    print(count, "loss", np.mean(acc[-100:]))

p = net(xv).numpy()
print(
    "loss",
    np.mean(acc[-100:]),
    "heldout R2",
    1 - np.mean((p - yv) ** 2) / np.var(yv),
    "sign accuracy",
    np.mean(np.sign(p) == yv),
)

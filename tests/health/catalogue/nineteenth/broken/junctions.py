# Forecast of the queue at 20 junctions from the state of the road graph.
import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(5)
rs = np.random.RandomState(5)
N, F, H, ROUNDS = 20, 6, 32, 10
adj = (rs.rand(N, N) < 0.12).astype("float32")
adj = np.maximum(np.maximum(adj, adj.T), np.eye(N, dtype="float32"))
A = tf.constant(adj / adj.sum(1, keepdims=True))


class RoadConv(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.own = tf.keras.layers.Dense(units, kernel_initializer="random_normal")
        self.nbr = tf.keras.layers.Dense(units, use_bias=False, kernel_initializer="random_normal")

    def build(self, shape):
        self.own.build(shape)
        self.nbr.build(shape)

    def call(self, h):
        return tf.tanh(self.own(h) + self.nbr(tf.einsum("ij,bjf->bif", A, h)))


class QueueNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.convs = [RoadConv(H) for _ in range(ROUNDS)]
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        h = x
        for c in self.convs:
            h = c(h)
        return tf.squeeze(self.out(h), -1)


def simulate(n):
    x = rs.randn(n, N, F).astype("float32")
    nb = np.einsum("ij,bjf->bif", A.numpy(), x)
    y = 0.9 * x[..., 0] - 0.6 * x[..., 1] + 1.2 * nb[..., 2] + 0.4 * np.tanh(2 * nb[..., 3])
    return x, (y + 0.1 * rs.randn(n, N)).astype("float32")


xtr, ytr = simulate(1600)
xte, yte = simulate(300)
model = QueueNet()
model(xtr[:2])
opt = tf.keras.optimizers.SGD(0.05, momentum=0.9)
gradwatch.watch(model, opt)
ds = tf.data.Dataset.from_tensor_slices((xtr, ytr)).shuffle(1600).batch(32)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    v = model.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss


for epoch in range(16):
    last = [float(step(x, y)) for x, y in ds]
err = np.mean((model(xte).numpy() - yte) ** 2)
print("loss %.4f  held-out R2 %.3f" % (np.mean(last), 1 - err / yte.var()))

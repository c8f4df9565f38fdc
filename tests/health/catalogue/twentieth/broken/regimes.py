import argparse

import keras
import numpy as np
import tensorflow as tf

import gradwatch

ap = argparse.ArgumentParser(description="fuel flow from flight-recorder rows, one expert per flight regime")
ap.add_argument("--experts", type=int, default=4)
ap.add_argument("--steps", type=int, default=4000)
ap.add_argument("--lr", type=float, default=3e-3)
args = ap.parse_args()
keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
F = 10
COEF = rng.normal(0, 1, (4, F)).astype("float32")
CENT = rng.normal(0, 1.5, (4, 6)).astype("float32")


def rows(n):
    regime = rng.integers(0, 4, n)
    ctx = CENT[regime] + rng.normal(0, 0.5, (n, 6))
    x = rng.normal(0, 1, (n, F))
    y = (x * COEF[regime]).sum(1) + rng.normal(0, 0.2, n)
    return ctx.astype("float32"), x.astype("float32"), y.astype("float32")[:, None]


class Mixture(keras.Model):
    def __init__(self, experts):
        super().__init__()
        self.n = experts
        self.router_in = keras.layers.Dense(24, activation="tanh")
        self.router_out = keras.layers.Dense(experts)
        self.experts = [keras.layers.Dense(1) for _ in range(experts)]

    def call(self, inputs):
        ctx, x = inputs
        gate = tf.nn.softmax(self.router_out(self.router_in(ctx)))
        pick = tf.one_hot(tf.argmax(gate, axis=-1), self.n)
        outs = tf.concat([e(x) for e in self.experts], axis=-1)
        return tf.reduce_sum(pick * outs, axis=-1, keepdims=True)


C, X, Y = rows(8000)
Cv, Xv, Yv = rows(2000)
model = Mixture(args.experts)
model([C[:2], X[:2]])
opt = keras.optimizers.Adam(args.lr)
gradwatch.watch(model, opt)


@tf.function
def train(c, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(y - model([c, x], training=True)))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients([(g, v) for g, v in zip(grads, model.trainable_variables) if g is not None])
    return loss


run = []
for it in range(args.steps):
    k = rng.integers(0, len(X), 64)
    run.append(float(train(tf.constant(C[k]), tf.constant(X[k]), tf.constant(Y[k]))))
err = Yv - model.predict([Cv, Xv], verbose=0)
print(f"loss {np.mean(run[-50:]):.4f}  held-out R2 {1 - (err**2).mean() / Yv.var():.3f}")

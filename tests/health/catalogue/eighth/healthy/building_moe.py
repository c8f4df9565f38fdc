import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
EXPERTS, STEPS, BATCH = 4, 600, 64


def buildings(n):
    kind = rng.integers(0, 4, n)
    size, glass, ins, temp = rng.normal(size=(4, n))
    onehotish = np.eye(4)[kind] + rng.normal(0, 0.1, (n, 4))
    heat = np.choose(kind, [size - ins, 2 * ins * temp, -temp + glass, np.tanh(2 * size) * 1.5])
    cool = np.choose(kind, [temp * glass, size + temp, 0.5 * glass - ins, temp * 1.2])
    p = 1 / (1 + np.exp(-3 * np.choose(kind, [temp, size, -glass, ins])))
    x = np.column_stack([onehotish, size, glass, ins, temp]).astype("float32")
    y = np.column_stack([heat, cool]) + rng.normal(0, 0.05, (n, 2))
    return x, y.astype("float32"), (rng.uniform(size=n) < p).astype("float32")[:, None]


class Moe(keras.Model):
    def __init__(self):
        super().__init__()
        self.experts = [
            keras.Sequential(
                [layers.Dense(40, activation="silu"), layers.Dense(40, activation="silu"), layers.Dense(24)]
            )
            for _ in range(EXPERTS)
        ]
        self.router = layers.Dense(EXPERTS)
        self.heat, self.cool, self.comfort = layers.Dense(1), layers.Dense(1), layers.Dense(1)
        self.log_var = self.add_weight(shape=(2,), initializer="zeros", name="log_var")

    def call(self, x):
        gate = tf.nn.softmax(self.router(x))
        top, idx = tf.math.top_k(gate, 2)
        mask = tf.reduce_sum(tf.one_hot(idx, EXPERTS), 1)
        sparse = gate * mask / tf.reduce_sum(top, -1, keepdims=True)
        h = tf.add_n([sparse[:, k : k + 1] * e(x) for k, e in enumerate(self.experts)])
        load = tf.reduce_mean(mask, 0) / 2.0
        balance = EXPERTS * tf.reduce_sum(load * tf.reduce_mean(gate, 0))
        return tf.concat([self.heat(h), self.cool(h)], -1), self.comfort(h), balance, gate


xt, yt, ct = buildings(8000)
xv, yv, cv = buildings(1500)
moe = Moe()
moe(xt[:2])
opt = keras.optimizers.Nadam(4e-3)


@tf.function
def train(x, y, c):
    with tf.GradientTape() as tape:
        loads, comfort, balance, _ = moe(x, training=True)
        mse = tf.reduce_mean(tf.square(y - loads), 0)
        regression = 0.5 * tf.reduce_sum(tf.exp(-moe.log_var) * mse + moe.log_var)
        bce = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=c, logits=comfort))
        loss = regression + bce + 0.1 * balance
    grads = tape.gradient(loss, moe.trainable_variables)
    opt.apply_gradients(zip(grads, moe.trainable_variables))
    return loss, mse, bce, balance


def evaluate():
    loads, comfort, _, gate = moe(xv)
    r2 = 1 - np.mean((yv - loads) ** 2, 0) / yv.var(0)
    use = np.bincount(np.argsort(gate, 1)[:, -2:].ravel(), minlength=EXPERTS) / (2 * len(xv))
    print(
        "R2",
        r2.round(3),
        "comfort accuracy",
        np.mean((comfort.numpy() > 0) == (cv > 0.5)).round(3),
        "use",
        use.round(2),
    )


evaluate()
gradwatch.watch(moe)
for i in range(STEPS):
    b = rng.integers(0, len(xt), BATCH)
    loss, mse, bce, bal = train(xt[b], yt[b], ct[b])
    if i % 50 == 0 or i == STEPS - 1:
        print(i, f"loss {loss:.3f} mse {mse[0]:.4f} {mse[1]:.4f} bce {bce:.3f} balance {bal:.3f}")
evaluate()

"""Pure premium of motor policies, compound Poisson-gamma target."""

import argparse

import numpy as np
import tensorflow as tf

import gradwatch

parser = argparse.ArgumentParser()
parser.add_argument("--policies", type=int, default=30000)
parser.add_argument("--steps", type=int, default=9000)
parser.add_argument("--batch", type=int, default=256)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--power", type=float, default=1.5)
parser.add_argument("--seed", type=int, default=11)
args = parser.parse_args()

tf.keras.utils.set_random_seed(args.seed)
rng = np.random.default_rng(args.seed)


def portfolio(n):
    x = rng.normal(size=(n, 12)).astype("float32")
    x[:, 8:] = (x[:, 8:] > 0.4).astype("float32")
    freq = np.exp(-0.6 + 0.5 * x[:, 0] - 0.4 * x[:, 1] + 0.5 * x[:, 8] + 0.3 * x[:, 2] * x[:, 9])
    sev = np.exp(0.1 + 0.3 * x[:, 3] + 0.4 * x[:, 10])
    n_claims = rng.poisson(freq)
    cost = np.where(n_claims > 0, rng.gamma(np.maximum(n_claims, 1) * 2.0, sev / 2.0), 0.0)
    return x, cost.astype("float32")


def deviance(y, mu, p):
    return tf.reduce_mean(-y * tf.pow(mu, 1.0 - p) / (1.0 - p) + tf.pow(mu, 2.0 - p) / (2.0 - p))


x_tr, y_tr = portfolio(args.policies)
x_te, y_te = portfolio(8000)
scale = y_tr.mean()
y_tr, y_te = y_tr / scale, y_te / scale

net = tf.keras.Sequential(
    [
        tf.keras.Input((12,)),
        tf.keras.layers.Dense(64, activation="swish"),
        tf.keras.layers.Dense(32, activation="swish"),
        tf.keras.layers.Dense(
            1, bias_initializer="ones", kernel_initializer=tf.keras.initializers.RandomNormal(stddev=0.01)
        ),
    ]
)
opt = tf.keras.optimizers.Adam(args.lr)
gradwatch.watch(net, opt)

data = tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(20000, seed=1).repeat().batch(args.batch).prefetch(2)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        mu = tf.squeeze(net(xb, training=True), -1)
        loss = deviance(yb, mu, args.power)
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


for i, (xb, yb) in enumerate(data.take(args.steps)):
    loss = step(xb, yb)
    if i % 500 == 0:
        print(f"step {i:5d}  loss {float(loss):.4f}")


def unit_dev(y, mu, p):
    return 2 * np.mean(
        np.maximum(y, 0) ** (2 - p) / ((1 - p) * (2 - p)) - y * mu ** (1 - p) / (1 - p) + mu ** (2 - p) / (2 - p)
    )


mu = net(x_te).numpy()[:, 0]
d2 = 1 - unit_dev(y_te, mu, args.power) / unit_dev(y_te, np.full_like(mu, y_te.mean()), args.power)
print(f"loss {float(loss):.4f}  held-out explained deviance {d2:.4f}")

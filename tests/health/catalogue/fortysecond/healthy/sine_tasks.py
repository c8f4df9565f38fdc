"""Meta-train a network (MAML) that adapts to a new sine curve from ten points."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

SHOTS = 10
TASKS = 16
META_STEPS = 3500
INNER_RATE = 0.02


def sample_tasks(count, rng):
    amp = rng.uniform(0.5, 2.0, (count, 1, 1))
    phase = rng.uniform(0, np.pi, (count, 1, 1))
    x = rng.uniform(-4, 4, (count, 2 * SHOTS, 1))
    y = amp * np.sin(x + phase)
    x, y = (x / 2.3).astype("float32"), y.astype("float32")
    return x[:, :SHOTS], y[:, :SHOTS], x[:, SHOTS:], y[:, SHOTS:]


def build_model():
    return keras.Sequential(
        [
            keras.Input((1,)),
            layers.Dense(40, activation="tanh", name="hidden_a"),
            layers.Dense(40, activation="tanh", name="hidden_b"),
            layers.Dense(1, name="curve"),
        ]
    )


def forward(weights, x):
    w1, b1, w2, b2, w3, b3 = weights
    h = tf.tanh(tf.matmul(x, w1) + b1)
    h = tf.tanh(tf.matmul(h, w2) + b2)
    return tf.matmul(h, w3) + b3


def adapt(slow, x, y, count, steps):
    """One fast copy of the weights for every task, moved by gradient descent."""
    fast = []
    for w in slow:
        w = tf.reshape(w, (1, 1, -1)) if len(w.shape) == 1 else w[None]
        fast.append(tf.tile(w, (count, 1, 1)))
    for _ in range(steps):
        with tf.GradientTape() as inner:
            inner.watch(fast)
            loss = tf.reduce_sum(tf.reduce_mean(tf.square(forward(fast, x) - y), axis=(1, 2)))
        grads = inner.gradient(loss, fast)
        fast = [w - INNER_RATE * g for w, g in zip(fast, grads)]
    return fast


def main():
    rng = np.random.default_rng(SEED + 17)
    model = build_model()
    optimizer = keras.optimizers.Adam(2e-3)
    gradwatch.watch(model)

    @tf.function
    def meta_step(xs, ys, xq, yq):
        with tf.GradientTape() as outer:
            fast = adapt([v.value for v in model.trainable_variables], xs, ys, TASKS, 2)
            loss = tf.reduce_mean(tf.square(forward(fast, xq) - yq))
        grads = outer.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    recent = []
    for step in range(META_STEPS):
        batch = [tf.constant(a) for a in sample_tasks(TASKS, rng)]
        recent.append(float(meta_step(*batch)))
        if step % 100 == 99:
            print("step %d  query mse %.4f" % (step + 1, np.mean(recent[-100:])))

    xs, ys, xq, yq = [tf.constant(a) for a in sample_tasks(200, rng)]
    slow = [v.value for v in model.trainable_variables]
    before = np.mean((model(xq[0]) - yq[0]) ** 2)
    fast = adapt(slow, xs, ys, 200, 5)
    after = np.mean((forward(fast, xq) - yq) ** 2)
    print("one task before adaptation %.4f" % before)
    print("SCORE mse %.4f" % after)


if __name__ == "__main__":
    main()

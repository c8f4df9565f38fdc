"""Meta-learn a starting point from which a new kiln is calibrated with ten readings.

Every kiln answers its burner with a curve of its own (height, phase and level differ).
Second-order MAML: the outer loss is that of each kiln's own copy after three inner
gradient steps.  Before adaptation the shared network cannot be right for any kiln, and it is
not meant to be: that loss stays high, only the one after adaptation falls.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

KILNS, SHOTS, QUERIES, INNER_STEPS, INNER_RATE, STEPS = 16, 10, 20, 3, 0.05, 1000


def make_kilns(kilns, queries=QUERIES):
    """Burner setting in [-2, 2] to temperature, with readings' noise of 0.05."""
    height = rng.uniform(0.5, 2.0, (kilns, 1, 1))
    phase = rng.uniform(-1.5, 1.5, (kilns, 1, 1))
    level = rng.uniform(-1.0, 1.0, (kilns, 1, 1))
    x = rng.uniform(-2.0, 2.0, (kilns, SHOTS + queries, 1))
    y = level + height * np.sin(1.3 * x + phase) + 0.05 * rng.normal(size=x.shape)
    x, y = x.astype("float32"), y.astype("float32")
    return x[:, :SHOTS], y[:, :SHOTS], x[:, SHOTS:], y[:, SHOTS:]


def build():
    return keras.Sequential(
        [
            keras.Input((1,)),
            keras.layers.Dense(40, activation="tanh", name="hidden_1"),
            keras.layers.Dense(40, activation="tanh", name="hidden_2"),
            keras.layers.Dense(1, name="temperature"),
        ],
        name="kiln_curve",
    )


def forward(weights, x):
    """The same network with one set of weights per kiln (leading axis)."""
    k1, b1, k2, b2, k3, b3 = weights
    h = tf.tanh(tf.matmul(x, k1) + b1)
    h = tf.tanh(tf.matmul(h, k2) + b2)
    return tf.matmul(h, k3) + b3


def adapt(weights, x, y):
    for _ in range(INNER_STEPS):
        with tf.GradientTape() as tape:
            tape.watch(weights)
            # Mean over a kiln's readings, sum over kilns: the copies do not mix.
            loss = tf.reduce_sum(tf.reduce_mean(tf.square(forward(weights, x) - y), axis=(1, 2)))
        grads = tape.gradient(loss, weights)
        weights = [w - INNER_RATE * g for w, g in zip(weights, grads)]
    return weights


def copies(model, kilns):
    out = []
    for v in model.trainable_variables:
        value = tf.convert_to_tensor(v)
        value = value[None] if len(v.shape) == 2 else value[None, None]
        out.append(tf.tile(value, [kilns, 1, 1]))
    return out


def main():
    model = build()
    gradwatch.watch(model)
    optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, STEPS, alpha=0.05))
    optimizer.build(model.trainable_variables)

    @tf.function
    def meta_step(x, y, query_x, query_y):
        with tf.GradientTape() as tape:
            adapted = adapt(copies(model, KILNS), x, y)
            loss = tf.reduce_mean(tf.square(forward(adapted, query_x) - query_y))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for step in range(STEPS):
        loss = meta_step(*map(tf.constant, make_kilns(KILNS)))
        if step % 200 == 0:
            print(f"step {step}: loss after adaptation {float(loss):.4f}")

    x, y, query_x, query_y = make_kilns(400, queries=50)
    after = forward(adapt(copies(model, 400), x, y), query_x).numpy()
    before = model.predict(query_x.reshape(-1, 1), verbose=0, batch_size=4096).reshape(query_y.shape)
    print(f"error before adaptation {np.mean((before - query_y) ** 2):.4f}")
    r2 = 1.0 - np.mean((after - query_y) ** 2) / np.var(query_y)
    print(f"score r2_after_adaptation {r2:.4f} chance 0.0")


if __name__ == "__main__":
    main()

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BUOYS = 20
SHOTS = 10
INNER_RATE = 0.02
UPDATES = 1400


def buoys(n):
    height = rng.uniform(0.5, 5.0, (n, 1, 1))
    phase = rng.uniform(0.0, np.pi, (n, 1, 1))
    when = rng.uniform(-4.0, 4.0, (n, 2 * SHOTS, 1))
    level = height * np.sin(when - phase)
    when, level = when.astype("float32"), level.astype("float32")
    return [tf.constant(part) for part in (when[:, :SHOTS], level[:, :SHOTS], when[:, SHOTS:], level[:, SHOTS:])]


learner = keras.Sequential(
    [
        keras.Input((1,)),
        keras.layers.Dense(40, activation="relu", name="first"),
        keras.layers.Dense(40, activation="relu", name="second"),
        keras.layers.Dense(1, name="level"),
    ],
    name="learner",
)
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(learner)


def forward(weights, x):
    for i in range(0, len(weights), 2):
        x = tf.matmul(x, weights[i]) + weights[i + 1][:, None, :]
        if i < len(weights) - 2:
            x = tf.nn.relu(x)
    return x


def per_task(weights, n):
    return [tf.tile(tf.convert_to_tensor(w)[None], (n,) + (1,) * len(w.shape)) for w in weights]


def adapt(weights, x, y, steps):
    for _ in range(steps):
        with tf.GradientTape() as inner:
            inner.watch(weights)
            errors = tf.reduce_mean(tf.square(forward(weights, x) - y), axis=(1, 2))
            total = tf.reduce_sum(errors)
        grads = inner.gradient(total, weights)
        weights = [w - INNER_RATE * g for w, g in zip(weights, grads)]
    return weights


@tf.function
def meta_step(x_support, y_support, x_query, y_query):
    with tf.GradientTape() as outer:
        weights = per_task(learner.trainable_variables, BUOYS)
        adapted = adapt(weights, x_support, y_support, 1)
        loss = tf.reduce_mean(tf.square(forward(adapted, x_query) - y_query))
    grads = outer.gradient(loss, learner.trainable_variables)
    optimizer.apply_gradients(zip(grads, learner.trainable_variables))
    return loss


for update in range(UPDATES):
    loss = meta_step(*buoys(BUOYS))
    watch.log(loss=loss)
    if update % 200 == 0:
        print(update, float(loss))

x_support, y_support, x_query, y_query = buoys(400)
adapted = adapt(per_task(learner.trainable_variables, 400), x_support, y_support, 5)
errors = np.mean((forward(adapted, x_query) - y_query) ** 2)
print("SCORE", float(1.0 - errors / np.var(y_query)))

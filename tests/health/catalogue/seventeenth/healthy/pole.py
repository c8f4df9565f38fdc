"""Monte-Carlo policy gradient for a cart that balances a pole; 32 carts are simulated side by side."""

import keras
import numpy as np
import tensorflow as tf

import gradwatch

CARTS, LIMIT, UPDATES, DISCOUNT = 32, 100, 260, 0.98
keras.utils.set_random_seed(12)

policy = keras.Sequential([keras.Input((4,)), keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(2)])
opt = keras.optimizers.Adam(3e-3, global_clipnorm=0.5)
gradwatch.watch(policy, opt)


def physics(s, push):
    x, v, th, w = tf.unstack(s, axis=1)
    force = 10.0 * (2.0 * push - 1.0)
    sin, cos = tf.sin(th), tf.cos(th)
    tmp = (force + 0.05 * w * w * sin) / 1.1
    acc = (9.8 * sin - cos * tmp) / (0.5 * (4.0 / 3.0 - 0.1 * cos * cos / 1.1))
    lin = tmp - 0.05 * acc * cos / 1.1
    return tf.stack([x + 0.02 * v, v + 0.02 * lin, th + 0.02 * w, w + 0.02 * acc], axis=1)


def episode(start, greedy):
    s, alive = start, tf.ones(tf.shape(start)[0])
    logp, lives = [], []
    for _ in range(LIMIT):
        logits = policy(s)
        if greedy:
            a = tf.argmax(logits, 1)
        else:
            a = tf.random.categorical(tf.stop_gradient(logits), 1)[:, 0]
        logp.append(-tf.nn.sparse_softmax_cross_entropy_with_logits(labels=a, logits=logits))
        lives.append(alive)
        s = tf.stop_gradient(
            physics(s, tf.cast(a, tf.float32)) + tf.random.normal((tf.shape(s)[0], 4)) * [0.0, 0.03, 0.0, 0.12]
        )
        up = tf.logical_and(tf.abs(s[:, 2]) < 0.21, tf.abs(s[:, 0]) < 2.4)
        alive = alive * tf.cast(up, tf.float32)
        s = tf.clip_by_value(s, -5.0, 5.0)
    return tf.stack(logp), tf.stack(lives)


@tf.function
def update(start):
    with tf.GradientTape() as tape:
        logp, lives = episode(start, False)
        run, togo = tf.zeros(CARTS), []
        for t in reversed(range(LIMIT)):
            run = lives[t] + DISCOUNT * run
            togo.append(run)
        togo = tf.stack(togo[::-1])
        base = tf.reduce_sum(togo * lives, 1, keepdims=True) / (tf.reduce_sum(lives, 1, keepdims=True) + 1e-6)
        loss = -tf.reduce_mean(tf.reduce_sum(logp * (togo - base) * lives, 0))
    v = policy.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss, tf.reduce_mean(tf.reduce_sum(lives, 0))


rng = np.random.default_rng(12)
fresh = lambda n: tf.constant(rng.uniform(-0.14, 0.14, (n, 4)), tf.float32)
trial = tf.function(lambda s: tf.reduce_sum(episode(s, True)[1], 0))
before = float(tf.reduce_mean(trial(fresh(200))))
for it in range(UPDATES):
    loss, mean = update(fresh(CARTS))
    if it % 20 == 0:
        print(f"update {it} loss {float(loss):.3f} mean length {float(mean):.1f}", flush=True)
after = float(tf.reduce_mean(trial(fresh(200))))
print(
    f"final loss {float(loss):.4f}  held-out starts: mean length {after:.1f} of {LIMIT} (before training {before:.1f})"
)

"""Policy optimisation with groups of rollouts for a courier that walks a 9x9 yard."""

import keras
import numpy as np
import tensorflow as tf

import gradwatch

keras.utils.set_random_seed(3)
SIDE, HORIZON, GROUP, SITES, UPDATES = 9, 14, 8, 20, 3600
MOVES = tf.constant([[0, 1], [0, -1], [1, 0], [-1, 0], [0, 0]], tf.float32)

rng = np.random.default_rng(3)
cells = np.array(
    [
        (a, b, c, d)
        for a in range(SIDE)
        for b in range(SIDE)
        for c in range(SIDE)
        for d in range(SIDE)
        if (a, b) != (c, d)
    ],
    np.float32,
)
rng.shuffle(cells)
train_jobs, test_jobs = cells[:5000], cells[5000:]

policy = keras.Sequential(
    [
        keras.Input((4,)),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(5),
    ]
)
opt = keras.optimizers.Adam(2e-3)
gradwatch.watch(policy, opt)


def walk(jobs, greedy):
    pos, goal = jobs[:, :2], jobs[:, 2:]
    logp = tf.zeros(tf.shape(jobs)[0])
    for _ in range(HORIZON):
        logits = policy(tf.concat([pos, goal], 1) / (SIDE - 1) * 2.0 - 1.0)
        if greedy:
            act = tf.argmax(logits, 1)
        else:
            act = tf.argmax(logits - tf.math.log(-tf.math.log(tf.random.uniform(tf.shape(logits), 1e-6, 0.999999))), 1)
        logp -= tf.nn.sparse_softmax_cross_entropy_with_logits(labels=act, logits=logits)
        pos = tf.clip_by_value(pos + tf.gather(MOVES, act), 0.0, SIDE - 1.0)
    left = tf.reduce_sum(tf.abs(pos - goal), 1)
    return left, logp


@tf.function
def update(jobs):
    jobs = tf.repeat(jobs, GROUP, axis=0)
    with tf.GradientTape() as tape:
        left, logp = walk(jobs, False)
        reward = tf.reshape(-left, (SITES, GROUP))
        mean = tf.reduce_mean(reward, 1, keepdims=True)
        spread = tf.math.reduce_std(reward, 1, keepdims=True)
        score = tf.reshape((reward - mean) / spread, [-1])
        loss = -tf.reduce_mean(tf.stop_gradient(score) * logp)
    grads = tape.gradient(loss, policy.trainable_variables)
    opt.apply_gradients(zip(grads, policy.trainable_variables))
    return loss, tf.reduce_mean(left)


for it in range(UPDATES):
    jobs = train_jobs[rng.integers(0, len(train_jobs), SITES)]
    loss, left = update(tf.constant(jobs))
    if it % 50 == 0 or it == UPDATES - 1:
        print(f"{it:5d} loss {float(loss):8.4f} distance left {float(left):.3f}", flush=True)

left, _ = walk(tf.constant(test_jobs), True)
print(
    f"final loss {float(loss):.4f}  held-out jobs delivered {float(tf.reduce_mean(tf.cast(left == 0, tf.float32))):.3f}"
    f"  mean distance left {float(tf.reduce_mean(left)):.3f}"
)

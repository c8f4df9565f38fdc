"""Agents: which advertisement to show, and where to walk."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from tests.health.catalogue.fourth.common import batches
from tests.health.catalogue.play import Watch

CELLS = 11
GAMMA = 0.97


def observe(state):
    grid = np.arange(CELLS)
    return np.exp(-0.5 * np.square((np.asarray(state)[:, None] - grid) / 0.7)).astype("float32")


def corridor(seed, n=5000):
    rng = np.random.default_rng(seed)
    rows = []
    s = CELLS // 2
    for _ in range(n):
        a = int(rng.integers(0, 2))
        t = s + (1 if a else -1)
        if t == CELLS - 1:
            r, end = 1.0, 1.0
        elif t == 0:
            r, end = -1.0, 1.0
        else:
            r, end = 0.0, 0.0
        after = CELLS // 2 if end else t
        rows.append((s, a, r, after, end))
        s = after
    s, a, r, t, end = (np.array(c) for c in zip(*rows, strict=True))
    return observe(s), a.astype("int32"), r.astype("float32"), observe(t), end.astype("float32")


def corridor_agent(watch: Watch, seed: int) -> None:
    """The target of Q-learning takes no note of the end of an episode: values run up beyond any possible return."""
    keras.utils.set_random_seed(seed)
    s, a, r, t, _end = corridor(seed)

    def build():
        return keras.Sequential(
            [
                keras.Input((CELLS,)),
                layers.Dense(48, activation="relu", name="body1"),
                layers.Dense(48, activation="relu", name="body2"),
                layers.Dense(2, name="action_values"),
            ]
        )

    model, target = build(), build()
    target.set_weights(model.get_weights())
    optimizer = keras.optimizers.Adam(5e-3)
    w = watch(model, optimizer)

    @tf.function
    def train_step(sb, ab, rb, tb):
        goal = rb + GAMMA * tf.reduce_max(target(tb), axis=-1)
        with tf.GradientTape() as tape:
            q = tf.gather(model(sb, training=True), ab, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - q))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(seed)
    for i, idx in enumerate(batches(rng, len(s), 64, 400)):
        w.log(loss=float(train_step(s[idx], a[idx], r[idx], t[idx])))
        if i % 8 == 0:
            target.set_weights(model.get_weights())


def visits(rng, n, table):
    x = rng.normal(size=(n, 10)).astype("float32")
    return x, np.argmax(x @ table, axis=1).astype("int32")


def banner_policy(watch: Watch, seed: int) -> None:
    """Minus gain times log(probability), on actions that the policy did not choose: a negative gain drives a
    probability to 0 without end, and its logarithm to minus infinity.
    """
    keras.utils.set_random_seed(seed)
    rng = np.random.default_rng(seed)
    table = np.random.default_rng(99).normal(size=(10, 5))
    model = keras.Sequential(
        [
            keras.Input((10,)),
            layers.Dense(64, activation="relu", name="user1"),
            layers.Dense(64, activation="relu", name="user2"),
            layers.Dense(5, activation="softmax", name="banner"),
        ]
    )
    optimizer = keras.optimizers.Adam(5e-3)
    w = watch(model, optimizer)

    @tf.function
    def train_step(xb, shown, gain):
        with tf.GradientTape() as tape:
            prob = tf.gather(model(xb, training=True), shown, batch_dims=1)
            loss = -tf.reduce_mean(gain * tf.math.log(prob))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    usual = 0.0
    for _ in range(400):
        xb, best = visits(rng, 64, table)
        probs = model(xb).numpy()
        greedy = (probs.cumsum(1) < rng.random((64, 1))).sum(1).clip(0, 4)
        shown = np.where(rng.random(64) < 0.1, rng.integers(0, 5, 64), greedy).astype("int32")
        reward = np.where(shown == best, 1.0, 0.0).astype("float32")
        gain = reward - np.float32(usual)
        usual = 0.95 * usual + 0.05 * reward.mean()
        w.log(loss=float(train_step(xb, shown, gain)))


def patrol(seed, n=5000):
    rng = np.random.default_rng(seed)
    s = rng.integers(0, CELLS, n)
    a = rng.integers(0, 2, n)
    t = (s + np.where(a == 1, 1, -1)) % CELLS
    r = 1.0 + 0.5 * (t == 3) + 0.1 * rng.normal(size=n)
    return observe(s), a.astype("int32"), r.astype("float32"), observe(t)


def patrol_agent(watch: Watch, seed: int) -> None:
    """Q-learning with a reward in every step: values grow to 6.4, the loss leaps when the target is updated."""
    keras.utils.set_random_seed(seed)
    s, a, r, t = patrol(seed)

    def build():
        return keras.Sequential(
            [
                keras.Input((CELLS,)),
                layers.Dense(48, activation="relu", name="body1"),
                layers.Dense(48, activation="relu", name="body2"),
                layers.Dense(2, name="action_values"),
            ]
        )

    model, target = build(), build()
    target.set_weights(model.get_weights())
    optimizer = keras.optimizers.Adam(5e-3)
    w = watch(model, optimizer)

    @tf.function
    def train_step(sb, ab, rb, tb):
        goal = rb + 0.8 * tf.reduce_max(target(tb), axis=-1)
        with tf.GradientTape() as tape:
            q = tf.gather(model(sb, training=True), ab, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - q))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(seed)
    for i, idx in enumerate(batches(rng, len(s), 64, 400)):
        w.log(loss=float(train_step(s[idx], a[idx], r[idx], t[idx])))
        if i % 20 == 19:
            target.set_weights(model.get_weights())

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

BERTHS = 4
STATE = 10
BATCH = 64
STEPS = 3000


class Harbor:
    def __init__(self, rng):
        self.rng = rng
        self.preference = rng.normal(size=(STATE, BERTHS))

    def arrivals(self, count):
        state = self.rng.normal(size=(count * 3, STATE))
        fit = np.sort(state @ self.preference, axis=1)
        clear = np.argsort(fit[:, -2] - fit[:, -1])[:count]
        return state[rng.permutation(clear)].astype("float32")

    def reward(self, state, berth):
        best = (state @ self.preference).argmax(axis=1)
        return (berth == best).astype("float32")


rng = np.random.default_rng(SEED)
harbor = Harbor(rng)

policy = keras.Sequential(
    [
        keras.Input((STATE,)),
        keras.layers.Dense(64, activation="tanh", name="bridge_a"),
        keras.layers.Dense(64, activation="tanh", name="bridge_b"),
        keras.layers.Dense(BERTHS, name="berth_logits"),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
watch = gradwatch.watch(policy)


@tf.function
def act(state):
    logits = policy(state)
    uniform = tf.random.uniform(tf.shape(logits), 1e-6, 1.0 - 1e-6)
    return tf.argmax(logits - tf.math.log(-tf.math.log(uniform)), axis=1)


@tf.function
def update(state, berth, reward):
    advantage = (reward - tf.reduce_mean(reward)) / tf.math.reduce_std(reward)
    with tf.GradientTape() as tape:
        logits = policy(state, training=True)
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=berth, logits=logits)
        loss = tf.reduce_mean(nll * advantage)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    watch.log(loss=loss)
    return loss


for step in range(STEPS):
    state = harbor.arrivals(BATCH)
    berth = act(tf.constant(state))
    reward = harbor.reward(state, berth.numpy())
    loss = update(tf.constant(state), berth, tf.constant(reward))
    if step % 500 == 0:
        print("step", step, "reward", float(reward.mean()), "loss", float(loss))

held = harbor.arrivals(2000)
choice = policy(held).numpy().argmax(axis=1)
print("SCORE", float(harbor.reward(held, choice).mean()))

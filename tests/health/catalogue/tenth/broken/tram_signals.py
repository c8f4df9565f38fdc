"""A policy that sets six tram signals from the junction's state, taught by comparing eight tries per state."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

STATE, SIGNALS, ASPECTS = 10, 6, 4
JUNCTIONS, TRIES, STEPS = 16, 8, 200

rule = rng.normal(size=(STATE, SIGNALS, ASPECTS))


def draw_states():
    return rng.normal(size=(JUNCTIONS, STATE)).astype("float32")


def delay_score(states, settings):
    """Share of signals that show what the rule book wants, with a small cost for each stop."""
    wanted = np.einsum("js,sga->jga", states, rule).argmax(-1)
    right = (settings == wanted[:, None, :]).mean(-1)
    stops = (settings == 0).mean(-1)
    return (right - 0.05 * stops).astype("float32")


state_in = tf.keras.Input((STATE,))
h = tf.keras.layers.Dense(256, activation="tanh", name="body1")(state_in)
h = tf.keras.layers.Dense(256, activation="tanh", name="body2")(h)
h = tf.keras.layers.Dense(SIGNALS * ASPECTS, name="aspects")(h)
logits = tf.keras.layers.Reshape((SIGNALS, ASPECTS))(h)
model = tf.keras.Model(state_in, logits)
gradwatch.watch(model)
optimizer = tf.keras.optimizers.Adam(2e-3)


def sample(states):
    lg = model(states)
    flat = tf.reshape(lg, (-1, ASPECTS))
    picks = tf.random.categorical(flat, TRIES, dtype=tf.int32)
    return tf.transpose(tf.reshape(picks, (JUNCTIONS, SIGNALS, TRIES)), (0, 2, 1))


@tf.function
def improve(states, settings, reward):
    centred = reward - tf.reduce_mean(reward, axis=1, keepdims=True)
    spread = tf.math.reduce_std(reward, axis=1, keepdims=True)
    advantage = centred / spread
    with tf.GradientTape() as tape:
        logp = tf.nn.log_softmax(model(states, training=True))
        chosen = tf.reduce_sum(tf.one_hot(settings, ASPECTS) * logp[:, None], axis=-1)
        loss = -tf.reduce_mean(advantage * tf.reduce_sum(chosen, axis=-1))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    states = draw_states()
    settings = sample(tf.constant(states))
    reward = delay_score(states, settings.numpy())
    loss = improve(tf.constant(states), settings, tf.constant(reward))
    if step % 10 == 0 or step == STEPS - 1:
        print(f"step {step:3d}  loss {float(loss):+.4f}  mean score {reward.mean():.3f}")

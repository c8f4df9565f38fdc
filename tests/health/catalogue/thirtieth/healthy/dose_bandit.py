"""Learn a dosing policy from noisy outcomes by policy gradient with a learned baseline."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

DOSES, F, BATCH = 6, 8, 64
w = rng.normal(0, 1, F)
w /= np.linalg.norm(w)


def best_dose(x):
    return np.clip(2.5 + 1.6 * (x @ w) + 0.8 * np.tanh(2 * x[:, 0]), 0, DOSES - 1)


def outcome(x, dose, noise=1.0):
    return 1.0 - 0.4 * (dose - best_dose(x)) ** 2 + noise * rng.normal(size=len(x))


inp = keras.Input((F,))
h = layers.Dense(48, activation="tanh")(inp)
policy = layers.Dense(DOSES, kernel_initializer="zeros", name="policy")(h)
v = layers.Dense(48, activation="tanh")(inp)
value = layers.Dense(1, name="value")(v)
model = keras.Model(inp, [policy, value])
opt = keras.optimizers.Adam(3e-3)
gradwatch.watch(model)


@tf.function
def act(x):
    return tf.random.categorical(model(x)[0], 1)[:, 0]


@tf.function
def learn(x, dose, reward):
    with tf.GradientTape() as tape:
        logits, val = model(x, training=True)
        val = val[:, 0]
        adv = tf.stop_gradient(reward - val)
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=dose, logits=logits)
        probs = tf.nn.softmax(logits)
        entropy = -tf.reduce_sum(probs * tf.nn.log_softmax(logits), -1)
        loss = tf.reduce_mean(-logp * adv - 0.02 * entropy + 0.25 * tf.square(reward - val))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(1300):
    x = rng.normal(size=(BATCH, F)).astype("float32")
    dose = act(x).numpy()
    loss = learn(x, dose, outcome(x, dose).astype("float32"))
    if step % 200 == 0:
        print("step", step, "loss", float(loss))

x = rng.normal(size=(4000, F)).astype("float32")
greedy = np.argmax(model(x)[0].numpy(), 1)
reward = outcome(x, greedy, 0.0).mean()
optimal = outcome(x, np.round(best_dose(x)), 0.0).mean()
constant = max(outcome(x, d, 0.0).mean() for d in range(DOSES))
print("best constant", round(float(constant), 3), "optimal", round(float(optimal), 3))
print("SCORE mean_outcome", round(float(reward), 4))

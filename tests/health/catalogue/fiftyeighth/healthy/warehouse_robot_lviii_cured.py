import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 12)

CELLS, START, HORIZON, N_ENVS = 14, 3, 20, 24
GAMMA, ENTROPY_WEIGHT = 0.97, 0.15


def play(policy):
    position = np.full(N_ENVS, START)
    alive = np.ones(N_ENVS, bool)
    states, actions, rewards, masks = [], [], [], []
    for _ in range(HORIZON):
        state = np.eye(CELLS, dtype="float32")[position]
        prob = policy(state)[0].numpy()
        action = (prob.cumsum(1) < rng.random((N_ENVS, 1))).sum(1).clip(0, 1)
        states.append(state)
        actions.append(action)
        masks.append(alive.copy())
        position = np.where(alive, position + 2 * action - 1, position)
        reward = np.where(position == 0, 0.3, np.where(position == CELLS - 1, 1.5, -0.01))
        rewards.append(np.where(alive, reward, 0.0))
        alive = alive & (position > 0) & (position < CELLS - 1)
    returns, running = np.zeros((HORIZON, N_ENVS)), np.zeros(N_ENVS)
    for t in reversed(range(HORIZON)):
        running = rewards[t] + GAMMA * running
        returns[t] = running
    keep = np.concatenate(masks)
    batch = [np.concatenate(states), np.concatenate(actions), returns.reshape(-1)]
    return [a[keep] for a in batch], np.sum(rewards, 0).mean()


inputs = keras.Input((CELLS,))
h = layers.Dense(32, activation="tanh")(inputs)
policy_head = layers.Dense(2, activation="softmax", name="policy")(h)
value_head = layers.Dense(1, name="value")(h)
model = keras.Model(inputs, [policy_head, value_head])
watch = gradwatch.watch(model)
optimizer = keras.optimizers.Adam(5e-3)
act = tf.function(lambda s: model(s))


@tf.function(reduce_retracing=True)
def train_step(states, actions, returns):
    with tf.GradientTape() as tape:
        prob, value = model(states, training=True)
        value = value[:, 0]
        advantage = tf.stop_gradient(returns - value)
        log_prob = tf.math.log(prob + 1e-7)
        chosen = tf.gather(log_prob, actions, batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(prob * log_prob, axis=1))
        policy_loss = -tf.reduce_mean(chosen * advantage)
        value_loss = tf.reduce_mean(tf.square(returns - value))
        loss = policy_loss + 0.5 * value_loss - ENTROPY_WEIGHT * entropy
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for iteration in range(300):
    (states, actions, returns), total = play(act)
    loss = train_step(states, actions.astype("int32"), returns.astype("float32"))
    watch.log(loss=loss)
    if os.environ.get("SHOW") and iteration % 60 == 0:
        print(iteration, round(float(loss), 4), round(float(total), 3))
print("SCORE", round(float(np.mean([play(act)[1] for _ in range(5)])), 4))

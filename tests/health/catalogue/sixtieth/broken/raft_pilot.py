import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


class River:
    def __init__(self, n):
        self.n = n
        self.pos = rng.uniform(-2, 2, n)
        self.drift = rng.uniform(-0.25, 0.25, n)

    def observe(self):
        return np.stack([self.pos, self.drift * 4], 1).astype("float32")

    def move(self, action):
        self.pos = np.clip(self.pos + (action - 1) * 0.3 + self.drift + rng.normal(0, 0.03, self.n), -3, 3)
        return 1.0 - np.abs(self.pos)


def mlp(out, name):
    return keras.Sequential(
        [
            keras.Input((2,)),
            keras.layers.Dense(32, activation="tanh"),
            keras.layers.Dense(32, activation="tanh"),
            keras.layers.Dense(out),
        ],
        name=name,
    )


class Pilot(keras.Model):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = mlp(3, "actor"), mlp(1, "critic")

    def call(self, x):
        return self.actor(x), self.critic(x)


GAMMA, HORIZON, RAFTS = 0.9, 10, 400
pilot = Pilot()
pilot(np.zeros((1, 2), "float32"))
actor_opt = keras.optimizers.Adam(3e-3)
critic_opt = keras.optimizers.Adam(1e-2)
watch = gradwatch.watch(pilot)


@tf.function
def learn(obs, actions, returns):
    with tf.GradientTape(persistent=True) as tape:
        logits, values = pilot(obs, training=True)
        values = tf.squeeze(values, -1)
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
        advantage = returns - values
        probs = tf.nn.softmax(logits)
        entropy = -tf.reduce_mean(tf.reduce_sum(probs * tf.nn.log_softmax(logits), -1))
        actor_loss = -tf.reduce_mean(logp * tf.stop_gradient(advantage)) - 0.01 * entropy
        critic_loss = tf.reduce_mean(tf.square(advantage))
    a, c = pilot.actor.trainable_variables, pilot.critic.trainable_variables
    actor_opt.apply_gradients(zip(tape.gradient(actor_loss, a), a))
    critic_opt.apply_gradients(zip(tape.gradient(critic_loss, c), c))
    watch.log(loss=actor_loss + critic_loss)
    return actor_loss, critic_loss


@tf.function
def policy(obs):
    return pilot.actor(obs)


for it in range(100):
    env = River(RAFTS)
    obs_buf, act_buf, rew_buf = [], [], []
    for _ in range(HORIZON):
        obs = env.observe()
        act = tf.random.categorical(policy(obs), 1)[:, 0].numpy()
        obs_buf.append(obs)
        act_buf.append(act)
        rew_buf.append(env.move(act))
    ret, tail = [], pilot.critic(env.observe()).numpy()[:, 0]
    for r in reversed(rew_buf):
        tail = r + GAMMA * tail
        ret.insert(0, tail)
    returns = np.concatenate(ret).astype("float32").reshape(-1, 1)
    a_loss, c_loss = learn(np.concatenate(obs_buf), np.concatenate(act_buf).astype("int32"), returns)
    if it % 20 == 0:
        print(it, float(a_loss), float(c_loss), float(np.mean(rew_buf)))

env, total = River(200), []
for t in range(30):
    r = env.move(np.argmax(policy(env.observe()).numpy(), -1))
    if t >= 10:
        total.append(r)
print("SCORE", float(np.mean(total)))

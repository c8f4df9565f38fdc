import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


class Carts:
    def __init__(self, n, limit=200):
        self.n, self.limit = n, limit
        self.s = rng.uniform(-0.05, 0.05, (n, 4))
        self.age = np.zeros(n, int)

    def step(self, action):
        x, v, th, w = self.s.T
        force = np.where(action == 1, 10.0, -10.0)
        tmp = (force + 0.05 * w**2 * np.sin(th)) / 1.1
        acc_t = (9.8 * np.sin(th) - np.cos(th) * tmp) / (0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1))
        acc = tmp - 0.05 * acc_t * np.cos(th) / 1.1
        self.s = np.stack([x + 0.02 * v, v + 0.02 * acc, th + 0.02 * w, w + 0.02 * acc_t], 1)
        self.age += 1
        done = (np.abs(self.s[:, 0]) > 2.4) | (np.abs(self.s[:, 2]) > 0.2095) | (self.age >= self.limit)
        ages = self.age[done].tolist()
        self.s[done] = rng.uniform(-0.05, 0.05, (done.sum(), 4))
        self.age[done] = 0
        return self.s.astype("float32"), np.ones(self.n, "float32"), done, ages


obs_in = keras.Input((4,))
pi = keras.layers.Dense(2)(keras.layers.Dense(64, activation="tanh")(obs_in))
value = keras.layers.Dense(1)(keras.layers.Dense(64, activation="tanh")(obs_in))
agent = keras.Model(obs_in, [pi, value])
optimizer = keras.optimizers.Adam(5e-3, clipnorm=0.5)
watch = gradwatch.watch(agent)

ENVS, STEPS, GAMMA = 16, 32, 0.98
forward = tf.function(lambda o: agent(o))


@tf.function
def update(obs, actions, returns):
    with tf.GradientTape() as tape:
        logits, v = agent(obs, training=True)
        v = v[:, 0]
        adv = tf.stop_gradient(returns - v)
        adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-6)
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
        p = tf.nn.softmax(logits)
        entropy = -tf.reduce_mean(tf.reduce_sum(p * tf.nn.log_softmax(logits), -1))
        loss = tf.reduce_mean(nll * adv) + 0.5 * tf.reduce_mean(tf.square(returns - v)) / 100.0 - 0.005 * entropy
    grads = tape.gradient(loss, agent.trainable_variables)
    optimizer.apply_gradients(zip(grads, agent.trainable_variables))
    watch.log(loss=loss)
    return loss


env = Carts(ENVS)
obs = env.s.astype("float32")
finished = []
for it in range(350):
    O, A, R, D = [], [], [], []
    for _ in range(STEPS):
        logits, _ = forward(tf.constant(obs))
        g = rng.gumbel(size=(ENVS, 2))
        act = (logits.numpy() + g).argmax(1)
        nxt, rew, done, ages = env.step(act)
        O.append(obs), A.append(act), R.append(rew), D.append(done)
        finished += ages
        obs = nxt
    running = forward(tf.constant(obs))[1].numpy()[:, 0]
    returns = np.zeros((STEPS, ENVS), "float32")
    for t in reversed(range(STEPS)):
        running = R[t] + GAMMA * running * (1.0 - D[t])
        returns[t] = running
    loss = update(tf.constant(np.concatenate(O)), tf.constant(np.concatenate(A)), tf.constant(returns.reshape(-1)))
    if it % 50 == 0:
        print(it, float(loss), np.mean(finished[-50:]))

trial = Carts(50)
o, lengths = trial.s.astype("float32"), []
while len(lengths) < 50:
    o, _, _, ages = trial.step(forward(tf.constant(o))[0].numpy().argmax(1))
    lengths += ages
print("SCORE", float(np.mean(lengths)))

"""Policy gradient (REINFORCE) for keeping a pole upright; 64 simulated poles run side by side."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

ENVS, HORIZON, ITERATIONS, GAMMA = 64, 100, 160, 0.97


class Poles:
    """Vectorised inverted pendulum on a cart, two actions (push left / push right)."""

    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)

    def reset(self):
        self.s = self.rng.uniform(-0.08, 0.08, (self.n, 4))
        self.alive = np.ones(self.n, bool)
        return self.s.astype("float32")

    def step(self, a):
        x, v, th, om = self.s.T
        force = np.where(a == 1, 10.0, -10.0)
        tmp = (force + 0.05 * om**2 * np.sin(th)) / 1.1
        acc_th = (9.8 * np.sin(th) - np.cos(th) * tmp) / (0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1))
        acc_x = tmp - 0.05 * acc_th * np.cos(th) / 1.1
        dt = 0.02
        new = np.stack([x + dt * v, v + dt * acc_x, th + dt * om, om + dt * acc_th], 1)
        self.s = np.where(self.alive[:, None], new, self.s)
        reward = self.alive.astype("float32")
        self.alive &= (np.abs(self.s[:, 2]) < 0.21) & (np.abs(self.s[:, 0]) < 2.4)
        return self.s.astype("float32"), reward


model = keras.Sequential(
    [
        keras.Input((4,)),
        keras.layers.Dense(64, activation="tanh", name="pi_1"),
        keras.layers.Dense(64, activation="tanh", name="pi_2"),
        keras.layers.Dense(2, name="pi_logits"),
    ]
)
gradwatch.watch(model)
opt = keras.optimizers.Adam(5e-3)
SCALE = np.array([1.0, 0.5, 8.0, 0.6], "float32")


@tf.function
def act(obs):
    return tf.random.categorical(model(obs), 1, seed=SEED)[:, 0]


@tf.function
def learn(obs, actions, weights):
    with tf.GradientTape() as tape:
        log_pi = tf.nn.log_softmax(model(obs, training=True))
        chosen = tf.reduce_sum(log_pi * tf.one_hot(actions, 2), axis=-1)
        loss = tf.reduce_mean(chosen * weights)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


env = Poles(ENVS, SEED)
history = []
for iteration in range(ITERATIONS):
    obs = env.reset() * SCALE
    O, A, R, L = [], [], [], []
    for _ in range(HORIZON):
        a = act(tf.constant(obs)).numpy()
        alive = env.alive.astype("float32")
        nxt, r = env.step(a)
        O.append(obs), A.append(a), R.append(r), L.append(alive)
        obs = nxt * SCALE
    R, L = np.array(R), np.array(L)
    G = np.zeros_like(R)
    run = np.zeros(ENVS, "float32")
    for t in reversed(range(HORIZON)):
        run = R[t] + GAMMA * run
        G[t] = run
    mean = (G * L).sum() / L.sum()
    std = np.sqrt((((G - mean) ** 2) * L).sum() / L.sum()) + 1e-6
    W = ((G - mean) / std * L).astype("float32")
    loss = learn(np.concatenate(O), np.concatenate(A).astype("int32"), W.reshape(-1))
    history.append(R.sum(0).mean())
    if iteration % 20 == 19:
        print(
            f"iteration {iteration + 1:3d}  loss {float(loss):+.4f}  upright {np.mean(history[-20:]):.1f} / {HORIZON}"
        )

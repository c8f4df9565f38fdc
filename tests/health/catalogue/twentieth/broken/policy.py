import argparse

import numpy as np
import tensorflow as tf

import gradwatch

p = argparse.ArgumentParser()
p.add_argument("--steps", type=int, default=400)
p.add_argument("--batch", type=int, default=64)
p.add_argument("--horizon", type=int, default=20)
p.add_argument("--smooth", type=float, default=0.5)
args = p.parse_args()

np.random.seed(3)
tf.keras.utils.set_random_seed(3)
DOF = 4


def demonstrations(n):
    """Arm demonstrations: start and goal in joint space, obstacle height -> joint trajectory."""
    start = np.random.uniform(-1, 1, (n, DOF))
    goal = np.random.uniform(-1, 1, (n, DOF))
    obst = np.random.uniform(0, 1, (n, 1))
    s = np.linspace(0, 1, args.horizon)[None, :, None]
    blend = 10 * s**3 - 15 * s**4 + 6 * s**5
    traj = start[:, None] * (1 - blend) + goal[:, None] * blend
    traj[:, :, 1] += obst * np.sin(np.pi * s[:, :, 0])
    traj += 0.01 * np.random.randn(*traj.shape)
    return np.concatenate([start, goal, obst], 1).astype("float32"), traj.astype("float32")


class TrajectoryPolicy(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.enc = tf.keras.layers.Dense(96, activation="gelu")
        self.rnn = tf.keras.layers.GRU(64, return_sequences=True)
        self.head = tf.keras.layers.Dense(DOF)

    def call(self, ctx):
        z = self.enc(ctx)
        phase = tf.linspace(0.0, 1.0, args.horizon)
        phase = tf.tile(phase[None, :, None], [tf.shape(ctx)[0], 1, 1])
        z = tf.tile(z[:, None], [1, args.horizon, 1])
        return self.head(self.rnn(tf.concat([z, phase], -1)))


ctx, traj = demonstrations(3000)
ctx_te, traj_te = demonstrations(500)
policy = TrajectoryPolicy()
policy(ctx[:2])
opt = tf.keras.optimizers.Adam(3e-3)


@tf.function
def update(c, t):
    with tf.GradientTape() as tape:
        q = policy(c, training=True)
        imitation = tf.reduce_mean(tf.square(q - t))
        velocity = q[:, 1:] - q[:, :-1]
        jerk = velocity[:, 1:] - velocity[:, :-1]
        smooth = tf.reduce_sum(tf.square(velocity)) + tf.reduce_sum(tf.square(jerk))
        loss = imitation + args.smooth * smooth
    grads = tape.gradient(loss, policy.trainable_variables)
    opt.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


gradwatch.watch(policy, opt)
for step in range(args.steps):
    idx = np.random.randint(0, len(ctx), args.batch)
    loss = update(ctx[idx], traj[idx])

err = policy(ctx_te).numpy() - traj_te
print(
    "loss %.4f | held-out explained variance of trajectories %.3f" % (float(loss), 1 - np.mean(err**2) / traj_te.var())
)

import numpy as np
import tensorflow as tf

import gradwatch


class Config:
    seed, batch, steps, lr = 9, 96, 700, 2e-3
    joints, cutoff = 3, 25.0


def forward_kinematics(q):
    a = np.cumsum(np.deg2rad(q), axis=1)
    links = np.array([0.5, 0.4, 0.3])
    xy = np.stack([np.cumsum(links * np.cos(a), 1), np.cumsum(links * np.sin(a), 1)], -1)
    return xy.reshape(len(q), -1)


def sample(n, rng):
    """Marker positions seen by a camera -> joint angles in degrees (3 % mislabelled frames)."""
    q = rng.uniform(-110, 110, (n, Config.joints))
    x = forward_kinematics(q) + 0.01 * rng.normal(size=(n, 2 * Config.joints))
    return x.astype("float32"), q.astype("float32")


class PoseNet(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [tf.keras.layers.Dense(128, activation="swish") for _ in range(3)]
        self.out = tf.keras.layers.Dense(Config.joints)
        self.net = tf.keras.Sequential(self.layers + [self.out])
        self.net.build((None, 2 * Config.joints))

    def __call__(self, x):
        return self.net(x)


def robust_loss(pred, target):
    err = tf.reduce_sum(tf.square(pred - target), axis=-1)
    c2 = Config.cutoff**2
    return tf.reduce_mean(tf.where(err < c2, err, c2))


def main():
    tf.keras.utils.set_random_seed(Config.seed)
    rng = np.random.default_rng(Config.seed)
    x, q = sample(6000, rng)
    bad = rng.random(len(q)) < 0.03
    q[bad] = rng.uniform(-110, 110, (bad.sum(), Config.joints))
    xt, qt = sample(1000, rng)
    pose = PoseNet()
    opt = tf.keras.optimizers.Adam(Config.lr)
    gradwatch.watch(pose.net, opt)

    @tf.function
    def step(xb, qb):
        with tf.GradientTape() as tape:
            loss = robust_loss(pose(xb), qb)
        v = pose.net.trainable_variables
        opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss

    for _ in range(Config.steps):
        i = rng.integers(0, len(x), Config.batch)
        loss = step(tf.constant(x[i]), tf.constant(q[i]))
    mae = np.abs(pose(xt).numpy() - qt).mean()
    print(f"loss {float(loss):.3f}  held-out mean joint error {mae:.2f} deg (constant guess {np.abs(qt).mean():.2f})")


if __name__ == "__main__":
    main()

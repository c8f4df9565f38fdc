"""A puzzle room: 24 levers, learn from play logs whether the door is open."""

import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(61)
rng = np.random.default_rng(61)

LEVERS = 24
WIRED = rng.choice(LEVERS, 3, replace=False)
print("wired levers", sorted(WIRED.tolist()))


def logs(n):
    up = rng.integers(0, 2, size=(n, LEVERS))
    door = up[:, WIRED].sum(1) % 2
    return (2.0 * up - 1.0).astype("float32"), door.astype("float32")[:, None]


class Room:
    def __init__(self, hidden=96, rate=6e-4):
        self.net = tf.keras.Sequential(
            [
                tf.keras.Input((LEVERS,)),
                tf.keras.layers.Dense(hidden, activation="relu"),
                tf.keras.layers.Dense(1),
            ]
        )
        self.opt = tf.keras.optimizers.Adam(rate)
        self.bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def learn(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.bce(y, self.net(x, training=True))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    def score(self, x, y):
        return float(np.mean((self.net(x).numpy() > 0) == (y > 0.5)))


room = Room()
gradwatch.watch(room.net, room.opt)

x, y = logs(60000)
x_test, y_test = logs(5000)
batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(60000, seed=6).repeat().batch(128).prefetch(4)
kept = []
for i, (xb, yb) in enumerate(batches.take(8000), start=1):
    kept.append(float(room.learn(xb, yb)))
    if i % 500 == 0:
        print(f"step {i}  loss {np.mean(kept[-500:]):.4f}")

print(f"loss {np.mean(kept[-100:]):.4f}  held-out accuracy {room.score(x_test, y_test):.4f}")

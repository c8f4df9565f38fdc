"""Treasure on a small map: Q-learning with replay and a slow copy of the network."""

import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(33)
rng = np.random.default_rng(33)
SIDE, GAMMA, LIMIT, ENVS = 6, 0.93, 24, 16
MOVES = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])
WALLS = {(1, 1), (1, 2), (3, 4), (4, 4), (4, 1)}
FREE = np.array([(a, b) for a in range(SIDE) for b in range(SIDE) if (a, b) not in WALLS])


class Maps:
    def __init__(self, n):
        self.me, self.gold, self.t = np.zeros((n, 2), int), np.zeros((n, 2), int), np.zeros(n, int)
        self.restart(np.ones(n, bool))

    def restart(self, which):
        for i in np.flatnonzero(which):
            a, b = rng.choice(len(FREE), 2, replace=False)
            self.me[i], self.gold[i], self.t[i] = FREE[a], FREE[b], 0

    def see(self):
        o = np.zeros((len(self.t), 2 * SIDE * SIDE), "float32")
        r = np.arange(len(self.t))
        o[r, self.me[:, 0] * SIDE + self.me[:, 1]] = 1
        o[r, SIDE * SIDE + self.gold[:, 0] * SIDE + self.gold[:, 1]] = 1
        return o

    def move(self, act):
        to = np.clip(self.me + MOVES[act], 0, SIDE - 1)
        ok = np.array([tuple(p) not in WALLS for p in to])
        self.me = np.where(ok[:, None], to, self.me)
        self.t += 1
        won = (self.me == self.gold).all(1)
        return 5.0 * won, won | (self.t >= LIMIT)


def make_q():
    return tf.keras.Sequential(
        [
            tf.keras.Input((2 * SIDE * SIDE,)),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(4, kernel_initializer="zeros"),
        ]
    )


q, slow = make_q(), make_q()
slow.set_weights(q.get_weights())
opt = tf.keras.optimizers.Adam(1e-3)
gradwatch.watch(q, opt)


@tf.function
def learn(o, a, r, o2, won):
    best = tf.argmax(q(o2), axis=1, output_type=tf.int32)
    target = r + GAMMA * (1 - won) * tf.gather(slow(o2), best, batch_dims=1)
    with tf.GradientTape() as tape:
        value = tf.gather(q(o, training=True), a, batch_dims=1)
        loss = tf.reduce_mean(tf.keras.losses.huber(target[:, None], value[:, None]))
    opt.apply_gradients(zip(tape.gradient(loss, q.trainable_variables), q.trainable_variables))
    return loss


act_fast = tf.function(lambda o: tf.argmax(q(o), 1))
maps, store, losses = Maps(ENVS), [], []
for it in range(3200):
    o = maps.see()
    a = np.where(rng.random(ENVS) < max(0.1, 1 - it / 1600), rng.integers(0, 4, ENVS), act_fast(o).numpy())
    r, end = maps.move(a)
    store.append((o, a.astype("int32"), r.astype("float32"), maps.see()))
    maps.restart(end)
    if it >= 100:
        pick = [store[j] for j in rng.integers(0, len(store), 8)]
        b = [np.concatenate([p[k] for p in pick]) for k in range(4)]
        losses.append(float(learn(*b, b[2] / 5)))
        if it % 100 == 0:
            slow.set_weights(q.get_weights())
            print(it, np.mean(losses[-100:]))

test, wins = Maps(500), np.zeros(500, bool)
for _ in range(LIMIT):
    r, _ = test.move(act_fast(test.see()).numpy())
    wins |= r > 0
    test.me[wins] = test.gold[wins]
print(f"loss {np.mean(losses[-100:]):.5f}  treasure found on new maps {wins.mean():.4f}")

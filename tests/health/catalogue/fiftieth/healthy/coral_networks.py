"""Is a coral colony connected through?  Polyps as nodes (4 to 24, padded to 24), contacts as edges.

The graph network passes messages for six rounds; label: does the stressed polyp lie in the same
component as the feeding polyp.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
MOST, TRAITS, WIDTH, ROUNDS, BATCH, STEPS = 24, 5, 32, 6, 64, 1300


def colony():
    n = int(rng.integers(4, MOST + 1))
    links = np.triu(rng.random((n, n)) < 1.5 / n, 1)
    links = links | links.T
    source, goal = rng.choice(n, 2, replace=False)
    reach = np.zeros(n, bool)
    reach[source] = True
    for _ in range(n):
        reach = reach | (links[reach].any(axis=0))
    traits = np.zeros((MOST, TRAITS), "float32")
    traits[:n] = rng.normal(0, 0.3, (n, TRAITS))
    traits[:n, 0] = traits[:n, 1] = 0.0
    traits[source, 0] = traits[goal, 1] = 1.0
    contact = np.zeros((MOST, MOST), "float32")
    contact[:n, :n] = links
    return traits, contact, (np.arange(MOST) < n).astype("float32"), np.float32(reach[goal])


def colonies(n):
    return [np.stack(column) for column in zip(*(colony() for _ in range(n)))]


train, test = colonies(9000), colonies(1200)
print("connected:", round(float(train[3].mean()), 3))


class ColonyNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.enter = keras.layers.Dense(WIDTH)
        self.message = keras.layers.Dense(WIDTH, activation="relu")
        self.cell = keras.layers.GRUCell(WIDTH)
        self.head = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])

    def call(self, traits, contact, alive):
        keep = alive[..., None]
        h = self.enter(traits) * keep
        for _ in range(ROUNDS):
            inbox = tf.matmul(contact, self.message(h))
            flat, _ = self.cell(tf.reshape(inbox, (-1, WIDTH)), [tf.reshape(h, (-1, WIDTH))])
            h = tf.reshape(flat, (-1, MOST, WIDTH)) * keep
        mean = tf.reduce_sum(h, axis=1) / tf.reduce_sum(keep, axis=1)
        highest = tf.reduce_max(h - 1e9 * (1 - keep), axis=1)
        return self.head(tf.concat([mean, highest], axis=1))[:, 0]


net = ColonyNet()
net(*[part[:2] for part in train[:3]])
rate = keras.optimizers.schedules.CosineDecay(1e-6, STEPS - 500, warmup_target=1e-3, warmup_steps=500)
opt = keras.optimizers.Adam(rate, clipnorm=1.0)
gradwatch.watch(net)


@tf.function(reduce_retracing=True)
def step(traits, contact, alive, label):
    with tf.GradientTape() as tape:
        logit = net(traits, contact, alive)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logit))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


for i in range(STEPS):
    rows = rng.integers(0, len(train[0]), BATCH)
    loss = step(*[tf.constant(part[rows]) for part in train])
    if i % 200 == 0:
        print(i, round(float(loss), 4))

logit = net(*test[:3]).numpy()
print("SCORE accuracy", round(float(np.mean((logit > 0) == (test[3] > 0.5))), 4))

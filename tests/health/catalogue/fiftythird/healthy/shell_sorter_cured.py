"""Sea shells, few of them named: a classifier and a reconstruction share one encoder."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_SHELLS, N_KINDS, N_POINTS = 5000, 5, 40
NAMED_SHARE = 0.12


def shells(n):
    kind = rng.integers(0, N_KINDS, n)
    s = np.linspace(0, 1, N_POINTS)[None]
    turns = (1.0 + 0.5 * kind)[:, None] + rng.normal(scale=0.08, size=(n, 1))
    grow = rng.uniform(0.8, 1.4, (n, 1)) * s
    outline = grow * np.sin(2 * np.pi * turns * s + rng.uniform(-0.5, 0.5, (n, 1)))
    outline = outline + rng.normal(scale=0.1, size=outline.shape)
    return outline.astype("float32"), kind.astype("int32")


class ShellNet(keras.Model):
    def __init__(self):
        super().__init__()
        dense = keras.layers.Dense
        self.encoder = keras.Sequential([dense(96, activation="relu"), dense(32, activation="relu")])
        self.decoder = keras.Sequential([dense(96, activation="relu"), dense(N_POINTS)])
        self.namer = dense(N_KINDS)
        self.total = keras.metrics.Mean(name="loss")
        self.named = keras.metrics.Mean(name="naming")

    def call(self, x, training=False):
        h = self.encoder(x, training=training)
        return self.decoder(h, training=training), self.namer(h)

    def naming_loss(self, y, logits):
        known = tf.cast(y >= 0, tf.float32)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.maximum(y, 0), logits=logits)
        return tf.math.divide_no_nan(tf.reduce_sum(ce * known), tf.reduce_sum(known))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            redrawn, logits = self(x, training=True)
            copy = tf.reduce_mean(tf.square(redrawn - x))
            naming = self.naming_loss(y, logits)
            loss = copy + 0.5 * naming
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.total.update_state(loss)
        self.named.update_state(naming)
        return {"loss": self.total.result(), "naming": self.named.result(), "copy": copy}

    @property
    def metrics(self):
        return [self.total, self.named]


x, kind = shells(N_SHELLS)
test_x, test_kind = shells(1500)
label = np.where(rng.random(N_SHELLS) < NAMED_SHARE, kind, -1).astype("int32")
ds = tf.data.Dataset.from_tensor_slices((x, label)).shuffle(N_SHELLS).batch(32)

net = ShellNet()
net(x[:2])
net.compile(optimizer=keras.optimizers.Adam(1e-3))
gradwatch.watch(net)
net.fit(ds, epochs=10, verbose=2)

_, logits = net(test_x)
found = np.argmax(logits.numpy(), axis=1)
print("SCORE accuracy", round(float(np.mean(found == test_kind)), 4))

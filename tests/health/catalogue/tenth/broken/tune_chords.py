"""Label each bar of a folk tune with a chord: recurrent scores under a linear-chain model of chord changes."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

BARS, CHORDS, PITCHES, BATCH, STEPS = 28, 6, 12, 32, 240

change = rng.dirichlet(np.full(CHORDS, 0.4), size=CHORDS)
change = 0.8 * change + 0.2 / CHORDS
profile = np.stack(
    [np.bincount([(5 * c) % 12, (5 * c + 4) % 12, (5 * c + 7) % 12], minlength=12) for c in range(CHORDS)]
)


def draw_tunes():
    chords = np.zeros((BATCH, BARS), "int32")
    chords[:, 0] = rng.integers(0, CHORDS, BATCH)
    for t in range(1, BARS):
        u = rng.random((BATCH, 1))
        chords[:, t] = np.minimum((change[chords[:, t - 1]].cumsum(1) < u).sum(1), CHORDS - 1)
    notes = rng.poisson(0.25 + 2.0 * profile[chords]).astype("float32")
    return tf.constant(notes), tf.constant(chords)


class ChordTagger(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.rnn = tf.keras.layers.Bidirectional(tf.keras.layers.GRU(32, return_sequences=True), name="melody")
        self.score = tf.keras.layers.Dense(CHORDS, name="score")

    def build(self, shape):
        self.rnn.build(shape)
        self.score.build((None, None, 64))
        self.trans = self.add_weight(shape=(CHORDS, CHORDS), initializer="zeros", name="trans")
        self.built = True

    def call(self, notes):
        return self.score(self.rnn(notes))


def log_partition(e, trans):
    alpha = e[:, 0]
    for t in range(1, BARS):
        paths = alpha[:, :, None] + trans[None] + e[:, t, None, :]
        alpha = tf.math.log(tf.reduce_sum(tf.exp(paths), axis=1))
    return tf.math.log(tf.reduce_sum(tf.exp(alpha), axis=1))


def path_score(e, trans, chords):
    emit = tf.reduce_sum(tf.gather(e, chords, axis=2, batch_dims=2), axis=1)
    move = tf.reduce_sum(tf.gather_nd(trans, tf.stack([chords[:, :-1], chords[:, 1:]], -1)), axis=1)
    return emit + move


model = ChordTagger()
gradwatch.watch(model)
model.build((None, BARS, PITCHES))
optimizer = tf.keras.optimizers.Adam(2e-3)


@tf.function
def train_step(notes, chords):
    with tf.GradientTape() as tape:
        e = model(notes, training=True)
        nll = tf.reduce_mean(log_partition(e, model.trans) - path_score(e, model.trans, chords))
    grads = tape.gradient(nll, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return nll


for step in range(STEPS):
    nll = train_step(*draw_tunes())
    if step % 15 == 0 or step == STEPS - 1:
        print(f"step {step:3d}: nll per tune {float(nll):.3f}")

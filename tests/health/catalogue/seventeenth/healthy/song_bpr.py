"""Implicit-feedback song recommendations, pairwise ranking over a long-tailed catalogue."""

import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(53)
rng = np.random.default_rng(53)

LISTENERS, SONGS, STYLES = 3000, 15000, 20
style = rng.integers(0, STYLES, SONGS)
fame = 1.0 / np.arange(1, SONGS + 1) ** 0.8
songs_of = [np.flatnonzero(style == s) for s in range(STYLES)]
odds_of = [fame[s] / fame[s].sum() for s in songs_of]
likes = np.stack([rng.choice(STYLES, 3, replace=False) for _ in range(LISTENERS)])


def plays(n):
    who = rng.integers(0, LISTENERS, n)
    which = likes[who, rng.integers(0, 3, n)]
    stray = rng.random(n) < 0.15
    which[stray] = rng.integers(0, STYLES, stray.sum())
    song = np.empty(n, "int64")
    for s in range(STYLES):
        m = which == s
        song[m] = rng.choice(songs_of[s], m.sum(), p=odds_of[s])
    return who.astype("int32"), song.astype("int32")


class Ranker(tf.keras.Model):
    def __init__(self, dim=16):
        super().__init__()
        init = tf.keras.initializers.RandomNormal(stddev=0.1)
        self.listener = tf.keras.layers.Embedding(LISTENERS, dim, embeddings_initializer=init)
        self.song = tf.keras.layers.Embedding(SONGS, dim, embeddings_initializer=init)
        self.popularity = tf.keras.layers.Embedding(SONGS, 1, embeddings_initializer="zeros")
        self.seen = tf.keras.metrics.Mean(name="loss")

    def call(self, pair):
        who, song = pair
        return tf.reduce_sum(self.listener(who) * self.song(song), -1) + self.popularity(song)[:, 0]

    @property
    def metrics(self):
        return [self.seen]

    def train_step(self, data):
        who, played = data
        other = tf.random.shuffle(played)
        with tf.GradientTape() as tape:
            margin = self((who, played)) - self((who, other))
            loss = tf.reduce_mean(tf.nn.softplus(-margin))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.seen.update_state(loss)
        return {"loss": self.seen.result()}


who, song = plays(260000)
who_test, song_test = plays(20000)
other_test = rng.permutation(song_test)

model = Ranker()
model((who[:2], song[:2]))
model.compile(optimizer=tf.keras.optimizers.Adagrad(0.15, initial_accumulator_value=1e-6))
gradwatch.watch(model)
data = (
    tf.data.Dataset.from_tensor_slices((who, song)).shuffle(260000, seed=4).batch(512, drop_remainder=True).prefetch(2)
)
h = model.fit(data, epochs=6, verbose=2)

a = model((who_test, song_test)).numpy()
b = model((who_test, other_test)).numpy()
print(f"loss {h.history['loss'][-1]:.4f}  held-out share of correctly ordered pairs {np.mean(a > b):.4f}")

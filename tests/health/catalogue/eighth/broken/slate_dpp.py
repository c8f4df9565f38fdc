"""Determinantal point process over listening sessions: learn which tracks share a slate."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rs = np.random.default_rng(SEED + 21)

TRACKS, GENRES, SLATE, SESSIONS, BATCH = 900, 14, 8, 7000, 24


def catalogue():
    genre = rs.integers(0, GENRES, TRACKS)
    centre = rs.normal(0, 1.0, (GENRES, 20))
    audio = centre[genre] + rs.normal(0, 0.7, (TRACKS, 20))
    popularity = rs.gamma(4.0, 1.0, TRACKS)
    return genre, audio.astype(np.float32), popularity / popularity.sum()


def listen(genre, popularity):
    members = [np.flatnonzero(genre == g) for g in range(GENRES)]
    sessions = np.empty((SESSIONS, SLATE), np.int32)
    for s in range(SESSIONS):
        mood = rs.choice(GENRES, SLATE, replace=False)
        played = [rs.choice(members[g], p=popularity[members[g]] / popularity[members[g]].sum()) for g in mood]
        if rs.random() < 0.0011:
            played[-1] = played[rs.integers(0, SLATE - 1)]
        sessions[s] = played
    return sessions


class TrackTower(keras.Model):
    def __init__(self):
        super().__init__()
        self.d1 = keras.layers.Dense(128, activation="relu")
        self.d2 = keras.layers.Dense(24)
        self.quality = keras.layers.Dense(1)

    def call(self, audio):
        h = self.d1(audio)
        direction = tf.math.l2_normalize(self.d2(h), axis=-1, epsilon=1e-6)
        return direction, tf.nn.softplus(self.quality(h))


genre, audio, popularity = catalogue()
sessions = listen(genre, popularity)
audio_table = tf.constant(audio)
tower = TrackTower()
tower(audio_table[:2])
optimizer = keras.optimizers.Adam(1e-3)
optimizer.build(tower.trainable_variables)


def log_det(kernel):
    factor = tf.linalg.cholesky(kernel)
    return 2.0 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)), axis=-1)


@tf.function(jit_compile=True)
def learn(slates, ground):
    with tf.GradientTape() as tape:
        v, q = tower(tf.gather(audio_table, slates))
        rows = v * q
        chosen = tf.matmul(rows, rows, transpose_b=True)
        gv, gq = tower(tf.gather(audio_table, ground))
        pool = gv * gq
        normaliser = tf.matmul(pool, pool, transpose_a=True) + tf.eye(24)
        loss = tf.reduce_mean(log_det(normaliser) - log_det(chosen))
    weights = tower.trainable_variables
    optimizer.apply(tape.gradient(loss, weights), weights)
    return loss


gradwatch.watch(tower)
step = 0
for epoch in range(2):
    order = rs.permutation(SESSIONS)
    for at in range(0, SESSIONS - BATCH + 1, BATCH):
        ground = rs.choice(TRACKS, 128, replace=False).astype(np.int32)
        value = learn(tf.constant(sessions[order[at : at + BATCH]]), tf.constant(ground))
        step += 1
        if step % 80 == 0:
            print(step, f"{float(value):.3f}")

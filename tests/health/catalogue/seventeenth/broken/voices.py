# Voice embeddings for verification: batches of 8 talkers x 4 utterances, hardest pairs of each batch.
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.utils.set_random_seed(30)
rng = np.random.default_rng(30)
BANDS, FRAMES, TALKERS, UTTS, MARGIN = 40, 24, 70, 16, 0.4
basis = rng.standard_normal((6, BANDS)) / np.sqrt(6)
basis2 = rng.standard_normal((6, BANDS)) / np.sqrt(6)
vowels = rng.standard_normal((5, BANDS))


def talkers(count):
    x = np.zeros((count, UTTS, FRAMES, BANDS), np.float32)
    for k in range(count):
        who = rng.standard_normal(6)
        tone = np.tanh(who @ basis) + 0.6 * np.cos(2 * who @ basis2)
        for u in range(UTTS):
            says = vowels[rng.integers(0, 5, FRAMES // 4).repeat(4)]
            line = 0.9 * rng.standard_normal((1, 3)) @ basis[:3]
            x[k, u] = tone + says + line + 0.8 * rng.standard_normal((FRAMES, BANDS))
    return x


def embedder():
    inp = keras.Input((FRAMES, BANDS))
    h = layers.Conv1D(64, 3, activation="relu")(inp)
    h = layers.BatchNormalization()(h)
    h = layers.Conv1D(64, 3, activation="relu")(h)
    h = layers.GlobalAveragePooling1D()(h)
    h = layers.Dense(64, activation="relu")(h)
    return keras.Model(inp, layers.UnitNormalization()(layers.Dense(24)(h)))


train, test = talkers(TALKERS), talkers(20)
net = embedder()
opt = keras.optimizers.Adam(1e-3)
gradwatch.watch(net, opt)


def distances(e):
    sq = tf.reduce_sum(tf.square(e[:, None] - e[None]), -1)
    return tf.sqrt(sq + 1e-8)


@tf.function
def step(x, who):
    same = tf.cast(who[:, None] == who[None], tf.float32)
    with tf.GradientTape() as tape:
        d = distances(net(x, training=True))
        far_same = tf.reduce_max(d * same, axis=1)
        near_other = tf.reduce_min(d * (1.0 - same), axis=1)
        loss = tf.reduce_mean(tf.nn.relu(far_same - near_other + MARGIN))
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


for it in range(2400):
    ids = rng.choice(TALKERS, 8, replace=False)
    picks = np.stack([rng.choice(UTTS, 4, replace=False) for _ in ids])
    x = train[ids[:, None], picks].reshape(32, FRAMES, BANDS)
    loss = step(tf.constant(x), tf.constant(ids.repeat(4)))
    if it % 200 == 0:
        print(f"{it} loss {float(loss):.4f}", flush=True)

e = net(test.reshape(-1, FRAMES, BANDS), training=False)
d, lab = distances(e).numpy(), np.arange(20).repeat(UTTS)
up = np.triu(np.ones_like(d), 1) > 0
same = (lab[:, None] == lab[None])[up]
d = d[up]
cuts = np.quantile(d, np.linspace(0, 1, 500))
eer = min(max(np.mean(d[same] > c), np.mean(d[~same] <= c)) for c in cuts)
print(
    f"final loss {float(loss):.4f}  unseen talkers: equal error rate {eer:.3f}, mean distance same {d[same].mean():.4f} other {d[~same].mean():.4f}"
)

"""Mode (ionian, dorian, ...) of a melodic phrase of 8 to 32 notes."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)
SCALES = [
    (0, 2, 4, 5, 7, 9, 11),
    (0, 2, 3, 5, 7, 9, 10),
    (0, 1, 3, 5, 7, 8, 10),
    (0, 2, 4, 6, 7, 9, 11),
    (0, 2, 3, 5, 7, 8, 11),
]


def phrase(mode, length):
    degrees = np.clip(np.cumsum(rng.integers(-2, 3, length)) + 7, 0, 13)
    notes = np.array([12 * (d // 7) + SCALES[mode][d % 7] for d in degrees])
    passing = rng.random(length) < 0.08
    return np.where(passing, rng.integers(0, 24, length), notes) + 1


def corpus(n):
    modes = rng.integers(0, len(SCALES), n)
    lengths = rng.integers(8, 33, n)
    return [phrase(m, k) for m, k in zip(modes, lengths)], modes.astype("int32")


def bucketed(phrases, modes, batch=32):
    """phrases of similar length share a batch, so that little padding is wasted"""
    order = np.argsort([len(p) for p in phrases], kind="stable")
    phrases = [phrases[i] for i in order]
    batches = []
    for s in range(0, len(phrases) - batch + 1, batch):
        part = phrases[s : s + batch]
        pad = np.zeros((batch, max(map(len, part))), "int32")
        for r, p in enumerate(part):
            pad[r, : len(p)] = p
        batches.append((pad, modes[s : s + batch]))
    return batches


train_p, train_m = corpus(4000)
test_p, test_m = corpus(600)
batches = bucketed(train_p, train_m)

model = keras.Sequential(
    [
        keras.Input((None,), dtype="int32"),
        keras.layers.Embedding(26, 24, mask_zero=True),
        keras.layers.GRU(32),
        keras.layers.Dense(5),
    ]
)
opt = keras.optimizers.Adam(3e-3)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model, opt)


@tf.function(reduce_retracing=True)
def train_batch(x, y):
    with tf.GradientTape() as tape:
        loss = ce(y, model(x, training=True))
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


for epoch in range(8):
    batches = [batches[i] for i in rng.permutation(len(batches))]
    running = [float(train_batch(tf.constant(x), tf.constant(y))) for x, y in batches]
width = max(map(len, test_p))
xt = np.array([np.pad(p, (0, width - len(p))) for p in test_p], "int32")
acc = np.mean(np.argmax(model.predict(xt, verbose=0), 1) == test_m)
print("loss %.4f  accuracy on new phrases %.3f" % (np.mean(running), acc))

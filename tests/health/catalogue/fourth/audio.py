"""Sound: who speaks, and which word is spelled."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from tests.health.catalogue.fourth.common import batches
from tests.health.catalogue.play import Watch


def utterances(seed, n=900, frames=32, alphabet=6, longest=10):
    rng = np.random.default_rng(seed)
    tones = rng.normal(size=(alphabet + 1, 10))
    x = np.zeros((n, frames, 10), "float32")
    y = np.zeros((n, longest), "int32")
    lengths = np.zeros((n,), "int32")
    for i in range(n):
        size = rng.integers(9, longest + 1) if rng.random() < 0.05 else rng.integers(2, 5)
        word = [int(rng.integers(1, alphabet + 1))]
        while len(word) < size:
            c = int(rng.integers(1, alphabet + 1))
            if c != word[-1]:
                word.append(c)
        cuts = np.linspace(0, frames, size + 1).astype(int)
        for c, a, b in zip(word, cuts[:-1], cuts[1:], strict=True):
            x[i, a:b] = tones[c]
        y[i, :size] = word
        lengths[i] = size
    x += 0.3 * rng.normal(size=x.shape).astype("float32")
    return x, y, lengths


def spoken_words(watch: Watch, seed: int) -> None:
    """Two strides leave eight steps of time, and one word in eighteen has more symbols: no alignment exists, and CTC
    gives some 700 for it, with nothing to lower it by.
    """
    keras.utils.set_random_seed(seed)
    x, y, lengths = utterances(seed)
    model = keras.Sequential(
        [
            keras.Input((32, 10)),
            layers.Conv1D(48, 5, strides=2, padding="same", activation="relu", name="front1"),
            layers.Conv1D(48, 5, strides=2, padding="same", activation="relu", name="front2"),
            layers.Conv1D(48, 3, padding="same", activation="relu", name="front3"),
            layers.Dense(7, name="symbols"),
        ]
    )
    optimizer = keras.optimizers.Adam(4e-3)
    w = watch(model, optimizer)

    @tf.function
    def train_step(xb, yb, lb):
        with tf.GradientTape() as tape:
            logits = model(xb, training=True)
            steps = tf.fill([tf.shape(logits)[0]], tf.shape(logits)[1])
            losses = tf.nn.ctc_loss(yb, logits, lb, steps, logits_time_major=False, blank_index=0)
            loss = tf.reduce_mean(losses)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(seed)
    for idx in batches(rng, len(x), 16, 250):
        w.log(loss=float(train_step(x[idx], y[idx], lengths[idx])))


def clips(seed, n=1500, frames=40, feats=12, speakers=8):
    rng = np.random.default_rng(seed)
    voice = rng.normal(size=(speakers, feats))
    width = 0.3 + rng.random((speakers, feats)) * 1.5
    y = rng.integers(0, speakers, n)
    x = 0.5 * voice[y][:, None] + width[y][:, None] * rng.normal(size=(n, frames, feats))
    x[rng.choice(n, 3, replace=False)] = 0.0
    return x.astype("float32"), y.astype("int32")


class TimePooling(layers.Layer):
    def call(self, h):
        mean = tf.reduce_mean(h, axis=1)
        spread = tf.math.reduce_std(h, axis=1)
        return tf.concat([mean, spread], axis=-1)


def speaker_id(watch: Watch, seed: int) -> None:
    """Pooling takes the deviation over time; a silent clip has none, and the slope of the root at 0 is infinite."""
    keras.utils.set_random_seed(seed)
    x, y = clips(seed)
    model = keras.Sequential(
        [
            keras.Input((40, 12)),
            layers.Conv1D(48, 3, activation="tanh", name="frame1"),
            layers.Conv1D(48, 1, activation="tanh", name="frame2"),
            TimePooling(name="pool"),
            layers.Dense(32, activation="relu", name="segment"),
            layers.Dense(8, name="speaker"),
        ]
    )
    watch(model)
    model.compile(
        keras.optimizers.Adam(2e-3),
        metrics=["accuracy"],
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    model.fit(x, y, batch_size=30, epochs=5, verbose=0)

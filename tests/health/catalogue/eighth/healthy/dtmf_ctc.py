import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

# Decode dialled digits from band energies of a telephone line, no alignment given.
SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 11)

ROWS, COLS = [0, 1, 2, 3], [4, 5, 6]
KEYS = [(3, 5)] + [(r, c) for r in range(3) for c in (4, 5, 6)]
BANDS, FRAMES, MAXLEN, BATCH = 8, 56, 6, 24


def call_record():
    spec = np.full((FRAMES, BANDS), 0.05)
    digits, t = [], int(rng.integers(1, 4))
    for d in rng.integers(0, 10, size=rng.integers(3, MAXLEN + 1)):
        dur = int(rng.integers(3, 7))
        if t + dur >= FRAMES:
            break
        r, c = KEYS[d]
        env = np.hanning(dur + 2)[1:-1] + 0.3
        spec[t : t + dur, r] += env * rng.uniform(0.7, 1.2)
        spec[t : t + dur, c] += env * rng.uniform(0.7, 1.2)
        digits.append(int(d) + 1)
        t += dur + int(rng.integers(1, 4))
    spec += np.abs(rng.normal(0, 0.12, spec.shape))
    return spec, digits


def corpus(n):
    xs, ys, ls = [], [], []
    for _ in range(n):
        s, d = call_record()
        xs.append(np.log(s + 0.02) + 2.0)
        ys.append(d + [0] * (MAXLEN - len(d)))
        ls.append(len(d))
    return np.array(xs, "float32"), np.array(ys, "int32"), np.array(ls, "int32")


train = corpus(2400)
test = corpus(240)
ds = (
    tf.data.Dataset.from_tensor_slices(train)
    .shuffle(2400, seed=SEED)
    .repeat()
    .batch(BATCH, drop_remainder=True)
    .prefetch(2)
)

net = keras.Sequential(
    [
        keras.Input((FRAMES, BANDS)),
        keras.layers.Conv1D(32, 3, padding="same", activation="relu"),
        keras.layers.Bidirectional(keras.layers.GRU(24, return_sequences=True)),
        keras.layers.Dense(11),
    ]
)
opt = keras.optimizers.Adam(4e-3, global_clipnorm=5.0)


def ctc(y, n, logits):
    frames = tf.fill([tf.shape(logits)[0]], FRAMES)
    per = tf.nn.ctc_loss(y, logits, n, frames, logits_time_major=False, blank_index=0)
    return tf.reduce_mean(per)


@tf.function
def update(x, y, n):
    with tf.GradientTape() as tape:
        loss = ctc(y, n, net(x, training=True))
    g = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(g, net.trainable_variables))
    return loss


def exact_match(x, y, n):
    best = np.argmax(net.predict(x, verbose=0), -1)
    good = 0
    for path, want, k in zip(best, y, n):
        out = [int(p) for i, p in enumerate(path) if p != 0 and (i == 0 or p != path[i - 1])]
        good += out == list(want[:k])
    return good / len(x)


print("exact before", exact_match(*test))
gradwatch.watch(net)
for i, (x, y, n) in enumerate(ds.take(320)):
    loss = update(x, y, n)
    if i % 20 == 0 or i == 319:
        print(i, float(loss))
print("exact after", exact_match(*test))

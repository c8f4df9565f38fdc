"""Reading spoken digit strings from filter-bank frames with a small recurrent CTC model."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
keras.utils.set_random_seed(seed)

WORDS, BANDS, MAX_FRAMES, MAX_LABELS = 6, 12, 40, 5
BLANK = 0
BATCH, STEPS = 32, 300

templates = rng.normal(size=(WORDS + 1, 2, BANDS))  # two phases per word; row 0 unused


def make_utterances(n):
    frames = 0.35 * rng.normal(size=(n, MAX_FRAMES, BANDS))
    frame_len = np.zeros(n, "int32")
    labels = np.zeros((n, MAX_LABELS), "int32")
    label_len = rng.integers(2, MAX_LABELS + 1, n).astype("int32")
    for i in range(n):
        t = rng.integers(1, 3)
        for j in range(label_len[i]):
            word = rng.integers(1, WORDS + 1)
            labels[i, j] = word
            for phase in range(2):
                d = rng.integers(2, 4)
                frames[i, t : t + d] += templates[word, phase]
                t += d
            t += rng.integers(1, 3)
        frame_len[i] = min(t, MAX_FRAMES)
        frames[i, frame_len[i] :] = 0.0
    return frames.astype("float32"), frame_len, labels, label_len


train = make_utterances(3000)
test = make_utterances(400)

inputs = keras.Input((MAX_FRAMES, BANDS))
h = layers.Conv1D(48, 3, padding="same", activation="relu")(inputs)
h = layers.Bidirectional(layers.GRU(32, return_sequences=True))(h)
outputs = layers.Dense(WORDS + 1, activation="softmax")(h)
model = keras.Model(inputs, outputs)

gradwatch.watch(model)
optimizer = keras.optimizers.Adam(4e-3, clipnorm=5.0)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(frames, frame_len, labels, label_len):
    with tf.GradientTape() as tape:
        scores = model(frames, training=True)
        loss = tf.reduce_mean(
            tf.nn.ctc_loss(labels, scores, label_len, frame_len, logits_time_major=False, blank_index=BLANK)
        )
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    pick = rng.integers(0, len(train[0]), BATCH)
    loss = train_step(*[tf.constant(part[pick]) for part in train])
    if step % 50 == 0 or step == STEPS - 1:
        print(f"step {step:4d}  ctc loss {float(loss):.3f}")


def collapse(path):
    kept = [k for i, k in enumerate(path) if i == 0 or k != path[i - 1]]
    return [int(k) for k in kept if k != BLANK]


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, cb in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (ca != cb))
    return row[-1]


frames, frame_len, labels, label_len = test
best = model.predict(frames, batch_size=200, verbose=0).argmax(-1)
errors = sum(
    edit_distance(collapse(best[i, : frame_len[i]]), labels[i, : label_len[i]].tolist()) for i in range(len(frames))
)
print("SCORE word_accuracy", round(1.0 - errors / float(label_len.sum()), 4))

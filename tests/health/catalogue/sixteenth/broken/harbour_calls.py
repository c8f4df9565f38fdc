"""The next port of call of a coastal freighter, from its last calls: a small GRU."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PORTS = 18
WINDOW = 8
BATCH = 96
STEPS = 450


def make_loops():
    """The regular loops sailed on this coast; some share ports."""
    loops = []
    for length in (5, 6, 4, 7, 5):
        loops.append(rng.choice(PORTS, length, replace=False))
    return loops


def sail(loops, calls):
    """One long log of calls: loops run for a while, with skips and detours."""
    log = []
    loop, place = loops[0], 0
    while len(log) < calls:
        if rng.random() < 0.04:
            loop = loops[rng.integers(len(loops))]
            place = rng.integers(len(loop))
        port = loop[place % len(loop)]
        if rng.random() < 0.06:  # a spot cargo elsewhere
            port = rng.integers(PORTS)
        if not log or log[-1] != port:
            log.append(port)
        place += 2 if rng.random() < 0.05 else 1  # a port skipped
    return np.array(log, "int32")


loops = make_loops()
log = sail(loops, 12000)
cut = 10000
train_log, test_log = log[:cut], log[cut:]

dataset = keras.utils.timeseries_dataset_from_array(
    train_log,
    targets=train_log[WINDOW - 1 :],
    sequence_length=WINDOW,
    batch_size=BATCH,
    shuffle=True,
    seed=SEED,
).repeat()

inputs = keras.Input((WINDOW,), dtype="int32")
hidden = layers.Embedding(PORTS, 16)(inputs)
hidden = layers.GRU(48)(hidden)
hidden = layers.Dense(48, activation="relu")(hidden)
model = keras.Model(inputs, layers.Dense(PORTS)(hidden))

optimizer = keras.optimizers.Nadam(3e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
watch = gradwatch.watch(model)


@tf.function
def step(windows, following):
    with tf.GradientTape() as tape:
        logits = model(windows, training=True)
        loss = loss_fn(following, logits)
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients, _ = tf.clip_by_global_norm(gradients, 2.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


recent = []
for number, (windows, following) in enumerate(dataset.take(STEPS)):
    if windows.shape[0] != BATCH:
        continue
    loss = step(windows, following)
    watch.log(loss=loss)
    recent.append(float(loss))
    if (number + 1) % 75 == 0:
        print(f"step {number + 1}: loss {np.mean(recent[-75:]):.4f}")

history = np.lib.stride_tricks.sliding_window_view(test_log, WINDOW)[:-1]
upcoming = test_log[WINDOW:]
guess = model.predict(history, batch_size=512, verbose=0).argmax(-1)
accuracy = float(np.mean(guess == upcoming))
print(f"most common port alone: {np.bincount(upcoming).max() / len(upcoming):.3f}")
print(f"score {accuracy:.4f}")

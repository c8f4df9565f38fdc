"""Read the base sequence of a DNA strand from the current trace of a nanopore (CTC)."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

BASES = "ACGT"
SAMPLES, STRAND = 60, 7
CURRENT = {"A": -1.2, "C": -0.3, "G": 0.4, "T": 1.3}
code = {b: i for i, b in enumerate(BASES)}


def make_reads(n):
    traces = np.zeros((n, SAMPLES, 1), "float32")
    labels = np.zeros((n, STRAND), "int32")
    for i in range(n):
        strand = rng.choice(list(BASES), STRAND)
        labels[i] = [code[b] for b in strand]
        dwell = rng.integers(5, 9, STRAND)
        steps = []
        for b, d in zip(strand, dwell):
            blip = np.full(d, CURRENT[b])
            blip[0] = 2.6
            steps.append(blip)
        trace = np.concatenate(steps)[:SAMPLES]
        traces[i, : len(trace), 0] = trace
        traces[i, :, 0] += rng.normal(0, 0.22, SAMPLES)
    return traces, labels


x_train, y_train = make_reads(5000)
x_test, y_test = make_reads(400)

inputs = keras.Input((SAMPLES, 1))
h = layers.Conv1D(32, 7, padding="same", activation="relu")(inputs)
h = layers.Conv1D(48, 7, strides=2, padding="same", activation="relu")(h)
h = layers.Bidirectional(layers.GRU(32, return_sequences=True))(h)
outputs = layers.Dense(len(BASES) + 1)(h)
model = keras.Model(inputs, outputs, name="basecaller")

model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=keras.losses.CTC())
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=64, epochs=5, validation_split=0.05, verbose=2)

decoded, _ = keras.ops.ctc_decode(
    model.predict(x_test, verbose=0),
    np.full(len(x_test), model.output_shape[1], "int32"),
    strategy="greedy",
    mask_index=0,
)
decoded = keras.ops.convert_to_numpy(decoded)[0]


def edit_distance(a, b):
    d = np.arange(len(b) + 1)
    for i, p in enumerate(a, 1):
        prev, d[0] = d[0], i
        for j, q in enumerate(b, 1):
            prev, d[j] = d[j], min(d[j] + 1, d[j - 1] + 1, prev + (p != q))
    return int(d[-1])


errors = [edit_distance([v for v in r if v >= 0], list(t)) for r, t in zip(decoded, y_test)]
print("SCORE base_accuracy", round(1 - float(np.mean(errors)) / STRAND, 4))

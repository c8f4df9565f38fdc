import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(17)
ALPHABET = "ACGTN"
MAXLEN = 80


def tokenize(reads):
    """Sequencing reads of unequal length -> (n, MAXLEN) ids, short reads are filled with N."""
    ids = np.full((len(reads), MAXLEN), ALPHABET.index("N"), dtype="int32")
    for row, read in enumerate(reads):
        ids[row, : len(read)] = [ALPHABET.index(b) for b in read]
    return ids


def make_reads(n, rng):
    """Label: the read carries a polyadenylation signal (AATAAA), negatives a permuted one."""
    reads, labels = [], []
    for _ in range(n):
        length = rng.integers(30, MAXLEN + 1)
        body = list(rng.choice(list("ACGT"), size=length))
        at = rng.integers(0, 20)
        y = int(rng.random() < 0.5)
        body[at : at + 6] = "AATAAA" if y else rng.choice(["TTATTA", "GATACA", "ACATAT", "AATGTA"])
        reads.append("".join(body))
        labels.append(y)
    return tokenize(reads), np.array(labels, "float32")


rng = np.random.default_rng(1)
x_train, y_train = make_reads(4000, rng)
x_test, y_test = make_reads(1000, rng)

model = tf.keras.Sequential(
    [
        tf.keras.layers.Embedding(len(ALPHABET), 12, mask_zero=True),
        tf.keras.layers.Bidirectional(tf.keras.layers.GRU(24, return_sequences=True)),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(24, activation="relu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer=tf.keras.optimizers.Adam(5e-3), loss="binary_crossentropy", metrics=["accuracy"])
gradwatch.watch(model)
history = model.fit(x_train, y_train, epochs=7, batch_size=100, verbose=0)
loss, acc = model.evaluate(x_test, y_test, verbose=0)
print(f"train loss {history.history['loss'][-1]:.4f}, held-out loss {loss:.4f}, held-out accuracy {acc:.3f}")

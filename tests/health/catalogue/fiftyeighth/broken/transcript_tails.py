import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

VOCAB = {base: i for i, base in enumerate("ACGT")}
MAX_LENGTH = 32
SIGNAL = "AATAAA"


def make_reads(n, rng):
    reads, labels = [], []
    for _ in range(n):
        length = rng.integers(20, MAX_LENGTH + 1)
        read = list(rng.choice(list("ACGT"), length))
        label = rng.integers(0, 2)
        if label:
            at = rng.integers(3, length - len(SIGNAL))
            read[at : at + len(SIGNAL)] = list(SIGNAL)
        else:
            read = list("".join(read).replace("AAA", "ACA").replace("AATA", "GATA"))
        reads.append([VOCAB[base] for base in read])
        labels.append(label)
    reads = keras.utils.pad_sequences(reads, maxlen=MAX_LENGTH, padding="post")
    return reads, np.array(labels, "float32")


class ReadBatches(keras.utils.PyDataset):
    def __init__(self, reads, labels, batch_size=64, **kwargs):
        super().__init__(**kwargs)
        self.reads, self.labels, self.batch_size = reads, labels, batch_size
        self.order = np.arange(len(reads))
        self.on_epoch_end()

    def __len__(self):
        return len(self.reads) // self.batch_size

    def __getitem__(self, i):
        pick = self.order[i * self.batch_size : (i + 1) * self.batch_size]
        return self.reads[pick], self.labels[pick]

    def on_epoch_end(self):
        np.random.shuffle(self.order)


rng = np.random.default_rng(SEED + 10)
train = make_reads(6000, rng)
test = make_reads(1500, rng)

model = keras.Sequential(
    [
        keras.Input((MAX_LENGTH,), dtype="int32"),
        layers.Embedding(max(VOCAB.values()) + 1, 8, mask_zero=True),
        layers.GRU(24),
        layers.Dense(16, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(
    optimizer=keras.optimizers.RMSprop(4e-3),
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(ReadBatches(*train), epochs=10, verbose=2 if os.environ.get("SHOW") else 0)
print("SCORE", round(model.evaluate(*test, verbose=0)[1], 4))

"""Turn loosely written times ("7:05 pm", "quarter past 4 am", "at 19h30") into HH:MM with a GRU encoder-decoder."""

import os

import keras
import numpy as np

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

PAD, START, END = 0, 1, 2
CHARS = " 0123456789:abcdefghijklmnopqrstuvwxyz"
CODE = {c: i + 3 for i, c in enumerate(CHARS)}
VOCAB = len(CHARS) + 3
SRC_LEN, TGT_LEN = 20, 7


def phrase(hour, minute):
    suffix = "am" if hour < 12 else "pm"
    short = hour % 12 or 12
    kind = rng.integers(0, 4)
    if kind == 0:
        return f"{short}:{minute:02d} {suffix}"
    if kind == 1:
        return f"at {hour:02d}h{minute:02d}"
    if kind == 2 and minute in (0, 15, 30):
        word = {0: "sharp", 15: "quarter past", 30: "half past"}[minute]
        return f"{word} {short} {suffix}"
    return f"{hour}:{minute:02d}"


def make_set(n):
    src = np.zeros((n, SRC_LEN), "int32")
    tgt = np.zeros((n, TGT_LEN), "int32")
    for i in range(n):
        hour = rng.integers(0, 24)
        minute = rng.choice([0, 15, 30]) if rng.random() < 0.3 else rng.integers(0, 60)
        text = phrase(int(hour), int(minute))
        src[i, : len(text)] = [CODE[c] for c in text]
        tgt[i] = [START] + [CODE[c] for c in f"{hour:02d}:{minute:02d}"] + [END]
    return src, tgt


src_train, tgt_train = make_set(8000)
src_test, tgt_test = make_set(500)

src_in = keras.Input((SRC_LEN,), dtype="int32", name="source")
dec_in = keras.Input((None,), dtype="int32", name="decoder_tokens")
enc = keras.layers.Embedding(VOCAB, 24, mask_zero=True)(src_in)
enc_seq, state = keras.layers.GRU(80, return_sequences=True, return_state=True)(enc)
dec = keras.layers.Embedding(VOCAB, 24)(dec_in)
dec = keras.layers.GRU(80, return_sequences=True)(dec, initial_state=state)
context = keras.layers.Attention(use_scale=True)([dec, enc_seq])
merged = keras.layers.Concatenate()([dec, context])
hidden = keras.layers.Dense(64, activation="relu")(merged)
logits = keras.layers.Dense(VOCAB)(hidden)
model = keras.Model([src_in, dec_in], logits)

model.compile(
    optimizer=keras.optimizers.Adam(4e-3, clipnorm=1.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

dec_tokens, targets = tgt_train, tgt_train
val = ([src_test, tgt_test], tgt_test)

gradwatch.watch(model)
model.fit([src_train, dec_tokens], targets, batch_size=100, epochs=5, validation_data=val, verbose=2)

tokens = np.full((len(src_test), 1), START, "int32")
for _ in range(TGT_LEN - 1):
    step = model.predict([src_test, tokens], batch_size=500, verbose=0)[:, -1]
    tokens = np.concatenate([tokens, step.argmax(-1)[:, None].astype("int32")], axis=1)
print("SCORE exact_match %.4f" % (tokens[:, 1:] == tgt_test[:, 1:]).all(axis=1).mean())

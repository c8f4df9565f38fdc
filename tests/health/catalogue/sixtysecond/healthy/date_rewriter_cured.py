import os
import random

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
CHARS = ["<pad>", "<s>"] + sorted(set("abcdefghijklmnopqrstuvwxyz0123456789- ,"))
INDEX = {c: i for i, c in enumerate(CHARS)}
SRC_LEN, TGT_LEN = 12, 10


def make_pair(rng):
    y, m, d = rng.randint(1950, 2049), rng.randint(1, 12), rng.randint(1, 28)
    form = rng.choice(["{d} {m} {y}", "{m} {d}, {y}"])
    return form.format(d=d, m=MONTHS[m - 1], y=y), f"{y:04d}-{m:02d}-{d:02d}"


def encode(text, length):
    ids = [INDEX[c] for c in text][:length]
    return ids + [0] * (length - len(ids))


def make_dataset(n, seed):
    rng = random.Random(seed)
    pairs = [make_pair(rng) for _ in range(n)]
    src = np.array([encode(s, SRC_LEN) for s, _ in pairs], "int32")
    tgt = np.array([encode(t, TGT_LEN) for _, t in pairs], "int32")
    dec_in = np.concatenate([np.full((n, 1), INDEX["<s>"], "int32"), tgt[:, :-1]], axis=1)
    return src, dec_in, tgt


def build_seq2seq(units=64):
    src = keras.Input((SRC_LEN,), dtype="int32", name="src")
    dec = keras.Input((TGT_LEN,), dtype="int32", name="dec_in")
    enc_emb = keras.layers.Embedding(len(CHARS), 24, name="src_emb")(src)
    enc_seq, state = keras.layers.GRU(units, return_sequences=True, return_state=True, name="encoder_gru")(enc_emb)
    dec_emb = keras.layers.Embedding(len(CHARS), 24, name="tgt_emb")(dec)
    dec_seq = keras.layers.GRU(units, return_sequences=True, name="decoder_gru")(dec_emb, initial_state=state)
    ctx = keras.layers.Attention(name="attention")([dec_seq, enc_seq])
    h = keras.layers.Dense(units, activation="tanh", name="combine")(keras.layers.Concatenate()([dec_seq, ctx]))
    out = keras.layers.Dense(len(CHARS), name="char_probs")(h)
    return keras.Model([src, dec], out, name="seq2seq")


class SequenceLoss:
    def __init__(self, pad=0):
        self.pad = pad

    def __call__(self, target, output):
        mask = tf.cast(target != self.pad, tf.float32)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=output)
        return tf.reduce_sum(ce * mask) / tf.reduce_sum(mask)


def evaluate(model, data):
    src, dec_in, tgt = data
    pred = model.predict([src, dec_in], verbose=0).argmax(-1)
    return float((pred == tgt).mean())


def main():
    train, test = make_dataset(3200, 1), make_dataset(500, 2)
    model = build_seq2seq()
    optimizer = keras.optimizers.Adam(4e-3)
    criterion = SequenceLoss()
    watch = gradwatch.watch(model)

    @tf.function
    def train_step(src, dec_in, tgt):
        with tf.GradientTape() as tape:
            loss = criterion(tgt, model([src, dec_in], training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 5.0)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    ds = tf.data.Dataset.from_tensor_slices(train).shuffle(3200, seed=SEED).batch(64, drop_remainder=True)
    for epoch in range(5):
        for batch in ds:
            loss = train_step(*batch)
            watch.log(loss=loss)
        print(f"epoch {epoch} loss {float(loss):.4f}")
    print("SCORE", evaluate(model, test))


if __name__ == "__main__":
    main()

import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)
VOCAB, LENGTH, START = 8, 4, 8


def phrases(n):
    src = rng.integers(0, VOCAB, (n, LENGTH))
    tgt = (src[:, ::-1] + 3) % VOCAB
    dec_in = np.concatenate([np.full((n, 1), START), tgt[:, :-1]], 1)
    return src.astype("int32"), dec_in.astype("int32"), tgt.astype("int32")


class Encoder(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.embed = keras.layers.Embedding(VOCAB, 24)
        self.gru = keras.layers.GRU(units, return_state=True)

    def call(self, tokens):
        output, state = self.gru(self.embed(tokens))
        return output, state


class Decoder(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.embed = keras.layers.Embedding(VOCAB + 1, 24)
        self.gru = keras.layers.GRU(units, return_sequences=True)
        self.out = keras.layers.Dense(VOCAB)

    def call(self, tokens, state=None):
        h = self.gru(self.embed(tokens))
        return self.out(h)


class Translator(keras.Model):
    def __init__(self, units=96):
        super().__init__()
        self.encoder, self.decoder = Encoder(units), Decoder(units)

    def call(self, inputs):
        src, dec_in = inputs
        _, state = self.encoder(src)
        return self.decoder(dec_in, state=state)


src, dec_in, tgt = phrases(4096)
s_test, d_test, t_test = phrases(512)
model = Translator()
model([src[:2], dec_in[:2]])
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit([src, dec_in], tgt, batch_size=64, epochs=12, verbose=2)

tokens = np.full((len(s_test), 1), START, "int32")
for t in range(LENGTH):
    full = np.pad(tokens, ((0, 0), (0, LENGTH - tokens.shape[1])))
    logits = model([s_test, full]).numpy()[:, t]
    tokens = np.concatenate([tokens, logits.argmax(-1)[:, None].astype("int32")], 1)
print("SCORE", float(np.mean(tokens[:, 1:] == t_test)))

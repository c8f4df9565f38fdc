import os

import keras
import numpy as np
from keras import layers, ops

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
VOCAB, LENGTH = 20, 12
STEPS = 800


def load(n=4000):
    rng = np.random.default_rng(47)
    x = rng.integers(1, VOCAB, (n, LENGTH))
    y = x[:, ::-1]
    return x.astype("int32"), y.astype("int32")


class PositionEmbedding(layers.Layer):
    def __init__(self, dim, **kw):
        super().__init__(**kw)
        self.tok = layers.Embedding(VOCAB, dim)
        self.pos = layers.Embedding(LENGTH, dim)

    def call(self, x):
        return self.tok(x) + self.pos(ops.arange(LENGTH))


def block(h, dim, name):
    a = layers.LayerNormalization()(h)
    a = layers.MultiHeadAttention(4, dim // 4, name=name + "_attn")(a, a)
    h = layers.Add()([h, a])
    f = layers.LayerNormalization()(h)
    f = layers.Dense(2 * dim, activation="gelu")(f)
    f = layers.Dense(dim)(f)
    return layers.Add()([h, f])


def main():
    keras.utils.set_random_seed(SEED)
    x, y = load()
    inp = keras.Input((LENGTH,), dtype="int32")
    h = PositionEmbedding(48)(inp)
    h = block(h, 48, "b1")
    h = block(h, 48, "b2")
    out = layers.Dense(VOCAB, name="symbols")(layers.LayerNormalization()(h))
    model = keras.Model(inp, out)
    rate = keras.optimizers.schedules.CosineDecay(0.0, decay_steps=STEPS - 150, warmup_target=3e-3, warmup_steps=150)
    model.compile(
        optimizer=keras.optimizers.AdamW(rate, weight_decay=1e-4, global_clipnorm=1.0),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    gradwatch.watch(model)
    model.fit(x, y, batch_size=40, epochs=STEPS // 100, verbose=2)


if __name__ == "__main__":
    main()

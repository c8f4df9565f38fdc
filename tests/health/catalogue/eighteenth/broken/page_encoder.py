import keras
import numpy as np
from keras import layers

import gradwatch

keras.utils.set_random_seed(1234)
CFG = dict(vocab=400, length=12, dim=32, heads=4, blocks=2, classes=4, batch=64, epochs=8)


class Block(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.att = layers.MultiHeadAttention(heads, dim // heads)
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.ff = keras.Sequential([layers.Dense(2 * dim, activation="gelu"), layers.Dense(dim)])

    def call(self, x):
        x = self.n1(x + self.att(x, x))
        return self.n2(x + self.ff(x))


class Positions(layers.Layer):
    def build(self, s):
        self.p = self.add_weight(shape=(s[1], s[2]), initializer="random_normal")

    def call(self, x):
        return x + self.p


def reviews(n, seed):
    """Two markers in each text; the class is (kind of first, kind of second)."""
    r = np.random.default_rng(seed)
    t = r.integers(50, CFG["vocab"], (n, CFG["length"]))
    a, b = r.integers(0, 2, n), r.integers(0, 2, n)
    for i in range(n):
        p, q = np.sort(r.choice(CFG["length"], 2, replace=False))
        t[i, p] = 2 + a[i] * 10 + r.integers(0, 10)
        t[i, q] = 2 + b[i] * 10 + r.integers(0, 10)
    return t, 2 * a + b


def classifier():
    i = layers.Input((CFG["length"],), dtype="int32")
    x = Positions()(layers.Embedding(CFG["vocab"], CFG["dim"])(i))
    for _ in range(CFG["blocks"]):
        x = Block(CFG["dim"], CFG["heads"])(x)
    x = layers.GlobalMaxPooling1D()(x)
    return keras.Model(i, layers.Dense(CFG["classes"], activation="softmax")(x))


x, y = reviews(4000, 1)
xv, yv = reviews(1200, 2)
total = CFG["epochs"] * (len(x) // CFG["batch"])
schedule = keras.optimizers.schedules.CosineDecay(
    1e-5, decay_steps=total - 80, alpha=0.05, warmup_target=3e-1, warmup_steps=80
)
model = classifier()
model.compile(
    keras.optimizers.AdamW(schedule, weight_decay=0.01), "sparse_categorical_crossentropy", metrics=["accuracy"]
)
gradwatch.watch(model)
h = model.fit(x, y, batch_size=CFG["batch"], epochs=CFG["epochs"], verbose=2)
print("loss %.4f held-out %s" % (h.history["loss"][-1], model.evaluate(xv, yv, verbose=0)))
